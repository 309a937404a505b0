// Breakpoints of a recording on the command line: the process that watches the script listens for its gate
// (replay/record/debug_gate.h), says where it stops, and passes on what is typed.
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
  /// No breakpoints: it stops before the first rewrite. Error(Value) names a field there is not.
  explicit RecordPrompt(std::vector<std::string> breakpoints);
  ~RecordPrompt();
  RecordPrompt(const RecordPrompt&) = delete;
  RecordPrompt& operator=(const RecordPrompt&) = delete;

  const std::string& socketPath() const { return path_; }
  /// Does what there is to do and returns at once.
  void serve();
  /// True once, when whoever types wants the recording to end.
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
