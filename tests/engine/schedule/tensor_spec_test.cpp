// The spec of tensor graphs: the rejected nodes, and the names in the messages.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/schedule/tensor_spec.h"
#include "engine/uop/sint.h"
#include "tests/engine/schedule/schedule_fixture.h"

#include <doctest/doctest.h>

#include <functional>

using namespace uopscope;

namespace {

std::string refusal(UOp root) {
  try {
    sched::verifyTensorGraph(UOp::sink(std::vector{root}), "earliest rewrites");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::Spec);
    return e.what();
  }
  return "";
}

} // namespace

TEST_CASE("a tensor graph that fits is accepted") {
  test::Fixture f;
  UOp a = f.buffer(12);
  UOp two = UOp::make(Op::RESHAPE, a.dtype(), {a, shapeToUOp(Shape{3, 4})});
  CHECK(refusal(two + two) == "");
  CHECK(refusal(UOp::make(Op::REDUCE_AXIS, two.dtype(), {two}, Arg::of(ReduceArg{Op::ADD, {1}}))) == "");
}

TEST_CASE("a node that does not fit is named, with its sources, its users and the pass") {
  test::Fixture f;
  UOp a = f.buffer(12);
  UOp mixed = UOp::make(Op::ADD, a.dtype(), {a, a.cast(dtypes::int32)});
  std::string text = refusal(mixed.alu(Op::SQRT));
  CHECK(text.find("after pass 'earliest rewrites': ADD dtypes.float does not fit its sources") !=
        std::string::npos);
  CHECK(text.find("source 1: CAST dtypes.int") != std::string::npos);
  CHECK(text.find("used by: SQRT dtypes.float") != std::string::npos);

  UOp other = f.buffer(7);
  CHECK(refusal(a + other).find("has no shape") != std::string::npos);
  UOp tooFar = UOp::make(Op::REDUCE_AXIS, a.dtype(), {a}, Arg::of(ReduceArg{Op::ADD, {3}}));
  CHECK(refusal(tooFar).find("there is no such axis") != std::string::npos);
  CHECK(refusal(UOp::make(Op::REDUCE_AXIS, a.dtype(), {a}, Arg::of(ReduceArg{Op::SUB, {0}}))) != "");
  CHECK(refusal(UOp::make(Op::ASSIGN, a.dtype(), {a, a.cast(dtypes::int32)})) != "");
  CHECK(refusal(UOp::make(Op::COPY, a.dtype(), {a, a})) != "");
  CHECK(refusal(UOp::make(Op::SQRT, dtypes::int32, {a.cast(dtypes::int32)})) != "");
  CHECK(refusal(UOp::make(Op::RANGE, dtypes::index, {UOp::index(4)}, Arg::of(RangeArg{}))) != "");
}
