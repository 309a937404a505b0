// A small kernel with work groups, and memory to run it on, for the tests of GPU devices.
//
//   LoweredKernel k = addNumber(8);  auto b = filled("CL", 8);  read(*b)      // 0, 1, 2 ...
#pragma once
#include "engine/base/error.h"
#include "engine/runtime/buffer.h"
#include "tests/engine/render/linear_program.h"

#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace uopscope::testing {

using namespace uopscope::test;

/// out[i] = in[i] + n over groups of 4 threads.
inline LoweredKernel addNumber(int64_t size) {
  LinearProgram p("add_number");
  UOp out = p.global(0, dtypes::float32, size), in = p.global(1, dtypes::float32, size);
  UOp n = p.variable("n", 0, 100);
  UOp g = p.add(Op::SPECIAL, dtypes::int32, {p.i32(size / 4)}, Arg::of("gidx0")),
      l = p.add(Op::SPECIAL, dtypes::int32, {p.i32(4)}, Arg::of("lidx0"));
  UOp at = p.add(Op::ADD, dtypes::int32, {p.add(Op::MUL, dtypes::int32, {g, p.i32(4)}), l});
  UOp sum = p.add(Op::ADD, dtypes::float32, {p.load(in, at), p.add(Op::CAST, dtypes::float32, {n})});
  p.store(out, at, sum);
  LoweredKernel k = p.finish();
  k.outs = {0};
  k.ins = {1};
  k.localSize = {Sint(4)};
  return k;
}

inline std::vector<float> read(Buffer& b) {
  std::vector<float> values(static_cast<size_t>(b.size()));
  b.copyOut(values.data());
  return values;
}
inline std::shared_ptr<Buffer> filled(const char* device, int64_t size) {
  auto b = std::make_shared<Buffer>(device, dtypes::float32, size);
  std::vector<float> values(static_cast<size_t>(size));
  std::iota(values.begin(), values.end(), 0.0f);
  b->copyIn(values.data());
  return b;
}
template <typename F>
std::string messageOf(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

} // namespace uopscope::testing
