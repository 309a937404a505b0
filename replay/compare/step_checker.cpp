// Makes both sides, compares them and learns from them.
#include "replay/compare/step_checker.h"

#include "engine/base/error.h"
#include "replay/compare/pass_memory.h"

namespace uopscope {
namespace {

/// Whether a node is a name: of memory, of a variable's value, of a constant that equals no other.
bool isName(UOp u) {
  return u.in(OpSet{Op::BUFFER, Op::BUFFER_VIEW, Op::BIND}) || (u.is(Op::CONST) && u.srcCount() > 1);
}
/// Whether the rewrite says which value an argument of a transform has: that is no claim about the argument.
bool isDefinition(UOp before, std::string_view pass) {
  return pass == "arguments" && before.is(Op::BUFFER);
}

} // namespace

ValueCheck StepChecker::check(NodeId before, NodeId after, const CheckLimits& limits, PassId pass,
                              std::string_view passName) {
  ValueCheck out;
  if (after == kNoNode) {
    out.why = "the rule failed";
    return out;
  }
  try {
    const UOp a = make_(before), b = make_(after);
    if (isDefinition(a, passName)) {
      out.verdict = ValueCheck::Verdict::Same;
      return out;
    }
    if (isTransform(passName)) {
      TransformMemory& known = transforms_[pass];
      known.try_emplace(a, b);
      return checkTransform(checker_, passName, a, b, known, limits);
    }
    PassMemory& memory = passes_[pass];
    learnBefore(a, b, memory);
    out = checker_.check(a, b, limits, &memory);
    learnAfter(a, b, memory);
  } catch (const Error& e) {
    out.verdict = ValueCheck::Verdict::Unknown;
    out.why = e.what();
  }
  return out;
}

void StepChecker::learn(NodeId before, NodeId after, PassId pass) {
  if (after == kNoNode) return;
  try {
    const UOp a = make_(before), b = make_(after);
    transforms_[pass].try_emplace(a, b);
    learnBefore(a, b, passes_[pass]);
    learnAfter(a, b, passes_[pass]);
  } catch (const Error&) {
    return; // the first check has reported the error
  }
}

ValueCheck StepChecker::checkMerged(const std::vector<NodeId>& before, NodeId after,
                                    const CheckLimits& limits) {
  ValueCheck out;
  try {
    std::vector<UOp> all;
    for (const NodeId b : before) all.push_back(make_(b));
    out = checker_.check(UOp::groupOf(all), make_(after), limits);
  } catch (const Error& e) {
    out.why = e.what();
  }
  return out;
}

ValueCheck StepChecker::checkEnds(NodeId before, NodeId after,
                                  const std::vector<std::pair<NodeId, NodeId>>& rewrites,
                                  const CheckLimits& limits) {
  ValueCheck out;
  try {
    UOpMap<UOp> names;
    for (const auto& [from, to] : rewrites)
      if (const UOp a = make_(from), b = make_(to); isName(a) && a != b) names[a] = b;
    return checker_.check(make_(before).substitute(names), make_(after), limits);
  } catch (const Error& e) {
    out.why = e.what();
  }
  return out;
}

void leaveHalfRanged(ValueCheck& c, std::string_view pass) {
  if (c.verdict != ValueCheck::Verdict::Differs || pass != "apply rangeify") return;
  c.verdict = ValueCheck::Verdict::Unknown;
  c.why = "a graph half of tensors, half of ranges has no value of its own: --whole compares the pass";
}

ValueCheck checkRewrite(const NodeReader& read, NodeId before, NodeId after, int samples) {
  StepChecker checker(read);
  CheckLimits limits;
  limits.samples = samples;
  limits.inAll *= 10, limits.total *= 10;
  return checker.check(before, after, limits, 0);
}

ValueCheck checkStep(Trace& trace, StepId step, int samples) {
  StepChecker checker(trace.nodes().reader());
  CheckLimits limits{.samples = 1};
  Statement s = trace.database().prepare("SELECT id, before, after FROM step WHERE pass = (SELECT pass FROM "
                                         "step WHERE id = ?1) AND id <= ?1 AND "
                                         "kind <> 2 AND before <> after ORDER BY id");
  s.bind(1, step);
  ValueCheck last;
  last.why = "the rule failed";
  Statement name = trace.database().prepare("SELECT string.value FROM step JOIN pass ON pass.id = step.pass "
                                            "JOIN string ON string.id = pass.name WHERE step.id = ?");
  const std::string pass = name.bind(1, step).step() ? std::string(name.text(0)) : std::string();
  while (s.step()) { // earlier rewrites of the pass, whose values this one may need
    if (s.integer(0) == step) limits = {.samples = samples, .total = 12'000'000, .inAll = 3'000'000};
    last =
        checker.check(static_cast<NodeId>(s.integer(1)), static_cast<NodeId>(s.integer(2)), limits, 0, pass);
  }
  leaveHalfRanged(last, pass);
  return last;
}

} // namespace uopscope
