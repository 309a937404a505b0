// Single rules: a node as Python builds it, and the result of the rule alone. The cases cover rules whose
// results have no value to compare (memory, vectors, types), and rules that come after other rules in a pass.
#include "engine/base/error.h"
#include "engine/rewrite/observer.h"
#include "engine/rules/algebra.h"
#include "engine/rules/rules.h"
#include "engine/uop/print.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace uopscope;

namespace {

struct RuleCase {
  const char* rule;
  const char* before;
  const char* after; ///< null: the rule declines
};

constexpr const char* kNames = "x = UOp.variable('x', 0, 9)\n"
                               "y = UOp.variable('y', -5, 5)\n"
                               "i = UOp.variable('i', -100, 100, dtype=dtypes.int)\n"
                               "b = UOp.variable('b', 0, 1, dtype=dtypes.bool)\n"
                               "nowhere = UOp.invalid()\n"
                               "p = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), arg=0)\n"
                               "r = UOp.range(8, 0)\n"
                               "f = UOp.variable('f', -9, 9, dtype=dtypes.float)\n"
                               "first = p.index(x).store(f)\n"
                               "waited = p.after(first)\n";

constexpr RuleCase kRuleCases[] = {
    // casts
    {"cast-to-same", "UOp(Ops.CAST, dtypes.index, src=(x,))", "x"},
    {"cast-to-same", "UOp(Ops.BITCAST, dtypes.int, src=(i,))", "i"},
    {"cast-to-same", "i.cast(dtypes.long)", nullptr},
    {"bitcast-bitcast", "i.bitcast(dtypes.uint).bitcast(dtypes.float)", "i.bitcast(dtypes.float)"},
    {"cast-there-and-back", "i.cast(dtypes.long).cast(dtypes.int)", "i"},
    {"cast-there-and-back", "i.cast(dtypes.short).cast(dtypes.int)", nullptr},
    {"cast-skip-lossless", "i.cast(dtypes.long).cast(dtypes.float)", "i.cast(dtypes.float)"},
    // gates
    {"gate-of-invalid", "b.where(nowhere, nowhere)", "nowhere"},
    {"gate-of-gate", "b.where((x < 3).where(x, nowhere), nowhere)", "(b & (x < 3)).where(x, nowhere)"},
    {"invalid-left", "nowhere + x", "nowhere"},
    {"invalid-right", "x + nowhere", "nowhere"},
    {"lift-gate-left", "b.where(x, nowhere) * 3", "b.where(x * 3, nowhere)"},
    {"compare-gated-left", "b.where(x, nowhere) < 3", "x < 3"},
    {"cast-gated", "b.where(x, nowhere).cast(dtypes.int)", "x.cast(dtypes.int)"},
    {"gated-given-valid", "(x < 4).where(x // 4, nowhere)",
     "(x < 4).where(UOp.const(dtypes.index, 0), nowhere)"},
    // rows of 59: r0 - r1 is at least -3, which is 56 modulo 59
    {"lt-of-remainder", "(x + 9 * (y + 5)) % 10 < 1", nullptr},
    {"lt-of-remainder", "(UOp.range(58, 0) + UOp.range(4, 1)*58) % 59 < 56",
     "(((UOp.range(58, 0) + UOp.range(4, 1)*-1) < 0) != True) & ((UOp.range(58, 0) + UOp.range(4, 1)*-1) < "
     "56)"},
    {"lt-of-remainder", "(UOp.range(58, 0) + UOp.range(4, 1)*58) % 59 < 57", nullptr},
    // bindings
    {"bind-of-const",
     "UOp(Ops.BIND, dtypes.index, src=(UOp.const(dtypes.index, 3), UOp.const(dtypes.index, 3)))",
     "UOp.const(dtypes.index, 3)"},
    // memory
    {"store-own-load", "p.index(r).store(p.index(r).load())", "UOp(Ops.NOOP, dtypes.void)"},
    {"store-own-load", "waited.index(r).store(waited.index(r).load())",
     "UOp(Ops.NOOP, dtypes.void, src=(first,))"},
    {"store-nowhere", "p.index(nowhere).store(f)", "UOp(Ops.NOOP, dtypes.void)"},
    {"store-nowhere", "waited.index(nowhere).store(f)", "UOp(Ops.NOOP, dtypes.void, src=(first,))"},
    {"store-nowhere", "waited.index(x).store(f)", nullptr},
    {"load-nowhere", "waited.index(nowhere).load()", "UOp.const(dtypes.float, 0.0)"},
    {"load-nowhere-else", "p.index(nowhere).load(f)", "f"},
    {"load-nowhere-else", "p.index(x).load(f)", nullptr},
    {"end-of-nothing", "UOp(Ops.NOOP, dtypes.void, src=(first,)).end(r)",
     "UOp(Ops.NOOP, dtypes.void, src=(first,))"},
    {"end-of-nothing", "UOp(Ops.NOOP, dtypes.void, src=(p.index(r).store(f),)).end(r)", nullptr},
    {"group-of-one", "UOp(Ops.GROUP, dtypes.void, src=(p.index(r).store(p.index(r).load()),))",
     "p.index(r).store(p.index(r).load())"},
    // ranges
    {"range-mod-extent", "r % 8", "r"},
    {"range-div-extent", "r // 8", "UOp.const(dtypes.index, 0)"},
    // sums
    {"fold-divmod", "(x*4 + 3) // 4", "x"},
    {"fold-divmod", "(x*-1 + 103) // 4", "(x // 4)*-1 + 25"},
    {"fold-divmod", "(x*-1 + 40) // 2", "((x + 1) // 2)*-1 + 20"},
    // vectors of constants
    {"fold-binary",
     "UOp(Ops.VCONST, dtypes.int.vec(2), arg=(1, 2)) + UOp(Ops.VCONST, dtypes.int.vec(2), arg=(5, 7))",
     "UOp(Ops.VCONST, dtypes.int.vec(2), arg=(6, 9))"},
    {"fold-unary", "UOp(Ops.NEG, dtypes.int.vec(2), src=(UOp(Ops.VCONST, dtypes.int.vec(2), arg=(1, 2)),))",
     "UOp(Ops.VCONST, dtypes.int.vec(2), arg=(-1, -2))"},
    {"gep-of-const",
     "UOp(Ops.GEP, dtypes.int.vec(2), src=(UOp(Ops.VCONST, dtypes.int.vec(3), arg=(4, 5, 6)),), arg=(2, 0))",
     "UOp(Ops.VCONST, dtypes.int.vec(2), arg=(6, 4))"},
    // branches
    {"where-where-then", "b.where((x < 3).where(y, x), y)", "(b & ((x < 3) != True)).where(x, y)"},
};

UOp build(const std::string& expression) {
  return parseUOp(std::string(kNames) + "ast = " + expression);
}

} // namespace

TEST_CASE("rules one at a time") {
  Pool pool;
  PoolScope scope(pool);
  for (const RuleCase& c : kRuleCases) {
    std::shared_ptr<const Rule> rule;
    for (const auto& r : sym().rules())
      if (r->name() == c.rule) rule = r;
    REQUIRE_MESSAGE(rule, "no rule is called ", c.rule);
    PatternMatcher alone(std::vector<std::shared_ptr<const Rule>>{rule});
    try {
      UOp before = build(c.before), after = alone.rewrite(before, {}, Observer::current());
      if (!c.after) {
        CHECK_MESSAGE(!after, c.rule, ": ", c.before, " should stay, becomes ", after.render());
        continue;
      }
      REQUIRE_MESSAGE(after, c.rule, " does not apply to ", c.before, ": ", alone.explain(*rule, before));
      CHECK_MESSAGE(after == build(c.after), c.rule, ": ", c.before, " becomes ", pyrender(after));
    } catch (const Error& e) {
      const std::string problem = std::string(c.rule) + ": " + e.what();
      FAIL_CHECK(problem);
    }
  }
}

TEST_CASE("quotients and remainders of one sum come together") {
  Pool pool;
  PoolScope scope(pool);
  auto text = [&](const std::string& e) {
    return simplify(parseUOp("a = UOp.variable('a', 0, 1)\nb = UOp.variable('b', 0, 4)\nc = "
                             "UOp.variable('c', 0, 6)\nast = " +
                             e))
        .render();
  };
  CHECK(text("(a + b*2 + c*10)//7*7 + (a + b*2 + c*10)%7") == "a+b*2+c*10");
  CHECK(text("((a + b*2 + c*10)//35*5 + (a + b*2 + c*10)//7%5)*7 + (a + b*2 + c*10)%7") == "a+b*2+c*10");
  CHECK(text("(a + b*2 + c*10)//4*4 + (a + b*2 + c*10)%4") == "a+b*2+c*10");
  CHECK(text("(a + b*6)%4") == "a+b%2*2");
  CHECK(text("(a*17 + b*17//2)//4") == "a*4+b*2");
}
