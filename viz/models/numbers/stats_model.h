// Match statistics: one row per rule, pass, operation or kernel, one column per outcome. Sorting by any
// column, a filter on name, place and source text, a switch for rules that never fired.
//
//   StatsModel stats;  stats.setRows(rows);  stats.sortBy(StatsModel::TimeColumn);
#pragma once
#include "viz/models/work/pictures.h"

#include <QAbstractTableModel>

namespace uopscope {

class StatsModel : public QAbstractTableModel {
  Q_OBJECT
  Q_PROPERTY(QString filter READ filter WRITE setFilter NOTIFY changed)
  Q_PROPERTY(int sortColumn READ sortColumn NOTIFY changed)
  Q_PROPERTY(bool descending READ descending NOTIFY changed)
  Q_PROPERTY(int shown READ shown NOTIFY changed)
  Q_PROPERTY(int total READ total NOTIFY changed)
  Q_PROPERTY(QVariantMap sum READ sum NOTIFY changed)
  /// "all", "applied", "never" or "faults"
  Q_PROPERTY(QString show READ show WRITE setShow NOTIFY changed)

public:
  enum Column {
    NameColumn,
    TimeColumn,
    ShareColumn, ///< share of the time of the rows shown
    AttemptsColumn,
    AppliedColumn,
    RateColumn,
    EarlyColumn,
    StructureColumn,
    DeclinedColumn,
    UnchangedColumn,
    MatchTimeColumn,
    kColumns
  };
  Q_ENUM(Column)
  enum Roles {
    TextRole = Qt::UserRole + 1,
    PlaceRole,
    SourceRole, ///< text of the rule
    ShareRole,  ///< 0 to 1: the cell relative to the largest of its column, for the bar
    RuleRole,
    FaultRole
  };
  using QAbstractTableModel::QAbstractTableModel;

  void setRows(std::shared_ptr<std::vector<StatsRow>> rows);
  QString filter() const { return filter_; }
  void setFilter(const QString& filter);
  QString show() const { return show_; }
  void setShow(const QString& show);
  int sortColumn() const { return sort_; }
  bool descending() const { return descending_; }
  int shown() const { return static_cast<int>(order_.size()); }
  int total() const { return rows_ ? static_cast<int>(rows_->size()) : 0; }
  QVariantMap sum() const;
  /// Sorts; the same column again reverses the order.
  Q_INVOKABLE void sortBy(int column);
  Q_INVOKABLE QVariantMap row(int row) const;
  /// The rows shown as comma-separated values, with a header; plain numbers, times in ns.
  Q_INVOKABLE QString csv() const;
  /// Writes the table as .csv or .json. Returns an error text, empty on success.
  Q_INVOKABLE QString exportTo(const QString& path) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();

private:
  double value(const StatsRow& row, int column) const;
  QList<QVariantList> table() const;
  void arrange();
  std::shared_ptr<std::vector<StatsRow>> rows_;
  std::vector<uint32_t> order_;
  double largest_[kColumns] = {}, wholeNs_ = 0;
  QString filter_, show_ = QStringLiteral("all");
  int sort_ = TimeColumn;
  bool descending_ = true;
};

} // namespace uopscope
