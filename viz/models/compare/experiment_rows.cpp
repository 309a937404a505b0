// Keeps an order of indices into the cells or pairs; all texts are made when a row is asked for.
#include "viz/models/compare/experiment_rows.h"

#include "viz/models/work/reports.h"
#include "viz/models/work/text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace uopscope {
namespace {

/// A strip has so many dots at most; of more runs it shows evenly chosen ones, in order of their size.
constexpr size_t kMostDots = 80;

} // namespace

QString verdictText(Verdict verdict) {
  switch (verdict) {
  case Verdict::Slower: return ExperimentRows::tr("worse");
  case Verdict::Faster: return ExperimentRows::tr("better");
  case Verdict::NoDifference: return ExperimentRows::tr("no difference");
  case Verdict::TooFew: return ExperimentRows::tr("too few runs");
  }
  return {};
}

QString toneOf(Verdict verdict) {
  return verdict == Verdict::Slower   ? QStringLiteral("worse")
         : verdict == Verdict::Faster ? QStringLiteral("better")
                                      : QString();
}

QString amountOf(Metric metric, double value) {
  return text(amountText(metric, value));
}

void ExperimentRows::setRows(std::shared_ptr<const ExperimentData> data, bool comparing) {
  const bool other = comparing != comparing_;
  data_ = std::move(data);
  comparing_ = comparing;
  if (other || !data_) {
    filter_ = QStringLiteral("all");
    search_.clear();
    sort_ = QStringLiteral("name");
    descending_ = false;
  }
  current_ = data_ && total() > 0 ? 0 : -1;
  show();
  Q_EMIT currentChanged();
}

void ExperimentRows::setMetric(Metric metric) {
  metric_ = metric;
  show();
}

int ExperimentRows::total() const {
  if (!data_) return 0;
  return static_cast<int>(comparing_ ? data_->found.pairs.size() : data_->before.cells.size());
}

const MeasuredCell& ExperimentRows::cell(size_t index) const {
  return comparing_ ? *data_->found.pairs[index].before : data_->before.cells[index];
}

QString ExperimentRows::name(size_t index) const {
  return text(comparing_ ? data_->found.pairs[index].name : data_->before.cells[index].cell.name());
}

bool ExperimentRows::passes(size_t index, const QString& filter) const {
  if (filter == QLatin1String("all")) return true;
  if (!comparing_) return cell(index).failed > 0;
  const Verdict v = data_->compared[index][static_cast<size_t>(metric_)].verdict;
  return filter == QLatin1String("worse")    ? v == Verdict::Slower
         : filter == QLatin1String("better") ? v == Verdict::Faster
         : filter == QLatin1String("same")   ? v == Verdict::NoDifference
                                             : v == Verdict::TooFew;
}

double ExperimentRows::key(size_t index) const {
  const Summary& s = cell(index).summary(metric_);
  auto is = [&](const char* column) { return sort_ == QLatin1String(column); };
  if (is("interval")) return s.high - s.low;
  if (is("mean")) return s.mean;
  if (is("deviation")) return s.deviation;
  if (is("failed")) return static_cast<double>(cell(index).failed);
  if (!comparing_ || is("median")) return s.median;
  const Comparison& c = data_->compared[index][static_cast<size_t>(metric_)];
  return is("after")    ? data_->found.pairs[index].after->summary(metric_).median
         : is("change") ? c.ratio
                        : c.p;
}

void ExperimentRows::show() {
  beginResetModel();
  rows_.clear();
  least_ = std::numeric_limits<double>::infinity(), most_ = 0;
  auto measure = [&](const MeasuredCell& c) {
    if (c.of(metric_).empty()) return;
    least_ = std::min(least_, c.summary(metric_).least), most_ = std::max(most_, c.summary(metric_).most);
  };
  for (size_t i = 0; i < static_cast<size_t>(total()); ++i) {
    measure(cell(i));
    if (comparing_) measure(*data_->found.pairs[i].after);
    if (passes(i, filter_) && name(i).contains(search_, Qt::CaseInsensitive)) rows_.push_back(i);
  }
  if (fromZero_ || !std::isfinite(least_)) least_ = 0;
  if (most_ <= least_) most_ = least_ + 1;
  if (sort_ == QLatin1String("name")) {
    if (descending_) std::ranges::reverse(rows_);
  } else {
    std::vector<double> keys(static_cast<size_t>(total()));
    for (const size_t i : rows_) keys[i] = key(i);
    std::ranges::stable_sort(
        rows_, [&](size_t a, size_t b) { return descending_ ? keys[a] > keys[b] : keys[a] < keys[b]; });
  }
  endResetModel();
  Q_EMIT changed();
}

void ExperimentRows::setFilter(const QString& filter) {
  if (filter == filter_) return;
  filter_ = filter;
  show();
}

void ExperimentRows::setSearch(const QString& search) {
  if (search == search_) return;
  search_ = search;
  show();
}

void ExperimentRows::setFromZero(bool on) {
  if (on == fromZero_) return;
  fromZero_ = on;
  show();
}

void ExperimentRows::sortBy(const QString& column) {
  descending_ = column == sort_ && !descending_;
  sort_ = column;
  show();
}

QVariantList ExperimentRows::filters() const {
  QVariantList out;
  auto add = [&](const char* value, const QString& words) {
    int count = 0;
    for (size_t i = 0; i < static_cast<size_t>(total()); ++i) count += passes(i, QLatin1String(value));
    if (count > 0 || filter_ == QLatin1String(value))
      out << QVariantMap{{"value", QLatin1String(value)}, {"text", words}, {"count", count}};
  };
  add("all", tr("all"));
  if (comparing_) {
    add("worse", verdictText(Verdict::Slower));
    add("better", verdictText(Verdict::Faster));
    add("same", verdictText(Verdict::NoDifference));
    add("few", verdictText(Verdict::TooFew));
  } else {
    add("failed", tr("with failures"));
  }
  return out;
}

int ExperimentRows::count(Metric metric, Verdict verdict) const {
  int n = 0;
  if (data_ && comparing_)
    for (const auto& c : data_->compared) n += c[static_cast<size_t>(metric)].verdict == verdict;
  return n;
}

QStringList ExperimentRows::axis() const {
  auto amountOf = [this](Metric metric, double v) { return text(amountText(metric, v, most_)); };
  return {fromZero_ ? QStringLiteral("0") : amountOf(metric_, least_),
          amountOf(metric_, (least_ + most_) / 2), amountOf(metric_, most_)};
}

int ExperimentRows::currentRow() const {
  const auto at = std::ranges::find(rows_, static_cast<size_t>(current_));
  return current_ < 0 || at == rows_.end() ? -1 : static_cast<int>(at - rows_.begin());
}

void ExperimentRows::choose(int row) {
  if (row < 0 || row >= shown()) return;
  const int before = currentRow();
  current_ = static_cast<int>(rows_[static_cast<size_t>(row)]);
  for (const int changedRow : {before, row})
    if (changedRow >= 0) Q_EMIT dataChanged(index(changedRow), index(changedRow), {ChosenRole});
  Q_EMIT changed();
  Q_EMIT currentChanged();
}

void ExperimentRows::move(int direction) {
  if (shown() > 0) choose(std::clamp(currentRow() + direction, 0, shown() - 1));
}

QVariantMap ExperimentRows::strip(const MeasuredCell& c) const {
  std::vector<double> values = c.of(metric_);
  if (values.empty()) return {{"dots", QVariantList()}};
  auto at = [&](double v) { return std::clamp((v - least_) / (most_ - least_), 0.0, 1.0); };
  const size_t all = values.size();
  std::ranges::sort(values);
  QVariantList dots;
  const size_t shown = std::min(all, kMostDots);
  for (size_t k = 0; k < shown; ++k) dots << at(values[shown == all ? k : k * (all - 1) / (shown - 1)]);
  const Summary& s = c.summary(metric_);
  const QString note = shown == all
                           ? counted(static_cast<int64_t>(all), tr("1 run, a dot"), tr("%1 runs, each a dot"))
                           : tr("%1 of %2 runs as dots").arg(shown).arg(all);
  return {{"dots", dots}, {"low", at(s.low)}, {"mid", at(s.median)}, {"high", at(s.high)}, {"note", note}};
}

QVariant ExperimentRows::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= shown()) return {};
  const size_t i = rows_[static_cast<size_t>(index.row())];
  const MeasuredCell& c = cell(i);
  const MeasuredCell* after = comparing_ ? data_->found.pairs[i].after : nullptr;
  const Comparison compared = comparing_ ? data_->compared[i][static_cast<size_t>(metric_)] : Comparison{};
  auto amount = [&](const MeasuredCell& of, double v) {
    return of.of(metric_).empty() ? QStringLiteral("–") : amountOf(metric_, v);
  };
  auto interval = [&](const MeasuredCell& of) {
    const Summary& s = of.summary(metric_);
    return of.of(metric_).empty()
               ? QString()
               : amountOf(metric_, s.low) + QStringLiteral(" – ") + amountOf(metric_, s.high);
  };
  switch (role) {
  case NameRole: return name(i);
  case MedianRole: return amount(c, c.summary(metric_).median);
  case IntervalRole: return interval(c);
  case MeanRole: return amount(c, c.summary(metric_).mean);
  case DeviationRole: return amount(c, c.summary(metric_).deviation);
  case RunsRole: return static_cast<int>(c.of(metric_).size());
  case FailedRole: return static_cast<qlonglong>(c.failed);
  case AfterRole: return after ? amount(*after, after->summary(metric_).median) : QString();
  case AfterIntervalRole: return after ? interval(*after) : QString();
  case ChangeRole:
    return after && !c.of(metric_).empty() && !after->of(metric_).empty() ? text(changeText(compared.ratio))
                                                                          : QString();
  case PRole: return compared.verdict == Verdict::TooFew ? QString() : QString::number(compared.p, 'g', 2);
  case VerdictRole: return comparing_ ? verdictText(compared.verdict) : QString();
  case ToneRole: return comparing_ ? toneOf(compared.verdict) : QString();
  case StripRole: return strip(c);
  case AfterStripRole: return after ? strip(*after) : QVariantMap();
  case ChosenRole: return static_cast<int>(i) == current_;
  default: return {};
  }
}

QHash<int, QByteArray> ExperimentRows::roleNames() const {
  return {{NameRole, "name"},
          {MedianRole, "median"},
          {IntervalRole, "interval"},
          {MeanRole, "mean"},
          {DeviationRole, "deviation"},
          {RunsRole, "runs"},
          {FailedRole, "failed"},
          {AfterRole, "after"},
          {AfterIntervalRole, "afterInterval"},
          {ChangeRole, "change"},
          {PRole, "p"},
          {VerdictRole, "verdict"},
          {ToneRole, "tone"},
          {StripRole, "strip"},
          {AfterStripRole, "afterStrip"},
          {ChosenRole, "chosen"}};
}

std::pair<QStringList, QList<QVariantList>> ExperimentRows::table() const {
  QStringList columns{"cell", "metric", "runs", "median", "low", "high", "mean", "deviation"};
  if (comparing_) columns << "after" << "after_low" << "after_high" << "ratio" << "p" << "verdict";
  QList<QVariantList> rows;
  for (const size_t i : rows_) {
    const Summary& s = cell(i).summary(metric_);
    QVariantList row{name(i),
                     QLatin1String(metricName(metric_)),
                     static_cast<qlonglong>(s.count),
                     s.median,
                     s.low,
                     s.high,
                     s.mean,
                     s.deviation};
    if (comparing_) {
      const Summary& after = data_->found.pairs[i].after->summary(metric_);
      const Comparison& c = data_->compared[i][static_cast<size_t>(metric_)];
      row << after.median << after.low << after.high << c.ratio << c.p
          << QLatin1String(verdictWord(c.verdict));
    }
    rows << row;
  }
  return {columns, rows};
}

} // namespace uopscope
