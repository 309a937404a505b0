// Observes a thread that a script starts, for the observer of the thread that starts it. Two threads may take turns in the
// middle of a rewrite (a rule written in Python gives up the interpreter's lock), so their scopes and passes would
// interleave: the outermost one of the thread reports to a fork, which joins when it ends.
//
//   auto its = ThreadObserver::ofThisThread();   // in the thread that starts another
//   ObserverScope scope(its.get());              // in the started thread
//
// An ObserverScope that ends detaches the threads that its observer observes. A thread that a started thread starts is
// observed for the first one.
//
// Invariant: one thread at a time calls it or its observer (Python's lock). An observer that cannot fork, since it decides
// about rewrites in their order, receives the events directly.
#pragma once
#include "engine/rewrite/forwarding_observer.h"

#include <memory>

namespace uopscope {

class ThreadObserver final : public ForwardingObserver {
public:
  /// For a thread that this thread starts; null if nothing observes this thread.
  static std::unique_ptr<ThreadObserver> ofThisThread();
  explicit ThreadObserver(Observer& starter);
  ~ThreadObserver() override;
  ThreadObserver(const ThreadObserver&) = delete;
  ThreadObserver& operator=(const ThreadObserver&) = delete;

  /// `starter` is about to end: its threads hand over their events and are observed no longer.
  static void detachAll(const Observer& starter);

  bool wantsRewrites() const override { return starter_ && inner().wantsRewrites(); }
  void onScopeBegin(const ScopeBegin& begin) override;
  void onScopeEnd() override;
  void onPassBegin(const PassBegin& begin) override;
  void onPassEnd(const PassEnd& end) override;

private:
  void enter();
  void leave();
  /// The starter receives the events since the fork.
  void handOver();

  Observer nobody_;               ///< receives the events after the starter's end
  Observer* starter_;             ///< null: detached
  std::unique_ptr<Observer> own_; ///< of the open scopes and passes
  size_t depth_ = 0;              ///< their number
};

} // namespace uopscope
