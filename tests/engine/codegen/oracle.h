// Evaluates a kernel graph as it stands, before any pass: loops run as written, reductions are sums over
// their ranges. The reference interpreter runs the lowered program; both must give the same buffers.
#pragma once
#include "engine/base/error.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/reduce.h"
#include "engine/runtime/kernel_report.h"
#include "engine/runtime/ref_program.h"
#include "engine/uop/eval.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>

namespace uopscope::testing {

/// Contents of the buffers by position.
using Values = std::map<int64_t, std::vector<ConstValue>>;

class Oracle {
public:
  Oracle(Values& memory, std::map<std::string, int64_t> vars) : memory_(memory), vars_(std::move(vars)) {}

  void run(UOp sink) {
    for (UOp effect : sink.src()) effectOf(effect);
  }

private:
  void effectOf(UOp u) {
    if (u.is(Op::GROUP)) {
      for (UOp s : u.src()) effectOf(s);
    } else if (u.is(Op::END)) {
      std::vector<UOp> ranges(u.src().begin() + 1, u.src().end());
      loop(ranges, 0, [&] { effectOf(u.src(0)); });
    } else if (u.is(Op::STORE)) {
      int64_t at = 0;
      if (!address(u.src(0), at)) return;
      auto& buffer = memory_.at(u.src(0).bufferOf().arg().i());
      REQUIRE(at >= 0);
      REQUIRE(static_cast<size_t>(at) < buffer.size());
      buffer[static_cast<size_t>(at)] = value(u.src(1));
    } else {
      FAIL("unknown effect");
    }
  }
  template <typename F>
  void loop(const std::vector<UOp>& ranges, size_t i, F body) {
    if (i == ranges.size()) return body();
    int64_t n = value(ranges[i].src(0)).i;
    for (int64_t k = 0; k < n; ++k) {
      at_[ranges[i]] = k;
      loop(ranges, i + 1, body);
    }
  }
  bool address(UOp index, int64_t& at) {
    ConstValue v = value(index.src(1));
    at = v.i;
    return !v.isInvalid();
  }
  ConstValue value(UOp u) {
    switch (u.op()) {
    case Op::CONST: return u.constValue();
    case Op::RANGE: return ConstValue::ofInt(at_.at(u));
    case Op::DEFINE_VAR: return ConstValue::ofInt(vars_.at(u.arg().as<VarArg>().name));
    case Op::LOAD: return value(u.src(0));
    case Op::INDEX: {
      if (u.src(0).is(Op::BUFFERIZE)) return stored(u.src(0), u.src().subspan(1));
      int64_t at = 0;
      if (!address(u, at)) return convertConst(u.dtype().base(), ConstValue::ofInt(0));
      auto& buffer = memory_.at(u.bufferOf().arg().i());
      REQUIRE(at >= 0);
      REQUIRE(static_cast<size_t>(at) < buffer.size());
      return buffer[static_cast<size_t>(at)];
    }
    case Op::WHERE: return value(value(u.src(0)).i ? u.src(1) : u.src(2));
    case Op::REDUCE: {
      ConstValue sum = identityElement(u.arg().op(), u.dtype()).constValue();
      std::vector<UOp> ranges(u.src().begin() + 1, u.src().end());
      loop(ranges, 0, [&] { sum = evalAlu(u.arg().op(), u.dtype(), u.dtype(), {sum, value(u.src(0))}); });
      return sum;
    }
    default: {
      std::vector<ConstValue> operands;
      for (UOp s : u.src()) operands.push_back(value(s));
      if (u.is(Op::CAST)) return convertConst(u.dtype(), operands[0]);
      return evalAlu(u.op(), u.dtype(), u.src(0).dtype(), operands);
    }
    }
  }
  /// A value that the kernel stores for itself: computed where it is read.
  ConstValue stored(UOp buffer, std::span<const UOp> index) {
    UOpMap<int64_t> around = at_;
    for (size_t k = 0; k < index.size(); ++k) {
      ConstValue at = value(index[k]);
      if (at.isInvalid()) return convertConst(buffer.dtype(), ConstValue::ofInt(0));
      around[buffer.src(k + 1)] = at.i;
    }
    std::swap(at_, around);
    ConstValue v = value(buffer.src(0));
    std::swap(at_, around);
    return v;
  }
  Values& memory_;
  std::map<std::string, int64_t> vars_;
  UOpMap<int64_t> at_;
};

inline void put(std::byte* to, DType d, const ConstValue& v) {
  auto write = [&](auto x) { std::memcpy(to, &x, sizeof x); };
  switch (d.kind()) {
  case Scalar::Float64: return write(v.asDouble());
  case Scalar::Float32: return write(static_cast<float>(v.asDouble()));
  case Scalar::Float16: return write(dtypes::toHalf(v.asDouble()));
  case Scalar::BFloat16: return write(dtypes::toBFloat16(v.asDouble()));
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return write(dtypes::toFp8(d.scalar(), v.asDouble()));
  default: std::memcpy(to, &v.i, static_cast<size_t>(d.itemsize()));
  }
}
inline ConstValue get(const std::byte* from, DType d) {
  auto read = [&](auto x) {
    std::memcpy(&x, from, sizeof x);
    return x;
  };
  switch (d.kind()) {
  case Scalar::Bool: return ConstValue::ofBool(read(uint8_t{}) != 0);
  case Scalar::Float64: return ConstValue::ofFloat(read(double{}));
  case Scalar::Float32: return ConstValue::ofFloat(read(float{}));
  case Scalar::Float16: return ConstValue::ofFloat(dtypes::fromHalf(read(uint16_t{})));
  case Scalar::BFloat16: return ConstValue::ofFloat(dtypes::fromBFloat16(read(uint16_t{})));
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return ConstValue::ofFloat(dtypes::fromFp8(d.scalar(), read(uint8_t{})));
  default: {
    int64_t v = 0;
    std::memcpy(&v, from, static_cast<size_t>(d.itemsize()));
    return ConstValue::ofInt(dtypes::wrapInt(d.scalar(), v));
  }
  }
}

/// Random contents for every buffer of a kernel: small whole numbers, so that sums are exact in any order.
inline Values randomBuffers(UOp sink, uint32_t seed) {
  std::mt19937 random(seed);
  Values all;
  for (UOp u : sink.toposort()) {
    if (!u.is(Op::DEFINE_GLOBAL)) continue;
    DType d = u.dtype().base();
    auto& values = all[u.arg().i()];
    for (int64_t i = 0; i < u.dtype().size(); ++i)
      values.push_back(convertConst(d, ConstValue::ofInt(static_cast<int64_t>(random() % 17) -
                                                         (d.isUnsigned() || d.isBool() ? 0 : 8))));
  }
  return all;
}

/// Lowers the kernel and runs it on the reference interpreter; returns the buffers by position.
inline Values runLowered(const LoweredKernel& k, const Values& before,
                         const std::map<std::string, int64_t>& vars,
                         const std::vector<TensorCore>& cores = {}) {
  UOpMap<int64_t> none;
  std::map<int64_t, DType> types;
  for (UOp u : k.ast.toposort())
    if (u.is(Op::DEFINE_GLOBAL)) types[u.arg().i()] = u.dtype().base();
  std::map<int64_t, std::vector<std::byte>> memory;
  for (auto& [position, values] : before) {
    auto& bytes = memory[position];
    size_t width = static_cast<size_t>(types.at(position).itemsize());
    bytes.resize(values.size() * width + 1);
    for (size_t i = 0; i < values.size(); ++i) put(bytes.data() + i * width, types.at(position), values[i]);
  }
  std::vector<void*> buffers;
  for (int g : k.globals) buffers.push_back(memory.at(g).data());
  std::vector<int64_t> sizes, locals;
  std::vector<std::pair<std::string, int64_t>> known(vars.begin(), vars.end());
  for (const Sint& s : k.globalSize) sizes.push_back(evaluate(s, known));
  for (const Sint& s : k.localSize) locals.push_back(evaluate(s, known));
  // Races between threads of a GPU or a CPU are detected: no kernel may have one.
  RefProgram program(k, sizes.empty() && locals.empty() ? std::nullopt : std::optional(RefGpu{{}, cores}));
  bool threads = false;
  for (UOp v : k.vars) threads |= v.arg().as<VarArg>().name == "core_id";
  std::vector<int64_t> values;
  for (UOp v : k.vars) {
    auto hit = vars.find(v.arg().as<VarArg>().name);
    values.push_back(hit == vars.end() ? 0 : hit->second);
  }
  (void)threads;
  program.launch(buffers, values, sizes, locals, true);
  Values after;
  for (auto& [position, bytes] : memory) {
    size_t width = static_cast<size_t>(types.at(position).itemsize());
    for (size_t i = 0; i < before.at(position).size(); ++i)
      after[position].push_back(get(bytes.data() + i * width, types.at(position)));
  }
  return after;
}

/// Checks that the graph and its lowered program give the same buffers.
inline LoweredKernel checkKernel(UOp sink, const Target& target, uint32_t seed = 1,
                                 const std::map<std::string, int64_t>& vars = {}, double tolerance = 0) {
  Values start = randomBuffers(sink, seed), wanted = start;
  Oracle(wanted, vars).run(sink);
  LoweredKernel k = lowerKernel(sink, target);
  Values got = runLowered(k, start, vars, target.tensorCores);
  for (auto& [position, values] : wanted)
    for (size_t i = 0; i < values.size(); ++i) {
      double a = values[i].asDouble(), b = got[position][i].asDouble();
      bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                  std::abs(a - b) <= tolerance * std::max(1.0, std::abs(a));
      if (!same) {
        INFO(fmt::format("kernel {} buffer {} element {}: {} instead of {}", k.name, position, i, b, a));
        CHECK(same);
        return k;
      }
    }
  return k;
}

} // namespace uopscope::testing
