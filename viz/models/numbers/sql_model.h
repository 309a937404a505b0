// SQL over the trace: a statement, its result as a table, and the schema. A result can become a selection in
// the graph, or a condition to run to.
//
//   SqlModel sql(session);  sql.run("SELECT rule, count(*) FROM step GROUP BY 1");  sql.rowCount()
#pragma once
#include "viz/models/session/session.h"

#include <QAbstractTableModel>

namespace uopscope {

class SqlModel : public QAbstractTableModel {
  Q_OBJECT
  Q_PROPERTY(QString text READ text WRITE setText NOTIFY changed)
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  Q_PROPERTY(QStringList columns READ columns NOTIFY changed)
  /// "12 rows, 3.4 ms"; "the first 1,000 rows ..." where there are more.
  Q_PROPERTY(QString summary READ summary NOTIFY changed)
  /// Column that rows are sorted by, -1: unsorted.
  Q_PROPERTY(int sortColumn READ sortColumn NOTIFY changed)
  Q_PROPERTY(bool descending READ descending NOTIFY changed)
  Q_PROPERTY(bool more READ more NOTIFY changed)
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  /// [{name, kind, columns: [..]}]
  Q_PROPERTY(QVariantList schema READ schema NOTIFY schemaChanged)
  /// [{name, text}]: examples, then the saved queries.
  Q_PROPERTY(QVariantList saved READ saved NOTIFY savedChanged)

public:
  explicit SqlModel(Session& session, QObject* parent = nullptr);
  QString text() const { return text_; }
  void setText(const QString& text);
  QString problem() const { return problem_; }
  QStringList columns() const { return columns_; }
  QString summary() const;
  int sortColumn() const { return sort_; }
  bool descending() const { return descending_; }
  bool more() const { return more_; }
  bool busy() const { return busy_; }
  QVariantList schema() const { return schema_; }
  QVariantList saved() const;

  Q_INVOKABLE void run(const QString& text);
  Q_INVOKABLE void cancel();
  /// Runs the query again without the limit of rows.
  Q_INVOKABLE void lift();
  Q_INVOKABLE void keep(const QString& name);
  Q_INVOKABLE void forget(const QString& name);
  /// Marks the nodes of a column in the graph; returns how many of them the graph contains.
  Q_INVOKABLE int mark(int column);
  /// Colours the nodes of the first column that names nodes, by the values of `column`. Returns how many of
  /// them the graph contains.
  Q_INVOKABLE int colour(int column);
  /// Sorts the loaded rows; the same column again reverses the order.
  Q_INVOKABLE void sortBy(int column);
  /// Queries the steps by a rule, of a pass or on an operation, in the trace, a scope or a pass.
  Q_INVOKABLE void showSteps(const QString& what, const QString& name, qlonglong scope, qlonglong pass);
  /// "where step.id IN (...)" of a column of steps; empty where there are none.
  Q_INVOKABLE QString condition(int column) const;
  /// Follows a cell to a node, a step or a pass, by the name of its column.
  Q_INVOKABLE bool follow(int row, int column);
  Q_INVOKABLE QString exportTo(const QString& path) const;
  QList<QVariantList> table() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();
  void schemaChanged();
  void savedChanged();

private:
  bool followNode(int row, qlonglong id);
  void ask(size_t most);
  void readSchema();
  Session& session_;
  QString text_, problem_;
  QStringList columns_;
  std::vector<QVariantList> rows_;
  QVariantList schema_;
  QVariantMap kept_;
  double ms_ = 0;
  int sort_ = -1;
  bool descending_ = false;
  bool more_ = false, busy_ = false;
};

} // namespace uopscope
