// Samples assignments and opens shared parts layer by layer; effect_check.cpp compares effects.
#include "replay/compare/rewrite_check.h"

#include "engine/base/error.h"
#include "replay/compare/graph_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace uopscope {
namespace {

constexpr size_t kMostShared = 6000;
constexpr OpSet kNeverOpaque =
    group::kDefines | group::kIrreducible | OpSet{Op::VCONST, Op::BUFFER,  Op::BUFFER_VIEW, Op::DEVICE,
                                                  Op::UNIQUE, Op::LUNIQUE, Op::BIND,        Op::CONTRACT};
constexpr OpSet kIndexOps =
    group::kAlu | group::kIrreducible | OpSet{Op::CAST, Op::VECTORIZE, Op::VCONST, Op::BIND};

/// Whether the node is exact and cheap to compute; rules rely on facts about such nodes.
bool isIndexArithmetic(UOp u) {
  return kIndexOps.contains(u.below()) && (u.dtype().isInt() || u.dtype().isBool());
}

std::unordered_set<uint32_t> reach(UOp root) {
  std::unordered_set<uint32_t> seen{root.slot()};
  std::vector<UOp> queue{root};
  for (size_t k = 0; k < queue.size() && seen.size() < kMostShared; ++k)
    for (const UOp s : queue[k].src())
      if (seen.insert(s.slot()).second) queue.push_back(s);
  return seen;
}

/// The first shared nodes on the way down from `after`.
std::vector<UOp> frontierOf(UOp before, UOp after) {
  const auto shared = reach(before);
  std::unordered_set<uint32_t> seen{after.slot()};
  std::vector<UOp> stack{after}, out;
  while (!stack.empty()) {
    const UOp u = stack.back();
    stack.pop_back();
    if (shared.contains(u.slot()) && u != before) {
      out.push_back(u);
      continue;
    }
    for (const UOp s : u.src())
      if (seen.insert(s.slot()).second) stack.push_back(s);
  }
  return out;
}

bool canBeOpaque(UOp u) {
  if (u.in(kNeverOpaque) || isIndexArithmetic(u)) return false;
  if (u.is(Op::AFTER)) return !u.src(0).is(Op::INDEX);
  return !u.dtype().isPtr();
}

/// The nodes `layers` below the frontier. Nodes that cannot be opaque, such as addresses, are passed through.
std::unordered_set<uint32_t> opaqueAt(const std::vector<UOp>& frontier, int layers) {
  std::unordered_set<uint32_t> out, seen;
  std::vector<UOp> level = frontier;
  for (int d = 0;; ++d) {
    std::vector<UOp> next;
    for (size_t k = 0; k < level.size(); ++k) {
      const UOp u = level[k];
      if (!seen.insert(u.slot()).second) continue;
      if (d >= layers && canBeOpaque(u)) {
        out.insert(u.slot());
        continue;
      }
      for (const UOp s : u.src())
        if (d >= layers)
          level.push_back(s); // passed through
        else
          next.push_back(s);
    }
    if (next.empty() || d >= layers) break;
    level = std::move(next);
  }
  return out;
}

} // namespace

ValueCheck RewriteChecker::checkTangent(UOp before, UOp after, const UOpMap<UOp>& tangents,
                                        const CheckLimits& limits) {
  PassMemory alone;
  return GraphComparison(variables_, limits, alone).compareTangent(before, after, tangents);
}

ValueCheck RewriteChecker::check(UOp before, UOp after, const CheckLimits& limits, PassMemory* pass) {
  ValueCheck out;
  if (before == after) {
    out.verdict = ValueCheck::Verdict::Same;
    return out;
  }
  PassMemory alone;
  GraphComparison comparison(variables_, limits, pass ? *pass : alone);
  if (comparison.byName(before, after, out)) return out;
  const auto frontier = frontierOf(before, after);
  size_t least = SIZE_MAX;
  for (int layers = 0;; layers = layers ? layers * 2 : 1) {
    auto opaque = opaqueAt(frontier, layers);
    const bool last = opaque.empty();
    const size_t count = opaque.size();
    try {
      out = comparison.compare(before, after, std::move(opaque));
    } catch (const Error& e) {
      out = {};
      out.why = e.what();
      if (e.kind() == ErrorKind::Index || last) return out; // an opened layer makes it larger still
      continue;
    }
    if (out.verdict == ValueCheck::Verdict::Same || last) return out;
    least = std::min(least, count);
    if (layers > 64) break;
  }
  out.verdict = ValueCheck::Verdict::Unknown;
  out.why = "it is too deep to be computed down to its leaves";
  return out;
}

} // namespace uopscope
