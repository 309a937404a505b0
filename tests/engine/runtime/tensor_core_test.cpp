// Tensor cores in the interpreter: every core of every language multiplies random tiles, and kernels whose warps do not
// meet at one are refused with a message.
#include "engine/base/error.h"
#include "engine/codegen/tensor_core_layout.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/ref_program.h"
#include "tests/engine/render/linear_program.h"

#include <doctest/doctest.h>

#include <functional>
#include <random>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// A kernel of one warp: each thread loads its fragments of tiles in memory, multiplies them and stores its part.
struct TileKernel {
  explicit TileKernel(const TensorCore& core) : core(core) {}
  const TensorCore& core;
  LinearProgram p{"tile"};
  UOp thread = p.add(Op::SPECIAL, dtypes::int32, {p.i32(core.threads)}, Arg::of("lidx0"));

  UOp binary(Op op, UOp a, int64_t b) { return p.add(op, dtypes::int32, {a, p.i32(b)}); }
  UOp coordinate(std::string_view layout, int64_t element) {
    UOp sum = p.i32(coordinateIn(layout, 0, element));
    for (size_t i = 0; i < layout.size(); i += 2) {
      if (layout[i] != 'l') continue;
      const UOp bit = binary(Op::AND, binary(Op::SHR, thread, layout[i + 1] - '0'), 1);
      sum = p.add(Op::ADD, dtypes::int32, {sum, binary(Op::MUL, bit, int64_t{1} << (i / 2))});
    }
    return sum;
  }
  UOp place(const TensorCore::Layout& layout, int64_t width, int64_t element) {
    return p.add(
        Op::ADD, dtypes::int32,
        {binary(Op::MUL, coordinate(layout.row, element), width), coordinate(layout.column, element)});
  }
  UOp fragment(UOp memory, const TensorCore::Layout& layout, int64_t width, DType type) {
    std::vector<UOp> all;
    for (int64_t e = 0; e < int64_t{1} << elementBits(layout); ++e)
      all.push_back(p.load(memory, place(layout, width, e)));
    return p.add(Op::VECTORIZE, type.vec(static_cast<int>(all.size())), all);
  }
  /// Writes the product of buffers 1 and 2, added to buffer 3, to buffer 0.
  LoweredKernel multiply(const std::function<void()>& before = {}, const std::function<void()>& after = {}) {
    const int64_t rows = rowsOf(core), columns = columnsOf(core), terms = termsOf(core);
    const UOp out = p.global(0, core.out, rows * columns), a = p.global(1, core.in, rows * terms),
              b = p.global(2, core.in, terms * columns), c = p.global(3, core.out, rows * columns);
    if (before) before();
    WmmaArg arg{core.name, {columns, rows, terms}, core.in, core.out, "REF", core.threads, {}, {}};
    const UOp left = fragment(a, core.a, terms, core.in), right = fragment(b, core.b, columns, core.in),
              sum = fragment(c, core.c, columns, core.out);
    const UOp product = p.add(Op::WMMA, sum.dtype(), {left, right, sum}, Arg::of(arg));
    if (after) after();
    for (int64_t e = 0; e < sum.dtype().count(); ++e)
      p.store(out, place(core.c, columns, e),
              p.add(Op::GEP, core.out, {product}, Arg::of(std::vector<int64_t>{e})));
    return p.finish();
  }
};

/// The message of a launch by `threads` threads.
std::string failureOf(const LoweredKernel& kernel, const TensorCore& core, int64_t threads) {
  std::vector<std::byte> memory(1 << 14);
  void* buffers[] = {memory.data(), memory.data(), memory.data(), memory.data()};
  const int64_t groups[] = {1}, locals[] = {threads};
  try {
    RefProgram(kernel, RefGpu{{}, {core}}).launch(buffers, {}, groups, locals, true);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

uint16_t stored(DType type, double v) {
  return type == dtypes::float16 ? dtypes::toHalf(v) : dtypes::toBFloat16(v);
}

} // namespace

TEST_CASE("every tensor core multiplies its tiles in the interpreter") {
  for (const GpuLanguage& language : gpuLanguages())
    for (const TensorCore& core : language.target().tensorCores) {
      CAPTURE(std::string(core.name));
      if (core.in.itemsize() != 2 || core.out != dtypes::float32) continue;
      const auto rows = static_cast<size_t>(rowsOf(core)), columns = static_cast<size_t>(columnsOf(core)),
                 terms = static_cast<size_t>(termsOf(core));
      const LoweredKernel kernel = TileKernel(core).multiply();
      std::mt19937 random(5);
      auto numbers = [&](size_t n) {
        std::vector<double> v(n);
        for (double& x : v) x = static_cast<double>(random() % 33) / 8 - 2;
        return v;
      };
      const std::vector<double> a = numbers(rows * terms), b = numbers(terms * columns),
                                c = numbers(rows * columns);
      std::vector<uint16_t> left, right;
      for (const double x : a) left.push_back(stored(core.in, x));
      for (const double x : b) right.push_back(stored(core.in, x));
      std::vector<float> sum(c.begin(), c.end()), out(rows * columns);
      void* buffers[] = {out.data(), left.data(), right.data(), sum.data()};
      const int64_t groups[] = {1}, threads[] = {core.threads};
      RefProgram(kernel, RefGpu{{}, {core}}).launch(buffers, {}, groups, threads, true);
      for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) {
          double wanted = c[i * columns + j];
          for (size_t k = 0; k < terms; ++k) wanted += a[i * terms + k] * b[k * columns + j];
          CHECK(out[i * columns + j] == static_cast<float>(wanted));
        }
    }
}

TEST_CASE("a warp that does not meet at a tensor core is found") {
  const TensorCore core = makeGpuRenderer("CUDA")->target().tensorCores.at(0);
  TileKernel apart(core);
  UOp half;
  const LoweredKernel diverges = apart.multiply(
      [&] {
        half = apart.p.add(Op::IF, dtypes::void_,
                           {apart.p.add(Op::CMPLT, dtypes::bool_, {apart.thread, apart.p.i32(16)})});
      },
      [&] { apart.p.add(Op::ENDIF, dtypes::void_, {half}); });
  const std::string found = failureOf(diverges, core, core.threads);
  CAPTURE(found);
  CHECK(found.find("divergent warp: thread (0,0,0) of group (0,0,0) waits for its warp") !=
        std::string::npos);
  CHECK(found.find("thread (16,0,0) of group (0,0,0) came to its end") != std::string::npos);

  const LoweredKernel whole = TileKernel(core).multiply();
  const std::string few = failureOf(whole, core, core.threads / 2);
  CHECK_MESSAGE(few.find("needs 32 threads, and the group has 16") != std::string::npos, few);
  TensorCore unknown = core;
  unknown.name = "another";
  CHECK_THROWS_WITH_AS(RefProgram(whole, RefGpu{{}, {unknown}}), doctest::Contains("that this GPU lacks"),
                       Error);
  CHECK_THROWS_WITH_AS(RefProgram(whole, std::nullopt), doctest::Contains("that REF lacks"), Error);
}
