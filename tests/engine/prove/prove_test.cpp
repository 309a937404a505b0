// Proofs of rules: wrong rules are refuted, the solver agrees with the interpreter, and the rules that change
// floats are switched off as a whole.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/prove/instances.h"
#include "engine/prove/programs.h"
#include "engine/prove/prove.h"
#include "engine/prove/solver.h"
#include "engine/prove/termination.h"
#include "engine/prove/values.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/rounding.h"
#include "engine/rules/rules.h"
#include "engine/uop/eval.h"
#include "tests/engine/rewrite/pattern_variables.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>
#include <random>

using namespace uopscope;
using namespace uopscope::prove;
using namespace uopscope::test;

namespace {

constexpr PatVar anInt{"x", PatVar::Ints}, aFloat{"f", PatVar::Floats};

UOp halved(Match& m) {
  return m[anInt];
}

constexpr RuleDef kWrongRules[] = {
    RULE("wrong-double-half", (anInt * 2) / 2, anInt),
    RULE("wrong-double-half-fn", (anInt * 2) / 2, halved),
    RULE("wrong-float", aFloat * 3.0, aFloat + aFloat),
    RULE("wrong-less", anInt < c0, c0 < anInt),
};
constexpr RuleDef kRightRules[] = {
    RULE("right-sum", (anInt + c0) + c0, anInt + c0 * 2),
    RULE("right-float", aFloat + aFloat, aFloat * 2.0),
    RULE("right-where", pat::where(PatVar("c", PatVar::Bool), anInt, anInt), anInt),
};

RuleProof proofOf(const RuleDef& def) {
  return proveRules({std::make_shared<Rule>(def)}, {.graphs = 8}).at(0);
}

} // namespace

TEST_CASE("a wrong rule is refuted, with Python that shows it") {
  if (!Solver::available()) return;
  for (const RuleDef& def : kWrongRules) {
    RuleProof p = proofOf(def);
    CAPTURE(p.rule);
    CAPTURE(p.scope);
    CHECK(p.status == ProofStatus::Refuted);
    CHECK(p.counterexample.find("ast = ") != std::string::npos);
  }
}

TEST_CASE("a right rule is proved, and one of floats is computed on all of them") {
  if (!Solver::available()) return;
  CHECK(proofOf(kRightRules[0]).status == ProofStatus::Proved);
  CHECK(proofOf(kRightRules[1]).status == ProofStatus::Exhaustive);
  CHECK(proofOf(kRightRules[2]).status == ProofStatus::Proved);
  CHECK_THROWS_AS(proveRules({std::make_shared<Rule>(kRightRules[0])}, {.rule = "no-such-rule"}), Error);
}

TEST_CASE("the solver computes what the interpreter computes") {
  if (!Solver::available()) return;
  Pool pool;
  PoolScope scope(pool);
  Solver z3(2000);
  std::mt19937_64 random(7);
  constexpr std::array kTypes{dtypes::int8,   dtypes::uint8, dtypes::int32,
                              dtypes::uint32, dtypes::int64, dtypes::index};
  constexpr std::array kOps{Op::ADD, Op::SUB, Op::MUL, Op::IDIV, Op::MOD,   Op::MAX,   Op::AND,
                            Op::OR,  Op::XOR, Op::SHL, Op::SHR,  Op::CMPLT, Op::CMPNE, Op::NEG};
  for (DType d : kTypes)
    for (Op op : kOps)
      for (int k = 0; k < 4; ++k) {
        UOp a = UOp::constant(d, static_cast<int64_t>(random() % 200) - (d.isUnsigned() ? 0 : 100));
        UOp b = UOp::constant(d, static_cast<int64_t>(random() % 9) + 1 -
                                     (d.isUnsigned() || op == Op::SHL || op == Op::SHR ? 0 : 5));
        if (b.isConst(0) && (op == Op::IDIV || op == Op::MOD)) continue; // has no value
        UOp u = op == Op::NEG ? a.alu(op) : a.alu(op, {b});
        std::vector<ConstValue> v{a.constValue()};
        if (op != Op::NEG) v.push_back(b.constValue());
        Answer answer = z3.compare(u, UOp::constant(u.dtype(), evalAlu(op, u.dtype(), d, v)));
        CAPTURE(u.render());
        CAPTURE(answer.why);
        CHECK(answer.verdict == Verdict::Equal);
      }
}

TEST_CASE("a question that is too hard ends by its steps, without a thread that watches the time") {
  if (!Solver::available()) return;
  Pool pool;
  PoolScope scope(pool);
  auto threads = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); };
  UOp a = UOp::variable("a", INT64_MIN, INT64_MAX, dtypes::int64),
      b = UOp::variable("b", INT64_MIN, INT64_MAX, dtypes::int64);
  const auto before = threads();
  UOp sum = (a | b) + (a & b); // a + b, which takes long to see inside a product
  Answer answer = Solver(20).compare(sum * sum * sum, (a + b) * (a + b) * (a + b));
  CHECK(answer.verdict == Verdict::Undecided);
  CHECK(threads() == before);
}

TEST_CASE("what has no value may become anything; an index stays as Invalid as it was") {
  if (!Solver::available()) return;
  Pool pool;
  PoolScope scope(pool);
  Solver z3(2000);
  UOp n = UOp::variable("n", 0, 10), r = UOp::range(8, 0);
  CHECK(z3.compare(n / n, n.constLike(int64_t{1})).verdict == Verdict::Equal);
  CHECK(z3.compare(n.constLike(int64_t{1}), n / n).verdict == Verdict::Differs);
  UOp gated = r.validWhere(r < 4);
  CHECK(z3.compare(gated + 1, (r + 1).validWhere(r < 4)).verdict == Verdict::Equal);
  CHECK(z3.compare(gated, r).verdict == Verdict::Differs);
  CHECK(z3.compare(gated < 6, r < 6).verdict == Verdict::Equal);
}

TEST_CASE("STRICT_FLOAT switches off all that changes the bits of a float, and nothing of integers") {
  ContextScope strict({{"STRICT_FLOAT", 1}});
  Pool pool;
  PoolScope scope(pool);
  UOp a = UOp::variable("a", -9, 9, dtypes::float32), i = UOp::variable("i", 1, 9, dtypes::int32);
  CHECK(graphRewrite(a.alu(Op::FDIV, {a}), symbolic()).is(Op::FDIV));
  CHECK(graphRewrite(a * a.alu(Op::RECIPROCAL), symbolic()).is(Op::MUL));
  CHECK(graphRewrite(a * a.constLike(0.0), symbolic()).is(Op::MUL));
  CHECK(graphRewrite(i * i.constLike(int64_t{0}), symbolic()).isConst(0));
  CHECK(graphRewrite(i + i.constLike(int64_t{0}), symbolic()) == i);
  for (const auto& rule : sym().rules()) {
    const RoundingRule* listed = roundingRule(rule->name());
    if (!listed || !listed->optional) continue;
    Instances family(*rule, Leaves::Graphs);
    PatternMatcher one(std::vector<std::shared_ptr<const Rule>>{rule});
    for (uint64_t seed = 0; seed < 400; ++seed) {
      UOp before = family.make(seed);
      if (!before || !before.dtype().isFloat()) continue;
      CAPTURE(rule->name());
      CHECK(!one.rewrite(before));
    }
  }
}

TEST_CASE("a gate survives a cast of an index to index") {
  Pool pool;
  PoolScope scope(pool);
  UOp r = UOp::range(8, 0), gated = (r + 1).validWhere(r < 2);
  UOp same = UOp::make(Op::CAST, dtypes::index, {gated});
  CHECK(graphRewrite(same, symbolic()) == gated);
  CHECK(graphRewrite(gated.cast(dtypes::int32), symbolic()).below().has(Op::WHERE) == false);
}

TEST_CASE("the larger of two keeps a NaN on either side where the target has no maximum") {
  Pool pool;
  PoolScope scope(pool);
  UOp a = UOp::variable("a", INT64_MIN, INT64_MAX, dtypes::fp8e5m2),
      b = UOp::variable("b", INT64_MIN, INT64_MAX, dtypes::fp8e5m2);
  UOp max = a.alu(Op::MAX, {b});
  CHECK(Evaluator(max, ((a < b) | ne(b, b)).where(b, a)).exhaustively(70000).gap == FloatGap::None);
  CHECK(Evaluator(max, (a < b).where(b, a)).exhaustively(70000).gap == FloatGap::Special);
}

TEST_CASE("a set of rules ends where measures remove all of them") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::variable("i", 0, 9);
  Measures shrinks, grows;
  shrinks.add(i + 0, i);
  grows.add(i, i + 0);
  CHECK(terminationOrder({&shrinks}).at(0) < kMeasures);
  CHECK(terminationOrder({&shrinks, &grows}) == std::vector<size_t>{kMeasures, kMeasures});
}

TEST_CASE("every program that checks rules ends, on every target, with the results of its first graph") {
  Rewrites rewrites(1);
  const ProgramResults results = runPrograms(rewrites);
  for (const std::string& wrong : results.wrong) FAIL_CHECK(wrong);
  CHECK(results.runs > 300);
  CHECK(results.right.size() > 180); // rules
}
