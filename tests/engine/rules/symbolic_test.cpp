// The symbolic engine on expressions: their simplified forms, which keep the values.
#include "engine/base/error.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/algebra.h"
#include "engine/rules/rules.h"

#include <doctest/doctest.h>

using namespace uopscope;

namespace {

struct SymbolicFixture {
  Pool pool;
  PoolScope scope{pool};
  UOp r0 = UOp::range(8, 0), r1 = UOp::range(4, 1), r2 = UOp::range(16, 2);
  UOp n = UOp::variable("n", 1, 100), s = UOp::variable("s", -20, 20);
  std::string text(UOp u) { return simplify(u).render(); }
};

} // namespace

TEST_CASE_FIXTURE(SymbolicFixture, "identities and constants") {
  CHECK(text(r0 + 0) == "r0");
  CHECK(text(r0 * 1) == "r0");
  CHECK(text(r0 * 0) == "0");
  CHECK(text(UOp::index(3) * 4 + 5) == "17");
  CHECK(text(r0 / r0) == "1");
  CHECK(text(r0 % 1) == "0");
  CHECK(text(n % n) == "0");
  CHECK(text(r0 + r0) == "r0*2");
  CHECK(text(r0 - r0) == "0");
}

TEST_CASE_FIXTURE(SymbolicFixture, "sums have one form whatever their order") {
  CHECK(simplify(r0 * 4 + r1 + 3) == simplify(UOp::index(3) + r1 + r0 * 2 + r0 * 2));
  CHECK(text((r0 + r1) * 3 + r1) == "r0*3+r1*4");
  CHECK(text(r0 * 4 + n + (r0 + 2) * 3) == "n+r0*7+6");
  CHECK(text(n * r0 + r0 * n) == "n*r0*2");
  CHECK(text(r0 % 4 + r0 / 4 * 4) == "r0");
  CHECK(text(n % 4 + (n / 4) % 3 * 4 + n / 12 * 12) == "n");
  CHECK(text(n % 4 + (n / 4) % 3 * 4) == "n%12");
}

TEST_CASE_FIXTURE(SymbolicFixture, "division and remainder") {
  CHECK(text((r0 * 8 + r1) / 4) == "r0*2");
  CHECK(text((r0 * 8 + r1) % 4) == "r1");
  CHECK(text((n * 12 + 6) / 4) == "n*3+1");
  CHECK(text((n * 6 + 4) / 4) == "n*3//2+1");
  CHECK(text((r0 * 4 + r1) / 8) == "r0//2");
  CHECK(text((r0 + 16) / 8) == "2");
  CHECK(text((r2 + 19) / 8) == "(r2+3)//8+2");
  CHECK(text((r2 % 8 + r1 * 8) % 4) == "r2%4");
  CHECK(text(n / 3 / 4) == "n//12");
  CHECK(text(s / 3 / 4) == "s//12");
  CHECK(text((s * 6) / 3) == "s*2");
  CHECK(text(s % 3) == "s%3");
  CHECK(text((s * 6) % 4) == "s*3%2*2");
  CHECK(text((s * 6 + 2) / 4) == "(s*3+1)//2");
  CHECK(text((r0 * n + r1 * n) / n) == "r0+r1");
  CHECK(text(((r0 * n + 3) % n)) == "3%n");
}

TEST_CASE_FIXTURE(SymbolicFixture, "comparisons") {
  CHECK(text(r0 < 8) == "True");
  CHECK(text(r0 < 0) == "False");
  CHECK(text(r0 + 3 < 5) == "r0<2");
  CHECK(text(r0 * 4 + r1 < 16) == "r0<4");
  CHECK(text(r0 * 4 + r1 + 8 < 16) == "r0<2");
  CHECK(text(r2 / 4 < 2) == "r2<8");
  CHECK(text(r0 + n < r1 + n) == "r0<r1");
  CHECK(text(UOp::index(3) < r0) == "(r0<4)!=True");
  CHECK(text(ne(r0 * 2, UOp::index(3))) == "True");
  CHECK(text(ne(r0 * 2, UOp::index(6))) == "r0!=3");
}

TEST_CASE_FIXTURE(SymbolicFixture, "gates") {
  UOp gated = (r0 % 3).validWhere(r0 < 3);
  CHECK(graphRewrite(gated, sym()).render() == "(r0 if r0<3 else Invalid)");
  CHECK(graphRewrite((r0 < 3) & (r0 < 5), sym()).render() == "r0<3");
  CHECK(graphRewrite((r0 < 3) & (r0 >= 5), sym()).render() == "False");
  CHECK(text(gated + 1) == "(r0%3+1 if r0<3 else Invalid)");
  // A variable as a bound is more exact than its largest value.
  UOp most = UOp::variable("most", 1, 3);
  for (UOp both :
       {(r0 < 3) & (r0 < most), (r0 < most) & (r0 < 3), (r0 >= most) & (r0 >= 1), (r0 < most) & (r0 < 5)})
    CHECK(graphRewrite(both, sym()).dependsOn(most));
}

TEST_CASE_FIXTURE(SymbolicFixture, "resolve and inference") {
  CHECK(resolve(r0 < 8, false));
  CHECK(!resolve(n < 50, false));
  CHECK(resolve(n < 50, true));
  CHECK(symInfer(n * 2 + 1, {{"n", 4}}) == 9);
  CHECK_THROWS_WITH_AS(symInfer(n + 1, {}), doctest::Contains("variable n has no value"), Error);
}
