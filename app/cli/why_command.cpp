// uopscope why TRACE KERNEL PASS NODE [RULE]: tells why a rule did not fire on a node; without a rule, it
// lists the rules that came nearest. The trace tells the events of the pass. The engine gets the node made
// again and tells which test of the pattern fails. Nothing is executed.
#include "app/cli/output.h"
#include "engine/rewrite/match_program.h"
#include "engine/rewrite/matcher.h"
#include "engine/transform/known.h"
#include "replay/read/materialize.h"
#include "replay/read/print.h"
#include "replay/teach/kernel_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uopscope::cli {

namespace {

std::string tailOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// Finds the trace's rule by name or number.
const RuleInfo* findInTrace(Trace& trace, const std::string& text) {
  for (const RuleInfo& r : trace.rules())
    if (r.name == text || fmt::format("{}", r.id) == text) return &r;
  return nullptr;
}

const RuleDef* findInEngine(const std::string& name, const RuleInfo* like) {
  const RuleDef* best = nullptr;
  for (const RuleDef* def : knownRulesOfAll()) {
    if (name != def->name) continue;
    if (!best) best = def;
    if (like && tailOf(def->file) == tailOf(like->at.file) && def->line == like->at.line) return def;
  }
  return best;
}

/// The number of tests left in the rule's best variant; none where its root does not match the node.
std::optional<size_t> testsLeft(const Rule& rule, UOp u) {
  std::optional<size_t> best;
  const auto variants = variantsOf(rule); // the only owner, for a rule made at run time
  for (const MatchVariant& v : *variants) {
    if (!v.root.has(u.op())) continue;
    std::array<UOp, kMatchRegisters> registers;
    std::array<UOp, Match::kMaxBinds> binds;
    registers[0] = u;
    size_t left = v.steps.size() - runSteps(v.steps, registers.data(), binds.data());
    if (!best || left < *best) best = left;
  }
  return best;
}

/// The text of a step that fired, such as "fired in step 3: UPCAST axis 0 by 16: the accesses lie next to
/// each other".
std::string firing(Trace& trace, const StepInfo& step) {
  std::string out = fmt::format("fired in step {}", step.k);
  for (const Decision& d : decisionsAt(trace, step.id)) out += ": " + d.reason;
  return out;
}

/// Prints the rules of the pass that came nearest to the node, each with the test that kept it from firing.
int nearestMisses(Trace& trace, ScopeId kernel, const PassInfo& pass, NodeId node, const LookOptions& o) {
  std::vector<RuleId> tried = trace.rulesOf(pass.id);
  if (tried.empty())
    throw Error(ErrorKind::Key,
                fmt::format("the trace does not say which rules pass \"{}\" has; give one", pass.name));
  Pool pool;
  PoolScope inPool(pool);
  UOp u = Materializer(trace.nodes().reader(), pool)(node);
  KernelTarget target(trace, kernel);
  std::map<RuleId, StepInfo> fired;
  for (const StepInfo& s : trace.steps(pass.id))
    if (s.before == node) fired.try_emplace(s.rule, s);
  struct Miss {
    const RuleInfo* rule;
    size_t left;
    std::string reason;
  };
  std::vector<Miss> misses;
  size_t unknown = 0;
  std::map<std::string, const RuleDef*> defs;
  for (const RuleDef* def : knownRulesOfAll()) defs.try_emplace(def->name, def);
  for (RuleId id : tried) {
    const RuleInfo& info = trace.rule(id);
    auto at = fired.find(id);
    auto def = defs.find(info.name);
    if (def == defs.end()) {
      ++unknown;
      if (at != fired.end()) misses.push_back({&info, 0, firing(trace, at->second)});
      continue;
    }
    Rule rule(*def->second);
    auto left = testsLeft(rule, u);
    if (!left) continue;
    misses.push_back({&info, *left,
                      at != fired.end() ? firing(trace, at->second)
                                        : PatternMatcher().explain(rule, u, target.context())});
    if (misses.back().reason.empty()) misses.back().reason = "it applies here alone: another rule came first";
  }
  std::ranges::stable_sort(misses, [](const Miss& a, const Miss& b) { return a.left < b.left; });
  size_t limit = o.limit > 0 ? static_cast<size_t>(o.limit) : misses.size();
  if (o.json) {
    Json out{{"node", node},           {"text", expression(trace.nodes().reader(), node, 6, 400)},
             {"pass", pass.name},      {"rules", tried.size()},
             {"not_at_hand", unknown}, {"nearest", Json::array()}};
    for (size_t k = 0; k < std::min(limit, misses.size()); ++k)
      out["nearest"].push_back(Json{{"rule", misses[k].rule->name},
                                    {"tests_left", misses[k].left},
                                    {"why", misses[k].reason},
                                    {"at", fileLine(misses[k].rule->at)}});
    printJson(out);
    return kFine;
  }
  fmt::print("node {}  {}\n{} rules in pass \"{}\", {} of them for {}\n", node,
             expression(trace.nodes().reader(), node, 6, 400), tried.size(), pass.name, misses.size(),
             opName(u.op()));
  Table table({"rule", "tests left", "why"});
  for (size_t k = 0; k < std::min(limit, misses.size()); ++k)
    table.add({misses[k].rule->name, fmt::format("{}", misses[k].left), misses[k].reason});
  table.print();
  if (limit < misses.size()) fmt::print("{} of {} shown; --limit 0 shows all\n", limit, misses.size());
  if (unknown) fmt::print("{} rules are not the engine's own and cannot be asked here\n", unknown);
  return kFine;
}

} // namespace

int why(const LookOptions& o) {
  Trace trace(o.trace);
  warnAbout(trace);
  ScopeId scope = o.kernel == "0" ? 0 : trace.findScope(o.kernel);
  PassId passId = trace.findPass(scope, o.pass);
  PassInfo pass = trace.pass(passId);
  auto node = static_cast<NodeId>(o.node);
  if (o.rule.empty()) return nearestMisses(trace, scope, pass, node, o);
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
  std::vector<Decision> decided;
  const StepInfo* other = nullptr;
  auto steps = trace.steps(passId);
  for (const StepInfo& s : steps) {
    if (s.before != node) continue;
    if (info && s.rule == info->id) {
      fired = true;
      decided = decisionsAt(trace, s.id);
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
      reason = PatternMatcher().explain(rule, u, KernelTarget(trace, scope).context());
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
                            : fmt::format("the pattern matches, and the rule applies to the node alone "
                                          "(it declined {} of {} {} nodes in this pass)",
                                          declined, tried, opName(fields.op));
      }
    }
    if (other && !reason.empty()) out["rewritten_by"] = trace.rule(other->rule).name;
  }
  out["fired"] = fired;
  out["decisions"] = decisionsJson(decided);
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
    printDecisions(decided);
  }
  return kFine;
}

} // namespace uopscope::cli
