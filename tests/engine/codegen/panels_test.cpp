// Products that read from panels give the same values, and only products that gain from a panel have one.
#include "engine/base/context_var.h"
#include "engine/codegen/panels.h"
#include "engine/codegen/ranges.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// out[i,j] = sum over k of a[i,k] * b[k*rowStride + j*columnStride]
UOp stridedProduct(int64_t rows, int64_t columns, int64_t terms, int64_t rowStride, int64_t columnStride,
                   std::vector<Opt> opts = {}, DType d = dtypes::float32) {
  UOp i = UOp::range(rows, 0), j = UOp::range(columns, 1), k = UOp::range(terms, 2, AxisType::Reduce);
  int64_t size = (terms - 1) * rowStride + (columns - 1) * columnStride + 1;
  UOp value = read(memory(1, rows * terms, d), i * terms + k) *
              read(memory(2, size, d), k * rowStride + j * columnStride);
  UOp sum = value.reduce(Op::ADD, std::vector<UOp>{k});
  KernelInfo info;
  info.hasOptsToApply = !opts.empty();
  info.optsToApply = std::move(opts);
  return kernel({memory(0, rows * columns, d).indexed({i * columns + j}).store(sum).end({i, j})}, info);
}

int panelsOf(const LoweredKernel& k) {
  int found = 0;
  for (UOp u : k.uops) found += u.is(Op::DEFINE_REG) && u.dtype().size() >= 128 * 8;
  return found;
}

} // namespace

TEST_CASE("columns of a transposed matrix, and rows a page apart, are read from a panel") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (auto [rowStride, columnStride] : {std::pair<int64_t, int64_t>{1, 131}, {1024, 1}, {3, 400}}) {
    CAPTURE(rowStride);
    LoweredKernel k =
        checkKernel(stridedProduct(80, 16, 131, rowStride, columnStride), plainTarget(8), 5, {}, 1e-5);
    CHECK(panelsOf(k) == 1);
  }
}

TEST_CASE("rows a power of two apart are read from a panel once they are more than a cache has places for") {
  Pool pool;
  PoolScope scope(pool);
  // Places for rows 1 kB apart: 512 in a second cache of 512 kB, 1,024 in one of 1 MB. Rows 1,040 bytes apart have them all.
  for (auto [lanes, rowStride, rows, panels] : {std::tuple{8, 256, 512, 0},
                                                {8, 256, 513, 1},
                                                {8, 260, 513, 0},
                                                {16, 256, 1024, 0},
                                                {16, 256, 1025, 1}}) {
    CAPTURE(lanes);
    CAPTURE(rowStride);
    CAPTURE(rows);
    CHECK(panelsOf(lowerKernel(stridedProduct(256, 64, rows, rowStride, 1), plainTarget(lanes))) == panels);
  }
}

TEST_CASE("a panel holds small floats in the type of their sum, so each is converted once") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (DType small : {dtypes::float16, dtypes::bfloat16}) {
    UOp i = UOp::range(80, 0), j = UOp::range(16, 1), k = UOp::range(131, 2, AxisType::Reduce);
    UOp value = read(memory(1, 80 * 131, small), i * int64_t{131} + k) *
                read(memory(2, 16 * 131, small), j * int64_t{131} + k);
    UOp sum = value.cast(dtypes::float32).reduce(Op::ADD, std::vector<UOp>{k});
    LoweredKernel lowered =
        checkKernel(kernel({memory(0, 80 * 16).indexed({i * int64_t{16} + j}).store(sum).end({i, j})}),
                    plainTarget(8), 5, {}, 1e-5);
    CHECK(panelsOf(lowered) == 1);
    for (UOp u : lowered.uops) {
      if (u.is(Op::DEFINE_REG)) CHECK(u.dtype().base() == dtypes::float32);
      // Rows that all lanes share come as vectors of terms.
      if (u.is(Op::LOAD) && u.src(0).bufferOf().arg().i() == 1) CHECK(u.dtype().count() > 1);
    }
  }
}

TEST_CASE("rows of small floats that all lanes share are widened once for several tiles, or for each") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  // Products of few and of many columns, and of terms that fill no vector; the last has more rows than a panel.
  for (auto [rows, columns, terms] :
       {std::tuple{16, 16, 64}, {8, 128, 32}, {16, 64, 37}, {24, 32, 8}, {12, 16, 7}, {4096, 64, 512}}) {
    for (DType small : {dtypes::float16, dtypes::bfloat16, dtypes::fp8e4m3}) {
      CAPTURE(rows);
      CAPTURE(terms);
      UOp i = UOp::range(rows, 0), j = UOp::range(columns, 1), k = UOp::range(terms, 2, AxisType::Reduce);
      UOp value = read(memory(1, rows * terms, small), i * int64_t{terms} + k).cast(dtypes::float32) *
                  read(memory(2, columns * terms, small), k * int64_t{columns} + j).cast(dtypes::float32);
      UOp sum = value.reduce(Op::ADD, std::vector<UOp>{k});
      UOp ast =
          kernel({memory(0, rows * columns).indexed({i * int64_t{columns} + j}).store(sum).end({i, j})});
      if (rows * terms < 10'000) checkKernel(ast, plainTarget(8), 3, {}, 1e-5);
      if (terms % 8 || small.itemsize() < 2) continue;
      for (UOp u : lowerKernel(ast, plainTarget(8)).uops)
        if (u.is(Op::LOAD) && u.src(0).bufferOf().arg().i() == 1) CHECK(u.dtype().count() == 8);
    }
  }
}

TEST_CASE("a panel of terms that lie side by side is copied by squares") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  LoweredKernel k = checkKernel(stridedProduct(80, 16, 128, 1, 128), plainTarget(8), 5, {}, 1e-5);
  CHECK(panelsOf(k) == 1);
  int gathered = 0; // loads of single elements that lie apart
  for (UOp u : k.uops)
    gathered += u.is(Op::LOAD) && u.dtype().count() == 1 && u.src(0).bufferOf().arg().i() == 2;
  CHECK(gathered == 0);
}

TEST_CASE("terms that are lanes and lie apart come together in a panel, a row for each row of the tile") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  auto panels = [&](int64_t rows, int64_t columns, int64_t terms, int64_t apart, DType d = dtypes::float32) {
    const int64_t lanes = 64 / std::max(4, d.itemsize());
    const std::vector<Opt> tile{
        {OptOp::UPCAST, 0, {2}}, {OptOp::UPCAST, 1, {5}}, {OptOp::UNROLL, 0, {lanes}}};
    return panelsOf(checkKernel(stridedProduct(rows, columns, terms, apart, 1, tile, d), plainTarget(16), 5,
                                {}, d == dtypes::float16 ? 1e-2 : 1e-5));
  };
  CHECK(panels(80, 10, 128, 10) == 1); // all columns, for all rows
  CHECK(panels(80, 10, 128, 13) == 1);
  CHECK(panels(80, 10, 128, 10, dtypes::int32) == 1);
  CHECK(panels(80, 10, 128, 10, dtypes::float64) == 1);
  CHECK(panels(6, 10, 128, 10) == 0);                   // three rows of tiles read it
  CHECK(panels(80, 10, 128, 10, dtypes::float16) == 0); // halves are widened
  // By itself the tile of ten columns has lanes of terms, where they fill vectors.
  CHECK(panelsOf(checkKernel(stridedProduct(200, 10, 256, 10, 1), plainTarget(16), 5, {}, 1e-5)) == 1);
}

TEST_CASE("short sums of terms that a panel brings together stay loops, of which the panel has rows") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (int64_t pictures : {28, 32, 64}) { // rows of 3, of which windows of 2 are read
    CAPTURE(pictures);
    const int64_t channels = 64, width = 2;
    UOp i = UOp::range(pictures, 0), j = UOp::range(16, 1);
    UOp c = UOp::range(channels, 2, AxisType::Reduce), k = UOp::range(width, 3, AxisType::Reduce);
    UOp picture = read(memory(1, pictures * channels * (width + 1)), (i * channels + c) * (width + 1) + k);
    UOp filter = read(memory(2, 16 * channels * width), (j * channels + c) * width + k);
    UOp sum = (picture * filter).reduce(Op::ADD, std::vector<UOp>{c, k});
    UOp ast = kernel({memory(0, pictures * 16).indexed({i * 16 + j}).store(sum).end({i, j})});
    CHECK(panelsOf(checkKernel(ast, plainTarget(8), 5, {}, 1e-4)) == 1);
  }
}

TEST_CASE("a short sum beside a tile of eight registers stays a loop, where there are sixteen") {
  Pool pool;
  PoolScope scope(pool);
  // 64 filters of 2 places, over 64 rows of 257: vectors of neighbours overlap from place to place.
  UOp f = UOp::range(64, 0), i = UOp::range(256, 1), c = UOp::range(64, 2, AxisType::Reduce),
      t = UOp::range(2, 3, AxisType::Reduce);
  UOp value = read(memory(1, 64 * 128), f * 128 + c * 2 + t) * read(memory(2, 64 * 257), c * 257 + i + t);
  UOp sum = value.reduce(Op::ADD, std::vector<UOp>{c, t});
  const UOp ast = kernel({memory(0, 64 * 256).indexed({f * 256 + i}).store(sum).end({f, i})});
  const LoweredKernel k = checkKernel(ast, plainTarget(8), 2, {}, 1e-5);
  CHECK(std::ranges::count(k.appliedOpts, OptOp::UPCAST, &Opt::op) == 2);
  CHECK(std::ranges::count(k.appliedOpts, OptOp::UNROLL, &Opt::op) == 0);
}

TEST_CASE("each of two products in a kernel has its panel") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  UOp i = UOp::range(80, 0), j = UOp::range(16, 1);
  auto sumOf = [&](int64_t slot, int64_t id) {
    UOp k = UOp::range(131, id, AxisType::Reduce);
    UOp value = read(memory(slot, 80 * 131), i * 131 + k) * read(memory(slot + 1, 16 * 131), j * 131 + k);
    return value.reduce(Op::ADD, std::vector<UOp>{k});
  };
  UOp both = sumOf(1, 2) + sumOf(3, 3);
  UOp ast = kernel({memory(0, 80 * 16).indexed({i * 16 + j}).store(both).end({i, j})}, KernelInfo());
  LoweredKernel k = checkKernel(ast, plainTarget(8), 5, {}, 1e-5);
  CHECK(panelsOf(k) == 2);
}

TEST_CASE("panels of other types than float32") {
  Pool pool;
  PoolScope scope(pool);
  for (DType d : {dtypes::float64, dtypes::int32, dtypes::uint8}) {
    CAPTURE(d.name());
    LoweredKernel k = checkKernel(stridedProduct(80, 16, 131, 1, 131, {}, d), plainTarget(8), 5, {}, 1e-9);
    CHECK(panelsOf(k) == 1);
  }
}

TEST_CASE("no panel where rows are near, few, read seldom, or where it would not fit") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget(8);
  CHECK(panelsOf(lowerKernel(stridedProduct(80, 16, 131, 16, 1), target)) == 0);   // rows next to each other
  CHECK(panelsOf(lowerKernel(stridedProduct(80, 16, 120, 1024, 1), target)) == 0); // few rows
  CHECK(panelsOf(lowerKernel(stridedProduct(4, 16, 131, 1, 131), target)) == 0);   // read once
  CHECK(panelsOf(lowerKernel(stridedProduct(80, 16, 70000, 1024, 1), target)) == 0); // too large
  ContextScope plain({{"NOOPT", 1}});
  CHECK(panelsOf(lowerKernel(stridedProduct(80, 16, 131, 1024, 1), target)) == 0);
}

TEST_CASE("options by hand: a panel needs its loop outside the one that reads it again") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget(8);
  std::vector<Opt> inside{{OptOp::UPCAST, 0, {4}}, {OptOp::UPCAST, 1, {8}}}, outside = inside;
  outside.push_back({OptOp::SWAP, 0, {1}});
  CHECK(panelsOf(checkKernel(stridedProduct(80, 16, 131, 1, 131, inside), target, 5, {}, 1e-5)) == 0);
  CHECK(panelsOf(checkKernel(stridedProduct(80, 16, 131, 1, 131, outside), target, 5, {}, 1e-5)) == 1);
}

TEST_CASE("all copies of a kernel together fit on the stack of a thread") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"NOOPT", 0}});
  const int64_t columns = 32, rows = 80;
  auto bytes = [&](int64_t terms) { // of two sums, each with a panel
    UOp i = UOp::range(rows, 0), j = UOp::range(columns, 1);
    std::vector<UOp> sums;
    for (int64_t k = 0; k < 2; ++k) {
      UOp t = UOp::range(terms, 2 + k, AxisType::Reduce);
      UOp a = read(memory(1 + 2 * k, rows * terms), i * terms + t),
          b = read(memory(2 + 2 * k, columns * terms * 3), (j * terms + t) * 3);
      sums.push_back((a * b).reduce(Op::ADD, std::vector<UOp>{t}));
    }
    UOp store = memory(0, rows * columns).indexed({i * columns + j}).store(sums[0] + sums[1]);
    return registerBytes(lowerKernel(kernel({store.end({i, j})}), plainTarget(8)).uops);
  };
  CHECK(bytes(1000) > int64_t{2} * 1000 * 16 * 4);
  CHECK(bytes(28000) > int64_t{28000} * 16 * 4); // one of them
  CHECK(bytes(28000) < kCopyBytes + (64 << 10));
  CHECK(bytes(60000) < kCopyBytes + (64 << 10));
}

TEST_CASE("the innermost loop of a panel goes outside of loops that only read it") {
  Pool pool;
  PoolScope scope(pool);
  // The gradient of a filter in pieces: out[o, c, n] = sum over t of dy[n, o, t] * x[n, c, 2t]
  const int64_t filters = 16, channels = 40, pieces = 7, terms = 140;
  UOp o = UOp::range(filters, 0), c = UOp::range(channels, 1), n = UOp::range(pieces, 2),
      t = UOp::range(terms, 3, AxisType::Reduce);
  UOp slope = read(memory(1, pieces * filters * terms * 3), ((n * filters + o) * terms + t) * 3);
  UOp value = read(memory(2, pieces * channels * terms * 2), (n * channels + c) * terms * 2 + t * 2);
  UOp sum = (slope * value).reduce(Op::ADD, std::vector<UOp>{t});
  UOp to = (o * channels + c) * pieces + n;
  UOp sink = kernel({memory(0, filters * channels * pieces).indexed({to}).store(sum).end({o, c, n})});
  LoweredKernel k = checkKernel(sink, plainTarget(8), 5, {}, 1e-4);
  REQUIRE_FALSE(k.appliedOpts.empty());
  CHECK(k.appliedOpts.back().op == OptOp::SWAP);
  CHECK(panelsOf(k) == 1);
}

TEST_CASE("a tile counts on the panel that an exchange of loops makes, where its results stay near") {
  Pool pool;
  PoolScope scope(pool);
  // The gradient of a transposed convolution for its filter: phases p of the slope lie inside of the filters' loops, and a place q
  // of the picture inside of the phases.
  const int64_t channels = 64, filters = 32, terms = 140;
  UOp c = UOp::range(channels, 0), f = UOp::range(filters, 1), q = UOp::range(2, 2), p = UOp::range(2, 3),
      t = UOp::range(terms, 4, AxisType::Reduce);
  UOp picture = read(memory(1, channels * (terms + 1)), c * (terms + 1) + q + t);
  UOp slope = read(memory(2, filters * 2 * terms), (f * 2 + p) * terms + t);
  UOp sum = (picture * slope).reduce(Op::ADD, std::vector<UOp>{t});
  UOp to = ((c * filters + f) * 2 + q) * 2 + p;
  UOp sink = kernel({memory(0, channels * filters * 4).indexed({to}).store(sum).end({c, f, q, p})});
  for (int lanes : {8, 16}) {
    CAPTURE(lanes);
    LoweredKernel k = checkKernel(sink, plainTarget(lanes), 5, {}, 1e-4);
    CHECK(panelsOf(k) == 1);
  }
}
