// Shapes of tensor operations, symbolic dimensions, and messages about mismatched shapes.
#include "engine/base/error.h"
#include "engine/uop/shape.h"

#include <doctest/doctest.h>

using namespace uopscope;

namespace {

struct ShapeFixture {
  Pool pool;
  PoolScope scope{pool};
  UOp device = UOp::make(Op::DEVICE, dtypes::void_, std::initializer_list<UOp>{}, Arg::of("CPU"));
  UOp n = UOp::variable("n", 1, 10);
  int64_t next = 0;

  UOp buffer(int64_t size) {
    UOp unique = UOp::make(Op::UNIQUE, dtypes::void_, std::initializer_list<UOp>{}, Arg::of(next++));
    return UOp::make(Op::BUFFER, dtypes::float32, {unique, device}, Arg::of(size));
  }
  UOp move(Op op, UOp u, Shape a) { return UOp::make(op, u.dtype(), {u, shapeToUOp(a)}); }
  UOp move(Op op, UOp u, Shape a, Shape b) {
    return UOp::make(op, u.dtype(), {u, shapeToUOp(a), shapeToUOp(b)});
  }
  UOp reshape(UOp u, Shape s) { return move(Op::RESHAPE, u, s); }
  std::string shape(UOp u) { return shapeStr(u.shape()); }
};

} // namespace

TEST_CASE_FIXTURE(ShapeFixture, "movement and reduction") {
  UOp t = reshape(buffer(24), {2, 3, 4});
  CHECK(shape(buffer(24)) == "(24,)");
  CHECK(shape(t) == "(2, 3, 4)");
  CHECK(shape(UOp::make(Op::PERMUTE, t.dtype(), {t}, Arg::of(std::vector<int64_t>{2, 0, 1}))) == "(4, 2, 3)");
  CHECK(shape(move(Op::EXPAND, reshape(buffer(3), {1, 3}), {5, 3})) == "(5, 3)");
  CHECK(shape(move(Op::PAD, t, {1, 0, 0}, {0, 0, 2})) == "(3, 3, 6)");
  CHECK(shape(move(Op::SHRINK, t, {0, 1, 0}, {2, 3, 1})) == "(2, 2, 1)");
  CHECK(shape(UOp::make(Op::FLIP, t.dtype(), {t}, Arg::of(std::vector<int64_t>{0, 1, 0}))) == "(2, 3, 4)");
  CHECK(shape(UOp::make(Op::REDUCE_AXIS, t.dtype(), {t}, Arg::of(ReduceArg{Op::ADD, {0, 2}}))) ==
        "(1, 3, 1)");
  CHECK(shape(reshape(buffer(1), {})) == "()");
  CHECK(shape(reshape(buffer(0), {0, 7})) == "(0, 7)");
}

TEST_CASE_FIXTURE(ShapeFixture, "elementwise, casts, constants") {
  UOp a = reshape(buffer(6), {2, 3}), b = reshape(buffer(6), {2, 3});
  CHECK(shape(a + b) == "(2, 3)");
  CHECK(shape(a * a.constLike(int64_t{2})) == "(2, 3)");
  CHECK(shape((a < b).where(a, b)) == "(2, 3)");
  CHECK(shape(a.cast(dtypes::float16)) == "(2, 3)");
  CHECK(shape(UOp::constant(dtypes::float32, 1.0)) == "()");
  CHECK(shape(n) == "()");
  CHECK(shape(reshape(buffer(6), {2, 3}).bitcast(dtypes::uint8)) == "(2, 12)");
  CHECK(shape(reshape(buffer(8), {2, 4}).bitcast(dtypes::float64)) == "(2, 2)");
  CHECK(!UOp::range(4, 0).hasShape());
  CHECK(!(UOp::range(4, 0) + 1).hasShape());
  CHECK(!UOp::sink(std::vector{a, b}).hasShape());
  CHECK(shape(UOp::make(Op::MULTI, a.dtype(), {a}, Arg::of(int64_t{1}))) == "(2, 3)");
}

TEST_CASE_FIXTURE(ShapeFixture, "symbolic dimensions are equal when they are the same sum") {
  UOp t = reshape(buffer(40), {Sint(n) * 4});
  CHECK(shape(t) == "(n*4,)");
  CHECK(shape(move(Op::PAD, t, {1}, {2})) == "(n*4+3,)");
  CHECK(shape(move(Op::SHRINK, move(Op::PAD, t, {1}, {2}), {1}, {Sint(n) * 4 + 1})) == "(n*4,)");
  UOp a = reshape(buffer(12), {Sint(n) + 2, 2}), b = reshape(buffer(12), {Sint(2) + Sint(n), 2});
  CHECK(shape(a + b) == "(n+2, 2)");
  CHECK(Sint(n) * Sint(6) / Sint(3) == Sint(n) * Sint(2));
  CHECK(Sint(n) - Sint(n) == Sint(0));
  CHECK(Sint(n) * Sint(n) / Sint(n) == Sint(n));
  CHECK((Sint(-7) / Sint(2)) == Sint(-4));
  CHECK((Sint(-7) % Sint(2)) == Sint(1));
  CHECK(prod(Shape{2, Sint(n), 3}) == Sint(n) * Sint(6));
  CHECK_THROWS_AS(Sint(3) / Sint(0), Error);
  CHECK_THROWS_AS(Sint(INT64_MAX) + Sint(1), Error);
}

TEST_CASE_FIXTURE(ShapeFixture, "a shape as a source and back, any rank") {
  for (const Shape& s : {Shape{}, Shape{3}, Shape{Sint(n)}, Shape{2, 3}, Shape{2, Sint(n), 4}})
    CHECK(uopToShape(shapeToUOp(s)) == s);
}

TEST_CASE_FIXTURE(ShapeFixture, "what does not fit names both shapes") {
  UOp t = reshape(buffer(6), {2, 3});
  auto fails = [&](UOp u, const char* message) {
    CHECK_THROWS_WITH_AS(u.shape(), doctest::Contains(message), Error);
  };
  fails(reshape(t, {4, 2}), "RESHAPE of (2, 3) to (4, 2): 6 elements do not make 8");
  fails(reshape(t, {-2, -3}), "negative");
  fails(move(Op::EXPAND, t, {2, 4}), "EXPAND of (2, 3) to (2, 4)");
  fails(move(Op::EXPAND, t, {2}), "ranks");
  fails(UOp::make(Op::PERMUTE, t.dtype(), {t}, Arg::of(std::vector<int64_t>{0, 0})),
        "PERMUTE by (0, 0) of (2, 3)");
  fails(move(Op::SHRINK, t, {0, 0}, {2, 4}), "out of bounds in axis 1");
  fails(move(Op::PAD, t, {-1, 0}, {0, 0}), "use SHRINK");
  fails(UOp::make(Op::REDUCE_AXIS, t.dtype(), {t}, Arg::of(ReduceArg{Op::ADD, {2}})), "axis 2");
  fails(t + reshape(buffer(6), {3, 2}), "ADD of shapes (2, 3), (3, 2)");
  fails(reshape(buffer(3), {3}).bitcast(dtypes::float64), "12 bytes");
  fails(UOp::make(Op::FLIP, t.dtype(), {UOp::range(3, 0)}, Arg::of(std::vector<int64_t>{1})),
        "needs a source with a shape");
}
