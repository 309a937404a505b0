// A page over the window that shows files of its own: compared compilations, or experiments. This base keeps whether the
// page is in front, what it is doing, and the thread that reads its files; each page adds its contents and its keys.
//
//   class ExperimentModel : public FilePage { ... };
//   setState("ready");   fail("a.uopbench: it is no experiment");   if (belongsToTrace(action)) return true;
//
// Invariant: a trace that opens takes the window, and while the page is in front no action moves the trace below it.
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

class FilePage : public QObject {
  Q_OBJECT
  /// Whether the page is in front.
  Q_PROPERTY(bool shown READ shown WRITE setShown NOTIFY changed)
  /// "working", "ready" or "error"; before there are files, the name that the page has for that.
  Q_PROPERTY(QString state READ state NOTIFY changed)
  Q_PROPERTY(QString errorText READ errorText NOTIFY changed)

public:
  bool shown() const { return shown_; }
  virtual void setShown(bool on);
  QString state() const { return state_; }
  QString errorText() const { return error_; }
  /// Everything asked for is here.
  virtual bool settled() const { return jobs_.idle(); }
  /// Does an action while the page is in front; true where the action concerns the page.
  virtual bool trigger(const QString& action) = 0;
  Q_INVOKABLE virtual void cancel() = 0;

Q_SIGNALS:
  void changed();
  /// A request to the page: "search", "fit" ...
  void uiAction(const QString& id);

protected:
  FilePage(Session& session, const QString& state, QObject* parent);
  void setState(const QString& state);
  virtual void fail(const QString& what);
  bool is(const char* state) const { return state_ == QLatin1String(state); }
  /// Whether the action moves, draws or explains a trace, which it must not do below a page.
  static bool belongsToTrace(const QString& action);
  /// Of a path, or of what was dropped on the window.
  static QString localPath(QString path);

  Session& session_;
  Jobs jobs_; ///< of this page: it opens files of its own
  QString state_, error_;
  bool shown_ = false;
};

} // namespace uopscope
