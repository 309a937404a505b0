// Breakpoints while a recording runs: the window's end of replay/record/debug_gate.h. It listens on a socket
// for the recorder's process, sends it breakpoints and orders, and knows where it waits.
//
//   LiveControl live(session);  live.setBreakpoints({"rule=add-*"});  live.record("model.py");  ...
//   live.order("step");
#pragma once
#include "viz/models/session/session.h"

#include <QSocketNotifier>

namespace uopscope {

/// A condition of the trace (viz/models/session/conditions.h) as a breakpoint of a recording; empty where it
/// has no such form.
QString breakpointOf(const QString& condition);

class LiveControl : public QObject {
  Q_OBJECT
  /// Whether a recording that takes orders is connected.
  Q_PROPERTY(bool connected READ connected NOTIFY changed)
  Q_PROPERTY(bool paused READ paused NOTIFY changed)
  /// {kernel, pass, steps, rule, before, after} of the rewrite that the recording waits before.
  Q_PROPERTY(QVariantMap where READ where NOTIFY changed)
  Q_PROPERTY(QStringList breakpoints READ breakpoints WRITE setBreakpoints NOTIFY changed)

public:
  explicit LiveControl(Session& session, QObject* parent = nullptr);
  ~LiveControl() override;
  bool connected() const { return peer_ >= 0; }
  bool paused() const { return paused_; }
  QVariantMap where() const { return where_; }
  QStringList breakpoints() const { return breakpoints_; }
  void setBreakpoints(const QStringList& breakpoints);
  /// Records a script under control; without breakpoints it pauses before the first rewrite.
  Q_INVOKABLE void record(const QString& script);
  /// Sends "continue", "pause", "step", "next", "finish" or "skip".
  Q_INVOKABLE void order(const QString& what);

Q_SIGNALS:
  void changed();

private:
  bool listen();
  void accept();
  void read();
  void hangUp();
  void heard(const QString& line);
  void send(const QString& line);
  Session& session_;
  int listener_ = -1, peer_ = -1;
  QString socketPath_;
  std::unique_ptr<QSocketNotifier> incoming_, readable_;
  QByteArray pending_;
  QStringList breakpoints_;
  QVariantMap where_;
  bool paused_ = false;
};

} // namespace uopscope
