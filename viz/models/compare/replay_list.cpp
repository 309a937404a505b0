// Groups are made once per comparison. A filter, a search or a click makes the visible rows anew.
#include "viz/models/compare/replay_list.h"

#include "viz/models/work/reports.h"

#include <algorithm>

namespace uopscope {
namespace {

using Status = Change::Status;

int speedOfChange(const Change& c) {
  return c.before && c.after && c.before->isKernel() ? speedOf(c.before->compileNs, c.after->compileNs) : 0;
}

QString signOf(Status status) {
  switch (status) {
  case Status::Same: return QStringLiteral("=");
  case Status::OtherWay: return QStringLiteral("≈");
  case Status::Changed: return QStringLiteral("~");
  case Status::Failed: return QStringLiteral("!");
  case Status::Fixed: return QStringLiteral("✓");
  case Status::Added: return QStringLiteral("+");
  case Status::Removed: return QStringLiteral("−");
  }
  return {};
}

} // namespace

void ReplayList::setDiff(std::shared_ptr<const CorpusDiff> diff) {
  diff_ = std::move(diff);
  groups_.clear();
  turned_.clear();
  current_ = -1;
  filter_ = QStringLiteral("all");
  search_.clear();
  if (diff_) {
    for (const ChangeGroup& g : diff_->groups) {
      Group& group = groups_.emplace_back();
      group.cause = QString::fromStdString(g.cause);
      group.changes.assign(g.changes.begin(), g.changes.end());
    }
    Group same{tr("The same on both sides"), {}};
    for (uint32_t i = 0; i < diff_->changes.size(); ++i)
      if (diff_->changes[i].cause.empty()) same.changes.push_back(i);
    if (!same.changes.empty()) groups_.push_back(std::move(same));
  }
  show();
  Q_EMIT diffChanged();
  Q_EMIT currentChanged();
}

bool ReplayList::passes(const Change& c, const QString& filter) const {
  if (filter == QLatin1String("all")) return true;
  if (filter == QLatin1String("slower")) return speedOfChange(c) > 0;
  if (filter == QLatin1String("faster")) return speedOfChange(c) < 0;
  if (filter == QLatin1String("failed")) return c.status == Status::Failed;
  if (filter == QLatin1String("same")) return c.status == Status::Same;
  if (filter == QLatin1String("otherWay")) return c.status == Status::OtherWay;
  return c.status != Status::Same && c.status != Status::OtherWay;
}

QVariantList ReplayList::filters() const {
  const std::pair<const char*, QString> all[] = {{"all", tr("All")},       {"changed", tr("Changed")},
                                                 {"failed", tr("Failed")}, {"slower", tr("Slower")},
                                                 {"faster", tr("Faster")}, {"otherWay", tr("Other way")},
                                                 {"same", tr("Same")}};
  QVariantList out;
  if (!diff_) return out;
  for (const auto& [value, text] : all) {
    const QString name = QLatin1String(value);
    const auto n = std::ranges::count_if(diff_->changes, [&](const Change& c) { return passes(c, name); });
    if (n > 0) out << QVariantMap{{"value", name}, {"text", text}, {"count", grouped(n)}};
  }
  return out;
}

void ReplayList::setFilter(const QString& filter) {
  if (filter == filter_) return;
  filter_ = filter;
  show();
}

void ReplayList::setSearch(const QString& text) {
  if (text == search_) return;
  search_ = text;
  show();
}

// A search or a filter opens every group with a match.
void ReplayList::show() {
  beginResetModel();
  rows_.clear();
  shown_ = 0;
  const bool looking = !search_.isEmpty() || filter_ != QLatin1String("all");
  for (size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    const bool causeFound = !search_.isEmpty() && group.cause.contains(search_, Qt::CaseInsensitive);
    const bool same = diff_->changes[group.changes.front()].cause.empty();
    const bool open = turned_.contains(group.cause) != (looking || !same);
    const size_t head = rows_.size();
    rows_.push_back({static_cast<int>(g), -1, 0});
    for (const uint32_t i : group.changes) {
      const Change& c = diff_->changes[i];
      if (!passes(c, filter_)) continue;
      if (!search_.isEmpty() && !causeFound) {
        const CorpusEntry& e = c.entry();
        if (!QString::fromStdString(e.name).contains(search_, Qt::CaseInsensitive) &&
            !QString::fromStdString(e.place()).contains(search_, Qt::CaseInsensitive))
          continue;
      }
      ++rows_[head].count;
      if (open) rows_.push_back({static_cast<int>(g), static_cast<int>(i), 0});
    }
    shown_ += rows_[head].count;
    if (rows_[head].count == 0) rows_.pop_back();
  }
  endResetModel();
  Q_EMIT changed();
  Q_EMIT currentChanged();
}

int ReplayList::currentRow() const {
  const auto it =
      std::ranges::find_if(rows_, [&](const Row& r) { return r.change >= 0 && r.change == current_; });
  return it == rows_.end() ? -1 : static_cast<int>(it - rows_.begin());
}

void ReplayList::setCurrent(int change) {
  if (change == current_) return;
  current_ = change;
  if (!rows_.empty()) Q_EMIT dataChanged(index(0), index(rowCount() - 1), {ChosenRole});
  Q_EMIT currentChanged();
}

void ReplayList::click(int row) {
  if (row < 0 || row >= rowCount()) return;
  const Row r = rows_[static_cast<size_t>(row)];
  if (r.change >= 0) {
    setCurrent(r.change);
    Q_EMIT chosen(r.change);
    return;
  }
  const QString& cause = groups_[static_cast<size_t>(r.group)].cause;
  if (!turned_.remove(cause)) turned_.insert(cause);
  show();
}

void ReplayList::move(int direction) {
  for (int row = currentRow() + direction; row >= 0 && row < rowCount(); row += direction)
    if (rows_[static_cast<size_t>(row)].change >= 0) return click(row);
}

void ReplayList::chooseFirst() {
  for (int row = 0; row < rowCount(); ++row)
    if (rows_[static_cast<size_t>(row)].change >= 0) return click(row);
}

QVariant ReplayList::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Row& row = rows_[static_cast<size_t>(index.row())];
  const Group& group = groups_[static_cast<size_t>(row.group)];
  if (row.change < 0) {
    switch (role) {
    case GroupRole: return true;
    case TextRole: return group.cause;
    case CountRole: return grouped(row.count);
    case OpenRole: {
      const size_t next = static_cast<size_t>(index.row()) + 1;
      return next < rows_.size() && rows_[next].change >= 0;
    }
    case ChosenRole: return false;
    case RatioRole:
    case SureRole: return 0.0;
    default: return QString();
    }
  }
  const Change& c = diff_->changes[static_cast<size_t>(row.change)];
  switch (role) {
  case GroupRole:
  case OpenRole: return false;
  case TextRole: return QString::fromStdString(c.entry().name);
  case PlaceRole: return QString::fromStdString(c.entry().place());
  case CountRole: return QString();
  case SignRole: return signOf(c.status);
  case StatusRole: return QString::fromUtf8(statusName(c.status));
  case RatioRole: return speedOfChange(c) ? c.compileRatio() : 0.0;
  case ChosenRole: return row.change == current_;
  case SureRole: return c.confidence;
  default: return {};
  }
}

QHash<int, QByteArray> ReplayList::roleNames() const {
  return {{GroupRole, "group"},   {TextRole, "text"},     {PlaceRole, "place"}, {CountRole, "count"},
          {SignRole, "sign"},     {StatusRole, "status"}, {RatioRole, "ratio"}, {OpenRole, "unfolded"},
          {ChosenRole, "chosen"}, {SureRole, "sure"}};
}

} // namespace uopscope
