// The entries of the command palette. After ">" it lists commands; otherwise kernels, schedules, passes and
// rules of the trace; "#12" is a node and ":40" a step. Letters need only appear in order; the best matches
// come first.
#pragma once
#include <QAbstractListModel>
#include <vector>

namespace uopscope {

/// A score for the letters of `wanted` in `text`, in order; -1 if they do not match. `at` gets the positions.
int fuzzyScore(const QString& wanted, const QString& text, QList<int>* at = nullptr);

class PaletteModel : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(QString query READ query WRITE setQuery NOTIFY changed)
  Q_PROPERTY(int count READ count NOTIFY changed)

public:
  struct Entry {
    QString kind;                 ///< "command", "pass", "kernel", "schedule", "step", "node"
    QString text, detail, target; ///< target: an action's id or a link
  };
  enum Roles { KindRole = Qt::UserRole + 1, TextRole, HtmlRole, DetailRole, TargetRole };
  using QAbstractListModel::QAbstractListModel;

  void setEntries(std::vector<Entry> entries);
  /// Sets the results of a search of the whole trace for "/..."; the list shows them unchanged.
  void setFound(const QString& query, std::vector<Entry> found);
  QString query() const { return query_; }
  void setQuery(const QString& query);
  int count() const { return static_cast<int>(shown_.size()); }
  Q_INVOKABLE QVariantMap entry(int row) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();

private:
  struct Shown {
    Entry entry;
    int score = 0;
    QList<int> at;
  };
  std::vector<Entry> entries_;
  std::vector<Shown> shown_;
  QString query_;
};

} // namespace uopscope
