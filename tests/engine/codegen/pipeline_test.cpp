// The pipeline as a whole: it turns kernels into linear programs.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/program_text.h"
#include "kernels.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

LoweredKernel lower(UOp ast, const Target& target = plainTarget()) {
  ContextScope check({{"SPEC", 1}});
  return lowerKernel(ast, target);
}

} // namespace

TEST_CASE("a kernel of each kind becomes a valid program") {
  Pool pool;
  PoolScope scope(pool);
  for (int noopt : {1, 0})
    for (int lanes : {1, 16}) {
      ContextScope opts({{"NOOPT", noopt}});
      Target target = plainTarget(lanes);
      LoweredKernel e = lower(elementwise(64, [](UOp v) { return v * 2 + 1; }), target);
      CHECK(count(e, Op::RANGE) == count(e, Op::END));
      CHECK(e.outs == std::vector<int>{0});
      CHECK(e.ins == std::vector<int>{1});
      LoweredKernel r = lower(rowSums(8, 256), target);
      CHECK(count(r, Op::DEFINE_REG) == 1);
      LoweredKernel g = lower(matmul(32, 32, 64), target);
      CHECK(count(g, Op::DEFINE_REG) == 1);
      CHECK(g.estimates.ops.i() >= 2 * 32 * 32 * 64);
      if (getenv("SHOW"))
        printf("%s\n%s\n%s\n%s\n", g.name.c_str(), programText(e.uops).c_str(), programText(r.uops).c_str(),
               programText(g.uops).c_str());
    }
}

TEST_CASE("names say what the kernel is and how large") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope plain({{"NOOPT", 1}});
  CHECK(lower(elementwise(12, [](UOp v) { return v + v; })).name == "E_12");
  CHECK(lower(rowSums(3, 5)).name == "r_3_5");
  CHECK(lower(matmul(2, 3, 5)).name == "r_2_3_5");
}

TEST_CASE("a kernel that says nothing of itself is described as a step") {
  Pool pool;
  PoolScope scope(pool);
  CHECK(lower(elementwise(12, [](UOp v) { return v + v; }).withArg({})).name.starts_with("E_"));
}

TEST_CASE("an unclosed range is named") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(16, 7);
  KernelInfo info;
  info.name = "forgetful";
  UOp sink = kernel({memory(0, 16).indexed({i}).store(UOp::constant(dtypes::float32, 1.0))}, info);
  try {
    lower(sink);
    FAIL("it must not lower");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::Spec);
    std::string text = e.what();
    CHECK(text.find("forgetful") != std::string::npos);
    CHECK(text.find("r7") != std::string::npos);
  }
}

TEST_CASE("a range closed twice by one END is an error") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(16, 7);
  UOp store = memory(0, 16).indexed({i}).store(UOp::constant(dtypes::float32, 1.0));
  CHECK_THROWS_WITH_AS(lower(kernel({store.end({i, i})}, KernelInfo{})), doctest::Contains("twice"), Error);
}

TEST_CASE("loops without a step disappear") {
  Pool pool;
  PoolScope scope(pool);
  LoweredKernel none = lower(elementwise(0, [](UOp v) { return v; }));
  CHECK(count(none, Op::STORE) == 0);
  // An empty sum is 0.
  LoweredKernel zero = lower(rowSums(4, 0));
  CHECK(count(zero, Op::LOAD) == 0);
  CHECK(count(zero, Op::STORE) >= 1);
}

TEST_CASE("ids depend on the kernel alone") {
  Pool first;
  std::string a, b;
  {
    PoolScope scope(first);
    a = programText(lower(matmul(8, 8, 8)).uops);
  }
  Pool second;
  {
    PoolScope scope(second);
    for (int k = 0; k < 100; ++k) UOp::index(k);
    b = programText(lower(matmul(8, 8, 8)).uops);
  }
  CHECK(a == b);
}
