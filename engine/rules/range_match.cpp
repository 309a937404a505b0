// Compares two expressions node by node, operands of commutative operations in either order.
#include "engine/rules/range_match.h"

#include <algorithm>
#include <set>

namespace uopscope {

namespace {

class RangeMatch {
public:
  RangeMatch(std::span<const UOp> first, std::span<const UOp> second) : first_(first), second_(second) {}

  bool agree(UOp u, UOp v) {
    if (std::ranges::find(second_, v) != second_.end()) return bind(u, v);
    if (u == v) return true; // ranges of the first are in no expression of the second
    if (agreed_.contains({u.id(), v.id()})) return true;
    if (++compared_ > kMostCompared) return false;
    if (u.op() != v.op() || u.dtype() != v.dtype() || u.arg() != v.arg() || u.srcCount() != v.srcCount())
      return false;
    if (!agreeInAnyOrder(u, v)) return false;
    agreed_.insert({u.id(), v.id()});
    return true;
  }

  UOpMap<UOp> take() { return std::move(standsFor_); }

private:
  bool bind(UOp u, UOp v) {
    if (std::ranges::find(first_, u) == first_.end() || u.src(0) != v.src(0) || u.axisType() != v.axisType())
      return false;
    if (auto known = standsFor_.find(v); known != standsFor_.end()) return known->second == u;
    if (std::ranges::any_of(standsFor_, [&](const auto& pair) { return pair.second == u; })) return false;
    standsFor_[v] = u;
    return true;
  }
  bool agreeInAnyOrder(UOp u, UOp v) {
    if (!u.in(group::kCommutative) || u.srcCount() != 2) return agreeInOrder(u, v, false);
    const UOpMap<UOp> before(standsFor_);
    const auto agreedBefore = agreed_;
    if (agreeInOrder(u, v, false)) return true;
    standsFor_ = before;
    agreed_ = agreedBefore;
    return agreeInOrder(u, v, true);
  }
  bool agreeInOrder(UOp u, UOp v, bool isSwapped) {
    for (size_t k = 0; k < u.srcCount(); ++k)
      if (!agree(u.src(k), v.src(isSwapped ? 1 - k : k))) return false;
    return true;
  }

  /// Pairs of nodes: both orders of operands are tried at every level of an expression.
  static constexpr size_t kMostCompared = 512;

  std::span<const UOp> first_, second_;
  size_t compared_ = 0;
  UOpMap<UOp> standsFor_; ///< ranges of the second -> of the first
  std::set<std::pair<uint32_t, uint32_t>>
      agreed_; ///< pairs that agree as long as these ranges stand for one another
};

} // namespace

UOpMap<UOp> matchRanges(UOp u, UOp v, std::span<const UOp> first, std::span<const UOp> second) {
  if (first.size() != second.size()) return {};
  RangeMatch match(first, second);
  if (!match.agree(u, v)) return {};
  UOpMap<UOp> found = match.take();
  return found.size() == second.size() ? found : UOpMap<UOp>();
}

} // namespace uopscope
