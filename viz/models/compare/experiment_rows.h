// The rows of an experiment for one metric: a row a cell, or a row a pair of cells in a comparison. They are
// sorted by any column, filtered by verdict or failure, and searched by name.
//
//   ExperimentRows rows;  rows.setRows(data);  rows.setMetric(Metric::Wall);  rows.sortBy("median");
//
// Places of runs on the axis are shares from 0 to 1, so the strips of all rows share one axis.
#pragma once
#include "replay/experiment/measured.h"

#include <QAbstractListModel>
#include <QVariantList>
#include <memory>

namespace uopscope {

/// One or two experiments with all comparisons made. The pairs point into `before` and `after`, so it never moves.
struct ExperimentData {
  Measured before;
  std::optional<Measured> after;
  CellPairs found;
  std::vector<std::array<Comparison, std::size(kMetrics)>> compared; ///< by pair
  std::string remark; ///< the reason why times of the two are not comparable, or empty
};

class ExperimentRows : public QAbstractListModel {
  Q_OBJECT
  /// Whether rows are pairs.
  Q_PROPERTY(bool comparing READ comparing NOTIFY changed)
  /// "all", "failed"; of pairs "all", "worse", "better", "same", "few"
  Q_PROPERTY(QString filter READ filter WRITE setFilter NOTIFY changed)
  /// [{value, text, count}] of the filters with a row.
  Q_PROPERTY(QVariantList filters READ filters NOTIFY changed)
  Q_PROPERTY(QString search READ search WRITE setSearch NOTIFY changed)
  /// "name", "median", "interval", "mean", "deviation", "failed"; of pairs "name", "median", "after", "change", "p"
  Q_PROPERTY(QString sort READ sortColumn NOTIFY changed)
  Q_PROPERTY(bool descending READ descending NOTIFY changed)
  Q_PROPERTY(int shown READ shown NOTIFY changed)
  Q_PROPERTY(int total READ total NOTIFY changed)
  Q_PROPERTY(int currentRow READ currentRow NOTIFY changed)
  /// Whether the axis begins at 0; else at the smallest value.
  Q_PROPERTY(bool fromZero READ fromZero WRITE setFromZero NOTIFY changed)
  /// The texts of the ends and the middle of the axis.
  Q_PROPERTY(QStringList axis READ axis NOTIFY changed)

public:
  enum Roles {
    NameRole = Qt::UserRole + 1,
    MedianRole,
    IntervalRole,
    MeanRole,
    DeviationRole,
    RunsRole,
    FailedRole,
    AfterRole,
    AfterIntervalRole,
    ChangeRole,
    PRole,
    VerdictRole,
    ToneRole,       ///< "worse", "better" or empty
    StripRole,      ///< {dots, low, mid, high, note}
    AfterStripRole, ///< of the second cell of a pair
    ChosenRole
  };
  using QAbstractListModel::QAbstractListModel;

  void setRows(std::shared_ptr<const ExperimentData> data, bool comparing);
  void setMetric(Metric metric);
  Metric metric() const { return metric_; }
  bool comparing() const { return comparing_; }
  QString filter() const { return filter_; }
  void setFilter(const QString& filter);
  QVariantList filters() const;
  QString search() const { return search_; }
  void setSearch(const QString& text);
  QString sortColumn() const { return sort_; }
  bool descending() const { return descending_; }
  /// A second call for the same column turns the order round.
  Q_INVOKABLE void sortBy(const QString& column);
  int shown() const { return static_cast<int>(rows_.size()); }
  int total() const;
  bool fromZero() const { return fromZero_; }
  void setFromZero(bool on);
  QStringList axis() const;
  int currentRow() const;
  /// Index of the chosen cell or pair; -1 for none.
  int current() const { return current_; }
  Q_INVOKABLE void choose(int row);
  void move(int direction);
  /// How many pairs have this verdict in a metric.
  int count(Metric metric, Verdict verdict) const;
  const ExperimentData* data() const { return data_.get(); }

  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : shown(); }
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;
  /// The visible table for a file: names of columns, and rows.
  std::pair<QStringList, QList<QVariantList>> table() const;

Q_SIGNALS:
  void changed();
  void currentChanged();

private:
  bool passes(size_t index, const QString& filter) const;
  double key(size_t index) const;
  const MeasuredCell& cell(size_t index) const;
  QString name(size_t index) const;
  QVariantMap strip(const MeasuredCell& cell) const;
  void show();

  std::shared_ptr<const ExperimentData> data_;
  std::vector<size_t> rows_;
  Metric metric_ = Metric::Wall;
  QString filter_ = QStringLiteral("all"), search_, sort_ = QStringLiteral("name");
  double least_ = 0, most_ = 1;
  int current_ = -1;
  bool comparing_ = false, descending_ = false, fromZero_ = true;
};

/// "better", "worse" ... in the person's language.
QString verdictText(Verdict verdict);
/// "worse", "better" or empty.
QString toneOf(Verdict verdict);
QString amountOf(Metric metric, double value);

} // namespace uopscope
