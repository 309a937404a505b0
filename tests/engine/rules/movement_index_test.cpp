// Movement operations as index transformations, each compared with the definition of the operation.
#include "engine/base/error.h"
#include "engine/rules/algebra.h"
#include "engine/rules/movement_index.h"
#include "engine/uop/unique.h"

#include <doctest/doctest.h>

using namespace uopscope;

namespace {

struct MovementFixture {
  Pool pool;
  PoolScope scope{pool};
  UOp x(const Shape& shape) {
    UOp b = newBuffer("CPU", dtypes::float32, prod(shape).i());
    return UOp::make(Op::RESHAPE, b.dtype(), {b, shapeToUOp(shape)});
  }
  UOp axis(int64_t n, int64_t id) { return UOp::range(n, id); }
};

} // namespace

TEST_CASE("indices through permutation, expansion, shrinking and flips") {
  MovementFixture a;
  UOp i = a.axis(4, 0), j = a.axis(3, 1), x = a.x({3, 4});
  std::vector<UOp> at{i, j};
  CHECK(movementIndices(UOp::make(Op::PERMUTE, x.dtype(), {x}, Arg::of(std::vector<int64_t>{1, 0})), at) ==
        std::vector<UOp>{j, i});
  UOp row = a.x({1, 3});
  auto expanded = movementIndices(UOp::make(Op::EXPAND, row.dtype(), {row, shapeToUOp(Shape{4, 3})}), at);
  CHECK(expanded == std::vector<UOp>{UOp::index(0), j});
  UOp wide = a.x({9, 9});
  auto shrunk = movementIndices(
      UOp::make(Op::SHRINK, wide.dtype(), {wide, shapeToUOp(Shape{2, 0}), shapeToUOp(Shape{6, 3})}), at);
  CHECK(shrunk == std::vector<UOp>{i + 2, j});
  UOp y = a.x({4, 3});
  auto flipped =
      movementIndices(UOp::make(Op::FLIP, y.dtype(), {y}, Arg::of(std::vector<int64_t>{1, 0})), at);
  CHECK(flipped[0].vmin() == 0);
  CHECK(flipped[0].vmax() == 3);
  CHECK(flipped[0].substitute({{i, UOp::index(1)}}).vmin() == 2);
  CHECK(flipped[1] == j);
}

TEST_CASE("a reshape divides only what belongs together") {
  MovementFixture a;
  UOp i = a.axis(6, 0), j = a.axis(5, 1), k = a.axis(1, 2);
  UOp x = a.x({2, 3, 1, 5});
  auto at = movementIndices(UOp::make(Op::RESHAPE, x.dtype(), {x, shapeToUOp(Shape{6, 1, 5})}),
                            std::vector<UOp>{i, k, j});
  CHECK(at == std::vector<UOp>{i / 3, i % 3, UOp::index(0), j});
}

TEST_CASE("a pad gates the index and says where it is valid") {
  MovementFixture a;
  UOp x = a.x({4});
  UOp padded = UOp::make(Op::PAD, x.dtype(), {x, shapeToUOp(Shape{2}), shapeToUOp(Shape{3})});
  UOp i = a.axis(9, 0);
  auto at = movementIndices(padded, std::vector<UOp>{i});
  GatedIndex g = ungate(at[0]);
  CHECK(g.index == i - 2);
  UOp valid = padValid(padded, std::vector<UOp>{i});
  CHECK(g.valid == valid);
  for (int64_t v = 0; v < 9; ++v) {
    UOp holds = simplify(valid.substitute({{i, UOp::index(v)}}));
    CHECK(holds.isConst(v >= 2 && v < 6 ? 1 : 0));
  }
  // Where bounds decide, no condition is made.
  UOp inside = a.axis(4, 1) + 2;
  CHECK_FALSE(padValid(padded, std::vector<UOp>{inside}));
}

TEST_CASE("gates pass through every operation and are not repeated") {
  MovementFixture a;
  UOp i = a.axis(12, 0), open = i < 10;
  UOp g = gated(i, open), x = a.x({3, 4});
  auto at =
      movementIndices(UOp::make(Op::RESHAPE, x.dtype(), {x, shapeToUOp(Shape{12})}), std::vector<UOp>{g});
  CHECK(ungate(at[0]).valid == open);
  CHECK(ungate(at[1]).index == i % 4);
  CHECK(ungate(flatIndex(Shape{3, 4}, at)).valid == open);
  CHECK(allOf(open, open) == open);
  CHECK(allOf(UOp(), open) == open);
}

TEST_CASE("an operation that moves nothing is an error") {
  MovementFixture a;
  UOp x = a.x({4});
  CHECK_THROWS_AS(movementIndices(UOp::make(Op::SQRT, x.dtype(), {x}), std::vector<UOp>{a.axis(4, 0)}),
                  Error);
}
