// Asks for the list of visible rows after each change, and replaces only the rows that differ.
#include "viz/models/session/trace_tree_model.h"

#include "viz/models/work/reports.h"

#include <utility>

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

void TraceTreeModel::reset() {
  builder_ = std::make_shared<TreeBuilder>();
  opened_.clear();
  closed_.clear();
  turned_.clear();
  unfolded_ = false;
  currentScope_ = 0;
  currentPass_ = 0;
  readers_.jobs().cancel(Channel::Tree);
  show({});
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

void TraceTreeModel::rebuild() {
  if (!readers_.trace()) return;
  readers_.jobs().ask(Channel::Tree,
                      [this, builder = builder_, overview = readers_.trace()->overview(),
                       question = TreeQuestion{opened_, closed_, turned_, unfolded_, filter_, hideEmpty_,
                                               currentPass_}](Jobs::Job& job) -> Jobs::Answer {
                        auto answer = std::make_shared<TreeAnswer>(
                            builder->rows(job.trace(), *overview, question, [&job] { return job.stale(); }));
                        return [this, answer] { show(std::move(*answer)); };
                      });
}

void TraceTreeModel::show(TreeAnswer answer) {
  std::vector<Row> rows = std::move(answer.rows);
  hidden_ = answer.hidden;
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
    if (rows_[i].scope == currentScope_ && rows_[i].pass == currentPass_ && !rows_[i].llvm)
      return static_cast<int>(i);
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
  if (readers_.trace() && scope) {
    for (ScopeId s = scope; s != 0; s = readers_.trace()->scope(s).parent) {
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
  if (row < 0 || row >= rowCount()) return;
  const Row& r = rows_[static_cast<size_t>(row)];
  if (r.isPass) {
    if (!r.hasChildren) return;
    if (!turned_.erase(r.pass)) turned_.insert(r.pass);
  } else if (r.expanded) {
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
  turned_.clear();
  unfolded_ = expand;
  if (readers_.trace())
    for (const ScopeInfo& s : readers_.trace()->scopes()) {
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
  case KindRole:
    return r.llvm ? QStringLiteral("llvm") : r.isPass ? QStringLiteral("pass") : kindName(r.kind);
  case DepthRole: return r.depth;
  case StepsRole: return static_cast<qlonglong>(r.steps);
  case StepsTextRole: return r.steps > 0 ? grouped(r.steps) : QString();
  case TimeRole: return r.time;
  case PlaceRole: return r.place;
  case ExpandedRole: return r.expanded;
  case InsideRole: return r.isPass && !r.expanded ? r.inside : 0;
  case HasChildrenRole: return r.hasChildren;
  case CurrentRole: return r.scope == currentScope_ && r.pass == currentPass_ && !r.llvm;
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
          {InsideRole, "inside"},   {ScopeRole, "scopeId"},       {PassRole, "passId"}};
}

} // namespace uopscope
