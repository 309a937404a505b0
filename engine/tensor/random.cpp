// Counter-based random numbers: Threefry of (key, counter), so a seed gives the same stream on every device
// and in every run. The position of a call in the stream is counted here and written into a buffer of one
// element. The graph of a step therefore does not depend on the number of earlier steps, and tensors keep
// their numbers in whatever order they are realized.
#include "engine/base/engine_session.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/run_capture.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/random_streams.h"
#include "engine/tensor/sha256.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"
#include "engine/uop/threefry.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <map>
#include <numbers>

namespace uopscope {

namespace {

struct Stream {
  Tensor key;
  uint32_t drawn = 0; ///< number of words drawn so far
};
struct Generator {
  int64_t seed = static_cast<int64_t>(std::time(nullptr));
  std::map<std::string, std::shared_ptr<Stream>> streams;

  Generator() {
    tensorPool(); // made first, so that it outlives the tensors of the streams
    tensorClock();
  }
};
Generator& generator() {
  return EngineSession::current().part<Generator>();
}

/// Explicit mantissa bits of a float type.
int64_t mantissaBits(DType d) {
  switch (d.kind()) {
  case Scalar::Float64: return 52;
  case Scalar::Float32: return 23;
  case Scalar::Float16: return 10;
  case Scalar::BFloat16: return 7;
  case Scalar::Fp8E4M3: return 3;
  default: return 2;
  }
}

DType bitsType(DType d) {
  switch (d.itemsize()) {
  case 1: return dtypes::uint8;
  case 2: return dtypes::uint16;
  case 4: return dtypes::uint32;
  default: return dtypes::uint64;
  }
}

Tensor first(const Tensor& t, int64_t n) {
  return t.shrink({{{Sint(0), Sint(n)}}});
}

/// A stream for the n-th device. Its key is the low word of a hash of n, and the seed.
std::shared_ptr<Stream> newStream(const std::string& device, int64_t seed, uint32_t ordinal) {
  uint8_t number[4] = {static_cast<uint8_t>(ordinal >> 24), static_cast<uint8_t>(ordinal >> 16),
                       static_cast<uint8_t>(ordinal >> 8), static_cast<uint8_t>(ordinal)};
  auto digest = sha256(number);
  uint32_t key[2] = {static_cast<uint32_t>(digest[28]) << 24 | static_cast<uint32_t>(digest[29]) << 16 |
                         static_cast<uint32_t>(digest[30]) << 8 | digest[31],
                     static_cast<uint32_t>(seed)};
  return std::make_shared<Stream>(Stream{Tensor::fromBytes(key, {2}, dtypes::uint32, {device, {}, false})});
}

bool computesOn(const std::string& device, DType d) {
  const Target& target = Device::get(splitDevices(device)[0]).renderer().target();
  return !target.supportsDtype || target.supportsDtype(d);
}

struct TensorWords {
  Tensor add(const Tensor& x, const Tensor& y) const { return x.add(y); }
  Tensor plus(const Tensor& x, int64_t by) const { return x.add(ConstValue::ofInt(by)); }
  Tensor exclusiveOr(const Tensor& x, const Tensor& y) const { return x.bitXor(y); }
  Tensor exclusiveOr(const Tensor& x, int64_t by) const { return x.bitXor(ConstValue::ofInt(by)); }
  Tensor rotate(const Tensor& v, int by) const { return v.lshift(by).add(v.rshift(32 - by)); }
};

std::shared_ptr<Stream> streamOf(const std::string& device) {
  Generator& g = generator();
  if (!g.streams.count(device))
    g.streams[device] = newStream(device, g.seed, static_cast<uint32_t>(g.streams.size()));
  return g.streams[device];
}

/// The next words of a device's stream: the halves of all draws, low halves first.
struct RandomWords {
  Tensor low, high;
};
RandomWords drawWords(int64_t words, const std::string& device) {
  std::shared_ptr<Stream> stream = streamOf(device);
  Tensor start = Tensor::fromBytes(&stream->drawn, {1}, dtypes::uint32, {device, {}, false});
  stream->drawn += static_cast<uint32_t>(words);
  if (RunCapture::active()) // each replay of a captured call advances the stream
    RunCapture::beforeReplay(Tensor::drawAgain(device, words, Buffer::of(graph::base(start.uop()))));

  int64_t half = ceilDiv(words, 2);
  Tensor low = Tensor::arange(half, {device, dtypes::uint32, false}).add(start);
  Tensor high = low.add(ConstValue::ofInt(half));
  auto keyWord = [&](int64_t i) {
    return stream->key.shrink({{{Sint(i), Sint(i + 1)}}}).broadcastTo(low.shape());
  };
  if (!computesOn(device, dtypes::uint64)) {
    auto [x, y] = threefryRounds(TensorWords(), low, high, keyWord(0), keyWord(1));
    return {x, y};
  }
  auto joined = [](const Tensor& upper, const Tensor& lower) {
    return upper.cast(dtypes::uint64).lshift(32).bitOr(lower.cast(dtypes::uint64));
  };
  Tensor bits = joined(high, low).threefry(joined(keyWord(1), keyWord(0)));
  ConstValue word = ConstValue::ofInt(0xffffffff);
  return {bits.bitAnd(word).cast(dtypes::uint32), bits.rshift(32).bitAnd(word).cast(dtypes::uint32)};
}

/// Numbers in [1, 2): the upper bits become the mantissa.
Tensor oneAndFraction(const Tensor& bits, DType d) {
  Tensor one = Tensor::scalar(ConstValue::ofFloat(1), {bits.device(), d, false}).bitcast(bits.dtype());
  return bits.rshift(d.bitsize() - mantissaBits(d)).bitOr(one).bitcast(d);
}

} // namespace

std::vector<RandomStream> randomStreams() {
  std::vector<RandomStream> out;
  for (const auto& [device, stream] : generator().streams) {
    Tensor drawn = Tensor::fromBytes(&stream->drawn, {1}, dtypes::uint32, {device, {}, false});
    out.push_back({device, stream->key, drawn});
  }
  return out;
}

HostAction Tensor::drawAgain(const std::string& device, int64_t words, std::shared_ptr<Buffer> at) {
  auto run = [stream = streamOf(device), words, at] {
    at->copyIn(&stream->drawn);
    stream->drawn += static_cast<uint32_t>(words);
  };
  return {run, device, words, std::move(at)};
}

void Tensor::manualSeed(int64_t seed) {
  generator().seed = seed;
  generator().streams.clear();
}

Tensor Tensor::rand(const Ints& shape, const TensorOptions& o, bool contiguousResult) {
  OperationScope op("rand");
  DType d = o.dtype.value_or(dtypes::defaultFloat());
  if (!d.isFloat()) fail(ErrorKind::Value, fmt::format("rand only supports float dtypes, got {}", d.name()));
  int64_t numel = 1;
  for (int64_t s : shape) {
    if (s < 0) fail(ErrorKind::Value, fmt::format("invalid input shape=({})", fmt::join(shape, ", ")));
    numel *= s;
  }
  std::string where = Device::canonicalize(o.device ? *o.device : Device::defaultName());
  Shape to(shape.begin(), shape.end());
  if (numel == 0) return zeros(to, {where, d, o.requiresGrad});
  int64_t words = ceilDiv(numel * d.itemsize(), 4);
  RandomWords drawn = drawWords(words, where);
  Tensor random = oneAndFraction(first(cat({drawn.low, drawn.high}), words).bitcast(bitsType(d)), d).sub(1);
  Tensor result = first(random, numel).reshape(to).setRequiresGrad(o.requiresGrad);
  return contiguousResult ? result.contiguous() : result;
}

namespace {
/// One draw for each device of a sharded tensor, in the shape of its shard. If every device has the whole
/// tensor, the default device draws once and the result is copied.
Tensor drawShards(const Tensor& like, TensorOptions o,
                  const std::function<Tensor(const Tensor&, TensorOptions)>& draw) {
  if (o.device)
    fail(
        ErrorKind::Runtime,
        fmt::format("the result is on the devices of the tensor, {}: no device can be given", like.device()));
  std::vector<std::string> devices = like.devices();
  std::optional<int64_t> axis = like.shardAxis();
  Shape part = like.shape();
  if (axis)
    part[static_cast<size_t>(*axis)] =
        part[static_cast<size_t>(*axis)].i() / static_cast<int64_t>(devices.size());
  o.device = axis ? std::optional<std::string>() : Device::defaultName();
  o.dtype = o.dtype.value_or(like.dtype());
  if (!axis) return draw(Tensor::empty(part, o), o).shard(devices);
  std::vector<UOp> parts;
  for (const std::string& device : devices) {
    o.device = device;
    parts.push_back(draw(Tensor::empty(part, o), o).uop());
  }
  UOp stack = UOp::make(Op::MSTACK, *o.dtype, parts);
  return Tensor::fromUOp(UOp::make(Op::MULTI, *o.dtype, {stack}, Arg::of(*axis)), o.requiresGrad);
}
} // namespace

Tensor Tensor::randLike(TensorOptions o, bool contiguousResult) const {
  OperationScope op("rand_like");
  if (devices().size() > 1)
    return drawShards(
        *this, o, [=](const Tensor& t, const TensorOptions& at) { return t.randLike(at, contiguousResult); });
  if (!o.device) o.device = device();
  if (!o.dtype) o.dtype = dtype();
  return rand(intShape(), o, contiguousResult);
}

Tensor Tensor::randnLike(TensorOptions o) const {
  OperationScope op("randn_like");
  if (devices().size() > 1)
    return drawShards(*this, o, [](const Tensor& t, const TensorOptions& at) { return t.randnLike(at); });
  std::string where = Device::canonicalize(o.device ? *o.device : device());
  Ints to = intShape();
  int64_t numel = 1;
  for (int64_t s : to) numel *= s;
  if (numel == 0)
    return zeros(shape(), {where, o.dtype.value_or(dtype()), false}).setRequiresGrad(o.requiresGrad);
  // Box and Muller: an angle from one number u, a radius from a second number w, which one draw gives both. With x = u + 1 and y = w + 1,
  // whose differences with constants are exact, cos(2 pi u) is 2 sin(pi (x - 3/2))^2 - 1, an angle that needs no reduction, and 1 - w is
  // 2 - y. The 2 in front goes into the root.
  RandomWords drawn = drawWords(2 * numel, where);
  auto number = [&](const Tensor& bits) { return oneAndFraction(bits, dtypes::float32).reshape(shape()); };
  Tensor sine = number(drawn.low).sub(1.5).mul(std::numbers::pi).sin();
  Tensor angle = sine.mul(sine).sub(0.5);
  Tensor radius = number(drawn.high).sub(2, true).log().mul(-8).sqrt();
  return angle.mul(radius).cast(o.dtype.value_or(dtype())).setRequiresGrad(o.requiresGrad);
}

Tensor Tensor::randn(const Ints& shape, const TensorOptions& o) {
  OperationScope op("randn");
  return empty(Shape(shape.begin(), shape.end()), {o.device, {}, {}})
      .randnLike({o.device, o.dtype, o.requiresGrad});
}

Tensor Tensor::uniform(const Ints& shape, ConstValue low, ConstValue high, const TensorOptions& o) {
  OperationScope op("uniform");
  bool whole = low.kind != ConstValue::Kind::Float && high.kind != ConstValue::Kind::Float;
  ConstValue span =
      whole ? ConstValue::ofInt(high.i - low.i) : ConstValue::ofFloat(high.asDouble() - low.asDouble());
  Tensor x = rand(shape, {o.device, {}, {}}).mul(span, true).cast(o.dtype.value_or(dtypes::defaultFloat()));
  return x.add(low).setRequiresGrad(o.requiresGrad);
}

Tensor Tensor::normal(const Ints& shape, double mean, double std, const TensorOptions& o) {
  OperationScope op("normal");
  return randn(shape, {o.device, o.dtype, {}}).mul(std, true).add(mean).setRequiresGrad(o.requiresGrad);
}

Tensor Tensor::randint(const Ints& shape, int64_t low, int64_t high, const TensorOptions& o) {
  OperationScope op("randint");
  DType d = o.dtype.value_or(dtypes::int32);
  if (!d.isInt()) fail(ErrorKind::Type, fmt::format("dtype={} must be int", d.name()));
  return uniform(shape, ConstValue::ofInt(low), ConstValue::ofInt(high), {o.device, d, o.requiresGrad});
}

Tensor Tensor::randperm(int64_t n, const TensorOptions& o) {
  OperationScope op("randperm");
  return rand({n}, {o.device, {}, o.requiresGrad}).sort().second.cast(o.dtype.value_or(dtypes::int32));
}

namespace {
double fanIn(const Ints& shape) {
  double n = 1;
  for (size_t i = 1; i < shape.size(); ++i) n *= static_cast<double>(shape[i]);
  return n;
}
Tensor uniformWithin(const Ints& shape, double bound, const TensorOptions& o) {
  return Tensor::uniform(shape, ConstValue::ofFloat(-bound), ConstValue::ofFloat(bound), o);
}
} // namespace

Tensor Tensor::scaledUniform(const Ints& shape, const TensorOptions& o) {
  OperationScope op("scaled_uniform");
  double n = 1;
  for (int64_t s : shape) n *= static_cast<double>(s);
  if (n == 0) fail(ErrorKind::Value, fmt::format("({}) has no elements to scale by", fmt::join(shape, ", ")));
  return uniformWithin(shape, 1.0, o).mul(std::pow(n, -0.5));
}
Tensor Tensor::glorotUniform(const Ints& shape, const TensorOptions& o) {
  OperationScope op("glorot_uniform");
  if (shape.empty()) fail(ErrorKind::Index, "needs at least one dimension");
  return uniformWithin(shape, 1.0, o).mul(std::sqrt(6 / (static_cast<double>(shape[0]) + fanIn(shape))));
}
Tensor Tensor::kaimingUniform(const Ints& shape, double a, const TensorOptions& o) {
  OperationScope op("kaiming_uniform");
  return uniformWithin(shape, std::sqrt(3.0) * std::sqrt(2.0 / (1 + a * a)) / std::sqrt(fanIn(shape)), o);
}
Tensor Tensor::kaimingNormal(const Ints& shape, double a, const TensorOptions& o) {
  OperationScope op("kaiming_normal");
  return normal(shape, 0.0, std::sqrt(2.0 / (1 + a * a)) / std::sqrt(fanIn(shape)), o);
}

Tensor Tensor::multinomial(int64_t samples, bool replacement) const {
  OperationScope op("multinomial");
  if (ndim() < 1 || ndim() > 2 || samples <= 0)
    fail(ErrorKind::Shape,
         fmt::format("ndim={} must be 1 or 2 dim, num_samples={} must be positive", ndim(), samples));
  if (!replacement && samples != 1) fail(ErrorKind::Shape, "no replacement only supports num_samples = 1");
  Tensor weight = ndim() == 1 ? unsqueeze(0) : *this, sums = weight.cumsum(1).cast(dtypes::float32);
  int64_t rows = weight.intDim(0), n = weight.intDim(1);
  Tensor cdf = sums.div(sums.shrink({std::nullopt, {{Sint(n - 1), Sint(n)}}}));
  Tensor drawn = rand({samples, rows, 1}, {device(), {}, {}});
  Tensor picks = drawn.expand({Sint(-1), Sint(-1), Sint(n)}).ge(cdf).sum(Ints{2}).permute({1, 0});
  return (ndim() == 1 ? picks.squeeze(0) : picks).cast(dtypes::int32);
}

Tensor Tensor::dropout(double p) const {
  OperationScope op("dropout");
  if (p < 0 || p > 1) fail(ErrorKind::Value, fmt::format("p={} is out of range [0, 1]", p));
  if (!training() || p == 0) return *this;
  if (p == 1) return fullLike(ConstValue::ofInt(0));
  return randLike({{}, dtypes::defaultFloat(), false}, false).ge(p).contiguous().where(*this, 0).div(1.0 - p);
}

} // namespace uopscope
