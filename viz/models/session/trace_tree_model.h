// The tree on the left: script > schedule > kernel > pass, with step counts, flattened to the open rows. The
// passes of a scope are read when it is first opened. A filter shows matching rows and their ancestors.
//
//   TraceTreeModel tree;  tree.setTrace(&trace);  tree.setFilter("devec");
#pragma once
#include "replay/read/trace.h"

#include <QAbstractListModel>
#include <set>

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
    CurrentRole, ///< whether the window shows it
    FailedRole,
    OpenRole, ///< not ended: still going on, or cut off
    ScopeRole,
    PassRole ///< 0 for a scope
  };
  using QAbstractListModel::QAbstractListModel;

  void setTrace(Trace* trace);
  /// Reads the rows of a grown trace again; open rows stay open.
  void refresh();
  QString filter() const { return filter_; }
  void setFilter(const QString& filter);
  /// Whether passes without a step, and those that change only tags, are left out; hiddenCount counts them.
  bool hideEmpty() const { return hideEmpty_; }
  void setHideEmpty(bool hide);
  int hiddenCount() const { return hidden_; }
  /// Whether the pass is left out now; the present pass never is.
  bool hides(const PassInfo& pass);
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
  struct Row {
    bool isPass = false;
    ScopeId scope = 0;
    PassId pass = 0;
    int depth = 0;
    bool hasChildren = false, expanded = false;
    QString name, place, time;
    int64_t steps = 0;
    bool failed = false, open = false, dull = false;
    ScopeKind kind = ScopeKind::Other;
    bool operator==(const Row&) const = default;
  };
  void rebuild();
  bool addScope(const ScopeInfo& scope, int depth, bool ancestorMatches, std::vector<Row>& out);
  bool matches(const QString& text) const;
  bool dull(const PassInfo& pass);

  Trace* trace_ = nullptr;
  std::vector<Row> rows_;
  std::set<ScopeId> opened_, closed_;
  QString filter_;
  std::map<PassId, bool> retags_; ///< only of passes that have ended
  bool hideEmpty_ = true;
  int hidden_ = 0;
  ScopeId currentScope_ = 0;
  PassId currentPass_ = 0;
  std::map<ScopeId, std::vector<ScopeId>> children_;
};

} // namespace uopscope
