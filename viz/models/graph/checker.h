// Checks one rewrite, or finds the first rewrite of the trace that changes a value
// (replay/compare/value_check.h). A background thread does the work.
//
//   Checker checker(session);  checker.checkStep();  checker.answer()
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

class Checker : public QObject {
  Q_OBJECT
  Q_PROPERTY(QString answer READ answer NOTIFY changed)
  /// "same", "differs", "unknown" or empty
  Q_PROPERTY(QString verdict READ verdict NOTIFY changed)
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  Q_PROPERTY(double progress READ progress NOTIFY changed)
  /// [{step, rule, where, before, after}]
  Q_PROPERTY(QVariantList faults READ faults NOTIFY changed)
  Q_PROPERTY(QString survey READ survey NOTIFY changed)

public:
  explicit Checker(Session& session, QObject* parent = nullptr);
  QString answer() const { return answer_; }
  QString verdict() const { return verdict_; }
  bool busy() const { return busy_; }
  double progress() const { return progress_; }
  QVariantList faults() const { return faults_; }
  QString survey() const { return survey_; }
  Q_INVOKABLE void checkStep();
  /// Checks the whole trace and goes to the first step that changes a value.
  Q_INVOKABLE void checkAll();
  Q_INVOKABLE void cancel();

Q_SIGNALS:
  void changed();

private:
  void forget();
  Session& session_;
  QString answer_, verdict_, survey_;
  QVariantList faults_;
  bool busy_ = false;
  double progress_ = 0;
};

} // namespace uopscope
