// Every operation on every type: LLVM, C by clang and the interpreter agree with evalAlu on corner values and
// random ones. One kernel per type computes all operations at once.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/runtime/device.h"
#include "engine/uop/eval.h"
#include "tests/engine/render/linear_program.h"
#include "tests/engine/runtime/amd_double.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

using namespace uopscope;
using namespace uopscope::test;

namespace {

const std::vector<DType> kAluTypes{dtypes::bool_,    dtypes::int8,    dtypes::uint8,   dtypes::int16,
                                   dtypes::uint16,   dtypes::int32,   dtypes::uint32,  dtypes::int64,
                                   dtypes::uint64,   dtypes::fp8e4m3, dtypes::fp8e5m2, dtypes::float16,
                                   dtypes::bfloat16, dtypes::float32, dtypes::float64};

/// A value as bytes of memory and back, through the interpreter's own reading of types.
std::vector<ConstValue> sampleValues(DType d, size_t n, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ConstValue> v;
  double inf = std::numeric_limits<double>::infinity();
  if (d.isFloat()) {
    for (double x : {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -7.25, inf, -inf, std::nan(""), 1e-3, 100.0, -0.1})
      v.push_back(ConstValue::ofFloat(x));
    std::normal_distribution<double> normal(0, 4);
    while (v.size() < n) v.push_back(ConstValue::ofFloat(normal(random)));
  } else if (d.isBool()) {
    while (v.size() < n) v.push_back(ConstValue::ofBool(random() & 1));
  } else {
    auto high = static_cast<int64_t>(dtypes::maxInt(d));
    for (int64_t x : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{-2}, int64_t{7},
                      dtypes::minInt(d), high, high - 1, int64_t{31}, int64_t{8}})
      v.push_back(ConstValue::ofInt(x));
    while (v.size() < n) v.push_back(ConstValue::ofInt(static_cast<int64_t>(random() >> (random() % 60))));
  }
  std::shuffle(v.begin(), v.end(), random);
  v.resize(n);
  for (ConstValue& x : v) x = convertConst(d, x);
  return v;
}

void putElement(DType d, std::vector<std::byte>& bytes, size_t i, const ConstValue& v) {
  auto raw = evalAlu(Op::BITCAST,
                     d.itemsize() == 1   ? dtypes::uint8
                     : d.itemsize() == 2 ? dtypes::uint16
                     : d.itemsize() == 4 ? dtypes::uint32
                                         : dtypes::uint64,
                     d, {v})
                 .i;
  std::memcpy(bytes.data() + i * static_cast<size_t>(d.itemsize()), &raw, static_cast<size_t>(d.itemsize()));
}
ConstValue elementOf(DType d, const std::vector<std::byte>& bytes, size_t i) {
  int64_t raw = 0;
  std::memcpy(&raw, bytes.data() + i * static_cast<size_t>(d.itemsize()), static_cast<size_t>(d.itemsize()));
  DType u = d.itemsize() == 1   ? dtypes::uint8
            : d.itemsize() == 2 ? dtypes::uint16
            : d.itemsize() == 4 ? dtypes::uint32
                                : dtypes::uint64;
  return evalAlu(Op::BITCAST, d, u, {ConstValue::ofInt(raw)});
}

/// Whether two values are equal, or as near as the flags of compiled code permit.
bool agrees(DType d, Op op, const ConstValue& got, const ConstValue& wanted) {
  if (!d.isFloat()) return got.i == wanted.i;
  if (std::isnan(wanted.f)) return std::isnan(got.f);
  if (got.f == wanted.f) return true;
  constexpr OpSet kApproximate{Op::EXP2, Op::LOG2, Op::SIN, Op::POW, Op::FDIV, Op::RECIPROCAL, Op::SQRT};
  if (!kApproximate.has(op)) return false;
  double epsilon = d.kind() == Scalar::Float64    ? 1e-14
                   : d.kind() == Scalar::Float32  ? 1e-6
                   : d.kind() == Scalar::Float16  ? 2e-3
                   : d.kind() == Scalar::BFloat16 ? 1e-2
                                                  : 0.3;
  return std::abs(got.f - wanted.f) <=
         epsilon * std::max(std::abs(wanted.f), op == Op::SIN || op == Op::LOG2 ? 1.0 : 0.0);
}

bool defined(Op op, DType d) {
  if (op == Op::WHERE) return true;
  constexpr OpSet kFloatOnly{Op::EXP2, Op::LOG2, Op::SIN, Op::SQRT}, kIntOnly{Op::SHL, Op::SHR, Op::IDIV},
      kIntBool{Op::XOR, Op::OR, Op::AND};
  if (op == Op::THREEFRY) return d == dtypes::uint64;
  if (kFloatOnly.has(op)) return d.isFloat();
  if (kIntOnly.has(op)) return d.isInt();
  if (kIntBool.has(op)) return !d.isFloat();
  if (op == Op::POW || op == Op::RECIPROCAL) return !d.isBool();
  return true;
}

struct Device_ {
  const char* label;
  const char* device;
  int64_t cpuLlvm;
};
const std::vector<Device_>& devices() {
  static const std::vector<Device_> all = [] {
    std::vector<Device_> list{{"REF", "REF", 1}, {"LLVM", "CPU", 1}, {"C", "CPU", 0}};
    if (uopscope::testing::openClHere()) list.push_back({"CL", "CL", 1});
    if (uopscope::testing::cudaHere()) list.push_back({"CUDA", "CUDA", 1});
    if (uopscope::testing::amdDoubleHere()) list.push_back({"AMD's IR", "AMD", 1});
    if (uopscope::testing::webGpuHere()) list.push_back({"WEBGPU", "WEBGPU", 1});
    if (const char* only = std::getenv("TEST_DEVICES")) // for a machine without a compiler for the CPU
      std::erase_if(list, [&](const Device_& d) { return only != std::string(d.label); });
    return list;
  }();
  return all;
}
/// No GPU of AMD is here: the text runs on the CPU.
bool isAmd(const Device_& d) {
  return d.device == std::string("AMD");
}
/// Operations that code generation never gives to the device are not compared.
bool isGpu(const Device_& d) {
  return isAmd(d) || d.device == std::string("CL") || d.device == std::string("CUDA") ||
         d.device == std::string("WEBGPU");
}
bool isNativeOn(const Device_& d, Op op) {
  return !isGpu(d) || Device::get(d.device).renderer().target().nativeOps.has(op);
}
bool hasType(const Device_& d, DType type) {
  const Target& t = Device::get(d.device).renderer().target();
  return !isGpu(d) || d.device == std::string("CL") || !t.supportsDtype || t.supportsDtype(type);
}

std::vector<std::vector<std::byte>> runOn(const Device_& d, const LoweredKernel& k,
                                          std::vector<std::vector<std::byte>> buffers) {
  ContextScope scope({{"CPU_LLVM", d.cpuLlvm}});
  Device& device = Device::get(d.device);
  const std::string source = device.renderer().render(k);
  auto program = device.compile(k, source);
  std::optional<uopscope::testing::RunsAsIr> running;
  if (isAmd(d)) running.emplace(k, source);
  // A kernel must not write behind a buffer.
  constexpr std::byte kGuard{0xA5};
  std::vector<size_t> sizes;
  std::vector<void*> memory;
  for (auto& b : buffers) {
    sizes.push_back(b.size());
    b.resize(b.size() + 64, kGuard);
    memory.push_back(device.allocate(b.size()));
    device.copyIn(memory.back(), b.data(), b.size());
  }
  program->launch(memory, {}, {}, {}, true);
  for (size_t i = 0; i < buffers.size(); ++i) {
    device.copyOut(buffers[i].data(), memory[i], buffers[i].size());
    device.release(memory[i], buffers[i].size());
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    bool kept = std::all_of(buffers[i].begin() + static_cast<std::ptrdiff_t>(sizes[i]), buffers[i].end(),
                            [](std::byte b) { return b == kGuard; });
    CHECK_MESSAGE(kept, d.label, " writes beyond buffer ", i);
    buffers[i].resize(sizes[i]);
  }
  return buffers;
}

} // namespace

TEST_CASE("every operation agrees with evalAlu on every device") {
  constexpr size_t n = 96;
  for (DType d : kAluTypes) {
    CAPTURE(d.name());
    std::vector<ConstValue> a = sampleValues(d, n, 1), b = sampleValues(d, n, 2), c = sampleValues(d, n, 3),
                            gates = sampleValues(dtypes::bool_, n, 4);
    for (const Device_& device : devices()) {
      if (!hasType(device, d)) continue;
      std::string label = device.label;
      CAPTURE(label);
      LinearProgram p("all");
      std::vector<std::vector<std::byte>> buffers;
      std::vector<UOp> inputs;
      for (auto& [type, values] : std::vector<std::pair<DType, std::vector<ConstValue>*>>{
               {d, &a}, {d, &b}, {d, &c}, {dtypes::bool_, &gates}}) {
        inputs.push_back(p.global(static_cast<int>(buffers.size()), type, n));
        buffers.emplace_back(n * static_cast<size_t>(type.itemsize()));
        for (size_t i = 0; i < n; ++i) putElement(type, buffers.back(), i, (*values)[i]);
      }
      std::vector<std::pair<Op, UOp>> outputs;
      group::kAlu.forEach([&](Op op) {
        if (!defined(op, d) || !isNativeOn(device, op)) return;
        DType type = group::kComparison.has(op) ? dtypes::bool_ : d;
        outputs.emplace_back(op, p.global(static_cast<int>(buffers.size()), type, n));
        buffers.emplace_back(n * static_cast<size_t>(type.itemsize()));
      });
      UOp i = p.range(n, 0);
      UOp x = p.load(inputs[0], i), y = p.load(inputs[1], i), z = p.load(inputs[2], i),
          gate = p.load(inputs[3], i);
      for (auto [op, out] : outputs) {
        std::vector<UOp> src = op == Op::WHERE           ? std::vector{gate, x, y}
                               : group::kTernary.has(op) ? std::vector{x, y, z}
                               : group::kBinary.has(op)  ? std::vector{x, y}
                                                         : std::vector{x};
        p.store(out, i, p.add(op, out.dtype().base(), src));
      }
      p.end(i);
      LoweredKernel k = p.finish();
      auto results = runOn(device, k, buffers);
      for (size_t o = 0; o < outputs.size(); ++o) {
        auto [op, out] = outputs[o];
        int wrong = 0;
        for (size_t e = 0; e < n; ++e) {
          std::vector<ConstValue> v = op == Op::WHERE           ? std::vector{gates[e], a[e], b[e]}
                                      : group::kTernary.has(op) ? std::vector{a[e], b[e], c[e]}
                                      : group::kBinary.has(op)  ? std::vector{a[e], b[e]}
                                                                : std::vector{a[e]};
          ConstValue wanted = evalAlu(op, out.dtype().base(), d, v),
                     got = elementOf(out.dtype().base(), results[o + 4], e);
          if (agrees(out.dtype().base(), op, got, wanted) || ++wrong > 3) continue;
          FAIL_CHECK(opName(op), " of ", d.name(), " on ", device.label, ": ", v[0].asDouble(), ", ",
                     v.size() > 1 ? v[1].asDouble() : 0, ", ", v.size() > 2 ? v[2].asDouble() : 0, " gives ",
                     got.asDouble(), ", not ", wanted.asDouble());
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("every cast agrees with evalAlu on every device") {
  constexpr size_t n = 64;
  for (DType from : kAluTypes) {
    CAPTURE(from.name());
    std::vector<ConstValue> a = sampleValues(from, n, 5);
    if (from.isFloat())
      for (ConstValue& v : a)
        if (!std::isfinite(v.f)) v = ConstValue::ofFloat(5);
    for (const Device_& device : devices()) {
      if (!hasType(device, from)) continue;
      std::string label = device.label;
      CAPTURE(label);
      std::vector<DType> types;
      for (DType to : kAluTypes)
        if (hasType(device, to)) types.push_back(to);
      LinearProgram p("casts");
      std::vector<std::vector<std::byte>> buffers(
          1, std::vector<std::byte>(n * static_cast<size_t>(from.itemsize())));
      for (size_t i = 0; i < n; ++i) putElement(from, buffers[0], i, a[i]);
      UOp in = p.global(0, from, n);
      std::vector<UOp> outputs;
      for (DType to : types) {
        outputs.push_back(p.global(static_cast<int>(buffers.size()), to, n));
        buffers.emplace_back(n * static_cast<size_t>(to.itemsize()));
      }
      UOp i = p.range(n, 0), x = p.load(in, i);
      for (UOp out : outputs)
        p.store(out, i, out.dtype().base() == from ? x : p.add(Op::CAST, out.dtype().base(), {x}));
      p.end(i);
      LoweredKernel k = p.finish();
      auto results = runOn(device, k, buffers);
      for (size_t o = 0; o < outputs.size(); ++o) {
        DType to = types[o];
        int wrong = 0;
        for (size_t e = 0; e < n; ++e) {
          if (from.isFloat() && to == dtypes::uint64 && a[e].f < 0) continue; // undefined in C, and here
          ConstValue wanted = evalAlu(Op::CAST, to, from, {a[e]}), got = elementOf(to, results[o + 1], e);
          if (agrees(to, Op::CAST, got, wanted) || ++wrong > 3) continue;
          FAIL_CHECK(from.name(), " ", a[e].asDouble(), " as ", to.name(), " on ", device.label, " gives ",
                     got.asDouble(), ", not ", wanted.asDouble());
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("vectors of every width and type agree on every device") {
  constexpr size_t n = 48;
  for (DType d : kAluTypes) {
    for (int lanes : {2, 3, 4, 8, 16}) {
      CAPTURE(d.name());
      CAPTURE(lanes);
      std::vector<ConstValue> a = sampleValues(d, n, 6), b = sampleValues(d, n, 7);
      LinearProgram p("vectors");
      std::vector<std::vector<std::byte>> buffers(
          7, std::vector<std::byte>(n * static_cast<size_t>(d.itemsize())));
      buffers[4].resize(n * 4);
      for (size_t i = 0; i < n; ++i) putElement(d, buffers[0], i, a[i]), putElement(d, buffers[1], i, b[i]);
      UOp x = p.global(0, d, n), y = p.global(1, d, n), sum = p.global(2, d, n), larger = p.global(3, d, n),
          asInt = p.global(4, dtypes::int32, n), reversed = p.global(5, d, n), chosen = p.global(6, d, n);
      UOp r = p.range(static_cast<int64_t>(n) / lanes, 0),
          at = p.add(Op::MUL, dtypes::int32, {r, p.i32(lanes)});
      DType v = d.vec(lanes);
      UOp vx = p.load(x, at, lanes), vy = p.load(y, at, lanes);
      p.store(sum, at, p.add(Op::ADD, v, {vx, vy}));
      p.store(larger, at, p.add(Op::MAX, v, {vx, vy}));
      UOp less = p.add(Op::CMPLT, dtypes::bool_.vec(lanes), {vx, vy});
      p.store(asInt, at, p.add(Op::CAST, dtypes::int32.vec(lanes), {less}));
      std::vector<UOp> back;
      for (int l = lanes; l-- > 0;) back.push_back(p.add(Op::GEP, d, {vx}, Arg::of(std::vector<int64_t>{l})));
      p.store(reversed, at, p.add(Op::VECTORIZE, v, back));
      p.store(chosen, at, p.add(Op::WHERE, v, {less, vx, vy}));
      p.end(r);
      LoweredKernel k = p.finish();
      for (const Device_& device : devices()) {
        // CUDA and WebGPU compute only with scalars.
        if (isGpu(device) && device.device != std::string("CL") && !isAmd(device)) continue;
        if (device.cpuLlvm == 0 && lanes != 4 && lanes != 3)
          continue; // the compiler is a separate process, so two widths suffice
        if (!hasType(device, d)) continue;
        std::string label = device.label;
        CAPTURE(label);
        auto results = runOn(device, k, buffers);
        size_t whole = n / static_cast<size_t>(lanes) * static_cast<size_t>(lanes),
               group = static_cast<size_t>(lanes);
        int wrong = 0;
        for (size_t e = 0; e < whole; ++e) {
          bool isLess = evalAlu(Op::CMPLT, dtypes::bool_, d, {a[e], b[e]}).i != 0;
          wrong += !agrees(d, Op::ADD, elementOf(d, results[2], e), evalAlu(Op::ADD, d, d, {a[e], b[e]}));
          wrong += !agrees(d, Op::MAX, elementOf(d, results[3], e), evalAlu(Op::MAX, d, d, {a[e], b[e]}));
          wrong += elementOf(dtypes::int32, results[4], e).i != isLess;
          wrong +=
              !agrees(d, Op::ADD, elementOf(d, results[5], e), a[e / group * group + group - 1 - e % group]);
          wrong += !agrees(d, Op::ADD, elementOf(d, results[6], e), isLess ? a[e] : b[e]);
        }
        CHECK(wrong == 0);
      }
    }
  }
}
