// Creates tensors from shapes, numbers and memory.
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/mapped_file.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace uopscope {

namespace {

std::string deviceOf(const TensorOptions& o) {
  return Device::canonicalize(o.device ? *o.device : Device::defaultName());
}

/// The element type of a tensor that is not created from data.
DType elementType(const TensorOptions& o, DType otherwise) {
  DType d = o.dtype.value_or(otherwise);
  if (d.count() > 1)
    fail(ErrorKind::Type,
         fmt::format("elements of a tensor are scalars: use {} and one more axis of {} instead of {}",
                     d.scalar().name(), d.count(), d.name()));
  return d;
}
/// The type of the data: the lanes of a vector type are consecutive elements of its scalar type.
DType dataType(const TensorOptions& o, DType otherwise) {
  return o.dtype.value_or(otherwise).scalar();
}

int64_t product(const Ints& shape) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  return n;
}

Shape toShape(const Ints& shape) {
  return Shape(shape.begin(), shape.end());
}

/// Writes element i of `to` in the representation of its type.
void storeElement(std::byte* to, DType d, double value) {
  auto put = [&](auto v) { std::memcpy(to, &v, sizeof v); };
  switch (d.kind()) {
  case Scalar::Bool: put(static_cast<uint8_t>(value != 0)); break;
  case Scalar::Float32: put(static_cast<float>(value)); break;
  case Scalar::Float64: put(value); break;
  case Scalar::Float16: put(dtypes::toHalf(value)); break;
  case Scalar::BFloat16: put(dtypes::toBFloat16(value)); break;
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: put(dtypes::toFp8(d, value)); break;
  default: {
    // Integers from 2^63 on also arrive as doubles; they wrap like all integers.
    int64_t whole = value >= 9223372036854775808.0 ? static_cast<int64_t>(static_cast<uint64_t>(value))
                                                   : static_cast<int64_t>(value);
    std::memcpy(to, &whole, static_cast<size_t>(d.itemsize()));
  }
  }
}

} // namespace

Tensor Tensor::scalar(ConstValue value, const TensorOptions& o, bool unique) {
  OperationScope op("Tensor");
  DType d = elementType(o, dtypeOf(value));
  std::string where = deviceOf(o);
  bool own = unique || o.requiresGrad.value_or(false);
  return fromUOp(own ? graph::uniqueConstant(d, value, where) : graph::constant(d, value, where),
                 o.requiresGrad);
}

Tensor Tensor::fromBytes(const void* bytes, const Ints& shape, DType dtype, const TensorOptions& o) {
  OperationScope op("Tensor");
  dtype = dtype.scalar();
  std::string where = deviceOf(o);
  if (splitDevices(where).size() > 1) {
    TensorOptions first = o;
    first.device = splitDevices(where)[0];
    return fromBytes(bytes, shape, dtype, first).to(where);
  }
  UOp buffer = newBuffer(where, dtype, product(shape));
  if (product(shape) > 0) {
    auto memory = Buffer::of(buffer);
    memory->allocate();
    memory->copyIn(bytes);
  }
  Tensor t = fromUOp(graph::reshape(buffer, toShape(shape)), o.requiresGrad);
  return t.cast(dataType(o, dtype));
}

Tensor Tensor::fromDoubles(const std::vector<double>& values, const Ints& shape, const TensorOptions& o) {
  DType d = dataType(o, dtypes::defaultFloat());
  if (static_cast<int64_t>(values.size()) != product(shape))
    fail(ErrorKind::Shape,
         fmt::format("{} values do not fill the shape {}", values.size(), shapeStr(toShape(shape))));
  std::vector<std::byte> bytes(values.size() * static_cast<size_t>(d.itemsize()));
  for (size_t i = 0; i < values.size(); ++i)
    storeElement(bytes.data() + i * static_cast<size_t>(d.itemsize()), d, values[i]);
  return fromBytes(bytes.data(), shape, d, o);
}

template <typename T>
Tensor Tensor::from(const std::vector<T>& values, const Ints& shape, const TensorOptions& o) {
  if (static_cast<int64_t>(values.size()) != product(shape))
    fail(ErrorKind::Shape,
         fmt::format("{} values do not fill the shape {}", values.size(), shapeStr(toShape(shape))));
  DType d = std::is_same_v<T, float>     ? dtypes::float32
            : std::is_same_v<T, double>  ? dtypes::float64
            : std::is_same_v<T, int32_t> ? dtypes::int32
                                         : dtypes::int64;
  return fromBytes(values.data(), shape, d, o);
}
template Tensor Tensor::from<float>(const std::vector<float>&, const Ints&, const TensorOptions&);
template Tensor Tensor::from<double>(const std::vector<double>&, const Ints&, const TensorOptions&);
template Tensor Tensor::from<int32_t>(const std::vector<int32_t>&, const Ints&, const TensorOptions&);
template Tensor Tensor::from<int64_t>(const std::vector<int64_t>&, const Ints&, const TensorOptions&);

Tensor Tensor::empty(const Shape& shape, const TensorOptions& o) {
  OperationScope op("empty");
  for (const Sint& s : shape)
    if (s.vmin() < 0)
      fail(ErrorKind::Shape, fmt::format("shape can't contain negative numbers {}", shapeStr(shape)));
  // A symbolic axis gets room for its largest value.
  int64_t size = graph::roomFor(shape);
  DType d = elementType(o, dtypes::defaultFloat());
  std::string where = deviceOf(o);
  if (splitDevices(where).size() > 1) { // one on each device
    std::vector<UOp> each;
    TensorOptions one = o;
    for (const std::string& name : splitDevices(where)) {
      one.device = name;
      each.push_back(empty(shape, one).uop());
    }
    return fromUOp(UOp::make(Op::MULTI, d, {UOp::make(Op::MSTACK, d, each)}), o.requiresGrad);
  }
  UOp buffer = newBuffer(where, d, size);
  if (isFileDevice(where)) {
    int64_t bytes = size * buffer.dtype().itemsize();
    Buffer::bind(buffer, Buffer::view(createFile(filePath(where), bytes), buffer.dtype(), size, 0));
  }
  UOp part = graph::shrink(buffer, {{Sint(0), uopscope::prod(shape)}});
  return fromUOp(graph::reshape(part, shape), o.requiresGrad);
}

Tensor Tensor::full(const Shape& shape, ConstValue value, const TensorOptions& o) {
  OperationScope op("full");
  for (const Sint& s : shape)
    if (s.vmin() < 0 && !graph::isInt(s, -1)) // -1 keeps the length of the expanded axis, as in expand()
      fail(ErrorKind::Shape, fmt::format("shape can't contain negative numbers {}", shapeStr(shape)));
  Tensor made = scalar(value, o, true).reshape(Shape(shape.size(), Sint(1))).expand(shape);
  made.state_->leaveNames(); // its EXPAND is the tensor's own, no view of the number
  return made;
}

Tensor Tensor::zeros(const Shape& shape, const TensorOptions& o) {
  OperationScope op("zeros");
  return full(shape, ConstValue::ofFloat(0), o);
}

Tensor Tensor::ones(const Shape& shape, const TensorOptions& o) {
  OperationScope op("ones");
  return full(shape, ConstValue::ofFloat(1), o);
}

Tensor Tensor::fullLike(ConstValue value, TensorOptions o) const {
  OperationScope op("full_like");
  if (!o.dtype) o.dtype = dtype();
  if (!o.device) o.device = device();
  Tensor filled = full(shape(), value, o);
  return shardAxis() && *o.device == device() ? filled.shardLike(*this) : filled;
}

Tensor Tensor::arange(ConstValue start, ConstValue stop, ConstValue step, const TensorOptions& o) {
  OperationScope op("arange");
  bool real = start.kind == ConstValue::Kind::Float || stop.kind == ConstValue::Kind::Float ||
              step.kind == ConstValue::Kind::Float;
  DType d = o.dtype.value_or(real ? dtypes::defaultFloat() : dtypes::defaultInt());
  if (step.asDouble() == 0) fail(ErrorKind::Value, "step must not be zero");
  if (d.isInt() && !real) {
    bool low = d.isUnsigned() ? start.i < 0 : start.i < dtypes::minInt(d);
    int64_t last = stop.i - step.i;
    bool high = d.isUnsigned() ? last > 0 && static_cast<uint64_t>(last) > dtypes::maxInt(d)
                               : last > static_cast<int64_t>(dtypes::maxInt(d));
    if (low || high)
      fail(ErrorKind::Value,
           fmt::format("arange [{}, {}) is not representable in dtype {}", start.i, stop.i, d.name()));
  }
  int64_t n = real ? static_cast<int64_t>(std::ceil((stop.asDouble() - start.asDouble()) / step.asDouble()))
                   : ceilDiv(stop.i - start.i, step.i);
  TensorOptions typed = o;
  typed.dtype = d;
  if (n <= 0) return fromDoubles({}, {0}, typed);
  // The windows of n numbers have about 2 n * n elements, which 64 bits have to count.
  constexpr int64_t kMostSummed = int64_t{1} << 30, kRow = int64_t{1} << 20;
  if (n > kMostSummed) {
    TensorOptions counting = o;
    counting.dtype = d.isFloat() ? dtypes::int64 : d;
    Tensor rows = arange(ceilDiv(n, kRow), counting).mul(Operand(kRow)).unsqueeze(1);
    Tensor at = rows.add(arange(kRow, counting)).flatten().shrinkTo({Sint(n)});
    return at.cast(d).mul(Operand(step)).add(Operand(start)).cast(d);
  }
  ConstValue offset =
      real ? ConstValue::ofFloat(start.asDouble() - step.asDouble()) : ConstValue::ofInt(start.i - step.i);
  // Window i of the steps behind n - 1 zeros holds i + 1 of them.
  Tensor windows = full({Sint(n)}, step, typed).pad({{Sint(n - 1), 0}}).pool({n}, {1}, {1});
  return windows.sum(Ints{-1}).add(offset).cast(d);
}

Tensor Tensor::arange(int64_t n, const TensorOptions& o) {
  return arange(ConstValue::ofInt(0), ConstValue::ofInt(n), ConstValue::ofInt(1), o);
}

Tensor Tensor::linspace(double start, double stop, int64_t steps, const TensorOptions& o) {
  OperationScope op("linspace");
  if (steps < 0) fail(ErrorKind::Value, "number of steps must be non-negative");
  DType d = o.dtype.value_or(dtypes::defaultFloat());
  if (d.isBool()) fail(ErrorKind::Value, "linspace with bool dtype is not supported");
  TensorOptions typed = o;
  typed.dtype = d;
  if (steps == 1) return fromDoubles({start}, {1}, typed);
  TensorOptions counting = o;
  counting.dtype.reset();
  return arange(steps, counting)
      .mul(Operand((stop - start) / static_cast<double>(steps - 1)))
      .add(Operand(start), true)
      .cast(d);
}

Tensor Tensor::eye(int64_t n, std::optional<int64_t> m, const TensorOptions& o) {
  OperationScope op("eye");
  int64_t columns = m.value_or(n);
  if (n < 0 || columns < 0)
    fail(ErrorKind::Value, fmt::format("cannot have negative n={}, m={}", n, columns));
  TensorOptions where{o.device, {}, {}};
  Tensor t = arange(n, where)
                 .unsqueeze(-1)
                 .eq(arange(columns, where))
                 .cast(o.dtype.value_or(dtypes::defaultFloat()));
  return o.requiresGrad ? t.setRequiresGrad(o.requiresGrad) : t;
}

} // namespace uopscope
