// Any two states compared: this trace or another one, any kernel, pass and step. The picture, the expression
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

  /// The present state becomes the left side; it stays when another trace is opened.
  Q_INVOKABLE void remember();
  /// The present state becomes the right side, and both are compared.
  Q_INVOKABLE void compareNow();
  /// The present pass as it began and as it ended.
  Q_INVOKABLE void comparePass();
  Q_INVOKABLE void swap();
  /// The left side: the same place in another trace.
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
