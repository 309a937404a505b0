// Which rewrite makes the script fail, the kernel wrong or slow, or made a line of its code: `uopscope bisect` searches,
// with progress, and the answer ends at the step.
//
//   BisectModel bisect(session);  bisect.ofLine("float val0 = data1[ridx0];");  ... bisect.goToStep();
//
// A kernel of a trace that this window did not record runs in a sandbox; a script that the trace names runs only when it
// was asked for twice (script_consent.h).
#pragma once
#include "viz/models/session/session.h"

#include <QProcess>

namespace uopscope {

class BisectModel : public QObject {
  Q_OBJECT
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  /// Whether there is something to show: a search, or its answer.
  Q_PROPERTY(bool shown READ shown NOTIFY changed)
  Q_PROPERTY(QString question READ question NOTIFY changed)
  /// "run 3 of about 12", then the answer in a sentence.
  Q_PROPERTY(QString text READ text NOTIFY changed)
  /// 0 to 1 while it searches.
  Q_PROPERTY(qreal progress READ progress NOTIFY changed)
  Q_PROPERTY(bool failed READ failed NOTIFY changed)
  /// Whether the answer is a step of the open trace.
  Q_PROPERTY(bool hasStep READ hasStep NOTIFY changed)

public:
  explicit BisectModel(Session& session, QObject* parent = nullptr);
  ~BisectModel() override;
  bool busy() const { return process_.state() != QProcess::NotRunning; }
  bool shown() const { return busy() || !text_.isEmpty(); }
  QString question() const { return question_; }
  QString text() const { return text_; }
  qreal progress() const { return progress_; }
  bool failed() const { return failed_; }
  bool hasStep() const { return step_ > 0; }

  /// "wrong" or "slow"
  Q_INVOKABLE void ofKernel(const QString& what);
  Q_INVOKABLE void ofLine(const QString& line);
  Q_INVOKABLE void ofScript();
  Q_INVOKABLE void cancel();
  /// Forgets the answer.
  Q_INVOKABLE void close();
  Q_INVOKABLE void goToStep();
  /// The program that searches; the default is this program, and tests set another.
  void setProgram(const QString& program) { program_ = program; }

Q_SIGNALS:
  void changed();

private:
  void start(const QString& question, const QStringList& arguments);
  void listen();
  void ended(int code, QProcess::ExitStatus status);
  Session& session_;
  QProcess process_;
  QString program_, question_, text_, fault_;
  qreal progress_ = 0;
  StepId step_ = 0;
  bool failed_ = false, cancelled_ = false;
};

} // namespace uopscope
