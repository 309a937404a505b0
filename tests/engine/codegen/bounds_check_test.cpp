// The check finds indices outside their buffers where that is decidable; SPEC=2 names the rule that makes an
// invalid node.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/bounds_check.h"
#include "engine/codegen/spec.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/typing.h"
#include "kernels.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

constexpr PatVar v{"v"};
constexpr RuleDef kWrongType[] = {
    RULE("wrong-type", v + 1, [](Match& m) { return UOp::make(Op::MUL, dtypes::float32, {m[v], m[v]}); })};

std::string found(UOp index, int64_t size = 8) {
  UOp i = UOp::range(8, 0);
  UOp sink = kernel({memory(0, 8).indexed({i}).store(read(memory(1, size), index)).end({i})});
  try {
    checkBounds(sink, "postopt symbolic");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::Spec);
    return e.what();
  }
  return "";
}

} // namespace

TEST_CASE("an index outside its buffer is found with a point where it is") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(8, 0);
  CHECK(found(i) == "");
  std::string text = found(i + 1);
  CHECK(text.find("index r0+1 of DEFINE_GLOBAL 1 with 8 elements is out of bounds: it is 8 at r0=7") !=
        std::string::npos);
  CHECK(text.find("after pass 'postopt symbolic'") != std::string::npos);
  CHECK(found((i + 1).validWhere(i < 7)) == "");
  CHECK(found((i - 1).validWhere(i < 7)).find("it is -1 at r0=0") != std::string::npos);
  // Bounds alone do not prove that these indices stay inside.
  CHECK(found(i * 3 % 8) == "");
  CHECK(found(i * i % 11, 10) == "");
  CHECK(found((i * 5).validWhere(i * 5 % 3 < 1), 31) == "");
  CHECK(found((i * 5).validWhere(i * 5 % 3 < 1), 30) != "");
  // Too many steps to try all of them: certain violations are found, possible ones are no error.
  UOp far = UOp::variable("far", 100, 1 << 30), any = UOp::variable("any", 0, 1 << 30);
  CHECK(found(far).find("it lies between 100 and") != std::string::npos);
  CHECK(found(any) == "");
}

TEST_CASE("a gate on a sum bounds its terms: a place that is read, less the beginning of its tile") {
  Pool pool;
  PoolScope scope(pool);
  UOp tile = UOp::range(8, 0), place = read(memory(2, 8, dtypes::int32), tile).cast(dtypes::index);
  UOp inTile = place - tile * 4;
  UOp gate = (inTile < 0).logicalNot() & (inTile < 4);
  CHECK(found(place.validWhere(gate), 32) == "");
  CHECK(found(place.validWhere(gate), 31).find("is out of bounds") != std::string::npos);
  CHECK(found((place + 1).validWhere(gate), 32).find("is out of bounds") != std::string::npos);
}

TEST_CASE("a gate that relates loops to one another holds beside a place that is read") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(3, 0), j = UOp::range(5, 1);
  UOp place = read(memory(2, 8, dtypes::int32), i).cast(dtypes::index);
  UOp gate = (place < 0).logicalNot() & (place < 3) & (i * 2 + j < 5);
  CHECK(found((place * 5 + i * 2 + j).validWhere(gate), 15) == "");
  CHECK(found((place * 5 + i * 2 + j).validWhere(gate), 14).find("is out of bounds") != std::string::npos);
  CHECK(found((place * 5 + i * 2 + j + 1).validWhere(gate), 15).find("is out of bounds") !=
        std::string::npos);
}

TEST_CASE("a gate that never holds, and clauses about loops that the index does not have") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(8, 0), place = read(memory(2, 8, dtypes::int32), i).cast(dtypes::index);
  UOp least = (place < 0).logicalNot();
  // place is less than 8 + 3 and not less than 11: no such place.
  CHECK(found((place + i * 7 - 7).validWhere(least & (place < i + 3) & (place < 11).logicalNot()), 21) == "");
  CHECK(found((place + i * 7 - 7).validWhere(least & (place < i + 3)), 21).find("out of bounds") !=
        std::string::npos);
  // 33 rows of 33 elements in tiles of 8 by 5, and a clause about a third loop: too many points with that loop alone.
  UOp tile = UOp::range(40, 1), inner = UOp::range(5, 2), row = least & (place < 33);
  UOp at = place * 33 + i * 5 + inner;
  CHECK(found(at.validWhere(row & (tile < 33) & (i * 5 + inner < 33)), 1089) == "");
  CHECK(found(at.validWhere(row & (tile < 33) & (i * 5 + inner < 35)), 1089).find("out of bounds") !=
        std::string::npos);
}

TEST_CASE("IGNORE_OOB=0 checks kernels on their way") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(8, 0);
  UOp sink = kernel({memory(0, 8).indexed({i}).store(read(memory(1, 8), i + 1)).end({i})});
  {
    ContextScope settings({{"IGNORE_OOB", 1}});
    CHECK_NOTHROW(lowerKernel(sink, plainTarget()));
  }
  ContextScope settings({{"IGNORE_OOB", 0}});
  CHECK_THROWS_AS(lowerKernel(sink, plainTarget()), Error);
}

TEST_CASE("SPEC=2 names the rule that makes a node that is not valid") {
  Pool pool;
  PoolScope scope(pool);
  UOp x = UOp::variable("x", 0, 9, dtypes::int32);
  PatternMatcher wrong({kWrongType});
  SpecObserver watch(kernelSpec(), "kernel 'k', pass 'p'", nullptr);
  ObserverScope observed(&watch);
  try {
    graphRewrite(x + 1, wrong);
    FAIL("no error");
  } catch (const Error& e) {
    std::string text = e.what();
    CHECK(text.find(
              "kernel 'k', pass 'p': rule 'wrong-type' made a node that is not valid: MUL dtypes.float") !=
          std::string::npos);
    CHECK(text.find("it came from ADD dtypes.int") != std::string::npos);
  }
}

TEST_CASE("kernels of all kinds pass SPEC=2") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 2}, {"IGNORE_OOB", 0}});
  for (int lanes : {1, 4, 16}) {
    CHECK_NOTHROW(lowerKernel(elementwise(37, [](UOp v) { return v * 3 + 1; }), plainTarget(lanes)));
    CHECK_NOTHROW(lowerKernel(rowSums(4, 36), plainTarget(lanes)));
    CHECK_NOTHROW(lowerKernel(matmul(16, 16, 16), plainTarget(lanes)));
  }
}
