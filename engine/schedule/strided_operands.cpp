// Operands that a product reads in steps, or in pieces. Neighbouring lanes lie apart in memory there, and the rows that are read fill
// the nearest cache with what nobody needs; or the terms of a result come a line from here and a line from there, and each waits
// for memory. Stored side by side first, the operand is read as any other.
//
//   conv2d(x, w, stride=2) of 256 x 56 x 56 by 512 filters of 1x1      in one kernel 1.16 ms, x[:, :, ::2, ::2] stored first 0.47
//   conv2d(x, w, stride=16) of 8 x 3 x 224 x 224 by 384 patches        in one kernel 10 to 40 ms, its patches stored first 8
#include "engine/rules/algebra.h"
#include "engine/rules/movement_index.h"
#include "engine/schedule/operand_places.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"

namespace uopscope::sched {

namespace {

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

/// How many terms of one result lie side by side; 0 if no neighbours are terms.
int64_t runOf(const std::vector<int64_t>& distances, const Shape& shape, const std::vector<int64_t>& terms) {
  int64_t run = 1;
  for (bool grows = true; grows;) {
    grows = false;
    for (int64_t t : terms) {
      const auto axis = static_cast<size_t>(t);
      if (distances[axis] != run || shape[axis].i() == 1) continue;
      run *= shape[axis].i();
      grows = true;
    }
  }
  return run == 1 ? 0 : run;
}

/// The value below the first EXPAND of an operand if its terms lie in short pieces in memory, and would not if it were stored in its
/// own order, as the patches of a picture; null for other operands.
UOp readInPieces(UOp operand, const std::vector<int64_t>& terms) {
  constexpr double kFewElements = 1 << 18; // near caches hold them
  constexpr int64_t kShortPiece = 64, kLonger = 4;
  UOp above = operand;
  while (above.in(group::kMovement) && !above.is(Op::EXPAND)) above = above.src(0);
  if (!above.is(Op::EXPAND)) return {};
  const UOp value = above.src(0), base = baseOf(value);
  if (base == value || !allInt(base.shape()) || elementCount(value.shape()) != elementCount(base.shape()) ||
      elementCount(base.shape()) < kFewElements)
    return {};
  for (UOp u = operand; u != base; u = u.src(0))
    if (!u.in({Op::RESHAPE, Op::PERMUTE, Op::EXPAND})) return {};
  const int64_t pieces = runOf(distancesIn(base, operand), operand.shape(), terms);
  if (!pieces || pieces > kShortPiece) return {};
  return runOf(distancesIn(value, operand), operand.shape(), terms) >= kLonger * pieces ? value : UOp();
}

} // namespace

UOp withStoredOperand(UOp r) {
  const UOp term = r.src(0);
  if (r.arg().as<ReduceArg>().op != Op::ADD || !term.is(Op::MUL) || !allInt(term.shape()) ||
      !isProcessor(r.device()))
    return {};
  const double iterations = elementCount(term.shape());
  for (size_t side = 0; side < 2; ++side) {
    UOp value = readInSteps(term.src(side));
    const bool isInSteps = static_cast<bool>(value);
    if (!isInSteps) value = readInPieces(term.src(side), r.arg().as<ReduceArg>().axes);
    if (!value) continue;
    const double stored = elementCount(value.shape()) * (kStore + kLoad) + kKernel,
                 apart = iterations * kStridedOperand;
    if (apart <= stored) continue;
    because([&] {
      const std::string how = isInSteps ? "in steps" : "in pieces";
      return Decision{
          "it is stored: a product reads it " + how, stored, kPriceUnit, {{"read " + how, apart}}};
    });
    const UOp together = UOp::make(Op::CONTIGUOUS, value.dtype(), {value});
    std::vector<UOp> operands(term.src().begin(), term.src().end());
    operands[side] = operands[side].substitute({{value, together}});
    return r.withSrc({term.withSrc(operands)});
  }
  return {};
}

} // namespace uopscope::sched
