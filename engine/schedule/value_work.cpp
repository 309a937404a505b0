// Adds up the weights of an expression's operations.
#include "engine/schedule/value_work.h"

#include "engine/base/id_map.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"

#include <cmath>

namespace uopscope::sched {

namespace {

constexpr size_t kMostNodes = 4096; ///< a larger expression is never inlined

} // namespace

double weightOf(UOp u) {
  switch (u.op()) {
  case Op::CAST:
  case Op::NEG:
  case Op::BITCAST: return 1;
  case Op::RECIPROCAL:
  case Op::FDIV:
  case Op::SQRT:
  case Op::TRUNC: return 12;
  case Op::IDIV:
  case Op::MOD: return u.src(1).isConst() ? 12 : 40;
  case Op::EXP2:
  case Op::LOG2:
  case Op::SIN: return 60;
  case Op::POW: return 120;
  case Op::THREEFRY: return 400;
  default: return u.in(group::kAlu) ? 2 : 0;
  }
}

Work workOf(UOp root) {
  Work work;
  IdMap<bool> seen;
  std::vector<UOp> stack{root};
  size_t nodes = 0;
  while (!stack.empty()) {
    UOp u = stack.back();
    stack.pop_back();
    if (seen.contains(u.slot())) continue;
    seen.set(u.slot(), true);
    if (++nodes > kMostNodes) {
      work.tooLarge = true;
      return work;
    }
    double times = 1;
    bool inReduce = false;
    for (UOp r : u.ranges())
      if (r.axisType() == AxisType::Reduce) {
        times *= static_cast<double>(r.vmax() + 1);
        inReduce = true;
      }
    if (u.isConst() && u.dtype().isFloat()) work.isFilled |= std::isinf(u.arg().f());
    if (u.is(Op::INDEX)) {
      ++work.loads;
      work.isGated |= u.srcCount() > 1 && u.src(1).is(Op::WHERE);
      work.total += kLoad * times;
      bool isInner = u.src(0).is(Op::BUFFERIZE) && !hasMemory(u.src(0)); // in loops of this kernel
      work.reducesMemory |= inReduce;
      work.readsRow |= isInner;
      continue;
    }
    if (u.is(Op::BUFFERIZE) || u.dtype().kind() == Scalar::Index) continue;
    work.total += weightOf(u) * times;
    for (UOp s : u.src()) stack.push_back(s);
  }
  return work;
}

} // namespace uopscope::sched
