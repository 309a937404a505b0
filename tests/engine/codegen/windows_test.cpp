// Convolutions that copy their picture with margins give the same values.
#include "engine/base/context_var.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

struct Picture {
  int64_t pictures, channels, filters, size, window, margin, stride, dilation;
};

/// `outputs` stores of the same sum.
UOp convolution(const Picture& s, int64_t outputs = 1) {
  int64_t out = (s.size + 2 * s.margin - (s.window - 1) * s.dilation - 1) / s.stride + 1;
  UOp n = UOp::range(s.pictures, 0), o = UOp::range(s.filters, 1), y = UOp::range(out, 2),
      x = UOp::range(out, 3);
  UOp c = UOp::range(s.channels, 4, AxisType::Reduce), ky = UOp::range(s.window, 5, AxisType::Reduce),
      kx = UOp::range(s.window, 6, AxisType::Reduce);
  UOp row = y * s.stride + ky * s.dilation - s.margin, column = x * s.stride + kx * s.dilation - s.margin;
  UOp inside = (row < 0).logicalNot() & (row < s.size) & (column < 0).logicalNot() & (column < s.size);
  UOp place = ((n * s.channels + c) * s.size + row) * s.size + column;
  UOp value = read(memory(1, s.pictures * s.channels * s.size * s.size), place.validWhere(inside));
  UOp weight = read(memory(2, s.filters * s.channels * s.window * s.window),
                    ((o * s.channels + c) * s.window + ky) * s.window + kx);
  UOp sum = (inside.where(value, UOp::constant(dtypes::float32, 0.0)) * weight)
                .reduce(Op::ADD, std::vector<UOp>{c, ky, kx});
  UOp to = ((n * s.filters + o) * out + y) * out + x;
  std::vector<UOp> stores;
  for (int64_t k = 0; k < outputs; ++k) {
    UOp scaled = k ? sum * UOp::constant(dtypes::float32, static_cast<double>(k + 1)) : sum;
    stores.push_back(memory(k ? 2 + k : 0, s.pictures * s.filters * out * out).indexed({to}).store(scaled));
  }
  UOp all = stores.size() == 1 ? stores[0] : UOp::make(Op::GROUP, dtypes::void_, stores);
  return kernel(std::vector<UOp>(stores.size(), all.end({n, o, y, x})));
}
bool isStaged(const LoweredKernel& k, const Picture& s) {
  int64_t out = (s.size + 2 * s.margin - (s.window - 1) * s.dilation - 1) / s.stride + 1;
  int64_t reach = (out - 1) * s.stride + (s.window - 1) * s.dilation + 1;
  bool copies = false;
  for (UOp u : k.uops) copies |= u.is(Op::DEFINE_REG) && u.dtype().size() == s.channels * reach * reach;
  return copies;
}

} // namespace

TEST_CASE("pictures with a margin are copied, for windows of any stride and dilation") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (const Picture& s :
       {Picture{1, 2, 16, 6, 3, 1, 1, 1}, Picture{1, 2, 64, 7, 3, 1, 2, 1}, Picture{1, 2, 64, 12, 3, 1, 2, 1},
        Picture{1, 2, 64, 13, 5, 2, 3, 1}, Picture{1, 2, 16, 7, 3, 2, 1, 2}}) {
    CAPTURE(s.stride);
    CAPTURE(s.dilation);
    LoweredKernel k = checkKernel(convolution(s), plainTarget(8), 5, {}, 1e-4);
    CHECK(isStaged(k, s));
  }
}

TEST_CASE("no copy without a margin, of what is read seldom, or of what no cache holds") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget(8);
  for (const Picture& s : {Picture{2, 3, 16, 9, 3, 0, 1, 1}, Picture{2, 3, 1, 9, 2, 1, 1, 1},
                           Picture{1, 128, 32, 100, 3, 1, 1, 1}})
    CHECK_FALSE(isStaged(lowerKernel(convolution(s), target), s));
}

TEST_CASE("of a large picture, bands with their margins are copied, outside of the loop over filters") {
  Pool pool;
  PoolScope scope(pool);
  struct Case {
    Picture picture;
    int64_t rows, width; ///< of a band with its margins
  };
  for (const Case& c :
       {Case{{1, 16, 16, 140, 3, 1, 1, 1}, 22, 142}, Case{{2, 16, 16, 140, 3, 1, 1, 1}, 22, 142},
        Case{{1, 16, 16, 140, 3, 0, 1, 1}, 25, 140}, Case{{1, 16, 32, 140, 3, 1, 2, 1}, 29, 141},
        Case{{1, 8, 16, 190, 3, 0, 1, 3}, 29, 190}, Case{{1, 64, 64, 256, 3, 1, 1, 1}, 3, 258}}) {
    CAPTURE(c.picture.size);
    CAPTURE(c.picture.stride);
    const LoweredKernel k = lowerKernel(convolution(c.picture), plainTarget(8));
    const int64_t elements = c.picture.channels * c.rows * c.width;
    CHECK(std::ranges::any_of(k.uops,
                              [&](UOp u) { return u.is(Op::DEFINE_REG) && u.dtype().size() == elements; }));
  }
  // What few filters read is copied whole, and so is a picture of which no band has enough places.
  for (const Picture& s : {Picture{1, 16, 2, 140, 3, 1, 1, 1}, Picture{1, 4000, 16, 8, 3, 1, 1, 1}}) {
    CAPTURE(s.channels);
    CHECK(isStaged(lowerKernel(convolution(s), plainTarget(8)), s));
  }
}

TEST_CASE("of several small pictures none is copied: their filters are arranged once") {
  Pool pool;
  PoolScope scope(pool);
  const Picture small{2, 16, 16, 8, 3, 1, 1, 1}, larger{2, 16, 16, 9, 3, 1, 1, 1};
  const Picture fewChannels{2, 2, 16, 8, 3, 1, 1, 1};
  CHECK(isStaged(checkKernel(convolution(fewChannels), plainTarget(8), 5, {}, 1e-4), fewChannels));
  CHECK_FALSE(isStaged(checkKernel(convolution(small), plainTarget(8), 5, {}, 1e-4), small));
  CHECK(isStaged(checkKernel(convolution(larger), plainTarget(8), 5, {}, 1e-4), larger));
}

TEST_CASE("a group of filters has a picture of its own, which is copied however small, if it is read often") {
  Pool pool;
  PoolScope scope(pool);
  const int64_t groups = 3, each = 16, channels = 2, size = 7;
  for (const int64_t filters : {each, int64_t{1}}) {
    UOp g = UOp::range(groups, 0), o = UOp::range(filters, 1), y = UOp::range(size, 2),
        x = UOp::range(size, 3);
    UOp c = UOp::range(channels, 4, AxisType::Reduce), ky = UOp::range(3, 5, AxisType::Reduce),
        kx = UOp::range(3, 6, AxisType::Reduce);
    UOp row = y + ky - 1, column = x + kx - 1;
    UOp inside = (row < 0).logicalNot() & (row < size) & (column < 0).logicalNot() & (column < size);
    UOp place = ((g * channels + c) * size + row) * size + column;
    UOp value = inside.where(read(memory(1, groups * channels * size * size), place.validWhere(inside)),
                             UOp::constant(dtypes::float32, 0.0));
    UOp weight = read(memory(2, groups * filters * channels * 9),
                      (((g * filters + o) * channels + c) * 3 + ky) * 3 + kx);
    UOp sum = (value * weight).reduce(Op::ADD, std::vector<UOp>{c, ky, kx});
    UOp to = ((g * filters + o) * size + y) * size + x;
    UOp sink = kernel({memory(0, groups * filters * size * size).indexed({to}).store(sum).end({g, o, y, x})});
    const Picture copied{1, channels, filters, size, 3, 1, 1, 1};
    CHECK(isStaged(checkKernel(sink, plainTarget(8), 5, {}, 1e-4), copied) == (filters == each));
  }
}

TEST_CASE("a window along one axis: the copy has the rows that it does not move along, in their order") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  const int64_t channels = 2, filters = 16, size = 9, window = 5, margin = 2;
  for (const bool isAlong : {true, false})
    for (const int64_t pictures : {1, 2}) {
      CAPTURE(isAlong);
      CAPTURE(pictures);
      UOp n = UOp::range(pictures, 0), o = UOp::range(filters, 1), y = UOp::range(size, 2),
          x = UOp::range(size, 3);
      UOp c = UOp::range(channels, 4, AxisType::Reduce), k = UOp::range(window, 5, AxisType::Reduce);
      UOp moved = (isAlong ? x : y) + k - margin, inside = (moved < 0).logicalNot() & (moved < size);
      UOp place = ((n * channels + c) * size + (isAlong ? y : moved)) * size + (isAlong ? moved : x);
      UOp value = inside.where(read(memory(1, pictures * channels * size * size), place.validWhere(inside)),
                               UOp::constant(dtypes::float32, 0.0));
      UOp weight = read(memory(2, filters * channels * window), (o * channels + c) * window + k);
      UOp sum = (value * weight).reduce(Op::ADD, std::vector<UOp>{c, k});
      UOp to = ((n * filters + o) * size + y) * size + x;
      UOp sink =
          kernel({memory(0, pictures * filters * size * size).indexed({to}).store(sum).end({n, o, y, x})});
      const LoweredKernel k9 = checkKernel(sink, plainTarget(8), 5, {}, 1e-4);
      CHECK(std::ranges::any_of(k9.uops, [&](UOp u) {
        return u.is(Op::DEFINE_REG) && u.dtype().size() == channels * size * (size + 2 * margin);
      }));
    }
}

TEST_CASE("a kernel with several stores of one sum copies its picture") {
  Pool pool;
  PoolScope scope(pool);
  const Picture s{2, 2, 16, 10, 3, 1, 1, 1};
  CHECK(isStaged(checkKernel(convolution(s, 2), plainTarget(8), 5, {}, 1e-4), s));
}

TEST_CASE("the picture of a filter's gradient is not copied: its windows are larger than their number") {
  Pool pool;
  PoolScope scope(pool);
  const int64_t count = 2, filters = 16;
  for (auto [channels, size] : {std::array<int64_t, 2>{2, 40}, {8, 5}}) {
    CAPTURE(size);
    UOp o = UOp::range(filters, 0), c = UOp::range(channels, 1), ky = UOp::range(3, 2), kx = UOp::range(3, 3);
    UOp n = UOp::range(count, 4, AxisType::Reduce), y = UOp::range(size, 5, AxisType::Reduce),
        x = UOp::range(size, 6, AxisType::Reduce);
    UOp row = y + ky - 1, column = x + kx - 1;
    UOp inside = (row < 0).logicalNot() & (row < size) & (column < 0).logicalNot() & (column < size);
    UOp place = ((n * channels + c) * size + row) * size + column;
    UOp value = inside.where(read(memory(1, count * channels * size * size), place.validWhere(inside)),
                             UOp::constant(dtypes::float32, 0.0));
    UOp slope = read(memory(2, count * filters * size * size), ((n * filters + o) * size + y) * size + x);
    UOp sum = (value * slope).reduce(Op::ADD, std::vector<UOp>{n, y, x});
    UOp to = ((o * channels + c) * 3 + ky) * 3 + kx;
    UOp sink = kernel({memory(0, filters * channels * 9).indexed({to}).store(sum).end({o, c, ky, kx})});
    for (UOp u : lowerKernel(sink, plainTarget(8)).uops)
      if (u.is(Op::DEFINE_REG)) CHECK(u.dtype().size() % ((size + 2) * (size + 2)) != 0);
  }
}

TEST_CASE("blocks of a transposed left operand are copied, where its terms lie far apart") {
  Pool pool;
  PoolScope scope(pool);
  auto columnsCopied = [](int64_t rows, int64_t terms, int64_t columns) {
    UOp i = UOp::range(rows, 0), j = UOp::range(columns, 1), k = UOp::range(terms, 2, AxisType::Reduce);
    UOp product =
        read(memory(1, terms * rows), k * rows + i) * read(memory(2, terms * columns), k * columns + j);
    UOp sum = product.reduce(Op::ADD, std::vector<UOp>{k});
    LoweredKernel lowered =
        lowerKernel(kernel({memory(0, rows * columns).indexed({i * columns + j}).store(sum).end({i, j})}),
                    plainTarget(8));
    bool found = false;
    for (UOp u : lowered.uops) found |= u.is(Op::DEFINE_REG) && u.dtype().size() == 128 * terms;
    return found;
  };
  CHECK(columnsCopied(512, 200, 160));
  CHECK_FALSE(columnsCopied(512, 200, 64));  // few reads
  CHECK_FALSE(columnsCopied(512, 100, 160)); // a cache holds it
  CHECK_FALSE(columnsCopied(128, 800, 160)); // the terms lie close together
}
