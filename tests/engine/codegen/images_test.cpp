// Images: the type, the pair of indices, gates that the borders of an image make needless, and channels of pixels.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/images.h"
#include "engine/rules/algebra.h"
#include "engine/rules/image_gate.h"
#include "kernels.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

struct ImageFixture {
  Pool pool;
  PoolScope scope{pool};
  UOp column = UOp::special(UOp::index(32), "gidx0"), row = UOp::special(UOp::index(32), "gidx1");

  UOp image(int64_t height, int64_t width) {
    return UOp::make(Op::DEFINE_GLOBAL, DType::image({.height = height, .width = width}), {},
                     Arg::of(int64_t{0}));
  }
  UOp pixel(UOp memory, UOp x, UOp y, UOp gate) {
    UOp pair = UOp::vectorize(std::array{x, y});
    UOp zero = UOp::constant(dtypes::float32.vec(4), 0.0);
    return memory.indexed({pair.validWhere(gate)}).load({zero}, dtypes::float32.vec(4));
  }
  /// The load of a kernel that ends in it, after all passes.
  UOp lowered(UOp load) {
    ContextScope checked({{"SPEC", 1}});
    return fullRewriteToSink(kernel({load}), plainTarget()).src(0);
  }
  size_t gates(UOp load) { return lowered(load).src(0).srcCount() - 2; }
};

/// Whether dropping the clauses changes nothing: wherever the gate fails and what is left of it holds, (x, y) lies outside.
bool bordersDo(UOp gate, UOp left, UOp x, UOp y, int64_t height, int64_t width, UOp a, UOp b) {
  for (int64_t i = a.vmin(); i <= a.vmax(); ++i)
    for (int64_t j = b.vmin(); j <= b.vmax(); ++j) {
      Binding at{{a, ConstValue::ofInt(i)}, {b, ConstValue::ofInt(j)}};
      bool was = evaluate(gate, at)->i != 0, is = !left || evaluate(left, at)->i != 0;
      if (was && !is) return false;
      if (was || !is) continue;
      int64_t px = evaluate(x, at)->i, py = evaluate(y, at)->i;
      if (px >= 0 && px < width && py >= 0 && py < height) return false;
    }
  return true;
}

} // namespace

TEST_CASE_FIXTURE(ImageFixture, "a gate that only keeps an index inside of an image is dropped") {
  UOp ten = image(10, 10);
  CHECK(gates(pixel(ten, column, row - 1, row >= 1)) == 0);
  CHECK(gates(pixel(ten, column, row, row < 10)) == 0);
  CHECK(gates(pixel(ten, column, row + 2, row < 8)) == 0);
  CHECK(gates(pixel(image(20, 10), column, row, row < 10)) == 1);
  CHECK(gates(pixel(ten, column + 1, row - 1, (column >= 1) & (row >= 1))) == 1);
  // A value other than zero where the gate fails is not what lies outside of the image.
  UOp one = UOp::constant(dtypes::float32.vec(4), 1.0), pair = UOp::vectorize(std::array{column, row});
  CHECK(gates(ten.indexed({pair.validWhere(row < 10)}).load({one}, dtypes::float32.vec(4))) == 1);
  // A write outside of an image is not allowed.
  UOp written = UOp::constant(dtypes::float32.vec(4), 2.0);
  UOp store = ten.indexed({pair.validWhere(row < 10)}).store(written);
  CHECK(gates(store) == 1);
  // Never accessed: the four channels are the value beside it.
  UOp never = lowered(pixel(ten, column, row, UOp::boolean(false)));
  CHECK(never.is(Op::VECTORIZE));
  CHECK(never.dtype() == dtypes::float32.vec(4));
}

TEST_CASE_FIXTURE(ImageFixture, "dropping clauses of gates is right at every point") {
  UOp a = UOp::variable("a", 0, 11), b = UOp::variable("b", -3, 9);
  size_t dropped = 0;
  const std::array coordinates{a, b, a + b, a - 2, b * 2 + 1, a / 3, (a + 5) % 7, a * -1 + 4};
  const std::array clauses{a < 5, a >= 1, b < 4, b >= 0, a + b < 6, a + b >= 1, a / 3 < 2, b * 2 < 6};
  for (UOp x : coordinates)
    for (UOp y : coordinates)
      for (UOp one : clauses)
        for (UOp other : clauses) {
          UOp gate = one & other;
          UOp left = gateInsideImage(gate, x, y, {.height = 4, .width = 6});
          dropped += left != gate;
          CHECK(bordersDo(gate, left, x, y, 4, 6, a, b));
        }
  CHECK(dropped > 500);
}

TEST_CASE_FIXTURE(ImageFixture, "an element of an image is a channel of its pixel") {
  UOp memory = image(10, 10), element = UOp::special(UOp::index(2), "lidx0");
  UOp zero = UOp::constant(dtypes::float32, 0.0);
  auto nans = [](UOp u) {
    size_t n = 0;
    for (UOp s : u.toposort())
      n += s.isConst() && s.arg().kind() == ArgKind::Float && std::isnan(s.arg().f());
    return n;
  };
  UOp load = lowered(memory.indexed({element}).load({zero}));
  CHECK(load.is(Op::WHERE));
  CHECK(nans(load) == 0);
  UOp any = UOp::variable("any", -10, 10);
  CHECK(nans(lowered(memory.indexed({any}).load({zero}))) == 1);
  CHECK_THROWS_AS(fullRewriteToSink(kernel({memory.indexed({element}).store(zero)}), plainTarget()), Error);
}

TEST_CASE_FIXTURE(ImageFixture, "neighbouring elements of an image are one pixel") {
  UOp from = image(4, 8),
      to = UOp::make(Op::DEFINE_GLOBAL, DType::image({.height = 4, .width = 8}), {}, Arg::of(int64_t{1}));
  UOp lane = UOp::range(4, 1, AxisType::Upcast), i = UOp::range(32, 0);
  UOp at = i * 4 + lane;
  UOp copy = kernel({to.indexed({at}).store(from.indexed({at}).load()).end({i, lane})});
  size_t pixels = 0;
  for (UOp u : fullRewriteToSink(copy, plainTarget()).toposort()) {
    if (!u.in({Op::LOAD, Op::STORE})) continue;
    CHECK(isPixelIndex(u.src(0)));
    ++pixels;
  }
  CHECK(pixels == 2);
}
