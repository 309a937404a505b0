// Nodes from outside are checked against the declarations of ops.def. An argument gives its content only as
// the kind that it has.
#include "engine/base/error.h"
#include "engine/uop/node_check.h"

#include <doctest/doctest.h>

using namespace uopscope;

namespace {
std::string refusalOf(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK((e.kind() == ErrorKind::Spec || e.kind() == ErrorKind::Type));
    return e.what();
  }
  return "nothing was thrown";
}
} // namespace

TEST_CASE("a wrong number of sources or a wrong argument is named") {
  Pool pool;
  PoolScope scope(pool);
  UOp one = UOp::index(1);
  CHECK(refusalOf([&] { makeChecked(Op::ADD, dtypes::index, std::vector<UOp>{one}); }) ==
        "UOp ADD takes 2 sources, 1 was given");
  CHECK(refusalOf([&] { makeChecked(Op::STORE, dtypes::void_, {}); }) ==
        "UOp STORE takes 2 sources or more, 0 were given");
  CHECK(refusalOf([&] { makeChecked(Op::REDUCE_AXIS, dtypes::float32, std::vector<UOp>{one}); }) ==
        "UOp REDUCE_AXIS: its argument is (operation, axes), none was given");
  CHECK(refusalOf([&] {
          makeChecked(Op::RANGE, dtypes::index, std::vector<UOp>{one}, Arg::of("r"));
        }).starts_with("UOp RANGE: its argument is a range's axis and type"));
  CHECK(refusalOf([&] { makeChecked(Op::NEG, dtypes::index, std::vector<UOp>{UOp()}); }) ==
        "UOp NEG: source 0 is no node");
  CHECK(makeChecked(Op::ADD, dtypes::index, std::vector<UOp>{one, one}) == one + one);
}

TEST_CASE("an argument is read as what it is") {
  CHECK(Arg::of(int64_t{3}).i() == 3);
  CHECK(refusalOf([] { (void)Arg::of(1.5).i(); }) ==
        "an argument is a float, where it must be an integer: 1.5");
  CHECK(refusalOf([] { (void)Arg::invalid().f(); }).starts_with("an argument is Invalid"));
  CHECK(refusalOf([] { (void)Arg::none().as<RangeArg>(); }).starts_with("an argument is none"));
  CHECK(refusalOf([] { (void)Arg::of("text").ints(); }).starts_with("an argument is a string"));
}

TEST_CASE("arguments that differ in kind alone have different hashes, and graphs with them different keys") {
  CHECK(Arg::invalid().hash() != Arg::of(int64_t{2}).hash());
  CHECK(Arg::of(int64_t{0}).hash() != Arg::ofBool(false).hash());
  CHECK(Arg::of(0.0).hash() != Arg::of(int64_t{0}).hash());
  Pool pool;
  PoolScope scope(pool);
  UOp gate = UOp::variable("g", 0, 1, dtypes::bool_), i = UOp::range(8, 0);
  for (int64_t v = -4; v < 8; ++v)
    CHECK(gate.where(i, UOp::index(v)).key() != gate.where(i, UOp::invalid()).key());
}

TEST_CASE("types that do not fit their fields are refused") {
  CHECK(refusalOf([] { (void)dtypes::float32.vec(4096); }).find("4096 lanes") != std::string::npos);
  CHECK(refusalOf([] { (void)dtypes::float32.ptr(4).vec(513); }).find("513 lanes") != std::string::npos);
  CHECK(refusalOf([] { (void)dtypes::float32.ptr(int64_t{1} << 40); }).find("elements") != std::string::npos);
  CHECK(dtypes::float32.vec(4095).count() == 4095);
}
