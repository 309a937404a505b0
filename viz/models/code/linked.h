// Links a kernel's stages from the script to the machine: script line > tensor operation > rewrites > linear
// UOp > kernel line > assembly. A selection in one pane lights the lines of all panes that belong to it; so does a node
// that is selected in the graph of any pass. Lines of one tensor operation have one colour in all panes.
//
//   LinkedPanes l(session);  l.load();  l.select("source", 4);  l.uops()->lit(0)
#pragma once
#include "viz/models/session/session.h"

#include <QSet>
#include <unordered_map>

namespace uopscope {

/// Lines of one pane; lines that belong to the selection are lit.
class LinkedLines : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(int count READ count NOTIFY changed)
  Q_PROPERTY(int firstLit READ firstLit NOTIFY litChanged)
  Q_PROPERTY(int litCount READ litCount NOTIFY litChanged)

public:
  enum Roles { TextRole = Qt::UserRole + 1, HtmlRole, LitRole, NumberRole, KnownRole, ColourRole, OfRole };
  struct Line {
    QString text;
    int number = 0;     ///< printed before the text; 0: none
    bool known = false; ///< lines of other panes belong to it
    QString target;     ///< a link to follow; empty: none
    int colour = -1;    ///< row of the tensor operation that it mostly belongs to; -1: of none
    QString of = {};    ///< name of that operation
  };
  using QAbstractListModel::QAbstractListModel;
  void setLines(std::vector<Line> lines, Language language);
  void setLit(QSet<int> rows);
  const std::vector<Line>& lines() const { return lines_; }
  Q_INVOKABLE bool lit(int row) const { return lit_.contains(row); }
  int count() const { return static_cast<int>(lines_.size()); }
  int litCount() const { return static_cast<int>(lit_.size()); }
  int firstLit() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();
  void litChanged();

private:
  std::vector<Line> lines_;
  QSet<int> lit_;
  Language language_ = Language::Plain;
};

class LinkedPanes : public QObject {
  Q_OBJECT
  Q_PROPERTY(uopscope::LinkedLines* script READ script CONSTANT)
  Q_PROPERTY(uopscope::LinkedLines* tensors READ tensors CONSTANT)
  Q_PROPERTY(uopscope::LinkedLines* rewrites READ rewrites CONSTANT)
  Q_PROPERTY(uopscope::LinkedLines* uops READ uops CONSTANT)
  Q_PROPERTY(uopscope::LinkedLines* source READ source CONSTANT)
  Q_PROPERTY(uopscope::LinkedLines* assembly READ assembly CONSTANT)
  /// Time, bytes and FLOPs measured for the kernel, or the reason why there are none.
  Q_PROPERTY(QString cost READ cost NOTIFY changed)
  Q_PROPERTY(QString missing READ missing NOTIFY changed)

public:
  explicit LinkedPanes(Session& session, QObject* parent = nullptr);
  LinkedLines* script() { return &script_; }
  LinkedLines* tensors() { return &tensors_; }
  LinkedLines* rewrites() { return &rewrites_; }
  LinkedLines* uops() { return &uops_; }
  LinkedLines* source() { return &source_; }
  LinkedLines* assembly() { return &assembly_; }
  QString cost() const { return cost_; }
  QString missing() const { return missing_; }
  Q_INVOKABLE void load();
  /// Selects a row of "script", "tensors", "uops", "source" or "assembly".
  Q_INVOKABLE void select(const QString& pane, int row);
  /// Follows a row: a rewrite leads to its step, a UOp to the graph's node.
  Q_INVOKABLE void follow(const QString& pane, int row);

Q_SIGNALS:
  void changed();

private:
  struct Instruction {
    NodeId node = kNoNode;
    QSet<int> script, tensors, source, assembly; ///< rows
    std::vector<NodeId> forms;                   ///< the nodes that it was rewritten from
    /// A number or a loop variable that instructions read: no line with another instruction is about it.
    bool operand = false;
  };
  struct Loaded;
  static void colour(Loaded& loaded);
  void lightSelected();
  void light(const QSet<int>& instructions);
  void askRewrites(NodeId node);
  Session& session_;
  LinkedLines script_, tensors_, rewrites_, uops_, source_, assembly_;
  std::vector<Instruction> instructions_;
  std::unordered_map<NodeId, QSet<int>> byForm_; ///< instructions that a node became
  QString cost_, missing_;
  ScopeId loaded_ = -1;
};

} // namespace uopscope
