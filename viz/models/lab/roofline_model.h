// The roofline of the open trace: each kernel's measured time beside the least that this machine's peaks allow. The
// peaks are measured once, on a thread of the readers, and kept (replay/experiment/peaks.h).
//
//   RooflineModel roof(session);  roof.load();  roof.count()
#pragma once
#include "replay/experiment/roofline.h"
#include "viz/models/session/session.h"

namespace uopscope {

class RooflineModel : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(int count READ count NOTIFY changed)
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
    ScopeRole
  };
  explicit RooflineModel(Session& session, QObject* parent = nullptr);
  /// Called when the pane is shown.
  Q_INVOKABLE void load();
  /// To the kernel of a row.
  Q_INVOKABLE void follow(int row);
  Q_INVOKABLE QString exportTo(const QString& path) const;
  int count() const { return static_cast<int>(rows_.size()); }
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
  Session& session_;
  std::vector<RooflineRow> rows_;
  Peaks peaks_;
  QString remark_;
  bool busy_ = false, loaded_ = false;
};

} // namespace uopscope
