// Stops a recording at a breakpoint. The gate is an observer between the engine and the recorder; where a
// breakpoint holds, it waits for orders. Orders and answers are lines over a local socket, on which a
// debugger listens:
//
//   orders    break rule=NAME op=OP into=OP pass=NAME kernel=NAME   (any of these fields; * matches
//                                                                   anything; all given fields must match)
//             clear | pause | continue | step | next | finish | skip
//   answers   paused TAB kernel TAB pass TAB steps of it TAB depth TAB rule TAB before TAB after
//             running
//
// `step` stops at the next rewrite, `next` at the next rewrite of the same pass, `finish` at the end of the
// pass. `skip` leaves the rewrite out and stops at the next one. While the gate waits, the file holds
// everything recorded so far. When the debugger hangs up, the gate forgets its breakpoints and the program
// runs on.
//
//   DebugGate gate(recorder, "/run/user/1000/uopscope-1.sock", [&] { recorder.flush(); });
//   ObserverScope scope(&gate);
#pragma once
#include "engine/rewrite/forwarding_observer.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace uopscope {

/// The fields of a rewrite that breakpoints compare.
struct GatePlace {
  std::string_view rule, op, into, pass, kernel;
};
/// One breakpoint, from text such as "rule=add-* op=ADD". Error(Value) names an unknown field.
class Breakpoint {
public:
  static Breakpoint parse(std::string_view text);
  bool holds(const GatePlace& place) const;

private:
  std::map<std::string, std::string> wanted_;
};

class DebugGate final : public ForwardingObserver {
public:
  /// Throws Error(Runtime) when no debugger listens on the socket. Calls `settle` before each wait.
  DebugGate(Observer& inner, const std::string& socketPath, std::function<void()> settle);
  ~DebugGate() override;
  DebugGate(const DebugGate&) = delete;
  DebugGate& operator=(const DebugGate&) = delete;

  void onScopeBegin(const ScopeBegin& begin) override;
  void onScopeEnd() override;
  void onPassBegin(const PassBegin& begin) override;
  void onPassEnd(const PassEnd& end) override;
  Control onRewrite(const RewriteEvent& event) override;

private:
  enum class Run { Free, Step, Next, Finish };
  bool stopsAt(const RewriteEvent& event);
  Control wait(const RewriteEvent& event);
  void takeOrders(bool block);
  void obey(const std::string& order);
  void answer(const std::string& line);

  std::function<void()> settle_;
  int socket_ = -1;
  std::string pending_;
  std::vector<Breakpoint> breakpoints_;
  Run run_ = Run::Free;
  size_t depth_ = 0;       ///< depth of the pass that `next` or `finish` refers to
  bool passEnded_ = false; ///< the pass at depth_ has ended
  bool paused_ = false, skip_ = false;
  struct Pass {
    std::string name;
    int64_t steps = 0;
  };
  std::vector<Pass> passes_;
  std::vector<std::string> scopes_;
  uint32_t since_ = 0; ///< rewrites since the gate last looked for orders
};

} // namespace uopscope
