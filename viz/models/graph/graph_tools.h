// Edits the graph on a person's request: hide, show only, reveal, group, pin. It changes the session's
// arrangement, and the worker lays the graph out.
//
//   GraphTools tools(session);  tools.setGroupBy("reduce");  tools.hide();
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

class GraphTools : public QObject {
  Q_OBJECT
  Q_PROPERTY(QString groupBy READ groupBy WRITE setGroupBy NOTIFY changed)
  Q_PROPERTY(bool arranged READ arranged NOTIFY changed)
  /// What a graph can be collapsed and coloured by: [{value, text}].
  Q_PROPERTY(QVariantList groupings READ groupings CONSTANT)
  /// The level of layers that is drawn and those around it, outermost first: [{path, text}]; empty: no layers.
  Q_PROPERTY(QVariantList levels READ levels NOTIFY levelsChanged)
  Q_PROPERTY(QVariantList colourings READ colourings NOTIFY colouringsChanged)

public:
  explicit GraphTools(Session& session, QObject* parent = nullptr);
  QString groupBy() const;
  /// "nothing", "kernel", "loop", "reduce", "tensor", "line" or "layer"
  void setGroupBy(const QString& what);
  /// Whether anything is hidden, folded or pinned.
  bool arranged() const { return !session_.arrangement().plain(); }
  QVariantList groupings() const;
  QVariantList colourings() const;
  Q_INVOKABLE void showAll();
  QVariantList levels() const;
  /// Draws the inside of a layer: "model/blocks.3"; empty: all layers.
  Q_INVOKABLE void openLevel(const QString& path);
  /// After a double click: opens a box, or selects a node.
  Q_INVOKABLE void enter(qlonglong id);
  /// Opens a collapsed group, or closes the group of a node.
  Q_INVOKABLE void toggleGroup(qlonglong id);
  Q_INVOKABLE void pinAt(qlonglong id, qreal x, qreal y);
  /// Does a graph action; false if the action does not belong to the graph.
  bool trigger(const QString& action);

Q_SIGNALS:
  void changed();
  void colouringsChanged();
  void levelsChanged();

private:
  void openLargeSchedule();
  bool drawn(uint32_t slot) const;
  std::vector<uint32_t> neighbours(uint32_t slot, bool sources) const;
  const PictureNode* selected();
  void lookUpFacts();
  Session& session_;
  ScopeId factsOf_ = -1;
  qlonglong entered_ = 0; ///< the pass that was entered last
  bool ours_ = false;     ///< the grouping is that of a large schedule, and nobody chose it
};

} // namespace uopscope
