// The tree on the left: script > schedule > kernel > pass, with step counts, flattened to the rows that are
// open. Passes of a scope are read when it is opened for the first time. A filter shows what matches and the
// way to it.
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
    StepsRole,     ///< own steps of a pass; of a scope, of everything in it
    StepsTextRole, ///< the same with separators
    TimeRole,      ///< "1.2 ms", empty where it has not ended
    PlaceRole,     ///< "compile_loop.py:3"
    ExpandedRole,
    HasChildrenRole,
    CurrentRole, ///< what the window shows
    FailedRole,
    OpenRole, ///< has not ended: still going on, or cut off
    ScopeRole,
    PassRole ///< 0 for a scope
  };
  using QAbstractListModel::QAbstractListModel;

  void setTrace(Trace* trace);
  /// The trace grew: rows are read again, what was open stays open.
  void refresh();
  QString filter() const { return filter_; }
  void setFilter(const QString& filter);
  /// Passes without a step, and those that change tags only, are left out; hiddenCount says how many.
  bool hideEmpty() const { return hideEmpty_; }
  void setHideEmpty(bool hide);
  int hiddenCount() const { return hidden_; }
  /// Whether the pass is left out now; the present one never is.
  bool hides(const PassInfo& pass);
  int currentRow() const;
  /// Marks what the window shows and opens the way to it.
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
  std::map<PassId, bool> retags_; ///< of passes that have ended
  bool hideEmpty_ = true;
  int hidden_ = 0;
  ScopeId currentScope_ = 0;
  PassId currentPass_ = 0;
  std::map<ScopeId, std::vector<ScopeId>> children_;
};

} // namespace uopscope
