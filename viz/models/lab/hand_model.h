// By hand: the graph at the step in front, every rule that matches anywhere in it, the graph after the one that was chosen,
// and so on, until the compiler goes on with it as a variant.
//
//   HandModel hand(session);  hand.begin();  hand.choose(0);  hand.takeBack();  hand.goOn();  // asks for the variant
//
// `uopscope whatif --matches` asks the rules, in a process of its own. A row is a match; rows can be filtered by words.
#pragma once
#include "viz/models/session/session.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QProcess>

namespace uopscope {

class HandModel : public QAbstractListModel {
  Q_OBJECT
  /// Whether a graph is in hand.
  Q_PROPERTY(bool open READ open NOTIFY changed)
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  /// "devectorize, step 12"
  Q_PROPERTY(QString place READ place NOTIFY changed)
  /// The choices so far, as `whatif --by-hand` takes them.
  Q_PROPERTY(QStringList chosen READ chosen NOTIFY changed)
  /// How many match, and which passes could not be asked.
  Q_PROPERTY(QString summary READ summary NOTIFY changed)
  Q_PROPERTY(QString filter READ filter WRITE setFilter NOTIFY changed)
  Q_PROPERTY(int count READ count NOTIFY changed)
  /// The row whose rewrite is drawn; -1: none.
  Q_PROPERTY(int current READ current WRITE setCurrent NOTIFY currentChanged)
  Q_PROPERTY(uopscope::GraphSource* rewrite READ rewrite CONSTANT)
  /// The graph in hand, with what the last choice changed.
  Q_PROPERTY(uopscope::GraphSource* graph READ graph CONSTANT)

public:
  enum Roles { NameRole = Qt::UserRole + 1, PassRole, BeforeRole, AfterRole, ReasonRole };
  explicit HandModel(Session& session, QObject* parent = nullptr);
  ~HandModel() override;

  /// Takes the graph of the step in front.
  Q_INVOKABLE void begin();
  Q_INVOKABLE void choose(int row);
  Q_INVOKABLE void takeBack();
  /// Asks for the variant, and lets the graph go.
  Q_INVOKABLE void goOn();
  Q_INVOKABLE void close();
  /// The program that works; the default is this program, and tests set another.
  void setProgram(const QString& program) { program_ = program; }

  bool open() const { return !place_.isEmpty(); }
  bool busy() const { return process_.state() != QProcess::NotRunning; }
  QString problem() const { return problem_; }
  QString place() const { return shownPlace_; }
  QStringList chosen() const { return chosen_; }
  QString summary() const;
  QString filter() const { return filter_; }
  void setFilter(const QString& words);
  int count() const { return static_cast<int>(rows_.size()); }
  int current() const { return current_; }
  void setCurrent(int row);
  GraphSource* rewrite() { return &rewrite_; }
  GraphSource* graph() { return &graph_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();
  void currentChanged();
  /// The pane comes to the front.
  void asked();
  /// The variant "PLACE:RULE,RULE" of `whatif --by-hand`.
  void variantAsked(const QString& text);

private:
  QString text(const QStringList& choices) const;
  void ask(const QStringList& choices);
  void ended(int code, QProcess::ExitStatus status);
  void show();
  QJsonObject matchAt(int row) const;

  Session& session_;
  QProcess process_;
  QString place_, shownPlace_, problem_, filter_, program_;
  QStringList chosen_, asking_;
  QJsonObject answer_;
  QJsonArray matches_;
  std::vector<int> rows_; ///< of matches_, that the filter leaves
  GraphSource rewrite_, graph_;
  int current_ = -1;
};

} // namespace uopscope
