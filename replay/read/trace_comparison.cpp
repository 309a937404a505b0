// Reads both traces once, in the order of events. A hash of its content stands for a node.
#include "replay/read/trace_comparison.h"

#include "replay/read/print.h"
#include "replay/read/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uopscope {

namespace {

uint64_t mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9E3779B97F4A7C15ull;
  return h ^ h >> 29;
}

/// One trace, prepared for the comparison.
class Told {
public:
  explicit Told(Trace& t) : trace(t), hashes_(1) {
    for (const RuleInfo& r : t.rules()) rules_[r.id] = r.name;
    for (Statement s = t.database().prepare("SELECT id, scope, name FROM v_pass ORDER BY id"); s.step();)
      passes_[s.integer(0)] = {s.integer(1), std::string(s.text(2))};
  }

  uint64_t hash(NodeId id) {
    if (id == kNoNode) return 0;
    while (hashes_.size() <= id) { // sources come first
      NodeFields n = trace.nodes().fields(static_cast<NodeId>(hashes_.size()));
      uint64_t h = std::hash<std::string_view>()(opName(n.op));
      h = mix(h, std::hash<std::string>()(n.dtype.name()));
      h = mix(h, std::hash<std::string>()(n.arg.encode()));
      h = mix(h, std::hash<std::string>()(n.tag.encode()));
      for (NodeId s : n.src) h = mix(h, hashes_[s]);
      hashes_.push_back(h);
    }
    return hashes_[id];
  }
  const std::string& rule(RuleId id) { return rules_[id]; }
  std::string scopeName(ScopeId id) { return id ? trace.scope(id).name : "the whole trace"; }
  std::pair<ScopeId, std::string> pass(PassId id) { return passes_[id]; }
  std::string text(NodeId id) {
    return id ? expression(trace.nodes().reader(), id, 5, 160) : "REWRITE_ERROR";
  }
  int64_t count(const char* sql) {
    Statement s = trace.database().prepare(sql);
    return s.step() ? s.integer(0) : 0;
  }

  Trace& trace;

private:
  std::vector<uint64_t> hashes_;
  std::unordered_map<RuleId, std::string> rules_;
  std::unordered_map<PassId, std::pair<ScopeId, std::string>> passes_;
};

struct Step {
  StepId id = 0;
  PassId pass = 0;
  RuleId rule = 0;
  NodeId before = kNoNode, after = kNoNode;
  int64_t kind = 0;
};
class Steps {
public:
  explicit Steps(Told& told)
      : rows_(told.trace.database().prepare(
            "SELECT id, pass, rule, before, after, kind FROM step ORDER BY id")) {}
  std::optional<Step> next() {
    if (!rows_.step()) return std::nullopt;
    return Step{rows_.integer(0),
                rows_.integer(1),
                rows_.integer(2),
                static_cast<NodeId>(rows_.integer(3)),
                static_cast<NodeId>(rows_.integer(4)),
                rows_.integer(5)};
  }

private:
  Statement rows_;
};

std::string describe(Told& s, const Step& step) {
  return fmt::format("{}: {} -> {}", s.rule(step.rule), s.text(step.before), s.text(step.after));
}

/// Finds the first step that differs.
TraceParting partingOfSteps(Told& a, Told& b, int64_t& common) {
  Steps stepsA(a), stepsB(b);
  TraceParting p;
  for (common = 0;; ++common) {
    auto x = stepsA.next(), y = stepsB.next();
    if (!x && !y) return p;
    if (x && y && x->kind == y->kind && a.rule(x->rule) == b.rule(y->rule) &&
        a.pass(x->pass).second == b.pass(y->pass).second && a.hash(x->before) == b.hash(y->before) &&
        a.hash(x->after) == b.hash(y->after))
      continue;
    p.kind = TraceParting::Kind::Step;
    if (x) {
      p.step = x->id;
      p.pass = x->pass;
      p.scope = a.pass(x->pass).first;
      p.first = describe(a, *x);
    }
    if (y) {
      p.otherStep = y->id;
      p.otherPass = y->pass;
      p.otherScope = b.pass(y->pass).first;
      p.second = describe(b, *y);
    }
    Told& s = x ? a : b;
    auto [scope, name] = s.pass(x ? x->pass : y->pass);
    int64_t k = 0;
    StepId id = x ? x->id : y->id;
    for (const StepInfo& step : s.trace.steps(x ? x->pass : y->pass))
      if (step.id == id) k = step.k;
    p.what = fmt::format("step {} of pass \"{}\" in {}", k, name, s.scopeName(scope));
    return p;
  }
}

/// Finds the first pass that differs in name, graph or end.
TraceParting partingOfPasses(Told& a, Told& b) {
  auto rows = [](Told& s) {
    return s.trace.database().prepare(
        "SELECT id, scope, name, root, outcome, message FROM v_pass ORDER BY id");
  };
  Statement x = rows(a), y = rows(b);
  TraceParting p;
  for (;;) {
    bool moreX = x.step(), moreY = y.step();
    if (!moreX && !moreY) return p;
    auto root = [](Told& s, const Statement& row) { return s.hash(static_cast<NodeId>(row.integer(3))); };
    if (moreX && moreY && x.text(2) == y.text(2) && x.text(4) == y.text(4) && x.text(5) == y.text(5) &&
        root(a, x) == root(b, y))
      continue;
    p.kind = TraceParting::Kind::Pass;
    auto describePass = [](Told& s, const Statement& row) {
      return fmt::format("pass \"{}\" in {}, {}{}{}", row.text(2), s.scopeName(row.integer(1)), row.text(4),
                         row.isNull(5) ? "" : ": ", row.text(5));
    };
    if (moreX) {
      p.pass = x.integer(0);
      p.scope = x.integer(1);
      p.first = describePass(a, x);
    }
    if (moreY) {
      p.otherPass = y.integer(0);
      p.otherScope = y.integer(1);
      p.second = describePass(b, y);
    }
    p.what = fmt::format("pass {}", moreX ? p.pass : p.otherPass);
    if (moreX && moreY && p.first == p.second) p.what += ": it begins with another graph";
    return p;
  }
}

TraceParting partingOfScopes(Told& a, Told& b) {
  const auto &x = a.trace.scopes(), &y = b.trace.scopes();
  TraceParting p;
  for (size_t k = 0; k < std::max(x.size(), y.size()); ++k) {
    if (k < x.size() && k < y.size() && x[k].kind == y[k].kind && x[k].name == y[k].name) continue;
    p.kind = TraceParting::Kind::Scope;
    p.what = fmt::format("scope {}", k + 1);
    if (k < x.size()) {
      p.scope = x[k].id;
      p.first = x[k].name;
    }
    if (k < y.size()) {
      p.otherScope = y[k].id;
      p.second = y[k].name;
    }
    break;
  }
  return p;
}

std::vector<const ScopeInfo*> kernelsOf(const Trace& trace) {
  std::vector<const ScopeInfo*> out;
  for (const ScopeInfo& s : trace.scopes())
    if (s.kind == ScopeKind::Kernel) out.push_back(&s);
  return out;
}

void compareKernels(Told& a, Told& b, TraceComparison& out, TraceParting& text) {
  auto x = kernelsOf(a.trace), y = kernelsOf(b.trace);
  for (size_t k = 0; k < std::max(x.size(), y.size()); ++k) {
    const ScopeInfo *first = k < x.size() ? x[k] : nullptr, *second = k < y.size() ? y[k] : nullptr;
    auto source = [](Told& s, const ScopeInfo* scope) {
      return scope ? s.trace.artifact(scope->id, "source") : std::nullopt;
    };
    auto left = source(a, first), right = source(b, second);
    if (first && second && left == right) continue;
    out.kernels.push_back({first ? first->id : 0, second ? second->id : 0, first ? first->name : "",
                           second ? second->name : ""});
    if (text.kind != TraceParting::Kind::None || !first || !second) continue;
    text.kind = TraceParting::Kind::Text;
    text.scope = first->id;
    text.otherScope = second->id;
    text.what = fmt::format("source of {}", first->name);
    for (const std::string& line : lineDiff(left.value_or(""), right.value_or(""))) {
      if (line[0] == '-' && text.first.empty()) text.first = line.substr(1);
      if (line[0] == '+' && text.second.empty()) text.second = line.substr(1);
      if (!text.first.empty() && !text.second.empty()) break;
    }
  }
}

} // namespace

TraceComparison compareTraces(Trace& traceA, Trace& traceB) {
  Told a(traceA), b(traceB);
  TraceComparison out;
  out.scopes = static_cast<int64_t>(traceA.scopes().size());
  out.otherScopes = static_cast<int64_t>(traceB.scopes().size());
  out.passes = a.count("SELECT count(*) FROM pass");
  out.otherPasses = b.count("SELECT count(*) FROM pass");
  out.steps = a.count("SELECT count(*) FROM step");
  out.otherSteps = b.count("SELECT count(*) FROM step");

  TraceParting step = partingOfSteps(a, b, out.commonSteps), pass = partingOfPasses(a, b),
               scope = partingOfScopes(a, b), text;
  compareKernels(a, b, out, text);
  // The first difference in the order of events: a pass that differs comes before steps of later passes.
  using Kind = TraceParting::Kind;
  auto passOf = [](const TraceParting& p) {
    return p.pass && p.otherPass ? std::min(p.pass, p.otherPass) : std::max(p.pass, p.otherPass);
  };
  if (step.kind != Kind::None && (pass.kind == Kind::None || passOf(step) <= passOf(pass)))
    out.parting = step;
  else if (pass.kind != Kind::None)
    out.parting = pass;
  else if (scope.kind != Kind::None)
    out.parting = scope;
  else if (text.kind != Kind::None)
    out.parting = text;
  out.same = out.parting.kind == Kind::None && out.kernels.empty();

  for (const auto& [key, value] : traceA.meta())
    if (!key.starts_with("time.") && key != "steps" && key != "nodes" && traceB.meta(key) != value)
      out.circumstances.push_back({key, value, traceB.meta(key)});
  for (const auto& [key, value] : traceB.meta())
    if (!key.starts_with("time.") && key != "steps" && key != "nodes" && !traceA.meta().contains(key))
      out.circumstances.push_back({key, "", value});
  return out;
}

} // namespace uopscope
