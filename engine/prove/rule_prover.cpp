// Compares instances of a rule, by Z3 first and then by value.
#include "engine/prove/rule_prover.h"

#include "engine/base/error.h"
#include "engine/codegen/memory.h"
#include "engine/render/c_renderer.h"
#include "engine/uop/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uopscope::prove {

namespace {

constexpr uint64_t kMostValues = 70000;   ///< so many assignments are tried exhaustively
constexpr uint64_t kSamples = 2000;       ///< assignments tried where there are more
constexpr uint64_t kMostSeeds = 6000;     ///< seeds tried to get the requested number of instances
constexpr uint64_t kExpressionSeeds = 99; ///< for a rule with an expression: each type three times or more

/// One of three targets: with all operations, with few, and with most of them.
const Target& targetOf(uint64_t seed) {
  static const std::array<Target, 3> all = [] {
    Target cpu = cpuTarget("C"), bare = cpu, some = cpu;
    bare.nativeOps = OpSet{Op::ADD, Op::MUL, Op::IDIV,  Op::CMPLT, Op::CMPNE, Op::XOR,
                           Op::OR,  Op::AND, Op::WHERE, Op::SHL,   Op::SHR};
    some.nativeOps = group::kAlu - OpSet{Op::THREEFRY, Op::POW, Op::EXP2, Op::LOG2, Op::SIN};
    return std::array{cpu, bare, some};
  }();
  return all[seed % all.size()];
}

bool hasFloat(UOp root) {
  for (UOp u : root.toposort())
    if (u.dtype().isFloat() && !u.dtype().isPtr()) return true;
  return false;
}
bool hasInteger(UOp root) {
  for (UOp u : root.toposort())
    if ((u.dtype().isInt() || u.dtype().isBool()) && !u.dtype().isPtr()) return true;
  return false;
}
/// The type of the leaves, which a reader would name.
std::string typeOf(UOp before) {
  for (UOp u : before.toposort())
    if (u.in({Op::DEFINE_VAR, Op::RANGE, Op::CONST})) return u.dtype().scalar().name().substr(7);
  return before.dtype().scalar().name().substr(7);
}

/// Python code that builds both sides with these values.
std::string python(const std::string& rule, UOp before, UOp after, const std::vector<UOp>& leaves,
                   const Difference& d) {
  UOpMap<UOp> values;
  std::string where;
  auto text = [](const ConstValue& v) {
    return v.isInvalid()                       ? std::string("Invalid")
           : v.kind == ConstValue::Kind::Float ? fmt::format("{}", v.f)
           : v.kind == ConstValue::Kind::Bool  ? std::string(v.i ? "True" : "False")
                                               : fmt::format("{}", v.i);
  };
  for (size_t i = 0; i < leaves.size() && i < d.at.size(); ++i) {
    where += fmt::format("{}{} = {}", where.empty() ? "" : ", ", leaves[i].render(), text(d.at[i]));
    values[leaves[i]] = UOp::constant(leaves[i].dtype(), d.at[i]);
  }
  return fmt::format("# {}: {} becomes {}{}{}: {} instead of {}\n{}", rule, expression(before),
                     expression(after), where.empty() ? "" : ", with ", where, text(d.after), text(d.before),
                     pyrender(before.substitute(values)));
}

} // namespace

RuleProver::RuleProver(std::shared_ptr<const Rule> rule, Solver& z3, const ProveOptions& options)
    : rule_(std::move(rule)), matcher_(std::vector<std::shared_ptr<const Rule>>{rule_}), z3_(z3),
      options_(options) {}

UOp RuleProver::apply(UOp before, uint64_t seed) {
  TargetContext context{targetOf(seed)};
  try {
    UOp after = matcher_.rewrite(before, context);
    return !after || isGate(after) || after == before || after.node()->pool != before.node()->pool ? UOp()
                                                                                                   : after;
  } catch (const Error&) { // it needs the context of its pass, or refuses the graph
    return {};
  }
}

void RuleProver::proveExpression() {
  const RuleDef* def = rule_->definition();
  if (!def || !def->hasExpression()) return;
  // The solver cannot see the code of a Test guard. Such a rule is proved on graphs, where the test runs.
  auto guards = std::span(def->guards).first(def->guardCount);
  if (std::any_of(guards.begin(), guards.end(), [](const Guard& g) { return g.kind == Guard::Kind::Test; }))
    return;
  Pool own;
  PoolScope scope(options_.pool ? *options_.pool : own);
  Instances family(*rule_, Leaves::Unknowns);
  std::set<uint32_t> seen;
  bool all = true;
  for (uint64_t seed = 0; seed < kExpressionSeeds; ++seed) {
    UOp before = family.make(seed);
    if (!before || !seen.insert(before.id()).second) continue;
    UOp after = family.result();
    if (!after || after == before || hasFloat(before)) continue;
    isInteger_ |= hasInteger(before);
    Answer answer = z3_.compare(before, after);
    if (answer.verdict == Verdict::Equal)
      universal_.insert(typeOf(before));
    else if (answer.verdict == Verdict::Differs && !def->guardCount)
      settle(before, after, answer);
    if (answer.verdict != Verdict::Equal) {
      all = false;
      notDecided_.insert(typeOf(before));
    }
  }
  expressionHolds_ = all && !universal_.empty();
}

void RuleProver::proveGraphs() {
  Pool own;
  PoolScope scope(options_.pool ? *options_.pool : own);
  Instances family(*rule_, Leaves::Graphs);
  std::set<uint32_t> seen;
  constexpr std::array kFloats{dtypes::float16, dtypes::fp8e4m3, dtypes::float32, dtypes::fp8e5m2};
  // Integers and floats are counted separately, since a proof for one says nothing about the other.
  int integers = expressionHolds_ ? options_.graphs / 4 : options_.graphs, floats = options_.graphs / 2;
  for (uint64_t seed = 0; seed < kMostSeeds && integers + floats > 0; ++seed) {
    family.onlyFloat(kFloats[seed / Instances::types() % kFloats.size()]);
    UOp before = family.make(seed);
    if (!before || !seen.insert(before.id()).second) continue;
    int& left = hasFloat(before) ? floats : integers;
    UOp after = left > 0 ? apply(before, seed) : UOp();
    if (!after) continue;
    --left;
    measures_.add(before, after);
    isInteger_ |= hasInteger(before);
    if (!hasFloat(before)) types_.insert(typeOf(before));
    compare(before, after);
    if (!counterexample_.empty()) return;
  }
}

void RuleProver::proveRewrite(UOp before, UOp after) {
  measures_.add(before, after);
  isInteger_ |= hasInteger(before) && before.dtype().isInt();
  // A loop that replaces a loop has the same values, but perhaps in a different order. Programs decide about
  // such rewrites.
  std::vector<UOp> loops = leavesOf(before, before), others = leavesOf(after, after);
  auto isNew = [&](UOp u) { return std::find(loops.begin(), loops.end(), u) == loops.end(); };
  if (std::any_of(others.begin(), others.end(), isNew)) {
    ++notCompared_;
    return;
  }
  ofProgram_ = true;
  compare(before, after);
  ofProgram_ = false;
}

void RuleProver::compare(UOp before, UOp after) {
  ++compared_;
  Answer answer = z3_.compare(before, after);
  bool isFloat = hasFloat(before) || hasFloat(after);
  if (answer.verdict == Verdict::Equal) {
    ++(isFloat ? floatsSolved_ : solved_);
    return;
  }
  if (isFloat && compareFloats(before, after)) return;
  settle(before, after, answer);
}

/// Compares floats by value. Returns false if the values cannot be computed.
bool RuleProver::compareFloats(UOp before, UOp after) {
  Evaluator both(before, after);
  if (!both.ready()) return false;
  Difference d = both.exhaustively(kMostValues);
  if (d.complete)
    ++floatsEnumerated_;
  else {
    d = both.sampled(kSamples, 1);
    ++floatsSampled_;
  }
  if (d.differs && d.gap <= FloatGap::SignOfZero) { // an integer or bool in the result differs
    if (floatExample_.empty()) floatExample_ = python(rule_->name(), before, after, both.leaves(), d);
    gap_ = FloatGap::Special;
  }
  if (d.gap > gap_) {
    gap_ = d.gap;
    floatExample_ = python(rule_->name(), before, after, both.leaves(), d);
  }
  return true;
}

/// Decides by values if Z3 has not proved equality: by all values if they are few.
void RuleProver::settle(UOp before, UOp after, const Answer& answer) {
  Evaluator both(before, after);
  if (!both.ready()) {
    ++(ofProgram_ ? notCompared_ : undecided_);
    notDecided_.insert(answer.why.empty() ? "a function that is not known" : answer.why);
    return;
  }
  if (answer.verdict == Verdict::Differs) {
    std::vector<ConstValue> values;
    for (UOp leaf : both.leaves()) {
      auto at = std::find_if(answer.values.begin(), answer.values.end(),
                             [&](const auto& v) { return v.first == leaf; });
      values.push_back(at == answer.values.end() ? valuesOf(leaf, 1, 0).front() : at->second);
    }
    if (Difference d = both.at(values); d.differs) return refute(before, after, both, d);
  }
  Difference d = both.exhaustively(kMostValues);
  if (d.complete)
    ++enumerated_;
  else if (!d.differs) {
    d = both.sampled(kSamples, 1);
    ++sampled_;
  }
  if (d.differs) refute(before, after, both, d);
}

void RuleProver::refute(UOp before, UOp after, const Evaluator& both, const Difference& d) {
  counterexample_ = python(rule_->name(), before, after, both.leaves(), d);
}

RuleProof RuleProver::verdict(bool isAllowedToRound) const {
  RuleProof p;
  p.rule = rule_->name();
  p.file = rule_->file();
  p.line = rule_->line();
  p.instances = compared_;
  p.isInteger = isInteger_;
  p.integersProved = isInteger_ && (expressionHolds_ || solved_ + enumerated_ > 0) &&
                     counterexample_.empty() && !sampled_ && (!undecided_ || expressionHolds_) &&
                     !(notCompared_ && types_.empty());
  int exact = solved_ + enumerated_, floats = floatsEnumerated_ + floatsSampled_ + floatsSolved_;
  if (expressionHolds_)
    p.scope = fmt::format("for all values, constants too: {}", fmt::join(universal_, ", "));
  else if (exact)
    p.scope = types_.empty() ? fmt::format("{} rewrites of programs", exact)
                             : fmt::format("{} graphs of {}", exact, fmt::join(types_, ", "));
  auto add = [&](const std::string& text) { p.scope += (p.scope.empty() ? "" : "; ") + text; };
  if (floatsSolved_) add("floats as unknown values");
  if (floatsEnumerated_) add("floats on all halves, or all pairs of 8 bits");
  if (floatsSampled_) add("floats of more values on chosen ones");
  if (gap_ == FloatGap::SignOfZero) add("a zero may change its sign");
  if (sampled_) add(fmt::format("{} graphs on chosen values", sampled_));
  if (notCompared_) add(fmt::format("{} rewrites of programs not compared", notCompared_));
  if (undecided_) add(fmt::format("{} graphs not compared: {}", undecided_, fmt::join(notDecided_, ", ")));
  if (!counterexample_.empty()) {
    p.status = ProofStatus::Refuted;
    p.counterexample = counterexample_;
  } else if (gap_ > FloatGap::SignOfZero || (isAllowedToRound && gap_ != FloatGap::None)) {
    p.status = isAllowedToRound ? ProofStatus::ChangesRounding : ProofStatus::Refuted;
    p.counterexample = floatExample_;
  } else if (sampled_ || (undecided_ && !expressionHolds_) || (notCompared_ && types_.empty())) {
    p.status = exact + floats + sampled_ > 0 ? ProofStatus::Checked : ProofStatus::Assumed;
  } else if (expressionHolds_ || exact) {
    p.status = ProofStatus::Proved;
  } else if (floatsSolved_ && !floatsSampled_ && !floatsEnumerated_) {
    p.status = ProofStatus::Proved;
  } else if (floatsEnumerated_) {
    p.status = ProofStatus::Exhaustive;
  } else if (floatsSampled_) {
    p.status = ProofStatus::Checked;
  }
  return p;
}

} // namespace uopscope::prove
