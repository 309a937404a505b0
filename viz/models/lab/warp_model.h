// One warp of the GPU kernel in front, walked step by step: a row for each instruction of the linear program with the
// threads that execute it, and for the current step the value of each thread and the bytes it accesses. The
// interpreter runs the kernel on made-up data when the pane is open.
//
//   WarpModel warp(session);  warp.setOpen(true);  warp.setStep(14);  warp.summary()
#pragma once
#include "replay/compare/warp_run.h"
#include "viz/models/session/session.h"

namespace uopscope {

class WarpModel : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(bool open READ open WRITE setOpen NOTIFY changed)
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  /// Why there is nothing to show; empty where there is.
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  /// A fault that the interpreter found, or that the walk is cut; empty otherwise.
  Q_PROPERTY(QString remark READ remark NOTIFY changed)
  Q_PROPERTY(int groups READ groups NOTIFY changed)
  Q_PROPERTY(int warps READ warps NOTIFY changed)
  Q_PROPERTY(int threads READ threads NOTIFY changed) ///< of the warp
  Q_PROPERTY(int group READ group WRITE setGroup NOTIFY changed)
  Q_PROPERTY(int warp READ warp WRITE setWarp NOTIFY changed)
  Q_PROPERTY(int stepCount READ stepCount NOTIFY changed)
  Q_PROPERTY(int step READ step WRITE setStep NOTIFY stepChanged)
  /// The row of the instruction of the current step.
  Q_PROPERTY(int row READ row NOTIFY stepChanged)
  /// "LOAD of data1_64 by 32 threads: 4 sectors of 32 bytes, 4 if all bytes lay side by side"
  Q_PROPERTY(QString summary READ summary NOTIFY stepChanged)
  /// A map for each thread: {number, active, value}.
  Q_PROPERTY(QVariantList lanes READ lanes NOTIFY stepChanged)
  /// What a memory access of the current step touches: {rows: [label], columns, shared, cells: [{threads, row, from, to}]};
  /// empty for any other step.
  Q_PROPERTY(QVariantMap touched READ touched NOTIFY stepChanged)

public:
  /// ThreadsRole: how often each thread executed the instruction.
  enum Roles { TextRole = Qt::UserRole + 1, NumberRole, ThreadsRole, TimesRole };
  explicit WarpModel(Session& session, QObject* parent = nullptr);

  bool open() const { return open_; }
  void setOpen(bool open);
  bool busy() const { return busy_; }
  QString problem() const { return problem_; }
  QString remark() const;
  int groups() const { return run_ ? static_cast<int>(run_->groups()) : 0; }
  int warps() const { return run_ ? static_cast<int>(run_->warps()) : 0; }
  int threads() const;
  int group() const { return group_; }
  void setGroup(int group);
  int warp() const { return warp_; }
  void setWarp(int warp);
  int stepCount() const { return run_ ? static_cast<int>(run_->steps().size()) : 0; }
  int step() const { return step_; }
  void setStep(int step);
  int row() const;
  QString summary() const;
  QVariantList lanes() const;
  QVariantMap touched() const;

  /// To the next step that executes the instruction of a row, from the first again after the last.
  Q_INVOKABLE void goToRow(int row);
  /// Selects the node of a row, so that the other panes show where it comes from.
  Q_INVOKABLE void select(int row);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();
  void stepChanged();

private:
  void ask();
  void show(std::shared_ptr<const WarpRun> run, std::vector<NodeId> program, QStringList texts,
            const QString& problem);
  const WarpStep* current() const;

  Session& session_;
  std::shared_ptr<const WarpRun> run_;
  std::vector<NodeId> program_;
  QStringList texts_;
  QString problem_;
  qlonglong scope_ = -1; ///< whose warp this is
  int group_ = 0, warp_ = 0, step_ = 0;
  bool open_ = false, busy_ = false;
};

} // namespace uopscope
