// Products by the tiles of a processor give what the sums give, whatever the layout, the signs and the number of tiles.
#include "engine/base/context_var.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/tile_cores.h"
#include "engine/render/llvm_renderer.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

Target tileTarget() {
  Target t = plainTarget(16);
  t.maxVectorLanes = 16;
  t.tensorCores = dotProducts(true, true);
  for (const TensorCore& core : tileCores(true, true, true)) t.tensorCores.push_back(core);
  return t;
}

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
      LoweredKernel k = checkKernel(product(s, a, b), tileTarget(), 3, {}, 1e-4);
      CHECK(tilesOf(k) > 0);
    }
}

TEST_CASE("dump tiles") {
  Pool pool;
  PoolScope scope(pool);
  LoweredKernel k = lowerKernel(product({1024, 1024, 1024}, dtypes::bfloat16, dtypes::bfloat16), tileTarget());
  printf("%s\n", LlvmRenderer(tileTarget()).render(k).c_str());
}
