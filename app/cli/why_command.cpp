// uopscope why TRACE KERNEL PASS NODE RULE: why a rule did not fire on a node. The trace says what happened
// in the pass; the engine, asked with the node made again, says which test of the pattern fails. Nothing is
// run.
#include "app/cli/output.h"
#include "engine/rewrite/matcher.h"
#include "engine/tensor/known_rules.h"
#include "replay/read/materialize.h"
#include "replay/read/print.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::cli {

namespace {

std::string tailOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// The trace's rule by name or number.
const RuleInfo* findInTrace(Trace& trace, const std::string& text) {
  for (const RuleInfo& r : trace.rules())
    if (r.name == text || fmt::format("{}", r.id) == text) return &r;
  return nullptr;
}

const RuleDef* findInEngine(const std::string& name, const RuleInfo* like) {
  const RuleDef* best = nullptr;
  for (const RuleDef* def : knownRules()) {
    if (name != def->name) continue;
    if (!best) best = def;
    if (like && tailOf(def->file) == tailOf(like->at.file) && def->line == like->at.line) return def;
  }
  return best;
}

} // namespace

int why(const LookOptions& o) {
  Trace trace(o.trace);
  warnAbout(trace);
  ScopeId scope = o.kernel == "0" ? 0 : trace.findScope(o.kernel);
  PassId passId = trace.findPass(scope, o.pass);
  PassInfo pass = trace.pass(passId);
  auto node = static_cast<NodeId>(o.node);
  auto read = trace.nodes().reader();
  NodeFields fields = read(node);
  const RuleInfo* info = findInTrace(trace, o.rule);
  std::string name = info ? info->name : o.rule;
  const RuleDef* def = findInEngine(name, info);
  if (!info && !def)
    throw Error(ErrorKind::Key,
                fmt::format("there is no rule \"{}\"; uopscope stats {} lists those that were tried", o.rule,
                            o.trace));

  Json out{{"node", node}, {"text", expression(read, node, 6, 400)}, {"rule", name}};
  std::string answer;
  bool fired = false;
  const StepInfo* other = nullptr;
  auto steps = trace.steps(passId);
  for (const StepInfo& s : steps) {
    if (s.before != node) continue;
    if (info && s.rule == info->id) {
      fired = true;
      answer = fmt::format("it did: step {} rewrote the node by this rule", s.k);
      break;
    }
    if (!other) other = &s;
  }
  bool python = info && info->at.file.ends_with(".py");
  std::string reason;
  if (!fired) {
    if (!def) {
      answer = python ? fmt::format("rule {} is defined in {} and is not at hand here: only the engine's own "
                                    "rules can be asked",
                                    name, fileLine(info->at))
                      : fmt::format("rule {} ({}) is not part of this build of uopscope", name,
                                    info ? fileLine(info->at) : "");
    } else {
      Pool pool;
      PoolScope inPool(pool);
      UOp u = Materializer(read, pool)(node);
      Rule rule(*def);
      reason = PatternMatcher().explain(rule, u);
      if (!reason.empty()) {
        answer = reason;
      } else if (other) {
        answer =
            fmt::format("the pattern matches, but rule {} was tried first and rewrote the node in step {}",
                        trace.rule(other->rule).name, other->k);
      } else {
        uint64_t declined = 0, tried = 0;
        if (info)
          for (const MatchTotals& t : trace.matchTotals(MatchGroup::Everything, scope, passId))
            if (t.rule == info->id && t.op == opName(fields.op)) {
              declined += t.count[int(Outcome::Declined)];
              tried += t.attempts();
            }
        answer = tried == 0 ? fmt::format("the pattern matches, but the rule is not among those of pass "
                                          "\"{}\" that were tried on {}",
                                          pass.name, opName(fields.op))
                            : fmt::format("the pattern matches; the rule's function or condition declined "
                                          "(it declined {} of {} {} nodes in this pass)",
                                          declined, tried, opName(fields.op));
      }
    }
    if (other && !reason.empty()) out["rewritten_by"] = trace.rule(other->rule).name;
  }
  out["fired"] = fired;
  out["answer"] = answer;
  if (def) {
    out["at"] = info ? fileLine(info->at) : fmt::format("{}:{}", def->file, def->line);
    out["pattern"] = Rule(*def).patternText();
  }
  if (o.json) {
    printJson(out);
  } else {
    fmt::print("{}  {}\n", paint(Paint::Bold, name), def ? out["at"].get<std::string>() : "");
    if (def) fmt::print("pattern  {}\n", out["pattern"].get<std::string>());
    fmt::print("node {}  {}\n{}\n", node, out["text"].get<std::string>(), answer);
  }
  return kFine;
}

} // namespace uopscope::cli
