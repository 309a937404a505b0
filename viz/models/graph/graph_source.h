// The state that the canvas shows and reports back: the picture, the selected node, the results of a search.
// The session sets it from its worker's answers; the canvas and the minimap draw it.
//
//   GraphSource source;  source.setPicture(picture);  canvas.setProperty("source",
//   QVariant::fromValue(&source));
#pragma once
#include "viz/models/graph/node_query.h"
#include "viz/models/graph/tinting.h"

#include <QObject>
#include <QVariantList>

namespace uopscope {

/// The number of a node at chosen iterations; `wrong`: it differs from the expected number.
struct CanvasNumber {
  QString text;
  bool wrong = false;
};

class GraphSource : public QObject {
  Q_OBJECT
  Q_PROPERTY(int nodeCount READ nodeCount NOTIFY pictureChanged)
  Q_PROPERTY(int edgeCount READ edgeCount NOTIFY pictureChanged)
  Q_PROPERTY(int added READ added NOTIFY pictureChanged)
  Q_PROPERTY(int removed READ removed NOTIFY pictureChanged)
  Q_PROPERTY(int covered READ covered NOTIFY pictureChanged)
  Q_PROPERTY(int changed READ changed NOTIFY pictureChanged)
  Q_PROPERTY(int foldedConstants READ foldedConstants NOTIFY pictureChanged)
  /// Number of expressions over loops that the labels of their users contain.
  Q_PROPERTY(int foldedExpressions READ foldedExpressions NOTIFY pictureChanged)
  Q_PROPERTY(int hubs READ hubs NOTIFY pictureChanged)
  Q_PROPERTY(int hiddenEdges READ hiddenEdges NOTIFY pictureChanged)
  Q_PROPERTY(bool empty READ empty NOTIFY pictureChanged)
  Q_PROPERTY(int foundCount READ foundCount NOTIFY foundChanged)
  Q_PROPERTY(int foundIndex READ foundIndex NOTIFY foundChanged)
  Q_PROPERTY(bool notesShown READ notesShown NOTIFY notesChanged)
  /// The error in the typed query; empty if there is none.
  Q_PROPERTY(QString searchProblem READ searchProblem NOTIFY foundChanged)
  Q_PROPERTY(int hiddenNodes READ hiddenNodes NOTIFY pictureChanged)
  /// Why the layout is not the chosen one; empty if it is.
  Q_PROPERTY(QString layoutNote READ layoutNote NOTIFY pictureChanged)
  Q_PROPERTY(int groups READ groups NOTIFY pictureChanged)
  Q_PROPERTY(int groupedNodes READ groupedNodes NOTIFY pictureChanged)
  /// Nodes of the graph that only the map shows, since the picture shows a step and its neighbourhood.
  Q_PROPERTY(int elsewhere READ elsewhere NOTIFY pictureChanged)
  /// Of a picture by layers: nodes that are neither in the level nor beside it.
  Q_PROPERTY(int outside READ outside NOTIFY pictureChanged)
  /// One of tintings().
  Q_PROPERTY(QString colourBy READ colourBy WRITE setColourBy NOTIFY tintingChanged)
  /// [{text, count, colour}] of the shown nodes; empty while nodes are coloured by operation.
  Q_PROPERTY(QVariantList legend READ legend NOTIFY tintingChanged)
  /// The column whose values colour the nodes; empty where no query gave any.
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
  int outside() const { return picture_ ? static_cast<int>(picture_->outside) : 0; }
  QString layoutNote() const { return picture_ ? QString::fromStdString(picture_->layoutNote) : QString(); }
  int groups() const { return picture_ ? static_cast<int>(picture_->groups) : 0; }
  int groupedNodes() const { return picture_ ? static_cast<int>(picture_->groupedNodes) : 0; }
  QString colourBy() const { return colourBy_; }
  void setColourBy(const QString& what);
  const TintingPtr& tinting() const { return tinting_; }
  QVariantList legend() const;
  /// Sets the values that a query gave to nodes and colours by them. An empty answer goes back to operations.
  void setAnswer(TintingAnswer answer);
  QString answerTitle() const { return answer_.title; }
  bool legendOrdered() const { return tinting_ && tinting_->ordered; }
  /// Marks from other sources than the search: a query's result, a pattern. They stay until replaced.
  const std::map<int64_t, QString>& notes() const { return notes_; }
  bool notesShown() const { return !notes_.empty(); }
  Q_INVOKABLE void clearNotes() { setNotes({}); }
  void setNotes(std::map<int64_t, QString> notes);
  /// Numbers at the corners of nodes; they stay until replaced.
  const std::map<int64_t, CanvasNumber>& numbers() const { return numbers_; }
  void setNumbers(std::map<int64_t, CanvasNumber> numbers);
  /// Whether the colouring or the search needs facts that have not arrived yet.
  bool wantsFacts() const;
  void setFacts(std::shared_ptr<const FactMap> facts);
  const FactMap* facts() const { return facts_.get(); }

  /// Selects nodes by a NodeQuery while a person types it.
  Q_INVOKABLE void search(const QString& text);
  /// Goes to the next (or previous) found node.
  Q_INVOKABLE void nextFound(int step);

Q_SIGNALS:
  void pictureChanged();
  void selectedChanged();
  void foundChanged();
  void tintingChanged();
  void notesChanged();
  /// Asks for facts; setFacts() answers.
  void factsWanted();
  /// Asks the canvas to bring the node into view.
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
  std::map<int64_t, CanvasNumber> numbers_;
};

} // namespace uopscope
