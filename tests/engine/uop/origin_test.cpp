// Origins of nodes, and the numbers that distinguish buffers.
#include "engine/uop/origin.h"
#include "engine/uop/unique.h"

#include <doctest/doctest.h>

using namespace uopscope;

TEST_CASE("the first origin of a node is kept, per pool") {
  Pool pool;
  PoolScope scope(pool);
  UOp x = UOp::index(3);
  CHECK(originOf(x) == nullptr);
  {
    std::string file = "model.py"; // the table stores a copy
    setOrigin(x, {"relu", file, 12, "model/head"});
  }
  setOrigin(x, {"conv2d", "other.py", 1, {}});
  REQUIRE(originOf(x));
  CHECK(originOf(x)->operation == "relu");
  CHECK(originOf(x)->file == "model.py");
  CHECK(originOf(x)->line == 12);
  Pool second;
  PoolScope inner(second);
  CHECK(originOf(UOp::index(3)) == nullptr);
  dropOrigins(pool, [&](uint32_t id) { return id != x.id(); });
  CHECK(originOf(x) == nullptr);
}

TEST_CASE("buffers differ, and are numbered alike in every run") {
  auto numbers = [] {
    Pool pool;
    PoolScope scope(pool);
    UOp a = newBuffer("CPU", dtypes::float32, 4), b = newBuffer("CPU", dtypes::float32, 4);
    CHECK(a != b);
    return std::pair(a.src(0).arg().i(), b.src(0).arg().i());
  };
  CHECK(numbers() == numbers());
}
