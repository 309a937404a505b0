// The roofline of the open trace: each kernel's measured time beside the least that this machine's peaks allow, and beside the
// time that the model of its program predicts. The peaks and rates are measured once, on a thread of the readers, and
// kept (replay/experiment/peaks.h). Rows are filtered by name and sorted by a column.
//
//   RooflineModel roof(session);  roof.load();  roof.count()
#pragma once
#include "replay/experiment/roofline.h"
#include "viz/models/session/session.h"

namespace uopscope {

class RooflineModel : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(int count READ count NOTIFY changed)
  /// Rows before the filter.
  Q_PROPERTY(int all READ all NOTIFY changed)
  /// Text that the name of a kernel contains, in any case.
  Q_PROPERTY(QString filter READ filter WRITE setFilter NOTIFY changed)
  /// "kernel", "launches", "time", "predicted", "ratio" (farthest from 1 first), "waits", "share", "bound", "intensity",
  /// "gflops", "bandwidth"; empty: most time of all launches first.
  Q_PROPERTY(QString sort READ sortColumn NOTIFY changed)
  Q_PROPERTY(bool descending READ descending NOTIFY changed)
  /// "Median error 18 %, nine of ten kernels below 61 %", of all rows; empty where nothing is predicted.
  Q_PROPERTY(QString errors READ errors NOTIFY changed)
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  /// "1,204 GFLOPS, 24 GB/s from memory, 310 GB/s from caches of 4,096 kB"
  Q_PROPERTY(QString peaks READ peaks NOTIFY changed)
  /// Why there are no rows, or why the roof may be another machine's; empty otherwise.
  Q_PROPERTY(QString remark READ remark NOTIFY changed)
  /// The roof in the units of the picture: {gflops, gbs, cacheGbs}; gflops 0 where unknown.
  Q_PROPERTY(QVariantMap roof READ roof NOTIFY changed)

public:
  enum Roles {
    KernelRole = Qt::UserRole + 1,
    DeviceRole,
    LaunchesRole,
    TimeRole,
    RoofTimeRole,
    ShareRole, ///< 1: on the roof; 0: unknown
    BoundRole,
    IntensityRole, ///< FLOP a byte
    GflopsRole,
    BandwidthRole,
    ScopeRole,
    SecondsRole,          ///< of the fastest launch
    PredictedSecondsRole, ///< 0: not predicted
    PredictedRole,        ///< as text
    RatioRole,            ///< predicted / measured
    WaitsRole,            ///< the largest part, as a word
    PartsRole             ///< lines "memory 12 us"
  };
  explicit RooflineModel(Session& session, QObject* parent = nullptr);
  /// Called when the pane is shown.
  Q_INVOKABLE void load();
  /// To the kernel of a row.
  Q_INVOKABLE void follow(int row);
  Q_INVOKABLE QString exportTo(const QString& path) const;
  int count() const { return static_cast<int>(shown_.size()); }
  int all() const { return static_cast<int>(rows_.size()); }
  QString filter() const { return filter_; }
  void setFilter(const QString& filter);
  QString sortColumn() const { return sort_; }
  bool descending() const { return descending_; }
  /// A second time: the other way round.
  Q_INVOKABLE void sortBy(const QString& column);
  QString errors() const;
  bool busy() const { return busy_; }
  QString peaks() const;
  QString remark() const { return remark_; }
  QVariantMap roof() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();

private:
  void show(std::vector<RooflineRow> rows, const Peaks& peaks, const QString& remark);
  void arrange();
  Session& session_;
  std::vector<RooflineRow> rows_;
  std::vector<size_t> shown_; ///< rows in the order of the list
  Peaks peaks_;
  QString remark_, filter_, sort_;
  bool descending_ = true;
  bool busy_ = false, loaded_ = false;
};

} // namespace uopscope
