// Where a loop is worth cutting, and its pieces.
#include "engine/codegen/cut_ranges.h"

#include "engine/base/integers.h"
#include "engine/codegen/heuristic.h"
#include "engine/codegen/ranges.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "engine/uop/linear.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace uopscope {

namespace {

using namespace pat;
constexpr PatVar store{"store"};

/// More pieces would cost more code than the comparisons they save.
constexpr size_t kMaxPieces = 8;
/// Pieces that share their loops only add stores.
constexpr size_t kMaxAlike = 32;
/// Operations that a comparison must decide about before a loop inside others is cut for it: to leave out a
/// read, which a gate does as well, it is not worth loops that are short.
constexpr int kWorthCutting = 4;

/// The number of ALU operations below the branches of a WHERE, counted up to kWorthCutting.
int workBelow(UOp choice) {
  int work = 0;
  visitBelow(choice.src().subspan(1), [&](UOp u) {
    if (u.in({Op::INDEX, Op::CONST}) || u.dtype().kind() == Scalar::Index) return Visit::Past;
    return u.in(group::kAlu) && ++work == kWorthCutting ? Visit::Stop : Visit::Below;
  });
  return work;
}

/// A piece that is a copy is worth a loop of its own from so many elements on.
constexpr int64_t kShortestCopy = 32;

/// A row between margins is worth one from so many on.
constexpr int64_t kShortestRow = 14;

/// Whether positions in a range decide which of several memories is read, as where tensors are joined: inside each piece that
/// is a copy, and between them every element would ask for a part of each memory.
bool joinsMemories(std::span<const UOp> nodes, UOp range) {
  UOp one;
  bool areSeveral = false;
  for (UOp u : nodes) {
    if (!u.is(Op::WHERE) || u.dtype().isPtr() || !u.src(0).dependsOn(range)) continue;
    visitBelow(u.src().subspan(1), [&](UOp part) {
      if (part.is(Op::INDEX)) areSeveral |= one && part.bufferOf() != one, one = part.bufferOf();
      return part.in({Op::INDEX, Op::REDUCE}) ? Visit::Past : Visit::Below;
    });
  }
  return areSeveral;
}

/// The sorted positions where comparisons with constants cut a range, with both ends of the range. A
/// comparison counts only if it decides about at least `worth` operations.
std::set<int64_t> cutsOf(std::span<const UOp> nodes, UOp range, int worth) {
  int64_t extent = range.src(0).arg().i();
  std::set<int64_t> cuts{0, extent};
  auto addFrom = [&](UOp u) {
    if (!u.is(Op::CMPLT) || u.src(0) != range || !u.src(1).isConst()) return;
    int64_t at = u.src(1).arg().i();
    if (at > 0 && at < extent) cuts.insert(at);
  };
  for (UOp u : nodes) {
    if (!worth) addFrom(u);
    if (!worth || !u.is(Op::WHERE) || u.src(0).dtype().isPtr() || !u.src(0).dependsOn(range)) continue;
    if (workBelow(u) < worth) continue;
    for (UOp condition : u.src(0).toposort()) addFrom(condition);
  }
  return cuts;
}

/// Whether neighbours along the range are stored side by side, by every store.
bool isStoredAlong(UOp effect, UOp range) {
  auto along = [&](UOp s) { return s.is(Op::STORE) && coefficientOf(s.src(0).src(1), range) == 1; };
  return effect.is(Op::GROUP) ? std::ranges::all_of(effect.src(), along) : along(effect);
}

/// Whether a read in a row of results is gated by the place in the row: a copy with margins. Between them every lane would ask for its
/// element alone.
bool hasMargins(std::span<const UOp> nodes, UOp effect, UOp range) {
  return !effect.below().has(Op::REDUCE) && isStoredAlong(effect, range) &&
         std::ranges::any_of(nodes, [&](UOp u) {
           return u.is(Op::INDEX) && u.src(1).is(Op::WHERE) && u.src(1).src(0).dependsOn(range) &&
                  coefficientOf(u.src(1).src(1), range) == 1;
         });
}
/// The length of the longest piece.
int64_t longestOf(const std::set<int64_t>& cuts) {
  int64_t longest = 0;
  for (auto at = cuts.begin(); std::next(at) != cuts.end(); ++at)
    longest = std::max(longest, *std::next(at) - *at);
  return longest;
}

/// The positions where the range, after a constant is added, begins another multiple of a divisor: there `(r + 493) % 500`, the
/// index of a rolled tensor, wraps around. Between them it is a sum. Too many wraps leave it a remainder.
void addWraps(std::span<const UOp> nodes, UOp range, std::set<int64_t>& cuts) {
  constexpr int64_t kMostWraps = 2;
  const int64_t extent = range.src(0).arg().i();
  for (UOp u : nodes) {
    if (!u.in({Op::MOD, Op::IDIV}) || !u.src(1).isConst() || !u.src(0).is(Op::ADD)) continue;
    UOp sum = u.src(0);
    if (sum.src(0) != range || !sum.src(1).isConst()) continue;
    const int64_t by = u.src(1).arg().i(), added = sum.src(1).arg().i();
    if (by < 1 || added < 0 || (added + extent - 1) / by - added / by > kMostWraps) continue;
    for (int64_t at = (added / by + 1) * by - added; at < extent; at += by) cuts.insert(at);
  }
}

/// Whether memory that is written is read as well: steps keep their order then.
bool readsItsOwn(std::span<const UOp> nodes) {
  return std::ranges::any_of(nodes, [&](UOp read) {
    return read.is(Op::INDEX) && !read.dtype().isPtr() && std::ranges::any_of(nodes, [&](UOp store) {
             return store.is(Op::STORE) && store.src(0).bufferOf() == read.bufferOf();
           });
  });
}

/// The loop around the pieces of an outermost loop, of a step for each thread that they are worth; null where that is one, or a piece
/// too short.
UOp sharedByThreads(CutRangesContext& ctx, UOp range, const std::set<int64_t>& cuts,
                    std::span<const UOp> loops, std::span<const UOp> nodes) {
  constexpr int64_t kFewestSteps = 64; // of a thread in each piece
  double work = 1;
  for (UOp l : loops) work *= static_cast<double>(std::max<int64_t>(1, extentOf(l)));
  const auto threads =
      static_cast<int64_t>(std::min(static_cast<double>(ctx.threads), work / heuristic::kWorkPerThread));
  if (threads < 2) return {};
  for (auto at = cuts.begin(); std::next(at) != cuts.end(); ++at)
    if (*std::next(at) - *at < kFewestSteps * threads) return {};
  if (readsItsOwn(nodes)) return {};
  return UOp::range(UOp::constant(range.dtype(), threads), {ctx.nextId++}, range.axisType(), range.dtype());
}

/// Pieces of one length share their loops, so that values which several store are computed once. The others have loops of their own
/// from the one that is cut on: no range is closed twice. Loops around that one stay around all pieces, and threads share them; around
/// an outermost one a loop of one step for each thread is put.
UOp cutStoreRange(Match& m) {
  auto& ctx = m.ctx<CutRangesContext>();
  UOp end = m.root(), effect = m[store];
  if (effect.is(Op::GROUP) &&
      !std::all_of(effect.src().begin(), effect.src().end(), [](UOp s) { return s.is(Op::STORE); }))
    return m.decline("more than stores");
  const bool mayWrap = effect.below().has(Op::MOD) && !effect.below().has(Op::REDUCE);
  if (!effect.below().has(Op::CMPLT) && !mayWrap) return m.decline("the stored value compares nothing");
  if (effect.below().has(Op::AFTER)) return m.decline("a loop carries the stored value");
  std::span<const UOp> loops = end.src().subspan(1);
  std::vector<UOp> nodes = effect.toposort();
  for (UOp range : loops) {
    if (!range.is(Op::RANGE) || !range.src(0).isConst() || range.axisType() != AxisType::Loop) continue;
    if (range.arg().as<RangeArg>().ids[0] >= ctx.firstNew)
      continue; // once a run: pieces are simplified first
    std::set<int64_t> cuts = cutsOf(nodes, range, loops.size() == 1 ? 0 : kWorthCutting);
    const size_t compared = cuts.size();
    if (mayWrap && isStoredAlong(effect, range)) addWraps(nodes, range, cuts);
    const bool isJoined = cuts.size() < 3 && joinsMemories(nodes, range);
    const bool isPadded = cuts.size() < 3 && !isJoined && hasMargins(nodes, effect, range);
    if (isJoined || isPadded) cuts = cutsOf(nodes, range, 0);
    if (cuts.size() < 3 || (isPadded && longestOf(cuts) < kShortestRow)) continue;
    int64_t first = *std::next(cuts.begin()), shortest = first;
    for (auto at = cuts.begin(); std::next(at) != cuts.end(); ++at)
      shortest = std::min(shortest, *std::next(at) - *at);
    bool alike = std::adjacent_find(cuts.begin(), cuts.end(),
                                    [&](int64_t a, int64_t b) { return b - a != first; }) == cuts.end();
    if (isJoined && (isStoredAlong(effect, range) ? shortest < kShortestCopy : !alike)) continue;
    size_t stores = effect.is(Op::GROUP) ? effect.srcCount() : 1, more = (cuts.size() - 2) * stores;
    if (ctx.pieces + more > (alike ? kMaxAlike : kMaxPieces)) continue;
    ctx.pieces += more;
    because([&] {
      std::set<int64_t> inner(std::next(cuts.begin()), std::prev(cuts.end()));
      return fmt::format("{} is cut at {}: {}", range.render(), fmt::join(inner, ", "),
                         isJoined                 ? "pieces of different memories are joined there"
                         : isPadded               ? "a margin begins or ends there"
                         : cuts.size() > compared ? "an index wraps around there"
                         : loops.size() == 1
                             ? "comparisons with it decide about values, and the loop stands alone"
                             : fmt::format("{} operations or more hang on a comparison", kWorthCutting));
    });
    const auto outside = static_cast<size_t>(std::ranges::find(loops, range) - loops.begin());
    const UOp shared = alike || outside ? UOp() : sharedByThreads(ctx, range, cuts, loops, nodes);
    std::vector<UOp> pieces, own;
    for (auto at = cuts.begin(); std::next(at) != cuts.end(); ++at) {
      const int64_t length = *std::next(at) - *at;
      const int64_t threads = shared ? extentOf(shared) : 1, part = ceilDiv(length, threads);
      UOpMap<UOp> replace;
      if (!alike && own.size() > outside) own.resize(outside);
      for (size_t i = 0; i < loops.size(); ++i) {
        UOp loop = loops[i];
        UOp extent = loop == range ? UOp::constant(range.dtype(), part) : loop.src(0);
        if (own.size() <= i) own.push_back(UOp::range(extent, {ctx.nextId++}, loop.axisType(), loop.dtype()));
        UOp place = own[i];
        if (loop == range && shared) place = place + startOfPart(shared, part, length);
        replace[loop] = loop == range && *at ? place + *at : place;
      }
      UOp piece = effect.substitute(replace);
      if (!alike)
        pieces.push_back(piece.end(std::span<const UOp>(own).subspan(outside)));
      else if (piece.is(Op::GROUP))
        pieces.insert(pieces.end(), piece.src().begin(), piece.src().end());
      else
        pieces.push_back(piece);
    }
    if (shared) return UOp::groupOf(pieces).end({shared});
    return UOp::groupOf(pieces).end(std::span<const UOp>(own).first(alike ? own.size() : outside));
  }
  return m.decline("no comparison cuts a loop, or too few operations hang on it");
}
constexpr RuleDef kCut[] = {
    RULE("cut-store-range", op(Op::END, any({Op::STORE, Op::GROUP}).named(store)).more(), cutStoreRange)};
const KnownRules kCutKnown(kCut);

} // namespace

std::span<const RuleDef> cutStoreRangeRules() {
  return kCut;
}

} // namespace uopscope
