// The steps of one pass: rule and rewritten node of each. It also gives their times and rules as flat lists,
// for the strip over the slider. The number of steps is known at once, the rows arrive from a job: until then they have
// their numbers only.
//
//   steps.setPass(&index, &pass);  steps.count() == pass.steps;  steps.whenLoaded([&] { use(steps.steps()); });
#pragma once
#include "replay/read/decisions.h"
#include "viz/models/work/readers.h"

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
  using Steps = std::vector<StepInfo>;
  explicit StepListModel(Readers& readers, QObject* parent = nullptr)
      : QAbstractListModel(parent), readers_(readers) {}

  /// The index lives until setPass(nullptr, nullptr). The same pass with more steps only gets more rows.
  void setPass(const TraceIndex* index, const PassInfo* pass);
  int count() const { return count_; }
  bool loaded() const { return static_cast<int>(steps_->size()) == count_; }
  /// Calls `then` now, or when the rows of this pass are here; never where another pass is shown before.
  void whenLoaded(std::function<void()> then);
  /// Whether anybody waits for the rows.
  bool isAwaited() const { return !waiting_.empty(); }
  /// The rows that are here; jobs may keep them.
  const Steps& steps() const { return *steps_; }
  std::shared_ptr<const Steps> shared() const { return steps_; }
  QList<qreal> times() const { return times_; }
  QList<int> rules() const { return rules_; }
  /// The next step after (or before) `from` whose rule is that of step `from`; 0: none.
  int64_t nextOfRule(int64_t from, int direction) const;
  /// The next step that rests on a decision; 0: none.
  int64_t nextDecided(int64_t from, int direction) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void stepsChanged();

private:
  struct Rows;
  void load();
  void take(Rows rows);
  void wantNames(int row) const;
  void askNames();
  QString opOf(NodeId node, int row) const;

  Readers& readers_;
  const TraceIndex* index_ = nullptr;
  PassId pass_ = 0;
  int count_ = 0;
  std::shared_ptr<const Steps> steps_ = std::make_shared<const Steps>();
  Decisions decisions_;
  std::unordered_map<NodeId, QString> ops_; ///< of rows that were looked at
  mutable std::set<int> wanted_;            ///< portions of rows whose operations are asked for
  std::vector<std::function<void()>> waiting_;
  QList<qreal> times_;
  QList<int> rules_;
};

/// The next step after (or before) `from` that touches one of the nodes; 0: none. Reads their sources.
int64_t nextTouching(Trace& trace, const std::vector<StepInfo>& steps, int64_t from, int direction,
                     const std::set<NodeId>& nodes, const std::function<bool()>& stale);

} // namespace uopscope
