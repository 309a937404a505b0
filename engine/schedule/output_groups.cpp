// Computes levels, and joins outputs that share a computation or a read.
#include "engine/schedule/output_groups.h"

#include "engine/base/context_var.h"
#include "engine/schedule/rangeify.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace uopscope::sched {

namespace {

constexpr OpSet kSameIndex = group::kElementwise | OpSet{Op::CONTIGUOUS, Op::ASSIGN};
constexpr OpSet kGroupable = group::kElementwise | OpSet{Op::CONTIGUOUS, Op::ASSIGN, Op::REDUCE_AXIS};
constexpr size_t kMostOutputs = 32; ///< a larger set of outputs is not grouped

/// The sources that a value is computed from, which excludes the target of an assignment.
std::span<const UOp> valuesOf(UOp u) {
  if (u.is(Op::ASSIGN)) return u.src().subspan(1, 1);
  if (u.in(group::kMovement) || u.is(Op::COPY) || u.is(Op::CONTIGUOUS) || u.is(Op::REDUCE_AXIS))
    return u.src().first(1);
  return u.src();
}
/// A value that must have a kernel of its own: a copy that keeps old contents, or a value with Opts for its
/// kernel. A second result that is equal to the first ("own") needs none.
bool isFence(UOp u) {
  return u.is(Op::CONTIGUOUS) && u.arg() && u.arg() != Arg::of("own");
}
bool isWeak(UOp u) {
  return u.in({Op::CONST, Op::VCONST, Op::DEFINE_VAR, Op::BIND, Op::DEVICE, Op::UNIQUE, Op::LUNIQUE});
}

Shape longAxes(const Shape& shape) {
  Shape out;
  for (const Sint& s : shape)
    if (!(s == Sint(1))) out.push_back(s);
  return out;
}
/// Whether it is a RESHAPE that only adds or removes axes of length 1, which keeps all other indices.
bool isSqueeze(UOp u) {
  return u.is(Op::RESHAPE) && u.src(0).hasShape() && longAxes(u.shape()) == longAxes(u.src(0).shape());
}
bool keepsIndex(UOp u) {
  return u.in(kSameIndex) || isSqueeze(u);
}

struct Sets {
  std::vector<size_t> parent;
  size_t find(size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  }
};

} // namespace

bool OutputGroups::canShareLoops(UOp u) {
  return u.in(kGroupable) && !isFence(u) && !isCarried(u);
}

OutputGroups::OutputGroups(const std::vector<UOp>& order, const UOpMap<bool>& realize) {
  for (UOp u : order) {
    int level = 0;
    bool barrier = (!keepsIndex(u) && !u.is(Op::SINK)) || isFence(u);
    for (UOp s : valuesOf(u)) level = std::max(level, levelOf(s) + (barrier || isFence(s) ? 1 : 0));
    // Of two assignments to a buffer the second waits for the first.
    if (u.is(Op::ASSIGN) && baseOf(u.src(0)).is(Op::ASSIGN))
      level = std::max(level, levelOf(baseOf(u.src(0))) + 1);
    // A view of a buffer or constant can be read on every level.
    if (u.in(group::kMovement) && baseOf(u).in({Op::BUFFER, Op::CONST})) level = 0;
    level_.set(u.slot(), level);
  }

  if (vars::plain) return;
  std::vector<UOp> roots;
  for (UOp u : order)
    if (realize.contains(u) && canShareLoops(u) && elementCount(u.shape()) > 1) roots.push_back(u);
  Sets sets;
  sets.parent.resize(roots.size());
  std::iota(sets.parent.begin(), sets.parent.end(), size_t{0});
  // The output from which a node was reached first, per kind of output (level, device and shape).
  using Kind = std::tuple<int, std::string, std::vector<uint32_t>>;
  std::map<Kind, int> kinds;
  std::map<std::pair<int, uint32_t>, size_t> reachedFrom;
  for (size_t k = 0; k < roots.size(); ++k) {
    UOp root = roots[k];
    std::vector<uint32_t> dims;
    for (const Sint& s : longAxes(root.shape())) dims.push_back(s.uop().id());
    double half = elementCount(root.shape()) / 2;
    int kind =
        kinds.try_emplace({levelOf(root), root.device(), dims}, static_cast<int>(kinds.size())).first->second;
    std::vector<UOp> stack{root};
    while (!stack.empty()) {
      UOp u = stack.back();
      stack.pop_back();
      auto [it, isNew] = reachedFrom.try_emplace({kind, u.id()}, k);
      if (!isNew) {
        sets.parent[sets.find(k)] = sets.find(it->second);
        continue;
      }
      if (!keepsIndex(u) || isFence(u)) continue;
      if (u != root && realize.contains(u)) continue; // a read of memory; u itself shared the nodes below
      for (UOp s : valuesOf(u)) {
        if (isWeak(s) || !s.hasShape()) continue;
        UOp base = baseOf(s);
        if (s.in(group::kMovement) && !isSqueeze(s) && (isWeak(base) || elementCount(base.shape()) < half))
          continue;
        stack.push_back(s);
      }
    }
  }
  std::map<size_t, std::vector<size_t>> members;
  for (size_t k = 0; k < roots.size(); ++k) members[sets.find(k)].push_back(k);
  int next = 0;
  for (const auto& [set, list] : members) {
    if (list.size() < 2 || list.size() > kMostOutputs) continue;
    for (size_t k : list) group_.set(roots[k].slot(), next);
    ++next;
  }
}

} // namespace uopscope::sched
