// Products by the tiles of a processor give what the sums give, whatever the layout, the signs and the number of tiles.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/opt.h"
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

struct BatchSizes {
  int64_t rows, columns, terms;
  bool aTransposed = false, bTransposed = false;
  int64_t batch = 1;
};
DType sumOf(DType a) {
  return a.isFloat() ? dtypes::float32 : dtypes::int32;
}
/// out[n,i,j] = sum over k of cast(a[n,i,k]) * cast(b[n,k,j])
UOp batchProduct(const BatchSizes& s, DType a, DType b) {
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

const std::pair<DType, DType> kTileTypes[] = {
    {dtypes::bfloat16, dtypes::bfloat16}, {dtypes::float16, dtypes::float16}, {dtypes::int8, dtypes::int8},
    {dtypes::uint8, dtypes::int8},        {dtypes::int8, dtypes::uint8},      {dtypes::uint8, dtypes::uint8}};

} // namespace

TEST_CASE("a tile product adds up even and odd terms apart, and takes denormals for zeros") {
  const std::vector<ConstValue> none(256, ConstValue::ofFloat(0));
  auto first = [&](const std::map<int64_t, double>& left, double all, double sum = 0) {
    std::vector<ConstValue> a(512, ConstValue::ofFloat(0)), b(512, ConstValue::ofFloat(all)), c = none;
    for (auto [term, value] : left) a[static_cast<size_t>(term)] = ConstValue::ofFloat(value);
    c[0] = ConstValue::ofFloat(sum);
    return tileProduct(dtypes::float32, 32, a, b, c)[0].f;
  };
  CHECK(first({{0, 1}, {1, 2}, {31, 3}}, 2, 5) == 17);
  // 2^24 + 1 is no float32: the 1 is lost beside 2^24 among the even terms, and kept among the odd ones.
  CHECK(first({{0, 16777216}, {2, 1}, {4, -16777216}}, 1) == 0);
  CHECK(first({{0, 16777216}, {1, 1}, {4, -16777216}}, 1) == 1);
  CHECK(first({{0, 1}}, 1, 16777216) == 16777216);
  const double denormal = 1e-39, infinity = std::numeric_limits<double>::infinity();
  CHECK(first({{0, denormal}}, 1e30) == 0);
  CHECK(first({{0, 1e-20}}, 1e-19) == 0);
  CHECK(first({}, 0, denormal) == 0);
  CHECK(first({{3, infinity}}, 2) == infinity);
  CHECK(std::isnan(first({{3, infinity}}, 0)));
  CHECK(std::isnan(first({{3, infinity}, {4, -infinity}}, 1)));
}

TEST_CASE("elements of a right operand lie as the instruction reads them") {
  CHECK(placeInRightTile(0, 0, 2) == 0);
  CHECK(placeInRightTile(1, 0, 2) == 1);
  CHECK(placeInRightTile(0, 1, 2) == 2);
  CHECK(placeInRightTile(2, 0, 2) == 32);
  CHECK(placeInRightTile(31, 15, 2) == 511);
  CHECK(placeInRightTile(3, 0, 1) == 3);
  CHECK(placeInRightTile(4, 0, 1) == 64);
  CHECK(placeInRightTile(63, 15, 1) == 1023);
}

TEST_CASE("products by tiles of every layout and type equal the sums that they stand for") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (const BatchSizes& s :
       {BatchSizes{32, 32, 128}, BatchSizes{16, 48, 64, false, true}, BatchSizes{48, 16, 64, true, false},
        BatchSizes{32, 32, 64, true, true}, BatchSizes{16, 16, 64, false, false, 2}})
    for (auto [a, b] : kTileTypes) {
      if (s.terms > 64 && a != dtypes::bfloat16) continue;
      CAPTURE(s.rows);
      CAPTURE(s.columns);
      CAPTURE(s.terms);
      CAPTURE(s.aTransposed);
      CAPTURE(s.bTransposed);
      CAPTURE(a.name());
      CAPTURE(b.name());
      LoweredKernel k = checkKernel(batchProduct(s, a, b), amxTarget(), 3, {}, 1e-4);
      CHECK(tilesOf(k) > 0);
    }
}

TEST_CASE("sums stay in registers of the unit while the loop over the terms runs") {
  Pool pool;
  PoolScope scope(pool);
  for (auto [a, b] : kTileTypes) {
    CAPTURE(a.name());
    LoweredKernel k = lowerKernel(batchProduct({128, 96, 256}, a, b), amxTarget());
    const std::string text = LlvmRenderer(amxTarget()).render(k);
    const auto listing = makeProcessorListing(k, text, kAmxProcessor);
    if (!listing) return; // built without LLVM
    const std::string code = listing->assembly();
    const std::string name = a == dtypes::bfloat16  ? "tdpbf16ps"
                             : a == dtypes::float16 ? "tdpfp16ps"
                                                    : "tdpb";
    const size_t first = code.find("\t" + name), last = code.rfind("\t" + name);
    REQUIRE(first != std::string::npos);
    CHECK(last > first); // several products in the loop, and between them nothing but reads of tiles
    const std::string between = code.substr(first, last - first);
    CHECK(between.find("tilestore") == std::string::npos);
    CHECK(between.find("zmm") == std::string::npos);
  }
}

TEST_CASE("what no tile takes is refused in words") {
  Pool pool;
  PoolScope scope(pool);
  const Target target = amxTarget();
  const int64_t core = static_cast<int64_t>(dotProducts(true, true).size());
  auto refusal = [&](UOp ast, std::vector<int64_t> arg) {
    KernelOptimizer s(readyForOpts(ast, target), target);
    try {
      s.apply({OptOp::TC, 0, std::move(arg)});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refusal(batchProduct({32, 32, 64}, dtypes::bfloat16, dtypes::bfloat16), {core, 0, 1}).empty());
  CHECK(refusal(batchProduct({33, 32, 64}, dtypes::bfloat16, dtypes::bfloat16), {core, 0, 1})
            .find("16 does not divide 33") != std::string::npos);
  CHECK(refusal(batchProduct({33, 32, 64}, dtypes::bfloat16, dtypes::bfloat16), {core, 2, 1})
            .empty()); // padded
  CHECK(refusal(batchProduct({32, 32, 64}, dtypes::int8, dtypes::int8), {core, 0, 1}).find("types") !=
        std::string::npos);
  CHECK(refusal(batchProduct({32, 32, 64}, dtypes::bfloat16, dtypes::bfloat16), {9, 0, 1})
            .find("no such core") != std::string::npos);
}

TEST_CASE("tiles that are padded, and single ones, give the sums") {
  Pool pool;
  PoolScope scope(pool);
  const Target target = amxTarget();
  const int64_t core = static_cast<int64_t>(dotProducts(true, true).size());
  for (const BatchSizes& s :
       {BatchSizes{33, 20, 40}, BatchSizes{16, 16, 32}, BatchSizes{48, 17, 96, true, true}}) {
    CAPTURE(s.rows);
    UOp ast = batchProduct(s, dtypes::bfloat16, dtypes::bfloat16);
    KernelInfo info;
    info.name = "padded";
    info.optsToApply = {{OptOp::TC, 0, {core, 2, 1}}};
    info.hasOptsToApply = true;
    LoweredKernel k = checkKernel(ast.withArg(Arg::of(info)), target, 5, {}, 1e-4);
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
      bits = type == dtypes::float16 ? (bits & 0x83ff) | (11 + power) << 10
                                     : (bits & 0x807f) | (123 + power) << 7;
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
  for (const BatchSizes& s :
       {BatchSizes{16, 16, 64}, BatchSizes{32, 32, 256}, BatchSizes{64, 96, 128, false, true},
        BatchSizes{48, 32, 128, true, false}, BatchSizes{96, 48, 192, true, true},
        BatchSizes{32, 16, 128, false, false, 3}, BatchSizes{256, 256, 512}})
    for (auto [a, b] : kTileTypes) {
      LoweredKernel k = lowerKernel(batchProduct(s, a, b), amxTarget());
      REQUIRE(tilesOf(k) > 0);
      write("o", processorObject(k, LlvmRenderer(amxTarget()).render(k), kAmxProcessor));
      std::vector<std::byte> left =
                                 operandBytes(s.batch * s.rows * s.terms, a, static_cast<uint32_t>(number)),
                             right = operandBytes(s.batch * s.columns * s.terms, b,
                                                  static_cast<uint32_t>(number + 100)),
                             result(static_cast<size_t>(s.batch * s.rows * s.columns * 4));
      void* buffers[] = {result.data(), left.data(), right.data()};
      RefProgram(k).launch(buffers, {}, {}, {}, true);
      write("left", viewed(left));
      write("right", viewed(right));
      write("expected", viewed(result));
      names << fmt::format("{}x{}x{} {}{}batch {} {} {}\n", s.rows, s.columns, s.terms,
                           s.aTransposed ? "a.T " : "", s.bTransposed ? "b.T " : "", s.batch, a.name(),
                           b.name());
      ++number;
    }
}
