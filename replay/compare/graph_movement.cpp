// Follows an element of a tensor through movement operations, and through a value that the schedule stores, to the
// element that it is read from.
//
//   TensorIndex at{2, 0};                       // of x.permute((1, 0))
//   if (throughMovement(u, at)) valueAt(u.src(0), at);   // at is {0, 2}; false: padding
#include "engine/uop/sint.h"
#include "replay/compare/graph_values.h"

#include <algorithm>

namespace uopscope {

TensorIndex GraphValues::numbers(UOp shape) {
  TensorIndex out;
  for (const Sint& s : uopToShape(shape)) out.push_back(s.isInt() ? s.i() : value(s.uop()).front().i);
  return out;
}
TensorIndex GraphValues::shapeOf(UOp tensor) {
  TensorIndex out;
  for (const Sint& s : tensor.shape()) out.push_back(s.isInt() ? s.i() : value(s.uop()).front().i);
  return out;
}

bool GraphValues::throughMovement(UOp u, TensorIndex& at) {
  if (!u.is(Op::RESHAPE) && at.size() != shapeOf(u.src(0)).size()) cannotEvaluate("a tensor of another rank");
  switch (u.op()) {
  case Op::RESHAPE: {
    const TensorIndex to = numbers(u.src(1)), from = shapeOf(u.src(0));
    if (at.size() != to.size()) cannotEvaluate("a tensor of another rank");
    int64_t flat = 0;
    for (size_t k = 0; k < to.size(); ++k) flat = flat * to[k] + at[k];
    at.assign(from.size(), 0);
    for (size_t k = from.size(); k-- > 0;) {
      at[k] = from[k] ? flat % from[k] : 0;
      flat = from[k] ? flat / from[k] : 0;
    }
    break;
  }
  case Op::EXPAND: {
    const TensorIndex from = shapeOf(u.src(0));
    for (size_t k = 0; k < at.size() && k < from.size(); ++k)
      if (from[k] == 1) at[k] = 0;
    break;
  }
  case Op::PERMUTE: {
    const auto& order = u.arg().ints();
    const TensorIndex result = at;
    for (size_t k = 0; k < order.size() && k < result.size(); ++k) {
      if (order[k] < 0 || static_cast<size_t>(order[k]) >= at.size())
        cannotEvaluate("an axis that is not there");
      at[static_cast<size_t>(order[k])] = result[k];
    }
    break;
  }
  case Op::FLIP: {
    const TensorIndex from = shapeOf(u.src(0));
    for (size_t k = 0; k < std::min(at.size(), u.arg().ints().size()); ++k)
      if (u.arg().ints()[k]) at[k] = from[k] - 1 - at[k];
    break;
  }
  case Op::SHRINK: {
    const TensorIndex first = numbers(u.src(1));
    if (first.size() != at.size()) cannotEvaluate("a tensor of another rank");
    for (size_t k = 0; k < at.size(); ++k) at[k] += first[k];
    break;
  }
  default: { // PAD
    const TensorIndex before = numbers(u.src(1)), from = shapeOf(u.src(0));
    if (before.size() != at.size()) cannotEvaluate("a tensor of another rank");
    for (size_t k = 0; k < at.size(); ++k) {
      at[k] -= before[k];
      if (at[k] < 0 || at[k] >= from[k]) return false;
    }
  }
  }
  return true;
}

Lanes GraphValues::bufferizedAt(UOp b, const TensorIndex& index) {
  std::vector<std::pair<uint32_t, std::optional<int64_t>>> before;
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): `index` may refer to this->index
  const TensorIndex at = index;
  if (at.size() + 1 != b.srcCount()) cannotEvaluate("a stored value of another rank");
  for (size_t k = 0; k < at.size(); ++k)
    if (const UOp r = b.src(k + 1); r.is(Op::RANGE)) {
      const uint32_t key = ctx_.variables.keyOfRange(r);
      before.emplace_back(key, get(key));
      set(key, at[k]);
    } else if (!r.isConst()) {
      cannotEvaluate("a value stored over an expression");
    }
  Lanes out = valueAt(b.src(0), at);
  for (size_t k = before.size(); k-- > 0;)
    if (before[k].second)
      set(before[k].first, *before[k].second);
    else
      unset(before[k].first);
  return out;
}

} // namespace uopscope
