// Index transformations of movement operations. They fold at once, which keeps expressions small before any
// rule runs.
#include "engine/rules/movement_index.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <numeric>

namespace uopscope {

namespace {

bool isOne(const Sint& s) {
  return s.isInt() && s.i() == 1;
}

UOp plus(UOp a, const Sint& b) {
  if (b.isInt()) {
    if (b.i() == 0) return a;
    if (a.isConst() && a.arg().kind() == ArgKind::Int) return UOp::index(a.arg().i() + b.i());
  }
  return a + b.uop();
}
UOp plus(UOp a, UOp b) {
  if (a.isConst(0)) return b;
  return plus(a, Sint(b));
}
/// Whether it is a constant with a number; Invalid has none.
bool isWhole(UOp a) {
  return a.isConst() && a.arg().kind() == ArgKind::Int;
}
UOp times(UOp a, const Sint& b) {
  if (a.isConst(0) || isOne(b)) return a;
  if (isWhole(a) && b.isInt()) return UOp::index(a.arg().i() * b.i());
  return a * b.uop();
}
/// Whether an axis is empty: it then has no element with an index.
bool isNone(const Sint& b) {
  return b.isInt() && b.i() == 0;
}
bool liesWithin(UOp a, const Sint& b) {
  return a.vmin() >= 0 && a.vmax() < b.vmin();
}
UOp quotient(UOp a, const Sint& b) {
  if (isOne(b)) return a;
  if (isNone(b)) return UOp::index(0);
  if (liesWithin(a, b)) return UOp::index(0);
  if (isWhole(a) && b.isInt() && a.arg().i() >= 0) return UOp::index(a.arg().i() / b.i());
  return a / b.uop();
}
UOp remainder(UOp a, const Sint& b) {
  if (isOne(b) || isNone(b)) return UOp::index(0);
  if (liesWithin(a, b)) return a;
  if (isWhole(a) && b.isInt() && a.arg().i() >= 0) return UOp::index(a.arg().i() % b.i());
  return a % b.uop();
}

/// Converts the indices of a run of axes into indices of a run with different axes and equally many elements.
void reindexBlock(std::span<const Sint> to, std::span<const UOp> indices, std::span<const Sint> from,
                  std::span<UOp> out) {
  if (to.size() == 1 && from.size() == 1) {
    out[0] = indices[0];
    return;
  }
  UOp flat = flatIndex(to, indices);
  auto [rest, valid] = ungate(flat);
  for (size_t k = from.size(); k-- > 1;) {
    out[k] = gated(remainder(rest, from[k]), valid);
    rest = quotient(rest, from[k]);
  }
  if (!from.empty()) out[0] = gated(rest, valid);
}

/// RESHAPE: runs of axes with equal products are converted separately, so unrelated axes never occur in one
/// division.
std::vector<UOp> reshapeIndices(const Shape& to, std::span<const UOp> indices, const Shape& from) {
  std::vector<UOp> out(from.size(), UOp::index(0));
  Shape toDims, fromDims;
  std::vector<UOp> toIndices;
  std::vector<size_t> fromAxes;
  for (size_t i = 0; i < to.size(); ++i)
    if (!isOne(to[i])) {
      toDims.push_back(to[i]);
      toIndices.push_back(indices[i]);
    }
  for (size_t i = 0; i < from.size(); ++i)
    if (!isOne(from[i])) {
      fromDims.push_back(from[i]);
      fromAxes.push_back(i);
    }
  for (size_t t = 0, f = 0; t < toDims.size() && f < fromDims.size();) {
    size_t tEnd = t + 1, fEnd = f + 1;
    Sint pt = toDims[t], pf = fromDims[f];
    while (!(pt == pf)) {
      bool numbers = pt.isInt() && pf.isInt();
      if (numbers && pt.i() < pf.i() && tEnd < toDims.size()) {
        pt = pt * toDims[tEnd++];
      } else if (numbers && pf.i() < pt.i() && fEnd < fromDims.size()) {
        pf = pf * fromDims[fEnd++];
      } else {
        tEnd = toDims.size();
        fEnd = fromDims.size();
        break;
      }
    }
    std::vector<UOp> block(fEnd - f);
    reindexBlock(std::span(toDims).subspan(t, tEnd - t), std::span(toIndices).subspan(t, tEnd - t),
                 std::span(fromDims).subspan(f, fEnd - f), block);
    for (size_t k = 0; k < block.size(); ++k) out[fromAxes[f + k]] = block[k];
    t = tEnd;
    f = fEnd;
  }
  return out;
}

UOp axisValid(UOp index, const Sint& before, const Sint& after, const Sint& length) {
  UOp i = ungate(index).index, valid;
  if (!(before.isInt() && before.i() == 0) && i.vmin() < before.vmax()) valid = i >= before.uop();
  if (!(after.isInt() && after.i() == 0) && i.vmax() >= (length + before).vmin())
    valid = allOf(valid, i < (length + before).uop());
  return valid;
}

} // namespace

GatedIndex ungate(UOp index) {
  if (index.is(Op::WHERE) && index.src(2).isInvalidConst()) return {index.src(1), index.src(0)};
  return {index, {}};
}

UOp gated(UOp index, UOp valid) {
  if (!valid || valid.isConst(1)) return index;
  GatedIndex inner = ungate(index);
  return inner.index.validWhere(allOf(inner.valid, valid));
}

UOp allOf(UOp a, UOp b) {
  if (!a || a.isConst(1)) return b;
  if (!b || b.isConst(1) || a == b) return a;
  // A conjunction is a chain along the left source, so the clauses of b are appended one by one.
  if (b.is(Op::AND)) return allOf(allOf(a, b.src(0)), b.src(1));
  for (UOp chain = a; chain.is(Op::AND); chain = chain.src(0))
    if (chain.src(1) == b || chain.src(0) == b) return a;
  return a & b;
}

UOp flatIndex(std::span<const Sint> shape, std::span<const UOp> indices) {
  UOp flat = UOp::index(0), valid;
  Sint stride = 1;
  for (size_t k = shape.size(); k-- > 0;) {
    GatedIndex g = ungate(indices[k]);
    valid = allOf(valid, g.valid);
    flat = plus(times(g.index, stride), flat);
    if (k) stride = stride * shape[k];
  }
  return gated(flat, valid);
}

UOp padValid(UOp pad, std::span<const UOp> indices) {
  const Shape& from = pad.src(0).shape();
  Shape before = uopToShape(pad.src(1)), after = uopToShape(pad.src(2));
  UOp valid;
  for (size_t k = 0; k < from.size(); ++k)
    valid = allOf(valid, axisValid(indices[k], before[k], after[k], from[k]));
  return valid;
}

std::vector<UOp> movementIndices(UOp movement, std::span<const UOp> indices) {
  const Shape& from = movement.src(0).shape();
  if (movement.is(Op::RESHAPE)) return reshapeIndices(movement.shape(), indices, from);
  std::vector<UOp> out(from.size());
  switch (movement.op()) {
  case Op::PERMUTE: {
    const auto& order = movement.arg().ints();
    for (size_t k = 0; k < out.size(); ++k) out[static_cast<size_t>(order[k])] = indices[k];
    return out;
  }
  case Op::EXPAND: {
    const Shape& to = movement.shape();
    for (size_t k = 0; k < out.size(); ++k) out[k] = from[k] == to[k] ? indices[k] : UOp::index(0);
    return out;
  }
  case Op::SHRINK: {
    Shape begin = uopToShape(movement.src(1));
    for (size_t k = 0; k < out.size(); ++k) {
      GatedIndex g = ungate(indices[k]);
      out[k] = gated(plus(g.index, begin[k]), g.valid);
    }
    return out;
  }
  case Op::FLIP: {
    const auto& flags = movement.arg().ints();
    for (size_t k = 0; k < out.size(); ++k) {
      GatedIndex g = ungate(indices[k]);
      out[k] = flags[k] ? gated(plus(times(g.index, Sint(-1)), from[k] - Sint(1)), g.valid) : indices[k];
    }
    return out;
  }
  case Op::PAD: {
    Shape before = uopToShape(movement.src(1)), after = uopToShape(movement.src(2));
    for (size_t k = 0; k < out.size(); ++k) {
      if (from[k].isInt() && from[k].i() == 1) { // the same for all that asks
        out[k] = UOp::index(0);
        continue;
      }
      GatedIndex g = ungate(indices[k]);
      UOp valid = allOf(g.valid, axisValid(g.index, before[k], after[k], from[k]));
      out[k] = gated(plus(g.index, Sint(0) - before[k]), valid);
    }
    return out;
  }
  default:
    throw Error(ErrorKind::Rewrite, fmt::format("{} is no movement operation: it has no index transformation",
                                                opName(movement.op())));
  }
}

std::vector<UOp> loopsOver(const Shape& shape) {
  std::vector<UOp> loops;
  for (size_t k = 0; k < shape.size(); ++k) {
    bool one = shape[k].isInt() && shape[k].i() == 1;
    loops.push_back(one ? UOp::index(0)
                        : UOp::range(shape[k].uop(), {static_cast<int64_t>(k)}, AxisType::Placeholder));
  }
  return loops;
}
} // namespace uopscope
