// Makes the list of visible rows anew after each change, and replaces only the rows that differ.
#include "viz/models/session/trace_tree_model.h"

#include "replay/read/step_search.h"
#include "viz/models/work/reports.h"

#include <algorithm>
#include <functional>

namespace uopscope {
namespace {

QString kindName(ScopeKind kind) {
  switch (kind) {
  case ScopeKind::Script: return QStringLiteral("script");
  case ScopeKind::Schedule: return QStringLiteral("schedule");
  case ScopeKind::Kernel: return QStringLiteral("kernel");
  case ScopeKind::Other: break;
  }
  return QStringLiteral("other");
}

} // namespace

void TraceTreeModel::setTrace(Trace* trace) {
  trace_ = trace;
  opened_.clear();
  closed_.clear();
  retags_.clear();
  currentScope_ = 0;
  currentPass_ = 0;
  rebuild();
}

void TraceTreeModel::refresh() {
  rebuild();
}

void TraceTreeModel::setFilter(const QString& filter) {
  if (filter == filter_) return;
  filter_ = filter;
  Q_EMIT filterChanged();
  rebuild();
}

void TraceTreeModel::setHideEmpty(bool hide) {
  if (hide == hideEmpty_) return;
  hideEmpty_ = hide;
  Q_EMIT filterChanged();
  rebuild();
}

bool TraceTreeModel::matches(const QString& text) const {
  return text.contains(filter_.trimmed(), Qt::CaseInsensitive);
}

bool TraceTreeModel::dull(const PassInfo& pass) {
  if (pass.outcome == PassOutcome::Failed) return false;
  if (pass.steps + pass.nestedSteps == 0) return true;
  if (!pass.endNs || pass.nestedSteps > 0) return false;
  const auto [known, fresh] = retags_.try_emplace(pass.id, false);
  if (fresh) known->second = onlyRetags(*trace_, pass);
  return known->second;
}

bool TraceTreeModel::hides(const PassInfo& pass) {
  return hideEmpty_ && pass.id != currentPass_ && dull(pass);
}

// Appends a scope with its content, if any part of it is to be shown.
bool TraceTreeModel::addScope(const ScopeInfo& scope, int depth, bool ancestorMatches,
                              std::vector<Row>& out) {
  const bool filtering = !filter_.trimmed().isEmpty();
  Row row;
  row.scope = scope.id;
  row.depth = depth;
  row.kind = scope.kind;
  row.name = QString::fromStdString(scope.name);
  row.place = shortPlace(scope.script);
  row.steps = scope.totalSteps;
  row.open = !scope.endNs;
  if (scope.endNs) row.time = duration(*scope.endNs - scope.beginNs);
  const bool self = ancestorMatches || (filtering && matches(row.name));
  // A script and its schedules are open at first; kernels open on request.
  const bool openByDefault = scope.kind != ScopeKind::Kernel;
  row.expanded =
      filtering ? true : opened_.contains(scope.id) || (openByDefault && !closed_.contains(scope.id));

  const size_t at = out.size();
  out.push_back(row);
  bool any = false;
  bool hasChildren = !children_[scope.id].empty();
  if (row.expanded) {
    std::map<PassId, bool> shown;
    for (const PassInfo& p : trace_->passes(scope.id)) {
      hasChildren = true;
      const QString name = QString::fromStdString(p.name);
      const bool failed = p.outcome == PassOutcome::Failed;
      if (hides(p)) {
        ++hidden_;
        continue;
      }
      if (filtering && !self && !matches(name)) continue;
      any = true;
      Row r;
      r.isPass = true;
      r.scope = scope.id;
      r.pass = p.id;
      r.depth = depth + 1 + p.depth;
      r.name = name;
      r.place = shortPlace(p.at);
      r.steps = p.steps;
      r.failed = failed;
      r.dull = dull(p);
      r.open = !p.endNs;
      if (p.endNs) r.time = duration(*p.endNs - p.beginNs);
      out.push_back(r);
    }
    for (ScopeId child : children_[scope.id]) any |= addScope(trace_->scope(child), depth + 1, self, out);
  } else if (!hasChildren) {
    hasChildren = scope.steps > 0 || !trace_->passes(scope.id).empty();
  }
  if (filtering && !self && !any) {
    out.resize(at);
    return false;
  }
  out[at].hasChildren = hasChildren;
  return true;
}

void TraceTreeModel::rebuild() {
  std::vector<Row> rows;
  hidden_ = 0;
  children_.clear();
  if (trace_) {
    for (const ScopeInfo& s : trace_->scopes()) children_[s.parent].push_back(s.id);
    try {
      for (ScopeId id : std::vector<ScopeId>(children_[0])) addScope(trace_->scope(id), 0, false, rows);
    } catch (const Error&) {
      // A damaged part ends the list; the session reports the damage where it is opened.
    }
  }
  // Unchanged rows keep their place on the screen: only the differing part is replaced.
  size_t head = 0, tail = 0;
  while (head < rows.size() && head < rows_.size() && rows[head] == rows_[head]) ++head;
  while (tail < rows.size() - head && tail < rows_.size() - head &&
         rows[rows.size() - 1 - tail] == rows_[rows_.size() - 1 - tail])
    ++tail;
  const int removed = static_cast<int>(rows_.size() - head - tail),
            added = static_cast<int>(rows.size() - head - tail);
  const int first = static_cast<int>(head);
  if (removed == added) {
    rows_ = std::move(rows);
    if (added > 0) Q_EMIT dataChanged(index(first), index(first + added - 1));
  } else {
    if (removed > 0) {
      beginRemoveRows({}, first, first + removed - 1);
      rows_.erase(rows_.begin() + first, rows_.begin() + first + removed);
      endRemoveRows();
    }
    if (added > 0) {
      beginInsertRows({}, first, first + added - 1);
      rows_ = std::move(rows);
      endInsertRows();
    }
  }
  Q_EMIT rowsChanged();
  Q_EMIT currentChanged();
}

int TraceTreeModel::currentRow() const {
  for (size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].scope == currentScope_ && rows_[i].pass == currentPass_) return static_cast<int>(i);
  return -1;
}

void TraceTreeModel::setCurrent(ScopeId scope, PassId pass) {
  if (scope == currentScope_ && pass == currentPass_) return;
  const int before = currentRow();
  // A pass without a step is listed only while it is the current one.
  bool differs =
      before >= 0 && rows_[static_cast<size_t>(before)].isPass && rows_[static_cast<size_t>(before)].dull;
  currentScope_ = scope;
  currentPass_ = pass;
  if (before >= 0) Q_EMIT dataChanged(index(before), index(before), {CurrentRole});
  if (trace_ && scope) {
    for (ScopeId s = scope; s != 0; s = trace_->scope(s).parent) {
      differs |= closed_.erase(s) > 0;
      if (s != scope || pass != 0) differs |= opened_.insert(s).second;
    }
    // The list of a large trace has a hundred thousand rows, so it is rebuilt only where it would differ.
    if (differs || currentRow() < 0) rebuild();
  }
  const int now = currentRow();
  if (now >= 0) Q_EMIT dataChanged(index(now), index(now), {CurrentRole});
  Q_EMIT currentChanged();
}

void TraceTreeModel::toggle(int row) {
  if (row < 0 || row >= rowCount() || rows_[static_cast<size_t>(row)].isPass) return;
  const Row& r = rows_[static_cast<size_t>(row)];
  if (r.expanded) {
    opened_.erase(r.scope);
    closed_.insert(r.scope);
  } else {
    closed_.erase(r.scope);
    opened_.insert(r.scope);
  }
  rebuild();
}

void TraceTreeModel::expandAll(bool expand) {
  opened_.clear();
  closed_.clear();
  if (trace_)
    for (const ScopeInfo& s : trace_->scopes()) {
      if (expand)
        opened_.insert(s.id);
      else if (s.parent != 0)
        closed_.insert(s.id);
    }
  rebuild();
}

int TraceTreeModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant TraceTreeModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Row& r = rows_[static_cast<size_t>(index.row())];
  switch (role) {
  case Qt::DisplayRole:
  case NameRole: return r.name;
  case KindRole: return r.isPass ? QStringLiteral("pass") : kindName(r.kind);
  case DepthRole: return r.depth;
  case StepsRole: return static_cast<qlonglong>(r.steps);
  case StepsTextRole: return r.steps > 0 ? grouped(r.steps) : QString();
  case TimeRole: return r.time;
  case PlaceRole: return r.place;
  case ExpandedRole: return r.expanded;
  case HasChildrenRole: return r.hasChildren;
  case CurrentRole: return r.scope == currentScope_ && r.pass == currentPass_;
  case FailedRole: return r.failed;
  case OpenRole: return r.open;
  case ScopeRole: return static_cast<qlonglong>(r.scope);
  case PassRole: return static_cast<qlonglong>(r.pass);
  default: return {};
  }
}

QHash<int, QByteArray> TraceTreeModel::roleNames() const {
  return {{NameRole, "name"},       {KindRole, "kind"},           {DepthRole, "depth"},
          {StepsRole, "steps"},     {StepsTextRole, "stepsText"}, {TimeRole, "time"},
          {PlaceRole, "place"},     {ExpandedRole, "expanded"},   {HasChildrenRole, "hasChildren"},
          {CurrentRole, "current"}, {FailedRole, "failed"},       {OpenRole, "unfinished"},
          {ScopeRole, "scopeId"},   {PassRole, "passId"}};
}

} // namespace uopscope
