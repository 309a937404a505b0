// LLVM's passes over the kernel in front, after our own: a row for each that changed it, and what the chosen one
// changed, side by side. They are run when the list is open: the trace holds the text that they begin with.
//
//   LlvmPassesModel passes(session);  passes.setOpen(true);  passes.setCurrent(3);  passes.lines()->rows()
#pragma once
#include "replay/read/text_diff.h"
#include "viz/models/compare/compared_lines.h"
#include "viz/models/session/session.h"

namespace uopscope {

class LlvmPassesModel : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(bool open READ open WRITE setOpen NOTIFY changed)
  Q_PROPERTY(int current READ current WRITE setCurrent NOTIFY changed)
  Q_PROPERTY(int count READ count NOTIFY changed)
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  /// Name and purpose of the chosen pass.
  Q_PROPERTY(QString name READ name NOTIFY changed)
  Q_PROPERTY(QString meaning READ meaning NOTIFY changed)
  /// Why there is nothing to show; empty where there is.
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  Q_PROPERTY(uopscope::ComparedLines* lines READ lines CONSTANT)

public:
  enum Roles { NameRole = Qt::UserRole + 1, MeaningRole, AddedRole, RemovedRole };
  explicit LlvmPassesModel(Session& session, QObject* parent = nullptr);
  bool open() const { return open_; }
  void setOpen(bool open);
  int current() const { return current_; }
  void setCurrent(int row);
  int count() const { return static_cast<int>(passes_.size()); }
  bool busy() const { return busy_; }
  QString name() const;
  QString meaning() const;
  QString problem() const { return problem_; }
  ComparedLines* lines() { return &lines_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();

private:
  struct Pass {
    QString name, meaning, text;
    LineChanges changes;
  };
  void ask();
  void show(std::vector<Pass> passes, const QString& problem);
  Session& session_;
  std::vector<Pass> passes_;
  ComparedLines lines_;
  QString problem_;
  qlonglong scope_ = -1; ///< whose passes these are
  int current_ = 0;
  bool open_ = false, busy_ = false;
};

} // namespace uopscope
