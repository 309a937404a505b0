// One recording of a whole program, configured by options or by the environment:
//
//   int main(int argc, char** argv) {
//     RecordingSession session(argc, argv);   // UOPSCOPE_TRACE=FILE, VIZ=1, UOPSCOPE_TIER=stats,
//     TRACK_MATCH_STATS=1
//     ...
//   }                                         // closed here: "complete", or "failed" when an exception
//   passes
//
// The session observes the thread that makes it. A deadly signal and Ctrl-C leave a trace that says so.
// UOPSCOPE_TRACE may be a folder: then every started and every forked process records to a file of its own in
// it. VIZ=1 without a file records to the temporary folder and opens the trace in the window when the program
// ends.
#pragma once
#include "replay/record/capture_session.h"
#include "replay/record/debug_gate.h"
#include "replay/record/git_place.h"
#include "replay/record/match_stats.h"
#include "replay/record/recorder.h"
#include "replay/record/rewrite_limits.h"
#include "replay/record/tee.h"

#include <optional>

namespace uopscope {

struct SessionOptions {
  std::string path; ///< path of the trace; empty: no recording
  Tier tier = Tier::Full;
  std::string script;                 ///< the script, as typed
  std::vector<std::string> arguments; ///< arguments of the script
  bool matchStats = false;            ///< print match statistics at the end
  bool printRewrites = false;         ///< print each rewrite as it is made
  bool openWindow = false;            ///< start `uopscope open` at the end
  bool handleSignals = true;          ///< commit before a deadly signal ends the program
  bool handleInterrupt = true; ///< SIGINT and SIGTERM end the next rewrite; the second one ends the program
  RecordingProgress* progress = nullptr;
  std::string corpus; ///< compilations are added to this corpus; empty: no capture
};

/// Whether the path is a folder for the traces of several processes, each in a file of its own.
bool isTraceFolder(const std::string& path);

class RecordingSession {
public:
  /// Takes its options from the environment.
  RecordingSession(int argc, char** argv);
  explicit RecordingSession(SessionOptions options);
  ~RecordingSession();
  RecordingSession(const RecordingSession&) = delete;
  RecordingSession& operator=(const RecordingSession&) = delete;

  static SessionOptions optionsFromEnvironment(const std::string& script, std::vector<std::string> arguments);

  bool recording() const { return recorder_ != nullptr; }
  const std::string& path() const { return options_.path; }
  Recorder* recorder() { return recorder_.get(); }
  /// Ends the recording before the destructor does. Idempotent.
  void finish(std::string_view status = "complete", std::string_view message = {});
  /// To be called in the child after a fork: the session stops observing the thread and neither writes nor
  /// closes anything. The writer thread and the file belong to the parent.
  void leaveToParent();
  /// Whether a stop was requested, by Ctrl-C or RecordingProgress::stop.
  bool interrupted() const;

private:
  void begin();
  void installHandlers();

  SessionOptions options_;
  RecordingProgress ownProgress_;
  std::unique_ptr<MatchStats> stats_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<DebugGate> gate_;
  std::unique_ptr<CaptureSession> capture_;
  std::unique_ptr<Tee> both_;
  Observer nobody_; ///< the observer behind the limits where nothing is recorded
  std::unique_ptr<LimitGate> limits_;
  std::unique_ptr<RewritePrinter> printer_;
  std::optional<ObserverScope> scope_;
  std::optional<ObservedScope> scriptScope_;
  std::vector<std::byte> signalStack_;
  int exceptions_ = 0, process_ = 0; ///< process_: the process that records
  bool finished_ = false;
};

} // namespace uopscope
