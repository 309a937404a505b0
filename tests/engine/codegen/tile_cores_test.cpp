// Products by the tiles of a processor give what the sums give, whatever the layout, the signs and the number of tiles.
#include "engine/base/context_var.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/tile_cores.h"
#include "engine/render/llvm_renderer.h"
#include "engine/runtime/processor_listing.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

struct Sizes {
  int64_t rows, columns, terms;
  bool aTransposed = false, bTransposed = false;
  int64_t batch = 1;
};
DType sumOf(DType a) {
  return a.isFloat() ? dtypes::float32 : dtypes::int32;
}
/// out[n,i,j] = sum over k of cast(a[n,i,k]) * cast(b[n,k,j])
UOp product(const Sizes& s, DType a, DType b) {
  UOp n = UOp::range(s.batch, 0), i = UOp::range(s.rows, 1), j = UOp::range(s.columns, 2),
      k = UOp::range(s.terms, 3, AxisType::Reduce);
  UOp left = read(memory(1, s.batch * s.rows * s.terms, a),
                  n * (s.rows * s.terms) + (s.aTransposed ? k * s.rows + i : i * s.terms + k)),
      right = read(memory(2, s.batch * s.columns * s.terms, b),
                   n * (s.columns * s.terms) + (s.bTransposed ? j * s.terms + k : k * s.columns + j));
  UOp value = (left.cast(sumOf(a)) * right.cast(sumOf(a))).reduce(Op::ADD, std::vector<UOp>{k});
  return kernel({memory(0, s.batch * s.rows * s.columns, sumOf(a))
                     .indexed({n * (s.rows * s.columns) + i * s.columns + j})
                     .store(value)
                     .end({n, i, j})});
}
int64_t tilesOf(const LoweredKernel& k) {
  return std::ranges::count_if(k.uops, [](UOp u) { return isTileProduct(u); });
}

const std::pair<DType, DType> kTypes[] = {
    {dtypes::bfloat16, dtypes::bfloat16}, {dtypes::float16, dtypes::float16}, {dtypes::int8, dtypes::int8},
    {dtypes::uint8, dtypes::int8},        {dtypes::int8, dtypes::uint8},      {dtypes::uint8, dtypes::uint8}};

} // namespace

TEST_CASE("products by tiles of every layout and type equal the sums that they stand for") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (const Sizes& s :
       {Sizes{32, 32, 128}, Sizes{32, 48, 192, false, true}, Sizes{48, 32, 128, true, false},
        Sizes{64, 64, 64, true, true}, Sizes{16, 16, 64}, Sizes{32, 16, 128, false, false, 3}})
    for (auto [a, b] : kTypes) {
      CAPTURE(s.rows);
      CAPTURE(s.columns);
      CAPTURE(s.terms);
      CAPTURE(s.aTransposed);
      CAPTURE(s.bTransposed);
      CAPTURE(a.name());
      CAPTURE(b.name());
      LoweredKernel k = checkKernel(product(s, a, b), amxTarget(), 3, {}, 1e-4);
      CHECK(tilesOf(k) > 0);
    }
}

/// Random elements. With an odd seed some floats are any pattern of bits: infinities, NaN, numbers below the normal ones.
std::vector<std::byte> operandBytes(int64_t count, DType type, uint32_t seed) {
  constexpr uint32_t kOneIn = 2000; // a NaN spoils a row or a column of results
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(static_cast<size_t>(count * type.itemsize()));
  for (int64_t i = 0; i < count; ++i) {
    auto bits = static_cast<uint32_t>(random());
    const auto power = static_cast<uint32_t>(random() % 9);
    if (type.isFloat() && (seed % 2 == 0 || random() % kOneIn != 0))
      bits = type == dtypes::float16 ? (bits & 0x83ff) | (11 + power) << 10 : (bits & 0x807f) | (123 + power) << 7;
    std::memcpy(bytes.data() + i * type.itemsize(), &bits, static_cast<size_t>(type.itemsize()));
  }
  return bytes;
}

// For tests/devices/amx: objects, operands and results of kernels that run on a machine with tiles.
TEST_CASE("tile kernels for a machine" * doctest::skip(std::getenv("UOPSCOPE_TILE_CASES") == nullptr)) {
  const std::string folder = std::getenv("UOPSCOPE_TILE_CASES");
  Pool pool;
  PoolScope scope(pool);
  std::ofstream names(folder + "/names");
  int number = 0;
  auto write = [&](const char* what, std::string_view bytes) {
    std::ofstream(fmt::format("{}/{}.{}", folder, number, what), std::ios::binary) << bytes;
  };
  auto viewed = [](const std::vector<std::byte>& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  for (const Sizes& s : {Sizes{16, 16, 64}, Sizes{32, 32, 256}, Sizes{64, 96, 128, false, true},
                         Sizes{48, 32, 128, true, false}, Sizes{96, 48, 192, true, true},
                         Sizes{32, 16, 128, false, false, 3}, Sizes{256, 256, 512}})
    for (auto [a, b] : kTypes) {
      LoweredKernel k = lowerKernel(product(s, a, b), amxTarget());
      REQUIRE(tilesOf(k) > 0);
      write("o", processorObject(k, LlvmRenderer(amxTarget()).render(k), kAmxProcessor));
      std::vector<std::byte> left = operandBytes(s.batch * s.rows * s.terms, a, static_cast<uint32_t>(number)),
                             right = operandBytes(s.batch * s.columns * s.terms, b, static_cast<uint32_t>(number + 100)),
                             result(static_cast<size_t>(s.batch * s.rows * s.columns * 4));
      void* buffers[] = {result.data(), left.data(), right.data()};
      RefProgram(k).launch(buffers, {}, {}, {}, true);
      write("left", viewed(left));
      write("right", viewed(right));
      write("expected", viewed(result));
      names << fmt::format("{}x{}x{} {}{}batch {} {} {}\n", s.rows, s.columns, s.terms, s.aTransposed ? "a.T " : "",
                           s.bTransposed ? "b.T " : "", s.batch, a.name(), b.name());
      ++number;
    }
}
