// One pair of compilations of a comparison: the rewrites of both in lock-step, their graphs, texts and facts.
// The current row sets the place of both sides.
//
//   detail.load(change);  detail.toParting();  detail.move(1);      // both graphs follow
#pragma once
#include "viz/models/compare/compared_lines.h"
#include "viz/models/compare/replay_bench.h"
#include "viz/models/graph/graph_source.h"
#include "viz/models/work/jobs.h"

namespace uopscope {

/// The rows of the pair as a list.
class ReplayRows : public QAbstractListModel {
  Q_OBJECT
public:
  enum Roles { LeftRole = Qt::UserRole + 1, RightRole, LeftDetailRole, RightDetailRole, MarkRole, PassRole };
  using QAbstractListModel::QAbstractListModel;
  void setPair(std::shared_ptr<const ReplayPair> pair);
  const std::vector<ReplayRow>& rows() const;
  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

private:
  std::shared_ptr<const ReplayPair> pair_;
};

class ReplayDetail : public QObject {
  Q_OBJECT
  Q_PROPERTY(bool loaded READ loaded NOTIFY changed)
  Q_PROPERTY(QString sentence READ sentence NOTIFY changed)
  /// The reason why there are no graphs, or why the texts cannot be read.
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  /// [{name, before, after, differs}]
  Q_PROPERTY(QVariantList facts READ facts NOTIFY changed)
  /// "rewrites", "graph", "source", "ir" or "asm"
  Q_PROPERTY(QString what READ what WRITE setWhat NOTIFY changed)
  /// Of "graph": "begin", "row" or "end"
  Q_PROPERTY(QString where READ where WRITE setWhere NOTIFY changed)
  Q_PROPERTY(QString summary READ summary NOTIFY changed)
  Q_PROPERTY(bool ignoreNames READ ignoreNames WRITE setIgnoreNames NOTIFY changed)
  Q_PROPERTY(bool leftToRight READ leftToRight WRITE setLeftToRight NOTIFY changed)
  Q_PROPERTY(int row READ row WRITE setRow NOTIFY rowChanged)
  /// The row where the two part, -1 where they do not part.
  Q_PROPERTY(int parting READ parting NOTIFY changed)
  /// {leftPlace, rightPlace, leftHtml, rightHtml, leftStays, rightStays}
  Q_PROPERTY(QVariantMap step READ step NOTIFY stepChanged)
  Q_PROPERTY(bool busy READ busy NOTIFY busyChanged)
  Q_PROPERTY(uopscope::ReplayRows* rows READ rows CONSTANT)
  Q_PROPERTY(uopscope::ComparedLines* lines READ lines CONSTANT)
  Q_PROPERTY(uopscope::GraphSource* left READ left CONSTANT)
  Q_PROPERTY(uopscope::GraphSource* right READ right CONSTANT)
  Q_PROPERTY(uopscope::GraphSource* together READ together CONSTANT)

public:
  enum Channel { Open, Load, Step, Text, Link }; ///< of the thread, Open being the list's
  ReplayDetail(Jobs& jobs, std::shared_ptr<ReplayBench> bench, QObject* parent = nullptr);

  void load(const Change& change);
  void clear();
  bool loaded() const { return pair_ != nullptr; }
  QString sentence() const { return pair_ ? pair_->sentence : QString(); }
  QString problem() const { return problem_; }
  QVariantList facts() const;
  QString what() const { return what_; }
  void setWhat(const QString& what);
  QString where() const { return where_; }
  void setWhere(const QString& where);
  QString summary() const { return summary_; }
  bool ignoreNames() const { return ignoreNames_; }
  void setIgnoreNames(bool on);
  bool leftToRight() const { return leftToRight_; }
  void setLeftToRight(bool on);
  int row() const { return row_; }
  void setRow(int row);
  int parting() const { return pair_ && pair_->parts ? static_cast<int>(pair_->first) : -1; }
  QVariantMap step() const { return step_; }
  bool busy() const { return jobs_.busy(Load) || jobs_.busy(Step) || jobs_.busy(Text); }
  ReplayRows* rows() { return &rows_; }
  ComparedLines* lines() { return &lines_; }
  GraphSource* left() { return &left_; }
  GraphSource* right() { return &right_; }
  GraphSource* together() { return &together_; }

  void move(int by) { setRow(row_ + by); }
  /// Moves to the next (or previous) row that begins a pass or differs.
  void movePass(int direction);
  void moveDifferent(int direction);
  Q_INVOKABLE void toParting();
  /// Asks for the link to a side's state; linkReady() answers.
  Q_INVOKABLE void askLink(bool before);

Q_SIGNALS:
  void changed();
  void rowChanged();
  void stepChanged();
  void busyChanged();
  void linkReady(const QString& trace, const QString& link);

private:
  void ask();
  void askStep();
  void askText();
  void askTogether();
  void fail(const QString& what);
  template <typename Accept>
  void moveTo(int direction, Accept accept);

  Jobs& jobs_;
  std::shared_ptr<ReplayBench> bench_;
  std::shared_ptr<const ReplayPair> pair_;
  ReplayRows rows_;
  ComparedLines lines_;
  GraphSource left_, right_, together_;
  QVariantMap step_;
  QString what_ = QStringLiteral("rewrites"), where_ = QStringLiteral("end"), summary_, problem_;
  int row_ = 0;
  bool ignoreNames_ = false, leftToRight_ = false;
};

} // namespace uopscope
