// Operands that a product reads in steps. Neighbouring lanes lie apart in memory there, and the rows that are read fill the nearest
// cache with what nobody needs. Stored side by side first, the operand is read as any other.
//
//   conv2d(x, w, stride=2) of 256 x 56 x 56 by 512 filters of 1x1      in one kernel 1.16 ms, x[:, :, ::2, ::2] stored first 0.47
#include "engine/rules/algebra.h"
#include "engine/rules/movement_index.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"

namespace uopscope::sched {

namespace {

/// How far two places of a value lie apart in its memory.
int64_t distanceOf(const std::vector<UOp>& at, const Shape& shape, const UOpMap<UOp>& first,
                   const UOpMap<UOp>& second) {
  int64_t distance = 0;
  for (size_t k = 0; k < at.size(); ++k)
    distance = distance * shape[k].i() + constantOf(at[k].substitute(second)).value_or(0) -
               constantOf(at[k].substitute(first)).value_or(0);
  return distance;
}

/// The value below the first EXPAND of an operand if it is read in steps along the rows of what it is a part of, as the input of a
/// convolution of 1x1 with a stride is; null for other operands.
UOp readInSteps(UOp operand) {
  while (operand.in(group::kMovement) && !operand.is(Op::EXPAND)) operand = operand.src(0);
  if (!operand.is(Op::EXPAND)) return {};
  const UOp value = operand.src(0), base = baseOf(value);
  if (base == value || !allInt(base.shape()) || 2 * elementCount(value.shape()) > elementCount(base.shape()))
    return {};
  std::vector<UOp> at = loopsOver(value.shape());
  for (UOp u = value; u != base; u = u.src(0)) {
    // x[::3] pads x to whole steps, and reads nothing of that.
    if (UOp inside = u.is(Op::PAD) ? padValid(u, at) : UOp(); inside && !simplify(inside).isConst(1))
      return {};
    at = movementIndices(u, at);
  }
  for (size_t k = 0; k < at.size(); ++k) at[k] = ungate(at[k]).index;
  const auto places = UOp::sink(at).ranges();
  // Neighbours along a loop lie side by side if memory has nothing between them.
  for (UOp loop : places) {
    UOpMap<UOp> first, second;
    for (UOp r : places) first[r] = second[r] = UOp::index(0);
    second[loop] = UOp::index(1);
    if (distanceOf(at, base.shape(), first, second) == 1) return {};
  }
  return value;
}

} // namespace

UOp withStoredOperand(UOp r) {
  const UOp term = r.src(0);
  if (r.arg().as<ReduceArg>().op != Op::ADD || !term.is(Op::MUL) || !allInt(term.shape()) ||
      !isProcessor(r.device()))
    return {};
  const double iterations = elementCount(term.shape());
  for (size_t side = 0; side < 2; ++side) {
    const UOp value = readInSteps(term.src(side));
    if (!value) continue;
    const double stored = elementCount(value.shape()) * (kStore + kLoad) + kKernel,
                 apart = iterations * kStridedOperand;
    if (apart <= stored) continue;
    because([&] {
      return Decision{
          "it is stored: a product reads it in steps", stored, kPriceUnit, {{"read in steps", apart}}};
    });
    const UOp together = UOp::make(Op::CONTIGUOUS, value.dtype(), {value});
    std::vector<UOp> operands(term.src().begin(), term.src().end());
    operands[side] = operands[side].substitute({{value, together}});
    return r.withSrc({term.withSrc(operands)});
  }
  return {};
}

} // namespace uopscope::sched
