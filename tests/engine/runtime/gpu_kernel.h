// A small kernel with work groups, and memory to run it on, for the tests of GPU devices.
//
//   LoweredKernel k = addNumber(8);  auto b = filled("CL", 8);  read(*b)      // 0, 1, 2 ...
#pragma once
#include "engine/base/error.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "tests/engine/render/linear_program.h"

#include <doctest/doctest.h>

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

/// Launches on whole buffers, on parts at an alignment of the device and on parts at any element; the rest of a buffer stays.
inline void checkLaunchesOnParts(const char* name) {
  Device& device = Device::get(name);
  LoweredKernel k = addNumber(8);
  auto program = device.compile(k, device.renderer().render(k));
  auto from = filled(name, 1024), to = filled(name, 1024);
  const int64_t groups[] = {2}, threads[] = {4}, vars[] = {5};
  for (int64_t offset : {0, 256, 3, 1016}) {
    CAPTURE(offset);
    auto in = Buffer::view(from, dtypes::float32, 8, offset * 4),
         out = Buffer::view(to, dtypes::float32, 8, offset * 4);
    void* memory[] = {out->memory(), in->memory()};
    CHECK(program->launch(memory, vars, groups, threads, true) > 0);
    std::vector<float> all = read(*to);
    for (int64_t i = 0; i < 8; ++i)
      CHECK(all[static_cast<size_t>(offset + i)] == static_cast<float>(offset + i + 5));
    CHECK(all[500] == 500);
    CHECK(read(*out)[7] == static_cast<float>(offset + 12));
  }
  // A read of memory waits for launches that nobody has waited for.
  void* memory[] = {to->memory(), to->memory()};
  for (int i = 0; i < 100; ++i) CHECK(program->launch(memory, vars, groups, threads, false) == 0);
  CHECK(read(*to)[0] == 505);
}

} // namespace uopscope::testing
