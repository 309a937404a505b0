// A condition on steps, and running to the next step that meets it, forwards and backwards over the whole
// trace.
//
//   rule:add-*   op:ADD   node:456   pass:devectorize   kernel:r_16*   changed:no   error:yes   took>10000
//   where took_ns > 1000 AND before IN (SELECT ...)          any SQL condition on a row of step
//
//   Conditions c(session);  c.setText("rule:add-zero op:ADD");  c.run(1);
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

class Conditions : public QObject {
  Q_OBJECT
  Q_PROPERTY(QString text READ text WRITE setText NOTIFY changed)
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  Q_PROPERTY(qlonglong count READ count NOTIFY changed) ///< matching steps of the trace; -1: unknown
  Q_PROPERTY(QList<int> hits READ hits NOTIFY changed)  ///< matching steps of this pass
  Q_PROPERTY(QStringList past READ past NOTIFY changed)

public:
  explicit Conditions(Session& session, QObject* parent = nullptr);
  QString text() const { return text_; }
  void setText(const QString& text);
  QString problem() const { return problem_; }
  qlonglong count() const { return count_; }
  QList<int> hits() const { return hits_; }
  QStringList past() const { return past_; }
  /// Goes to the next (1) or previous (-1) step that meets the condition.
  Q_INVOKABLE void run(int direction);

Q_SIGNALS:
  void changed();

private:
  void look();
  Session& session_;
  QString text_, problem_;
  std::string sql_;
  qlonglong count_ = -1;
  QList<int> hits_;
  QStringList past_;
  PassId hitsOf_ = 0;
};

} // namespace uopscope
