// _uopscope.recording: recordings that Python begins and ends; uopscope/recording.py is the interface to it.
// There is one recording at a time. It belongs to the thread that begins it, and a process that forks leaves
// it to its parent.
//
//   _uopscope.recording.begin("steps.uoptrace");  ...;  _uopscope.recording.end()
//
// Python's exit handlers end the session, while nodes can still be printed. After a fork the child owns
// neither the writer's thread nor the file: it never uses the inherited session and does not destroy it.
#include "engine/python/bind_recording.h"

#include "engine/python/casters.h"
#include "engine/rewrite/thread_observer.h"
#include "replay/record/session.h"

#include <memory>
#include <string>
#include <vector>

namespace uopscope {

namespace {
std::unique_ptr<RecordingSession>& running() {
  static std::unique_ptr<RecordingSession> session;
  return session;
}

/// Begins a recording; returns the path of the trace, or an empty path if the options ask for none.
std::string begin(SessionOptions options) {
  if (Observer::current())
    throw Error(ErrorKind::Value, "this process is being recorded already; end that recording first");
  options.handleInterrupt = false; // Python handles Ctrl-C itself
  const std::string path = options.path;
  running() = std::make_unique<RecordingSession>(std::move(options));
  return path;
}

/// A thread of the script, between its start and its end.
class StartedThread {
public:
  explicit StartedThread(std::unique_ptr<ThreadObserver> observer) : observer_(std::move(observer)) {}
  ~StartedThread() {
    // A thread that did not survive a fork cannot leave its scope, and its observer is used no more.
    if (scope_) static_cast<void>(scope_.release()), static_cast<void>(observer_.release());
  }
  StartedThread(const StartedThread&) = delete;
  StartedThread& operator=(const StartedThread&) = delete;
  void enter() { scope_ = std::make_unique<ObserverScope>(observer_.get()); }
  void exit() {
    scope_.reset();
    observer_.reset();
  }

private:
  std::unique_ptr<ThreadObserver> observer_;
  std::unique_ptr<ObserverScope> scope_;
};
} // namespace

void bindRecording(py::module_& whole) {
  py::module_ m = whole.def_submodule("recording", "Recordings that Python begins and ends.");
  m.def(
      "begin",
      [](const std::string& path, const std::string& tier, const std::string& script) {
        SessionOptions o;
        o.path = path;
        o.tier = tierFromName(tier);
        o.script = script;
        return begin(std::move(o));
      },
      py::arg("path"), py::arg("tier") = "full", py::arg("script") = "");
  m.def(
      "begin_as_asked",
      [](const std::string& script, std::vector<std::string> arguments, bool window) {
        SessionOptions o = RecordingSession::optionsFromEnvironment(script, std::move(arguments));
        if (!window) o.openWindow = false;
        return begin(std::move(o));
      },
      "By the environment: UOPSCOPE_TRACE, VIZ, TRACK_MATCH_STATS, CAPTURE_PROCESS_REPLAY.",
      py::arg("script"), py::arg("arguments"), py::arg("window"));
  m.def(
      "end",
      [](const std::string& status, const std::string& message) {
        std::unique_ptr<RecordingSession> session = std::move(running());
        if (session) session->finish(status, message);
      },
      py::arg("status") = "complete", py::arg("message") = "");
  py::class_<StartedThread>(m, "StartedThread")
      .def("__enter__", &StartedThread::enter)
      .def("__exit__", [](StartedThread& t, const py::args&) { t.exit(); });
  m.def(
      "started_thread",
      [] {
        auto observer = ThreadObserver::ofThisThread();
        return observer ? std::make_unique<StartedThread>(std::move(observer)) : nullptr;
      },
      "A block of the thread that this one starts; None if this one is not recorded.");
  m.def("running", [] { return running() != nullptr; });
  m.def("forked", [] {
    if (RecordingSession* inherited = running().release())
      inherited->leaveToParent();
    else // this Python runs inside `uopscope record`, which records
      static_cast<void>(std::make_unique<ObserverScope>(nullptr).release());
  });
}

} // namespace uopscope
