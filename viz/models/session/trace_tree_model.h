// The tree on the left: script > schedule > kernel > pass, with step counts, flattened to the open rows. The
// passes of a scope are read when it is first opened. A filter shows matching rows and their ancestors. Rows are
// made on a lane of the jobs: until they are there, the last ones stay.
//
//   TraceTreeModel tree(readers);  tree.reset();  tree.setFilter("devec");
#pragma once
#include "viz/models/session/tree_rows.h"
#include "viz/models/work/readers.h"

#include <QAbstractListModel>

namespace uopscope {

class TraceTreeModel : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(QString filter READ filter WRITE setFilter NOTIFY filterChanged)
  Q_PROPERTY(bool hideEmpty READ hideEmpty WRITE setHideEmpty NOTIFY filterChanged)
  Q_PROPERTY(int hiddenCount READ hiddenCount NOTIFY rowsChanged)
  Q_PROPERTY(int currentRow READ currentRow NOTIFY currentChanged)

public:
  enum Roles {
    NameRole = Qt::UserRole + 1, ///< "devectorize"
    KindRole,                    ///< "script", "schedule", "kernel", "other", "pass"
    DepthRole,
    StepsRole,     ///< steps of a pass; for a scope, steps of its whole content
    StepsTextRole, ///< StepsRole with separators
    TimeRole,      ///< "1.2 ms", empty where it has not ended
    PlaceRole,     ///< "compile_loop.py:3"
    ExpandedRole,
    HasChildrenRole,
    InsideRole,  ///< passes inside a folded pass, else 0
    CurrentRole, ///< whether the window shows it
    FailedRole,
    OpenRole, ///< not ended: still going on, or cut off
    ScopeRole,
    PassRole ///< 0 for a scope
  };
  explicit TraceTreeModel(Readers& readers, QObject* parent = nullptr)
      : QAbstractListModel(parent), readers_(readers) {}

  /// Shows the trace that is open now, or nothing.
  void reset();
  /// Reads the rows of a grown trace again; open rows stay open.
  void refresh();
  QString filter() const { return filter_; }
  void setFilter(const QString& filter);
  /// Whether passes without a step, and those that change only tags, are left out; hiddenCount counts them.
  bool hideEmpty() const { return hideEmpty_; }
  void setHideEmpty(bool hide);
  int hiddenCount() const { return hidden_; }
  /// Whether the pass is left out now; the present pass never is.
  bool hides(const PassInfo& pass) const {
    return hideEmpty_ && pass.id != currentPass_ && readers_.trace() && readers_.trace()->dull(pass);
  }
  int currentRow() const;
  /// Marks the present place and opens its ancestors.
  void setCurrent(ScopeId scope, PassId pass);
  Q_INVOKABLE void toggle(int row);
  Q_INVOKABLE void expandAll(bool expand);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void filterChanged();
  void rowsChanged();
  void currentChanged();

private:
  using Row = TreeRow;
  void rebuild();
  void show(TreeAnswer answer);

  Readers& readers_;
  std::shared_ptr<TreeBuilder> builder_; ///< of this trace; touched on the lane only
  std::vector<Row> rows_;
  std::set<ScopeId> opened_, closed_;
  std::set<PassId> turned_;
  bool unfolded_ = false; ///< every pass is open unless it is in turned_
  QString filter_;
  bool hideEmpty_ = true;
  int hidden_ = 0;
  ScopeId currentScope_ = 0;
  PassId currentPass_ = 0;
};

} // namespace uopscope
