// What the canvas shows and what it reports back: the picture, the node selected, what a search found. The
// session sets it from its worker's answers; the canvas and the minimap draw it.
//
//   GraphSource source;  source.setPicture(picture);  canvas.setProperty("source",
//   QVariant::fromValue(&source));
#pragma once
#include "viz/models/graph/node_query.h"
#include "viz/models/graph/tinting.h"

#include <QObject>
#include <QVariantList>

namespace uopscope {

class GraphSource : public QObject {
  Q_OBJECT
  Q_PROPERTY(int nodeCount READ nodeCount NOTIFY pictureChanged)
  Q_PROPERTY(int edgeCount READ edgeCount NOTIFY pictureChanged)
  Q_PROPERTY(int added READ added NOTIFY pictureChanged)
  Q_PROPERTY(int removed READ removed NOTIFY pictureChanged)
  Q_PROPERTY(int covered READ covered NOTIFY pictureChanged)
  Q_PROPERTY(int changed READ changed NOTIFY pictureChanged)
  Q_PROPERTY(int foldedConstants READ foldedConstants NOTIFY pictureChanged)
  /// Expressions over loops that are told in the labels of what uses them.
  Q_PROPERTY(int foldedExpressions READ foldedExpressions NOTIFY pictureChanged)
  Q_PROPERTY(int hubs READ hubs NOTIFY pictureChanged)
  Q_PROPERTY(int hiddenEdges READ hiddenEdges NOTIFY pictureChanged)
  Q_PROPERTY(bool empty READ empty NOTIFY pictureChanged)
  Q_PROPERTY(int foundCount READ foundCount NOTIFY foundChanged)
  Q_PROPERTY(int foundIndex READ foundIndex NOTIFY foundChanged)
  /// What is wrong with what was typed; empty if nothing.
  Q_PROPERTY(bool notesShown READ notesShown NOTIFY notesChanged)
  Q_PROPERTY(QString searchProblem READ searchProblem NOTIFY foundChanged)
  Q_PROPERTY(int hiddenNodes READ hiddenNodes NOTIFY pictureChanged)
  Q_PROPERTY(int groups READ groups NOTIFY pictureChanged)
  Q_PROPERTY(int groupedNodes READ groupedNodes NOTIFY pictureChanged)
  /// Nodes of the graph that are on the map only, since the picture is of a step and its neighbourhood.
  Q_PROPERTY(int elsewhere READ elsewhere NOTIFY pictureChanged)
  /// One of tintings().
  Q_PROPERTY(QString colourBy READ colourBy WRITE setColourBy NOTIFY tintingChanged)
  /// [{text, count, colour}] of what is shown; empty while nodes are coloured by operation.
  Q_PROPERTY(QVariantList legend READ legend NOTIFY tintingChanged)
  /// The column whose values colour the nodes; empty: no query was asked for that.
  Q_PROPERTY(QString answerTitle READ answerTitle NOTIFY tintingChanged)
  Q_PROPERTY(bool legendOrdered READ legendOrdered NOTIFY tintingChanged)

public:
  using QObject::QObject;

  const PicturePtr& picture() const { return picture_; }
  void setPicture(PicturePtr picture);
  int64_t selected() const { return selected_; }
  void setSelected(int64_t id);
  const std::vector<int64_t>& found() const { return found_; }
  int64_t currentFound() const;
  void setFound(std::vector<int64_t> found);

  int nodeCount() const {
    if (!picture_) return 0;
    return static_cast<int>(picture_->graphNodes ? picture_->graphNodes
                                                 : picture_->nodes.size() - picture_->removed);
  }
  int edgeCount() const { return picture_ ? static_cast<int>(picture_->edges.size()) : 0; }
  int added() const { return picture_ ? static_cast<int>(picture_->added) : 0; }
  int removed() const { return picture_ ? static_cast<int>(picture_->removed + picture_->covered) : 0; }
  int covered() const { return picture_ ? static_cast<int>(picture_->covered) : 0; }
  int changed() const { return picture_ ? static_cast<int>(picture_->changed) : 0; }
  int foldedExpressions() const { return picture_ ? static_cast<int>(picture_->foldedExpressions) : 0; }
  int foldedConstants() const { return picture_ ? static_cast<int>(picture_->foldedConstants) : 0; }
  int hubs() const { return picture_ ? static_cast<int>(picture_->hubs) : 0; }
  int hiddenEdges() const { return picture_ ? static_cast<int>(picture_->hiddenEdges) : 0; }
  bool empty() const { return !picture_ || picture_->nodes.empty(); }
  int foundCount() const { return static_cast<int>(found_.size()); }
  int foundIndex() const { return foundAt_; }
  QString searchProblem() const { return query_.problem(); }
  int hiddenNodes() const { return picture_ ? static_cast<int>(picture_->hiddenNodes) : 0; }
  int elsewhere() const { return picture_ ? static_cast<int>(picture_->elsewhere) : 0; }
  int groups() const { return picture_ ? static_cast<int>(picture_->groups) : 0; }
  int groupedNodes() const { return picture_ ? static_cast<int>(picture_->groupedNodes) : 0; }
  QString colourBy() const { return colourBy_; }
  void setColourBy(const QString& what);
  const TintingPtr& tinting() const { return tinting_; }
  QVariantList legend() const;
  /// What a query gave to nodes; colours by it. An empty one goes back to operations.
  void setAnswer(TintingAnswer answer);
  QString answerTitle() const { return answer_.title; }
  bool legendOrdered() const { return tinting_ && tinting_->ordered; }
  /// Nodes that something else than a search marks: a query's result, a pattern. Kept until replaced.
  const std::map<int64_t, QString>& notes() const { return notes_; }
  bool notesShown() const { return !notes_.empty(); }
  Q_INVOKABLE void clearNotes() { setNotes({}); }
  void setNotes(std::map<int64_t, QString> notes);
  /// Whether what is asked for needs facts that are not here yet.
  bool wantsFacts() const;
  void setFacts(std::shared_ptr<const FactMap> facts);
  const FactMap* facts() const { return facts_.get(); }

  /// Selects by NodeQuery, as one types.
  Q_INVOKABLE void search(const QString& text);
  /// To the next (or previous) node found; it becomes the one to look at.
  Q_INVOKABLE void nextFound(int step);

Q_SIGNALS:
  void pictureChanged();
  void selectedChanged();
  void foundChanged();
  void tintingChanged();
  void notesChanged();
  /// Somebody should look facts up and setFacts().
  void factsWanted();
  /// The canvas should bring the node into view.
  void lookAt(qlonglong id);

private:
  PicturePtr picture_;
  int64_t selected_ = -1;
  std::vector<int64_t> found_;
  int foundAt_ = -1;
  void tint();
  void find();
  NodeQuery query_;
  QString colourBy_ = QStringLiteral("op");
  TintingPtr tinting_;
  TintingAnswer answer_;
  std::shared_ptr<const FactMap> facts_;
  std::map<int64_t, QString> notes_;
};

} // namespace uopscope
