// Breakpoints of a recording on the command line. The process that watches the script listens to its gate
// (replay/record/debug_gate.h), reports each stop, and passes typed orders on.
//
//   RecordPrompt prompt({"rule=add-*"});
//   setenv("UOPSCOPE_GATE", prompt.socketPath().c_str(), 1);     // before the script is started
//   while (running) prompt.serve();
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace uopscope::cli {

class RecordPrompt {
public:
  /// Without breakpoints it stops before the first rewrite. Error(Value) names an unknown field.
  explicit RecordPrompt(std::vector<std::string> breakpoints);
  ~RecordPrompt();
  RecordPrompt(const RecordPrompt&) = delete;
  RecordPrompt& operator=(const RecordPrompt&) = delete;

  const std::string& socketPath() const { return path_; }
  /// Handles all pending input and returns at once.
  void serve();
  /// True once, when the person asks to end the recording.
  bool quits() { return std::exchange(quit_, false); }

private:
  void greet();
  void hear();
  void tell(const std::string& line);
  void ask();
  void obey(const std::string& typed);
  void hangUp();

  std::vector<std::string> breakpoints_;
  std::string folder_, path_, heard_, typed_;
  int listener_ = -1, peer_ = -1;
  bool paused_ = false, ended_ = false, quit_ = false;
};

} // namespace uopscope::cli
