// Keeps all rows, and the order of those that pass the filter.
#include "viz/models/numbers/stats_model.h"

#include "viz/models/work/table_text.h"

#include <algorithm>
#include <numeric>

namespace uopscope {
namespace {

uint64_t of(const MatchTotals& t, Outcome o) {
  return t.count[static_cast<int>(o)];
}

const QStringList kExported = {
    "name",     "place",     "attempts", "applied",       "rejected_early", "structure_differs",
    "declined", "unchanged", "time_ns",  "match_time_ns", "time_share",     "match_rate"};

} // namespace

double StatsModel::value(const StatsRow& r, int column) const {
  const MatchTotals& t = r.totals;
  switch (column) {
  case AttemptsColumn: return static_cast<double>(t.attempts());
  case AppliedColumn: return static_cast<double>(of(t, Outcome::Applied));
  case RateColumn:
    return t.attempts() ? static_cast<double>(t.matches()) / static_cast<double>(t.attempts()) : 0;
  case EarlyColumn: return static_cast<double>(of(t, Outcome::RejectedEarly));
  case StructureColumn: return static_cast<double>(of(t, Outcome::StructureDiffers));
  case DeclinedColumn: return static_cast<double>(of(t, Outcome::Declined));
  case UnchangedColumn: return static_cast<double>(of(t, Outcome::Unchanged));
  case TimeColumn: return static_cast<double>(t.totalNs());
  case ShareColumn: return wholeNs_ > 0 ? static_cast<double>(t.totalNs()) / wholeNs_ : 0;
  case MatchTimeColumn: return static_cast<double>(t.matchNs());
  default: return 0;
  }
}

void StatsModel::setRows(std::shared_ptr<std::vector<StatsRow>> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  arrange();
  endResetModel();
  Q_EMIT changed();
}

void StatsModel::setFilter(const QString& filter) {
  if (filter == filter_) return;
  beginResetModel();
  filter_ = filter;
  arrange();
  endResetModel();
  Q_EMIT changed();
}

void StatsModel::setShow(const QString& show) {
  if (show == show_) return;
  beginResetModel();
  show_ = show;
  arrange();
  endResetModel();
  Q_EMIT changed();
}

void StatsModel::sortBy(int column) {
  if (column < 0 || column >= kColumns) return;
  beginResetModel();
  descending_ = column == sort_ ? !descending_ : column != NameColumn;
  sort_ = column;
  arrange();
  endResetModel();
  Q_EMIT changed();
}

void StatsModel::arrange() {
  order_.clear();
  std::fill(std::begin(largest_), std::end(largest_), 0.0);
  wholeNs_ = 0;
  if (!rows_) return;
  const QStringList words = filter_.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  for (uint32_t i = 0; i < rows_->size(); ++i) {
    const StatsRow& r = (*rows_)[i];
    wholeNs_ += static_cast<double>(r.totals.totalNs()); // of all rows, also of those that a filter hides
    if (show_ == QLatin1String("applied") && r.totals.matches() == 0) continue;
    if (show_ == QLatin1String("never") && r.totals.matches() != 0) continue;
    if (show_ == QLatin1String("faults") && of(r.totals, Outcome::Unchanged) == 0) continue;
    const QString all = r.name + QLatin1Char(' ') + r.place + QLatin1Char(' ') + r.text;
    if (!std::all_of(words.begin(), words.end(),
                     [&](const QString& w) { return all.contains(w, Qt::CaseInsensitive); }))
      continue;
    order_.push_back(i);
  }
  for (const uint32_t i : order_)
    for (int c = 0; c < kColumns; ++c) largest_[c] = std::max(largest_[c], value((*rows_)[i], c));
  std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    const StatsRow &x = (*rows_)[a], &y = (*rows_)[b];
    if (sort_ == NameColumn) {
      const int c = QString::localeAwareCompare(x.name, y.name);
      return descending_ ? c > 0 : c < 0;
    }
    return descending_ ? value(x, sort_) > value(y, sort_) : value(x, sort_) < value(y, sort_);
  });
}

QVariantMap StatsModel::sum() const {
  MatchTotals all;
  int matched = 0;
  for (uint32_t i : order_) {
    const MatchTotals& t = (*rows_)[i].totals;
    for (int o = 0; o < kOutcomeCount; ++o) all.count[o] += t.count[o], all.ns[o] += t.ns[o];
    matched += t.matches() > 0;
  }
  const auto text = [](uint64_t n) { return grouped(static_cast<int64_t>(n)); };
  return {{"attempts", text(all.attempts())},
          {"applied", text(of(all, Outcome::Applied))},
          {"rate", all.attempts() ? QStringLiteral("%1 %").arg(100.0 * static_cast<double>(all.matches()) /
                                                                   static_cast<double>(all.attempts()),
                                                               0, 'f', 1)
                                  : QString()},
          {"unchanged", text(of(all, Outcome::Unchanged))},
          {"time", duration(all.totalNs())},
          {"matched", matched}};
}

QVariantMap StatsModel::row(int row) const {
  if (row < 0 || row >= shown()) return {};
  const StatsRow& r = (*rows_)[order_[static_cast<size_t>(row)]];
  QVariantList outcomes;
  const QString names[] = {tr("rejected early"), tr("structure differs"), tr("declined"), tr("applied"),
                           tr("without change")};
  for (int o = 0; o < kOutcomeCount; ++o)
    outcomes << QVariantMap{{"name", names[o]},
                            {"count", grouped(static_cast<int64_t>(r.totals.count[o]))},
                            {"share", r.totals.attempts() ? static_cast<double>(r.totals.count[o]) /
                                                                static_cast<double>(r.totals.attempts())
                                                          : 0.0},
                            {"time", duration(r.totals.ns[o])}};
  return {{"name", r.name},
          {"place", r.place},
          {"text", r.text},
          {"rule", static_cast<qlonglong>(r.rule)},
          {"scope", static_cast<qlonglong>(r.totals.scope)},
          {"applied", grouped(static_cast<int64_t>(of(r.totals, Outcome::Applied)))},
          {"outcomes", outcomes}};
}

QList<QVariantList> StatsModel::table() const {
  QList<QVariantList> out;
  for (uint32_t i : order_) {
    const StatsRow& r = (*rows_)[i];
    QVariantList f{r.name, r.place};
    for (int c : {AttemptsColumn, AppliedColumn, EarlyColumn, StructureColumn, DeclinedColumn,
                  UnchangedColumn, TimeColumn, MatchTimeColumn})
      f << static_cast<qlonglong>(value(r, c));
    out << (f << value(r, ShareColumn) << value(r, RateColumn));
  }
  return out;
}

QString StatsModel::csv() const {
  return toCsv(kExported, table());
}

QString StatsModel::exportTo(const QString& path) const {
  return writeTable(path, kExported, table());
}

int StatsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : shown();
}
int StatsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QVariant StatsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const StatsRow& r = (*rows_)[order_[static_cast<size_t>(index.row())]];
  const int c = index.column();
  switch (role) {
  case Qt::DisplayRole:
  case TextRole: {
    if (c == NameColumn) return r.name;
    const double v = value(r, c);
    if (v == 0) return QStringLiteral("·");
    if (c == RateColumn || c == ShareColumn)
      return QStringLiteral("%1 %").arg(v * 100, 0, 'f', v < 0.0995 ? 2 : 1);
    if (c == TimeColumn || c == MatchTimeColumn) return duration(static_cast<int64_t>(v));
    return grouped(static_cast<int64_t>(v));
  }
  case PlaceRole: return r.place;
  case SourceRole: return r.text;
  case ShareRole: return c != NameColumn && largest_[c] > 0 ? value(r, c) / largest_[c] : 0.0;
  case RuleRole: return static_cast<qlonglong>(r.rule);
  case FaultRole: return of(r.totals, Outcome::Unchanged) > 0;
  default: return {};
  }
}

QVariant StatsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  static const char* names[kColumns] = {"Rule",     "Time",           "Share",          "Attempts",
                                        "Applied",  "Match rate",     "Rejected early", "Structure differs",
                                        "Declined", "Without change", "In matches"};
  if (role != Qt::DisplayRole || orientation != Qt::Horizontal || section < 0 || section >= kColumns)
    return {};
  return QLatin1String(names[section]);
}

QHash<int, QByteArray> StatsModel::roleNames() const {
  return {{TextRole, "value"},  {PlaceRole, "place"}, {SourceRole, "sourceText"},
          {ShareRole, "share"}, {RuleRole, "ruleId"}, {FaultRole, "fault"}};
}

} // namespace uopscope
