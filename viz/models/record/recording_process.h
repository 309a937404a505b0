// Records a script by running `uopscope record` as a child process, or makes a trace of a graph in DOT by `uopscope
// import`. The window itself never runs a script or reads a graph, so a crash or an endless loop costs only the child.
//
//   RecordingProcess r;  r.start("/usr/bin/uopscope", "model.py", "/tmp/model.uoptrace");  ... r.cancel();
#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QStringList>

namespace uopscope {

class RecordingProcess : public QObject {
  Q_OBJECT
  Q_PROPERTY(bool running READ running NOTIFY changed)
  Q_PROPERTY(QString output READ output NOTIFY outputChanged)
  Q_PROPERTY(QString script READ script NOTIFY changed)
  Q_PROPERTY(QString trace READ trace NOTIFY changed)
  /// The reason of a bad end, in words; empty while it runs and after a clean end.
  Q_PROPERTY(QString problem READ problem NOTIFY changed)
  Q_PROPERTY(int exitCode READ exitCode NOTIFY changed)
  Q_PROPERTY(qreal seconds READ seconds NOTIFY ticked)

public:
  explicit RecordingProcess(QObject* parent = nullptr);
  ~RecordingProcess() override;

  /// Whether a file becomes a trace by `uopscope import`: .dot and .gv.
  static bool imports(const QString& file);
  void start(const QString& program, const QString& script, const QString& trace,
             const QStringList& arguments = {});
  /// The socket over which the next recording takes orders (replay/record/debug_gate.h); empty: it takes
  /// none.
  void setGate(const QString& socket) { gate_ = socket; }
  /// A file of rules that takes part in the next recording; empty: none.
  void setRules(const QString& file) { rules_ = file; }
  /// Asks it to stop (the trace stays valid). A second call, or three seconds, kill it.
  Q_INVOKABLE void cancel();
  bool running() const { return process_.state() != QProcess::NotRunning; }
  QString output() const { return output_; }
  QString script() const { return script_; }
  QString trace() const { return trace_; }
  QString problem() const { return problem_; }
  int exitCode() const { return exitCode_; }
  qreal seconds() const { return static_cast<qreal>(running() ? clock_.elapsed() : elapsed_) / 1000; }

Q_SIGNALS:
  void changed();
  void outputChanged();
  void ticked();
  void finished();

private:
  void take(const QByteArray& bytes);
  QProcess process_;
  QElapsedTimer clock_;
  qint64 elapsed_ = 0;
  QString gate_, rules_, output_, script_, trace_, problem_;
  int exitCode_ = 0;
  bool cancelled_ = false;
};

} // namespace uopscope
