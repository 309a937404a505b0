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

UOp convolution(const Picture& s) {
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
  return kernel({memory(0, s.pictures * s.filters * out * out).indexed({to}).store(sum).end({n, o, y, x})});
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
  for (const Picture& s : {Picture{2, 2, 16, 6, 3, 1, 1, 1}, Picture{1, 2, 64, 7, 3, 1, 2, 1},
                           Picture{1, 2, 16, 7, 3, 2, 1, 2}}) {
    CAPTURE(s.stride);
    CAPTURE(s.dilation);
    LoweredKernel k = checkKernel(convolution(s), plainTarget(8), 5, {}, 1e-4);
    if (s.stride == 1) CHECK(isStaged(k, s)); // other strides may be read in place
  }
}

TEST_CASE("no copy without a margin, of what is read seldom, or of what no cache holds") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget(8);
  for (const Picture& s : {Picture{2, 3, 16, 9, 3, 0, 1, 1}, Picture{2, 3, 1, 9, 3, 1, 1, 1},
                           Picture{1, 128, 32, 100, 3, 1, 1, 1}})
    CHECK_FALSE(isStaged(lowerKernel(convolution(s), target), s));
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
  CHECK_FALSE(columnsCopied(256, 400, 160)); // the terms lie close together
}
