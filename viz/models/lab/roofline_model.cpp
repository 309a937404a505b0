#include "viz/models/lab/roofline_model.h"

#include "viz/models/work/reports.h"
#include "viz/models/work/table_text.h"

#include <thread>

namespace uopscope {

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
  endResetModel();
  Q_EMIT changed();
}

void RooflineModel::follow(int row) {
  if (row < 0 || row >= count()) return;
  const ScopeId scope = rows_[static_cast<size_t>(row)].scope;
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
  const RooflineRow& r = rows_[static_cast<size_t>(index.row())];
  auto time = [](double seconds) { return duration(static_cast<int64_t>(seconds * 1e9)); };
  switch (role) {
  case KernelRole: return QString::fromStdString(r.kernel);
  case DeviceRole: return QString::fromStdString(r.device);
  case LaunchesRole: return grouped(r.launches);
  case TimeRole: return time(r.seconds);
  case RoofTimeRole: return r.roof > 0 ? time(r.roof) : QString();
  case ShareRole: return r.share;
  case BoundRole:
    return r.bound == RooflineBound::Compute  ? tr("arithmetic")
           : r.bound == RooflineBound::Memory ? tr("memory")
           : r.bound == RooflineBound::Cache  ? tr("cache")
                                              : QString();
  case IntensityRole: return r.intensity();
  case GflopsRole: return r.gflops();
  case BandwidthRole: return r.gbPerSecond();
  case ScopeRole: return static_cast<qlonglong>(r.scope);
  default: return {};
  }
}

QHash<int, QByteArray> RooflineModel::roleNames() const {
  return {{KernelRole, "kernel"},       {DeviceRole, "device"},       {LaunchesRole, "launches"},
          {TimeRole, "time"},           {RoofTimeRole, "roofTime"},   {ShareRole, "share"},
          {BoundRole, "bound"},         {IntensityRole, "intensity"}, {GflopsRole, "gflops"},
          {BandwidthRole, "bandwidth"}, {ScopeRole, "kernelScope"}};
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
                          QString::fromStdString(std::string(boundName(r.bound)))};
  return writeTable(path,
                    {"kernel", "device", "launches", "flops", "bytes", "seconds", "predicted_seconds",
                     "share_of_roof", "bound"},
                    table);
}

} // namespace uopscope
