// Compares any two states: traces, kernels, passes and steps may differ. It shows the picture, the expression
// of the roots, and the kernels' texts side by side.
//
//   CompareModel c(session);  c.remember();  session.trigger("next-pass");  c.compareNow();
#pragma once
#include "viz/models/compare/compared_lines.h"
#include "viz/models/session/session.h"

namespace uopscope {

class CompareModel : public uopscope::ComparedLines {
  Q_OBJECT
  Q_PROPERTY(QString leftTitle READ leftTitle NOTIFY changed)
  Q_PROPERTY(QString rightTitle READ rightTitle NOTIFY changed)
  Q_PROPERTY(bool remembered READ remembered NOTIFY changed)
  /// "graph", or of a text: "tree", "source", "ir", "asm", "uops"
  Q_PROPERTY(QString what READ what WRITE setWhat NOTIFY changed)
  Q_PROPERTY(QString summary READ summary NOTIFY changed)
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  Q_PROPERTY(uopscope::GraphSource* graph READ graph CONSTANT)

public:
  explicit CompareModel(Session& session, QObject* parent = nullptr);
  QString leftTitle() const { return left_.title; }
  QString rightTitle() const { return right_.title; }
  bool remembered() const { return !left_.link.isEmpty(); }
  QString what() const { return what_; }
  void setWhat(const QString& what);
  QString summary() const { return summary_; }
  QString problem() const { return problem_; }
  GraphSource* graph() { return &graph_; }

  /// Makes the present state the left side; it stays when another trace is opened.
  Q_INVOKABLE void remember();
  /// Makes the present state the right side and compares both.
  Q_INVOKABLE void compareNow();
  /// Compares the beginning and the end of the present pass.
  Q_INVOKABLE void comparePass();
  Q_INVOKABLE void swap();
  /// Takes the same place in another trace as the left side.
  Q_INVOKABLE void openLeft(const QString& path);

private:
  struct State {
    QString trace, link, title;
  };
  State present() const;
  void ask();
  Session& session_;
  State left_, right_;
  GraphSource graph_;
  QString what_ = QStringLiteral("graph"), summary_, problem_;
};

} // namespace uopscope
