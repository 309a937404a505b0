// Stops a recording at the gate: between what the engine reports and the recorder, an observer that waits for
// orders where a breakpoint holds. Orders and answers are lines over a local socket, on which somebody else
// listens:
//
//   orders    break rule=NAME op=OP into=OP pass=NAME kernel=NAME   (any of them, with * for anything; all
//   must hold)
//             clear | pause | continue | step | next | finish | skip
//   answers   paused TAB kernel TAB pass TAB steps of it TAB depth TAB rule TAB before TAB after
//             running
//
// `step` stops at the next rewrite, `next` at the next one of this pass, `finish` when the pass has ended,
// `skip` leaves the rewrite out and goes on to the next one. While it waits, everything so far is in the
// file. When the other end hangs up, breakpoints are forgotten and the program runs on.
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

/// What a rewrite is about, as breakpoints see it.
struct GatePlace {
  std::string_view rule, op, into, pass, kernel;
};
/// "rule=add-* op=ADD"; Error(Value) names a field there is not.
class Breakpoint {
public:
  static Breakpoint parse(std::string_view text);
  bool holds(const GatePlace& place) const;

private:
  std::map<std::string, std::string> wanted_;
};

class DebugGate final : public ForwardingObserver {
public:
  /// Error(Runtime) when nobody listens there. `settle` is called before each wait.
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
  size_t depth_ = 0;       ///< of the pass that `next` and `finish` are about
  bool passEnded_ = false; ///< the pass at that depth
  bool paused_ = false, skip_ = false;
  struct Pass {
    std::string name;
    int64_t steps = 0;
  };
  std::vector<Pass> passes_;
  std::vector<std::string> scopes_;
  uint32_t since_ = 0; ///< rewrites since orders were looked for
};

} // namespace uopscope
