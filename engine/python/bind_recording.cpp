// _uopscope.recording: recordings that Python begins and ends; uopscope/recording.py stands over it. One at a time, of the
// thread that begins it; a process that forks leaves it to its parent.
//
//   _uopscope.recording.begin("steps.uoptrace");  ...;  _uopscope.recording.end()
//
// The session is ended by Python's exit handlers, while nodes can still be printed. After a fork the child owns neither the
// writer's thread nor the file: what it inherited is never touched again, so it is not destroyed either.
#include "engine/python/bind_recording.h"

#include "engine/python/casters.h"
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

/// The path of the trace, empty where what was asked for makes none.
std::string begin(SessionOptions options) {
  if (Observer::current())
    throw Error(ErrorKind::Value, "this process is being recorded already; end that recording first");
  options.handleInterrupt = false; // Python does
  const std::string path = options.path;
  running() = std::make_unique<RecordingSession>(std::move(options));
  return path;
}
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
  m.def("running", [] { return running() != nullptr; });
  m.def("forked", [] {
    if (RecordingSession* inherited = running().release())
      inherited->leaveToParent();
    else // recorded by the program that this Python is part of
      static_cast<void>(std::make_unique<ObserverScope>(nullptr).release());
  });
}

} // namespace uopscope
