#include "viz/models/lab/roofline_model.h"

#include "viz/models/work/reports.h"
#include "viz/models/work/table_text.h"

#include <cmath>
#include <numeric>
#include <thread>

namespace uopscope {

namespace {

QString partName(TimePart part) {
  switch (part) {
  case TimePart::Arithmetic: return RooflineModel::tr("arithmetic");
  case TimePart::FirstCache: return RooflineModel::tr("first cache");
  case TimePart::Caches: return RooflineModel::tr("caches");
  case TimePart::Memory: return RooflineModel::tr("memory");
  case TimePart::Latency: return RooflineModel::tr("latency");
  case TimePart::Launch: break;
  }
  return RooflineModel::tr("launch");
}
QString timeText(double seconds) {
  return duration(static_cast<int64_t>(seconds * 1e9));
}
QString boundText(RooflineBound bound) {
  return bound == RooflineBound::Compute  ? RooflineModel::tr("arithmetic")
         : bound == RooflineBound::Memory ? RooflineModel::tr("memory")
         : bound == RooflineBound::Cache  ? RooflineModel::tr("cache")
                                          : QString();
}
QString partsText(const PredictedTime& predicted) {
  QStringList lines;
  for (size_t i = 0; i < kTimeParts; ++i)
    if (predicted.parts[i] >= 0.5e-9)
      lines << QStringLiteral("%1 %2").arg(partName(static_cast<TimePart>(i)), timeText(predicted.parts[i]));
  return lines.join(QLatin1Char('\n'));
}
/// Numbers of a column; names have none.
double numberOf(const RooflineRow& r, const QString& column) {
  if (column == QLatin1String("launches")) return static_cast<double>(r.launches);
  if (column == QLatin1String("time")) return r.seconds;
  if (column == QLatin1String("predicted")) return r.predicted.seconds;
  if (column == QLatin1String("ratio")) return r.ratio() > 0 ? std::abs(std::log(r.ratio())) : -1;
  if (column == QLatin1String("share")) return r.share;
  if (column == QLatin1String("intensity")) return r.intensity();
  if (column == QLatin1String("gflops")) return r.gflops();
  if (column == QLatin1String("bandwidth")) return r.gbPerSecond();
  return 0;
}
QString wordOf(const RooflineRow& r, const QString& column) {
  if (column == QLatin1String("kernel")) return QString::fromStdString(r.kernel);
  if (column == QLatin1String("waits"))
    return r.predicted.seconds > 0 ? partName(r.predicted.bound()) : QString();
  return column == QLatin1String("bound") ? boundText(r.bound) : QString();
}

} // namespace

RooflineModel::RooflineModel(Session& session, QObject* parent)
    : QAbstractListModel(parent), session_(session) {
  connect(&session_, &Session::opened, this, [this] {
    loaded_ = busy_ = false;
    show({}, {}, {});
  });
  connect(&session_, &Session::grown, this, [this] { loaded_ = false; });
}

void RooflineModel::load() {
  if (loaded_ || busy_ || !session_.trace()) return;
  loaded_ = busy_ = true;
  Q_EMIT changed();
  session_.jobs().ask(
      Channel::Roofline,
      [this](Jobs::Job& job) -> Jobs::Answer {
        // As many threads as kernels have (CPU_COUNT is a setting of the script).
        const Peaks peaks = knownPeaks(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
        std::vector<RooflineRow> rows = roofline(job.trace(), peaks);
        QString remark;
        if (rows.empty())
          remark = tr("No launch of this trace was timed: the roofline needs kernels that ran.");
        else if (!isSameMachine(job.trace(), peaks))
          remark = tr("This trace comes from another machine: the roof is that of this one.");
        return
            [this, rows = std::move(rows), peaks, remark]() mutable { show(std::move(rows), peaks, remark); };
      },
      [this](const QString& what) { show({}, {}, what); });
}

void RooflineModel::show(std::vector<RooflineRow> rows, const Peaks& peaks, const QString& remark) {
  beginResetModel();
  rows_ = std::move(rows);
  peaks_ = peaks;
  remark_ = remark;
  busy_ = false;
  arrange();
  endResetModel();
  Q_EMIT changed();
}

void RooflineModel::arrange() {
  shown_.clear();
  for (size_t i = 0; i < rows_.size(); ++i)
    if (QString::fromStdString(rows_[i].kernel).contains(filter_, Qt::CaseInsensitive)) shown_.push_back(i);
  if (sort_.isEmpty()) return;
  std::ranges::stable_sort(shown_, [&](size_t a, size_t b) {
    if (!descending_) std::swap(a, b);
    const RooflineRow &x = rows_[a], &y = rows_[b];
    const QString left = wordOf(x, sort_), right = wordOf(y, sort_);
    return left != right ? left > right : numberOf(x, sort_) > numberOf(y, sort_);
  });
}

void RooflineModel::setFilter(const QString& filter) {
  if (filter == filter_) return;
  beginResetModel();
  filter_ = filter;
  arrange();
  endResetModel();
  Q_EMIT changed();
}

void RooflineModel::sortBy(const QString& column) {
  beginResetModel();
  const bool isName = column == QLatin1String("kernel") || column == QLatin1String("bound") ||
                      column == QLatin1String("waits");
  descending_ = column == sort_ ? !descending_ : !isName;
  sort_ = column;
  arrange();
  endResetModel();
  Q_EMIT changed();
}

QString RooflineModel::errors() const {
  const PredictionErrors e = predictionErrors(rows_);
  if (e.kernels == 0) return {};
  return tr("Median error %1 %, nine of ten kernels below %2 %, %3 % within 30 %")
      .arg(std::lround(100 * e.median))
      .arg(std::lround(100 * e.mostOfTen))
      .arg(std::lround(100 * e.within30));
}

void RooflineModel::follow(int row) {
  if (row < 0 || row >= count()) return;
  const ScopeId scope = rows_[shown_[static_cast<size_t>(row)]].scope;
  if (scope == 0) return session_.showNotice(tr("This kernel was not compiled in this trace."));
  session_.setTab(QStringLiteral("source"));
  session_.goToScope(scope);
}

QString RooflineModel::peaks() const {
  if (!peaks_.known()) return {};
  return tr("%1 GFLOPS, %2 GB/s from memory, %3 GB/s from caches of %4 kB")
      .arg(peaks_.gflops, 0, 'f', 0)
      .arg(peaks_.gbPerSecond, 0, 'f', 1)
      .arg(peaks_.cacheGbPerSecond, 0, 'f', 0)
      .arg(grouped(peaks_.cacheBytes >> 10));
}

QVariantMap RooflineModel::roof() const {
  return {{"gflops", peaks_.gflops}, {"gbs", peaks_.gbPerSecond}, {"cacheGbs", peaks_.cacheGbPerSecond}};
}

int RooflineModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant RooflineModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= count()) return {};
  const RooflineRow& r = rows_[shown_[static_cast<size_t>(index.row())]];
  switch (role) {
  case KernelRole: return QString::fromStdString(r.kernel);
  case DeviceRole: return QString::fromStdString(r.device);
  case LaunchesRole: return grouped(r.launches);
  case TimeRole: return timeText(r.seconds);
  case RoofTimeRole: return r.roof > 0 ? timeText(r.roof) : QString();
  case ShareRole: return r.share;
  case BoundRole: return boundText(r.bound);
  case IntensityRole: return r.intensity();
  case GflopsRole: return r.gflops();
  case BandwidthRole: return r.gbPerSecond();
  case ScopeRole: return static_cast<qlonglong>(r.scope);
  case SecondsRole: return r.seconds;
  case PredictedSecondsRole: return r.predicted.seconds;
  case PredictedRole: return r.predicted.seconds > 0 ? timeText(r.predicted.seconds) : QString();
  case RatioRole: return r.ratio();
  case WaitsRole: return r.predicted.seconds > 0 ? partName(r.predicted.bound()) : QString();
  case PartsRole: return partsText(r.predicted);
  default: return {};
  }
}

QHash<int, QByteArray> RooflineModel::roleNames() const {
  return {{KernelRole, "kernel"},
          {DeviceRole, "device"},
          {LaunchesRole, "launches"},
          {TimeRole, "time"},
          {RoofTimeRole, "roofTime"},
          {ShareRole, "share"},
          {BoundRole, "bound"},
          {IntensityRole, "intensity"},
          {GflopsRole, "gflops"},
          {BandwidthRole, "bandwidth"},
          {ScopeRole, "kernelScope"},
          {SecondsRole, "seconds"},
          {PredictedSecondsRole, "predictedSeconds"},
          {PredictedRole, "predicted"},
          {RatioRole, "ratio"},
          {WaitsRole, "waits"},
          {PartsRole, "parts"}};
}

QString RooflineModel::exportTo(const QString& path) const {
  QList<QVariantList> table;
  for (const RooflineRow& r : rows_)
    table << QVariantList{QString::fromStdString(r.kernel),
                          QString::fromStdString(r.device),
                          static_cast<qlonglong>(r.launches),
                          static_cast<qlonglong>(r.flops),
                          static_cast<qlonglong>(r.bytes),
                          r.seconds,
                          r.roof,
                          r.share,
                          QString::fromStdString(std::string(boundName(r.bound))),
                          r.predicted.seconds,
                          r.ratio()};
  return writeTable(path,
                    {"kernel", "device", "launches", "flops", "bytes", "seconds", "roof_seconds",
                     "share_of_roof", "bound", "predicted_seconds", "predicted_of_measured"},
                    table);
}

} // namespace uopscope
