// Walks scopes depth first. Nesting is bounded by the reader of the trace, which refuses deeper files.
#include "viz/models/session/tree_rows.h"

#include "viz/models/work/reports.h"

#include <QCoreApplication>
#include <algorithm>

namespace uopscope {
namespace {

// With more schedules than this, as in a loop that compiles anew each time, only those on the way to the present
// place are open at first.
constexpr int kManySchedules = 64;
constexpr int kFewInside = 3; ///< passes inside a pass that are listed without being asked for

/// Counts for each pass the passes inside it: those that follow it at a greater depth.
void countInside(std::vector<TreeRow>& rows) {
  std::vector<size_t> around;
  for (size_t k = 0; k < rows.size(); ++k) {
    while (!around.empty() && rows[around.back()].depth >= rows[k].depth) around.pop_back();
    for (const size_t outer : around) {
      rows[outer].inside += !rows[k].dull;
      rows[outer].lastInside = rows[k].pass;
    }
    rows[k].lastInside = rows[k].pass;
    around.push_back(k);
  }
}

} // namespace

/// One walk over the tree.
struct TreeBuilder::Walk {
  Trace& trace;
  const std::vector<ScopeInfo>& scopes;
  const TreeQuestion& question;
  const std::function<bool()>& stale;
  std::unordered_map<ScopeId, std::vector<size_t>> children;
  TreeAnswer answer;
  QString filter;
  bool manySchedules = false;

  bool matches(const QString& text) const { return text.contains(filter, Qt::CaseInsensitive); }
  bool expanded(const ScopeInfo& scope) const {
    if (!filter.isEmpty() || question.opened.contains(scope.id)) return true;
    const bool byDefault =
        scope.kind == ScopeKind::Schedule ? !manySchedules : scope.kind != ScopeKind::Kernel;
    return byDefault && !question.closed.contains(scope.id);
  }
  /// The pass that is shown never hides in a folded one.
  bool expanded(const TreeRow& pass) const {
    const bool holdsPresent = pass.pass < question.present && question.present <= pass.lastInside;
    if (!filter.isEmpty() || holdsPresent) return true;
    return (question.unfolded || pass.inside <= kFewInside) != question.turned.contains(pass.pass);
  }
};

const std::vector<TreeRow>& TreeBuilder::passesOf(Trace& trace, const ScopeInfo& scope) {
  if (const auto known = ended_.find(scope.id); known != ended_.end()) return known->second;
  std::vector<TreeRow> rows;
  for (const PassInfo& p : trace.passes(scope.id)) {
    TreeRow& r = rows.emplace_back();
    r.isPass = true;
    r.scope = scope.id;
    r.pass = p.id;
    r.depth = p.depth;
    r.name = QString::fromStdString(p.name);
    r.place = shortPlace(p.at);
    r.steps = p.steps;
    r.failed = p.outcome == PassOutcome::Failed;
    r.dull = dull_(trace, p);
    r.open = !p.endNs;
    if (p.endNs) r.time = duration(*p.endNs - p.beginNs);
  }
  countInside(rows);
  const auto texts =
      scope.kind == ScopeKind::Kernel ? trace.artifacts(scope.id) : std::vector<ArtifactInfo>();
  if (!rows.empty() && std::ranges::find(texts, "ir", &ArtifactInfo::kind) != texts.end()) {
    TreeRow& r = rows.emplace_back();
    r.llvm = true;
    r.scope = scope.id;
    r.name = QCoreApplication::translate("TraceTreeModel", "LLVM's passes");
  }
  if (scope.endNs) return ended_[scope.id] = std::move(rows);
  return growing_ = std::move(rows);
}

// Appends a scope with its content, if any part of it is to be shown.
bool TreeBuilder::addScope(Walk& w, size_t at, int depth, bool ancestorMatches) {
  const ScopeInfo& scope = w.scopes[at];
  std::vector<TreeRow>& out = w.answer.rows;
  const bool filtering = !w.filter.isEmpty();
  TreeRow row;
  row.scope = scope.id;
  row.depth = depth;
  row.kind = scope.kind;
  row.name = QString::fromStdString(scope.name);
  row.place = shortPlace(scope.script);
  row.steps = scope.totalSteps;
  row.open = !scope.endNs;
  if (scope.endNs) row.time = duration(*scope.endNs - scope.beginNs);
  row.expanded = w.expanded(scope);
  const bool self = ancestorMatches || (filtering && w.matches(row.name));
  const size_t place = out.size();
  out.push_back(row);
  bool any = false;
  const auto inside = w.children.find(scope.id);
  bool hasChildren = inside != w.children.end();
  if (row.expanded && !w.stale()) {
    PassId foldedUpTo = 0;
    for (const TreeRow& p : passesOf(w.trace, scope)) {
      hasChildren = true;
      if (!p.llvm && p.pass <= foldedUpTo) continue;
      if (w.question.hideEmpty && p.pass != w.question.present && p.dull) {
        ++w.answer.hidden;
        continue;
      }
      if (filtering && !self && !w.matches(p.name)) continue;
      any = true;
      out.push_back(p);
      out.back().depth += depth + 1;
      out.back().hasChildren = p.inside > 0;
      out.back().expanded = w.expanded(p);
      if (p.inside > 0 && !out.back().expanded) foldedUpTo = p.lastInside;
    }
    if (inside != w.children.end())
      for (const size_t child : inside->second) any |= addScope(w, child, depth + 1, self);
  } else if (!hasChildren) {
    hasChildren = scope.steps > 0 || !passesOf(w.trace, scope).empty();
  }
  if (filtering && !self && !any) {
    out.resize(place);
    return false;
  }
  out[place].hasChildren = hasChildren;
  return true;
}

TreeAnswer TreeBuilder::rows(Trace& trace, const TraceOverview& overview, const TreeQuestion& question,
                             const std::function<bool()>& stale) {
  Walk w{trace, overview.scopes, question, stale, {}, {}, question.filter.trimmed(), false};
  int schedules = 0;
  for (size_t k = 0; k < w.scopes.size(); ++k) {
    w.children[w.scopes[k].parent].push_back(k);
    schedules += w.scopes[k].kind == ScopeKind::Schedule;
  }
  w.manySchedules = schedules > kManySchedules;
  try {
    for (const size_t k : w.children[0]) addScope(w, k, 0, false);
  } catch (const Error&) {
    // A damaged part ends the list; the session reports the damage where it is opened.
  }
  return std::move(w.answer);
}

} // namespace uopscope
