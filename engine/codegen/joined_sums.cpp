// Finds reductions whose reads agree but for their ranges, and gives them the ranges of the first.
#include "engine/codegen/joined_sums.h"

#include "engine/base/id_map.h"
#include "engine/codegen/live_ranges.h"
#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"
#include "engine/rules/range_match.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope {

namespace {

constexpr RuleDef kJoin[] = {RULE("join-sums", pat::any(Op::REDUCE), pat::entry())};
const KnownRules kJoinKnown(kJoin);

/// Sums of one loop whose accumulators stay in registers, a vector each. The others are left to what a step loads.
size_t mostTogether(const Target& target) {
  return static_cast<size_t>(registerFileOf(target).vectors) * 3 / 4;
}

struct JoinedSum {
  UOp node;
  int depth = 0;           ///< reductions on the longest path below it
  std::vector<UOp> ranges; ///< that it sums over
  std::vector<UOp> reads;  ///< INDEX nodes that depend on them, without those of reductions and copies below
};

std::vector<UOp> readsOfSum(const JoinedSum& sum) {
  std::vector<UOp> reads;
  visitBelow(sum.node.src(0), [&](UOp u) {
    if (u.is(Op::INDEX) && std::ranges::any_of(sum.ranges, [&](UOp r) { return u.src(1).dependsOn(r); }))
      reads.push_back(u);
    return u.in({Op::REDUCE, Op::AFTER}) ? Visit::Past : Visit::Below;
  });
  return reads;
}

/// The sums of a kernel; none if it has fewer than two.
std::vector<JoinedSum> sumsOf(UOp sink) {
  const std::vector<UOp> nodes = sink.toposort();
  if (std::ranges::count_if(nodes, [](UOp u) { return u.is(Op::REDUCE); }) < 2) return {};
  std::vector<JoinedSum> sums;
  IdMap<int> depth;
  for (UOp u : nodes) {
    int most = 0;
    for (UOp s : u.src()) most = std::max(most, *depth.find(s.slot()));
    if (u.is(Op::REDUCE)) sums.push_back({u, ++most, rangesIn(u.src().subspan(1)), {}});
    depth.set(u.slot(), most);
  }
  for (JoinedSum& sum : sums) sum.reads = readsOfSum(sum);
  return sums;
}

/// The ranges of `first` that those of `second` become; empty if the two can't share a loop.
UOpMap<UOp> sharedRanges(const JoinedSum& first, const JoinedSum& second) {
  if (first.depth != second.depth || first.ranges.size() != second.ranges.size() ||
      first.ranges == second.ranges || first.node.ranges() != second.node.ranges())
    return {};
  for (UOp u : first.reads)
    for (UOp v : second.reads) {
      UOpMap<UOp> to = matchRanges(u, v, first.ranges, second.ranges);
      if (!to.empty()) return to;
    }
  return {};
}

} // namespace

const PatternMatcher& joinedSumRules() {
  static const PatternMatcher rules({kJoin});
  return rules;
}

UOp joinSums(UOp sink, const Target& target, std::string_view pass) {
  if (!sink.below().has(Op::REDUCE)) return sink;
  std::vector<JoinedSum> sums = sumsOf(sink);
  const size_t most = mostTogether(target);
  int depth = 0;
  for (const JoinedSum& sum : sums) depth = std::max(depth, sum.depth);
  // Outer loops join first: what lies inside of them agrees once they are the same.
  for (; depth > 0; --depth) {
    UOpMap<UOp> replace;
    // First sums of loops, and how many sums share each.
    std::vector<std::pair<const JoinedSum*, size_t>> heads;
    for (const JoinedSum& sum : sums) {
      if (sum.depth != depth) continue;
      bool isJoined = false;
      for (auto& [head, count] : heads) {
        if (count >= most) continue;
        const UOpMap<UOp> to = sharedRanges(*head, sum);
        if (to.empty()) continue;
        std::vector<UOp> src{sum.node.src(0).substitute(to)};
        src.insert(src.end(), head->node.src().begin() + 1, head->node.src().end());
        replace[sum.node] = sum.node.withSrc(src);
        ++count;
        isJoined = true;
        break;
      }
      if (!isJoined) heads.emplace_back(&sum, 1);
    }
    if (replace.empty()) continue;
    because([&] {
      return Decision{
          "it reads the same memory as the sum before, in the order of its loop: both share the loop"};
    });
    sink = replaceNodes(sink, replace, joinedSumRules(), pass);
    sums = sumsOf(sink);
  }
  return sink;
}

} // namespace uopscope
