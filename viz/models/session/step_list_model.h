// The steps of one pass: rule and rewritten node of each. It also gives their times and rules as flat lists,
// for the strip over the slider.
#pragma once
#include "replay/read/decisions.h"

#include <QAbstractListModel>
#include <set>

namespace uopscope {

class StepListModel : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(QList<qreal> times READ times NOTIFY stepsChanged)
  Q_PROPERTY(QList<int> rules READ rules NOTIFY stepsChanged)
  Q_PROPERTY(int count READ count NOTIFY stepsChanged)

public:
  enum Roles {
    NumberRole = Qt::UserRole + 1, ///< from 1
    RuleRole,
    BeforeRole, ///< operation before
    AfterRole,  ///< operation after; empty where the rule failed
    TimeRole,
    FaultRole,  ///< "error", "unchanged" or empty
    DownRole,   ///< applied before the sources were rewritten
    ReasonRole, ///< the decision of the step, in words; mostly empty
  };
  using QAbstractListModel::QAbstractListModel;

  void setPass(Trace* trace, PassId pass);
  int count() const { return static_cast<int>(steps_.size()); }
  const std::vector<StepInfo>& steps() const { return steps_; }
  QList<qreal> times() const { return times_; }
  QList<int> rules() const { return rules_; }
  /// The next step after (or before) `from` whose rule is that of step `like`, or that touches one of the nodes; 0:
  /// none.
  int64_t nextOfRule(int64_t from, int direction) const;
  int64_t nextTouching(int64_t from, int direction, const std::set<NodeId>& nodes) const;
  /// The next step that rests on a decision; 0: none.
  int64_t nextDecided(int64_t from, int direction) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void stepsChanged();

private:
  Trace* trace_ = nullptr;
  PassId pass_ = 0;
  std::vector<StepInfo> steps_;
  Decisions decisions_;
  QList<qreal> times_;
  QList<int> rules_;
};

} // namespace uopscope
