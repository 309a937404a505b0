// The evaluation of each tensor operation, element by element.
#include "engine/prove/tensor_values.h"

#include "engine/base/error.h"
#include "engine/codegen/reduce.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "engine/uop/eval.h"
#include "engine/uop/sint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace uopscope::prove {

namespace {

using Places = std::vector<int64_t>;

Places numbersOf(std::span<const Sint> shape) {
  Places out;
  for (const Sint& s : shape) {
    if (!s.isInt()) throw Error(ErrorKind::Unsupported, "a shape that is no number");
    out.push_back(s.i());
  }
  return out;
}
size_t countOf(const Places& shape) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  return static_cast<size_t>(n);
}
/// Calls f(place, element) for each element of the shape in row-major order.
template <typename F>
void eachElement(const Places& shape, F f) {
  Places at(shape.size(), 0);
  for (size_t n = 0, all = countOf(shape); n < all; ++n) {
    f(at, n);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++at[i] < shape[i]) break;
      at[i] = 0;
    }
  }
}
/// The position in row-major order; -1 if it is outside of the shape.
int64_t flat(const Places& shape, const Places& at) {
  int64_t n = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (at[i] < 0 || at[i] >= shape[i]) return -1;
    n = n * shape[i] + at[i];
  }
  return n;
}

TensorValues::Values contentsOf(UOp buffer) {
  std::shared_ptr<Buffer> b = Buffer::of(buffer);
  DType d = b->dtype().scalar();
  std::vector<std::byte> bytes(b->bytes());
  b->copyOut(bytes.data());
  auto width = static_cast<size_t>(d.itemsize());
  DType holder = width == 1   ? dtypes::uint8
                 : width == 2 ? dtypes::uint16
                 : width == 4 ? dtypes::uint32
                              : dtypes::uint64;
  TensorValues::Values out;
  for (size_t i = 0; i < static_cast<size_t>(b->size()); ++i) {
    int64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * width, width);
    out.push_back(d.isBool() ? ConstValue::ofBool(bits != 0)
                             : evalAlu(Op::BITCAST, d, holder, {ConstValue::ofInt(bits)}));
  }
  return out;
}

} // namespace

const TensorValues::Values& TensorValues::of(UOp root) {
  for (UOp u : root.toposort([&](UOp n) { return !known_.contains(n) && !n.is(Op::BUFFER); }))
    if (!known_.contains(u) && u.hasShape() && !u.in({Op::DEVICE, Op::UNIQUE}) &&
        (u.dtype().kind() != Scalar::Index || u == root))
      known_[u] = compute(u);
  if (!known_.contains(root)) known_[root] = compute(root);
  return known_.at(root);
}

TensorValues::Values TensorValues::compute(UOp u) {
  if (u.in({Op::BUFFER, Op::BUFFER_VIEW})) return contentsOf(u);
  if (u.is(Op::CONST)) return Values(countOf(numbersOf(u.shape())), u.constValue());
  if (u.in({Op::CONTIGUOUS, Op::CONTIGUOUS_BACKWARD, Op::DETACH, Op::COPY, Op::NOOP})) return of(u.src(0));
  if (u.is(Op::ASSIGN)) return of(u.src(1));
  if (u.in(group::kMovement)) return moved(u);
  if (u.is(Op::REDUCE_AXIS)) return reduced(u);
  if (u.in(group::kElementwise)) return elementwise(u);
  throw Error(ErrorKind::Unsupported, fmt::format("{} has no value of its own", opName(u.op())));
}

TensorValues::Values TensorValues::moved(UOp u) {
  const Values& from = of(u.src(0));
  if (u.is(Op::RESHAPE)) return from;
  Places to = numbersOf(u.shape()), shape = numbersOf(u.src(0).shape()), shift(shape.size(), 0);
  if (u.in({Op::PAD, Op::SHRINK})) shift = numbersOf(uopToShape(u.src(1)));
  Values out(countOf(to), convertConst(u.dtype(), ConstValue::ofInt(0)));
  Places at(shape.size());
  eachElement(to, [&](const Places& place, size_t n) {
    for (size_t i = 0; i < place.size(); ++i) {
      if (u.is(Op::PERMUTE))
        at[static_cast<size_t>(u.arg().ints()[i])] = place[i];
      else if (u.is(Op::EXPAND))
        at[i] = shape[i] == 1 ? 0 : place[i];
      else if (u.is(Op::FLIP))
        at[i] = u.arg().ints()[i] ? shape[i] - 1 - place[i] : place[i];
      else
        at[i] = u.is(Op::PAD) ? place[i] - shift[i] : place[i] + shift[i];
    }
    if (int64_t k = flat(shape, at); k >= 0) out[n] = from[static_cast<size_t>(k)];
  });
  return out;
}

TensorValues::Values TensorValues::reduced(UOp u) {
  const auto& reduce = u.arg().as<ReduceArg>();
  const Values& from = of(u.src(0));
  Places to = numbersOf(u.shape()), shape = numbersOf(u.src(0).shape());
  Values out(countOf(to), identityElement(reduce.op, u.dtype()).constValue());
  eachElement(shape, [&](const Places& place, size_t n) {
    Places at = place;
    for (int64_t axis : reduce.axes) at[static_cast<size_t>(axis)] = 0;
    ConstValue& sum = out[static_cast<size_t>(flat(to, at))];
    sum = evalAlu(reduce.op, u.dtype(), u.dtype(), {sum, from[n]});
  });
  return out;
}

TensorValues::Values TensorValues::elementwise(UOp u) {
  size_t n = countOf(numbersOf(u.shape()));
  std::array<const Values*, 3> from{};
  for (size_t i = 0; i < u.srcCount(); ++i) from[i] = &of(u.src(i));
  for (size_t i = 0; i < u.srcCount(); ++i)
    if (from[i]->size() != n) throw Error(ErrorKind::Unsupported, "a conversion that changes the shape");
  DType operand = u.src(u.is(Op::WHERE) ? 1 : 0).dtype();
  Values out(n);
  std::array<ConstValue, 3> v;
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < u.srcCount(); ++i) v[i] = (*from[i])[k];
    out[k] = evalAlu(u.op(), u.dtype(), operand, std::span(v.data(), u.srcCount()));
  }
  return out;
}

} // namespace uopscope::prove
