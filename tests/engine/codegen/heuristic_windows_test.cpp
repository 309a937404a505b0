// Opts of windows of each channel alone, and of the gradients of such filters: rows are lanes as a whole.
#include "engine/base/context_var.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

struct Filters {
  int64_t groups, filters, channels, size, window, stride;
  int64_t margin() const { return window / 2; }
  int64_t out() const { return (size + 2 * margin() - window) / stride + 1; }
};

/// The element of the picture of group g that a window's step reads, zero outside.
UOp pictureAt(const Filters& f, UOp n, UOp g, UOp c, UOp row, UOp column, int64_t pictures) {
  const UOp inside = (row < 0).logicalNot() & (row < f.size) & (column < 0).logicalNot() & (column < f.size);
  const UOp place = (((n * f.groups + g) * f.channels + c) * f.size + row) * f.size + column;
  const UOp value =
      read(memory(1, pictures * f.groups * f.channels * f.size * f.size), place.validWhere(inside));
  return inside.where(value, UOp::constant(dtypes::float32, 0.0));
}

UOp gradient(const Filters& f, int64_t pictures = 2) {
  const int64_t out = f.out();
  UOp g = UOp::range(f.groups, 0), o = UOp::range(f.filters, 1), c = UOp::range(f.channels, 2),
      ky = UOp::range(f.window, 3), kx = UOp::range(f.window, 4);
  UOp n = UOp::range(pictures, 5, AxisType::Reduce), y = UOp::range(out, 6, AxisType::Reduce),
      x = UOp::range(out, 7, AxisType::Reduce);
  UOp value = pictureAt(f, n, g, c, y * f.stride + ky - f.margin(), x * f.stride + kx - f.margin(), pictures);
  UOp slope = read(memory(2, pictures * f.groups * f.filters * out * out),
                   (((n * f.groups + g) * f.filters + o) * out + y) * out + x);
  UOp sum = (value * slope).reduce(Op::ADD, std::vector<UOp>{n, y, x});
  UOp to = (((g * f.filters + o) * f.channels + c) * f.window + ky) * f.window + kx;
  const int64_t results = f.groups * f.filters * f.channels * f.window * f.window;
  return kernel({memory(0, results).indexed({to}).store(sum).end({g, o, c, ky, kx})});
}

UOp forward(const Filters& f) {
  const int64_t out = f.out();
  UOp g = UOp::range(f.groups, 0), y = UOp::range(out, 1), x = UOp::range(out, 2);
  UOp ky = UOp::range(f.window, 3, AxisType::Reduce), kx = UOp::range(f.window, 4, AxisType::Reduce);
  UOp value = pictureAt(f, UOp::index(0), g, UOp::index(0), y * f.stride + ky - f.margin(),
                        x * f.stride + kx - f.margin(), 1);
  UOp weight = read(memory(2, f.groups * f.window * f.window), (g * f.window + ky) * f.window + kx);
  UOp sum = (value * weight).reduce(Op::ADD, std::vector<UOp>{ky, kx});
  return kernel(
      {memory(0, f.groups * out * out).indexed({(g * out + y) * out + x}).store(sum).end({g, y, x})});
}

/// The product of an Opt's amounts.
int64_t amountOf(const LoweredKernel& k, OptOp op) {
  int64_t all = 1;
  for (const Opt& o : k.appliedOpts)
    if (o.op == op) all *= o.arg.at(0);
  return all;
}

} // namespace

TEST_CASE("the gradient of a depthwise filter: a row of terms is the lanes, for all results of the window") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}, {"IGNORE_OOB", 0}});
  for (const Filters& f : {Filters{3, 1, 1, 14, 3, 1},
                           {3, 1, 1, 14, 5, 1},
                           {3, 1, 1, 28, 3, 2},
                           {3, 1, 1, 27, 3, 2},
                           {3, 1, 1, 12, 3, 1}}) {
    CAPTURE(f.size);
    CAPTURE(f.window);
    const LoweredKernel k = checkKernel(gradient(f), vectorTarget(16, 1), 5, {}, 1e-3);
    CHECK(amountOf(k, OptOp::UNROLL) == 16);
    CHECK(amountOf(k, OptOp::UPCAST) == f.window * f.window);
  }
}

TEST_CASE("short rows of terms fill a register together, and few filters share the rows of a picture") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}, {"IGNORE_OOB", 0}});
  for (const int64_t size : {7, 6, 8}) { // seven rows are four pairs, of which one row is 0
    const LoweredKernel k = checkKernel(gradient({3, 1, 1, size, 3, 1}), vectorTarget(16, 1), 5, {}, 1e-3);
    CHECK(amountOf(k, OptOp::UNROLL) == 16);
    CHECK(amountOf(k, OptOp::UPCAST) == 9);
  }
  const LoweredKernel groups = checkKernel(gradient({2, 8, 2, 14, 3, 1}), vectorTarget(16, 1), 5, {}, 1e-3);
  CHECK(amountOf(groups, OptOp::UNROLL) == 16);
  CHECK(amountOf(groups, OptOp::UPCAST) == 24);
}

TEST_CASE("the gradient of many filters is a product: its filters are lanes") {
  Pool pool;
  PoolScope scope(pool);
  const LoweredKernel k = lowerKernel(gradient({1, 32, 4, 14, 3, 1}), vectorTarget(16, 1));
  CHECK(std::ranges::count(k.appliedOpts, OptOp::PADTO, &Opt::op) == 0);
}

TEST_CASE("a window of many terms is not written out as a whole: rows are computed beside each other") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}, {"IGNORE_OOB", 0}});
  const LoweredKernel small = checkKernel(forward({4, 1, 1, 14, 3, 1}), vectorTarget(16, 1), 5, {}, 1e-4);
  CHECK(amountOf(small, OptOp::UNROLL) == 0); // both sides, whole
  CHECK(std::ranges::count(small.appliedOpts, OptOp::UNROLL, &Opt::op) == 2);
  for (const auto& [size, window] : {std::pair<int64_t, int64_t>{14, 5}, {7, 7}}) {
    const LoweredKernel k =
        checkKernel(forward({4, 1, 1, size, window, 1}), vectorTarget(16, 1), 5, {}, 1e-4);
    CHECK(std::ranges::count(k.appliedOpts, OptOp::UNROLL, &Opt::op) == 1);
    CHECK(std::ranges::count(k.appliedOpts, OptOp::UPCAST, &Opt::op) == 2);
  }
}
