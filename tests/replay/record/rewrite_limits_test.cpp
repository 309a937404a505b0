// Limits of rewrites: rules by name, fuel, and the report of the last rewrite.
#include "engine/base/error.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "engine/uop/uop.h"
#include "replay/record/rewrite_limits.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

using namespace uopscope;

namespace {

struct Count : Observer {
  int rewrites = 0, passes = 0;
  void onPassBegin(const PassBegin&) override { ++passes; }
  Control onRewrite(const RewriteEvent&) override {
    ++rewrites;
    return Control::Apply;
  }
};

UOp variable() {
  return UOp::variable("x", 0, 9, dtypes::int32);
}
UOp timesOnePlusZero() { // x*1 + 0
  UOp one = UOp::constant(dtypes::int32, int64_t{1}), zero = UOp::constant(dtypes::int32, int64_t{0});
  return UOp::make(Op::ADD, dtypes::int32, {UOp::make(Op::MUL, dtypes::int32, {variable(), one}), zero});
}

UOp rewritten(Count& count, RewriteLimits limits) {
  LimitGate gate(count, std::move(limits));
  ObserverScope scope(&gate);
  ObservedScope kernel({ScopeKind::Kernel, "k", {"a.py", 1}, {}});
  return graphRewrite(timesOnePlusZero(), symbolicSimple(), {.name = "simple"});
}

} // namespace

TEST_CASE("rules are left out by name, and rewrites beyond the fuel") {
  Pool pool;
  PoolScope scope(pool);
  Count all, named, none, one;
  CHECK(rewritten(all, {}) == variable());
  CHECK(all.rewrites == 2);
  CHECK(all.passes == 1);
  const UOp kept = rewritten(named, {.without = {"mul-one"}, .report = {}});
  CHECK(kept.op() == Op::MUL);
  CHECK(named.rewrites == 1);
  CHECK(rewritten(none, {.without = {}, .fuel = 0, .report = {}}) == timesOnePlusZero());
  CHECK(none.rewrites == 0);
  const std::string file =
      (std::filesystem::temp_directory_path() / ("limits-" + std::to_string(getpid()) + ".json")).string();
  rewritten(one, {.without = {}, .fuel = 1, .report = file});
  const LastRewrite last = LastRewrite::read(file);
  CHECK(last.optional == 1);
  CHECK(last.rule == "mul-one");
  CHECK(last.pass == "simple");
  CHECK(last.kernel == "k");
  CHECK(last.before == "x*1");
  CHECK(last.after == "x");
  std::filesystem::remove(file);
  CHECK_THROWS_AS(LastRewrite::read(file), Error);
}

TEST_CASE("limits come from the environment") {
  setenv("UOPSCOPE_WITHOUT", "a,b-c,,", 1);
  setenv("UOPSCOPE_FUEL", "12", 1);
  RewriteLimits limits = RewriteLimits::fromEnvironment();
  CHECK(limits.any());
  CHECK(limits.without == std::set<std::string, std::less<>>{"a", "b-c"});
  CHECK(limits.fuel == 12);
  for (const char* bad : {"", "x", "12x"}) {
    setenv("UOPSCOPE_FUEL", bad, 1);
    CHECK_THROWS_AS(RewriteLimits::fromEnvironment(), Error);
  }
  unsetenv("UOPSCOPE_WITHOUT");
  unsetenv("UOPSCOPE_FUEL");
  CHECK_FALSE(RewriteLimits::fromEnvironment().any());
}
