// Walks two graphs side by side. Names of loops may differ, one for one; everything else must be equal.
#include "engine/uop/facts.h"
#include "replay/compare/rewrite_check.h"

namespace uopscope {

bool sameStructure(UOp before, UOp after) {
  UOpMap<UOp> to, from;
  std::vector<std::pair<UOp, UOp>> stack{{before, after}};
  while (!stack.empty()) {
    const auto [a, b] = stack.back();
    stack.pop_back();
    if (const auto it = to.find(a); it != to.end()) {
      if (it->second != b) return false;
      continue;
    }
    if (a.op() != b.op() || a.dtype() != b.dtype() || a.srcCount() != b.srcCount()) return false;
    const bool named = a.is(Op::RANGE) || (a.is(Op::SINK) && a.arg().kind() != ArgKind::None);
    if (a.arg() != b.arg() && !named) return false;
    if (a.is(Op::RANGE) && a != b) {
      const auto& x = a.arg().as<RangeArg>();
      const auto& y = b.arg().as<RangeArg>();
      if (x.type != y.type) return false;
    }
    if (!from.try_emplace(b, a).second) return false;
    to.emplace(a, b);
    for (size_t i = 0; i < a.srcCount(); ++i) stack.emplace_back(a.src(i), b.src(i));
  }
  return true;
}

} // namespace uopscope
