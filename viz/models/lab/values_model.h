// The number of every node of the graph in front, at iterations and with inputs that a person chooses: a row per node
// with the number before and after, numbers on the canvas, and the values that the kernel stores after each of its passes.
//
//   ValuesModel values(session);  values.setOn(true);  values.choose("r0", 3);  values.setInput("data1", "0.5");
//
// replay/compare/node_values.h computes, on a lane of the jobs; a newer question stops an older one. Choices are by
// name, so they hold in every graph that has such a loop, until the trace is closed.
#pragma once
#include "replay/compare/node_values.h"
#include "viz/models/session/session.h"

#include <QAbstractListModel>

namespace uopscope {

class ValuesModel : public QAbstractListModel {
  Q_OBJECT
  /// Whether the canvas shows numbers.
  Q_PROPERTY(bool on READ on WRITE setOn NOTIFY changed)
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  Q_PROPERTY(int count READ count NOTIFY changed)
  Q_PROPERTY(int differing READ differing NOTIFY changed)
  Q_PROPERTY(bool onlyDiffering READ onlyDiffering WRITE setOnlyDiffering NOTIFY changed)
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  /// [{name, kind, first, last, at}]
  Q_PROPERTY(QVariantList loops READ loops NOTIFY changed)
  /// [{name, dtype, size, contents}]
  Q_PROPERTY(QVariantList inputs READ inputs NOTIFY changed)
  /// Whether the graph has tensors, of which an element is chosen.
  Q_PROPERTY(bool tensors READ tensors NOTIFY changed)
  Q_PROPERTY(QString element READ element NOTIFY changed)
  /// [{element, rows: [{pass, name, text, note, differs}], wrongPass, wrongStep}]
  Q_PROPERTY(QVariantList ways READ ways NOTIFY changed)
  /// The number of the selected node, with its note; empty where it has none, or nothing is shown.
  Q_PROPERTY(QString ofNode READ ofNode NOTIFY changed)

public:
  enum Roles { NodeRole = Qt::UserRole + 1, TitleRole, BeforeRole, AfterRole, NoteRole, DiffersRole };
  explicit ValuesModel(Session& session, QObject* parent = nullptr);

  bool on() const { return on_; }
  void setOn(bool on);
  bool busy() const { return session_.jobs().busy(Channel::Values); }
  int count() const { return static_cast<int>(shown_.size()); }
  int differing() const { return static_cast<int>(found_.differ); }
  bool onlyDiffering() const { return onlyDiffering_; }
  void setOnlyDiffering(bool on);
  QString problem() const { return problem_; }
  QVariantList loops() const;
  QVariantList inputs() const;
  bool tensors() const { return tensors_; }
  QString element() const;
  QVariantList ways() const { return ways_; }
  QString ofNode() const;

  Q_INVOKABLE void choose(const QString& loop, qlonglong iteration);
  /// "0.5", "1,2,3" or "count"; an empty text makes the input up again.
  Q_INVOKABLE void setInput(const QString& name, const QString& text);
  /// "2,5"; an empty text chooses the first element.
  Q_INVOKABLE void setElement(const QString& text);
  /// The first iterations, made-up inputs.
  Q_INVOKABLE void reset();
  Q_INVOKABLE void selectNode(int row);
  /// To the row's node in the graph.
  Q_INVOKABLE void goToNode(int row);
  /// The rows as a table; an empty string where it was written, the fault otherwise.
  Q_INVOKABLE QString exportTo(const QString& path) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();

private:
  bool wanted() const { return on_ || session_.tab() == QLatin1String("values"); }
  void ask();
  void askWays();
  void again();
  void show();
  void showOnCanvas();

  Session& session_;
  ValueChoice choice_;
  StepValues found_;
  std::vector<QString> titles_; ///< of found_.rows
  std::vector<bool> constants_; ///< of found_.rows
  std::vector<size_t> shown_;   ///< rows of found_
  QVariantList ways_;
  QString problem_, asked_, askedWays_;
  int chosen_ = 0; ///< how often something was chosen
  bool on_ = false, onlyDiffering_ = false, tensors_ = false;
};

} // namespace uopscope
