// Names are found by the functions that Trace uses, so that a link means the same to window and command line.
#include "viz/models/work/trace_index.h"

#include "replay/read/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace uopscope {
namespace {

/// Characters of the script's output that are kept: its end.
constexpr size_t kMostOutput = 1'600'000;

template <typename Info>
const Info* find(const std::vector<Info>& sorted, int64_t id) {
  const auto it = std::ranges::lower_bound(sorted, id, {}, &Info::id);
  return it != sorted.end() && it->id == id ? &*it : nullptr;
}

} // namespace

bool DullPasses::operator()(Trace& trace, const PassInfo& pass) {
  if (pass.outcome == PassOutcome::Failed) return false;
  if (pass.steps + pass.nestedSteps == 0) return true;
  if (!pass.endNs || pass.nestedSteps > 0) return false;
  const auto known = retags_.find(pass.id);
  if (known != retags_.end()) return known->second;
  return retags_[pass.id] = onlyRetags(trace, pass);
}

TraceFacts readTraceFacts(Trace& trace, bool entrance) {
  TraceFacts out;
  out.path = trace.path();
  out.overview = trace.overview();
  out.scriptName = trace.scriptName();
  out.warning = trace.warning();
  out.finished = trace.finished();
  // A damaged part is missing, the others are shown.
  const auto attempt = [&](auto read) {
    try {
      read();
    } catch (const Error& e) {
      if (out.problem.empty()) out.problem = e.what();
    }
  };
  attempt([&] { out.nodes = trace.nodes().count(); });
  attempt([&] { out.lastPass = lastPass(trace); });
  attempt([&] { out.rules = trace.rules(); });
  attempt([&] {
    if (!out.scriptName.empty()) out.scriptText = trace.fileText(out.scriptName);
  });
  attempt([&] {
    out.hasOutput = !trace.outputs(1, 1).empty();
    if (!out.finished || !out.hasOutput) return;
    for (const OutputInfo& o : trace.outputs()) {
      out.output += o.text;
      if (out.output.size() > 2 * kMostOutput) out.output.erase(0, out.output.size() - kMostOutput);
    }
  });
  if (!entrance && !out.finished) return out;
  out.openingScope = fullestScope(trace);
  attempt([&] {
    if (out.openingScope) out.opening = openingOf(trace, out.openingScope);
  });
  return out;
}

ScopePassesPtr readPasses(Trace& trace, ScopeId scope) {
  auto out = std::make_shared<ScopePasses>();
  out->passes = trace.passes(scope);
  out->ended = trace.scope(scope).endNs.has_value();
  DullPasses dull;
  for (const PassInfo& p : out->passes) {
    try {
      if (dull(trace, p)) out->dull.insert(p.id);
    } catch (const Error&) { // a damaged step: the pass is listed, and whoever enters it meets the message
    }
  }
  return out;
}

namespace {

/// Larger of two readings of one scope is the later one: a scope gets passes and steps, and then it ends.
std::tuple<bool, size_t, int64_t> extent(const ScopePasses& p) {
  int64_t steps = 0;
  for (const PassInfo& pass : p.passes) steps += pass.steps;
  return {p.ended, p.passes.size(), steps};
}

} // namespace

const std::string& TraceIndex::meta(const std::string& key) const {
  static const std::string none;
  const auto it = overview()->meta.find(key);
  return it == overview()->meta.end() ? none : it->second;
}

const ScopeInfo& TraceIndex::scope(ScopeId id) const {
  if (const ScopeInfo* s = find(scopes(), id)) return *s;
  throw Error(ErrorKind::Key, fmt::format("{}: there is no scope {}", facts_.path, id));
}

std::vector<ScopeId> TraceIndex::childrenOf(ScopeId id) const {
  std::vector<ScopeId> out;
  for (const ScopeInfo& s : scopes())
    if (s.parent == id) out.push_back(s.id);
  return out;
}

const RuleInfo& TraceIndex::rule(RuleId id) const {
  if (const RuleInfo* r = find(facts_.rules, id)) return *r;
  throw Error(ErrorKind::Key, fmt::format("{}: there is no rule {}", facts_.path, id));
}

const std::vector<PassInfo>& TraceIndex::passes(ScopeId scope) const {
  static const std::vector<PassInfo> none;
  const auto it = passes_.find(scope);
  return it == passes_.end() ? none : it->second->passes;
}

const PassInfo& TraceIndex::pass(PassId id) const {
  if (const auto scope = scopeOf_.find(id); scope != scopeOf_.end())
    for (const PassInfo& p : passes(scope->second))
      if (p.id == id) return p;
  throw Error(ErrorKind::Key, fmt::format("{}: there is no pass {}", facts_.path, id));
}

bool TraceIndex::dull(const PassInfo& pass) const {
  const auto it = passes_.find(pass.scope);
  return it != passes_.end() && it->second->dull.contains(pass.id);
}

void TraceIndex::learn(ScopeId scope, ScopePassesPtr passes) {
  ScopePassesPtr& known = passes_[scope];
  if (known && extent(*known) > extent(*passes)) return;
  for (const PassInfo& p : passes->passes) scopeOf_[p.id] = scope;
  known = std::move(passes);
}

std::vector<ScopeId> TraceIndex::stale(size_t most) const {
  std::vector<ScopeId> out;
  for (auto s = scopes().rbegin(); s != scopes().rend() && out.size() < most; ++s) {
    const auto known = passes_.find(s->id);
    if (known == passes_.end() || !known->second->ended) out.push_back(s->id);
  }
  return out;
}

ScopeId TraceIndex::findScope(const std::string& text) const {
  return uopscope::findScope(scopes(), text, facts_.path);
}

PassId TraceIndex::findPass(ScopeId id, const std::string& text) const {
  return uopscope::findPass(passes(id), text, facts_.path, scope(id).name);
}

} // namespace uopscope
