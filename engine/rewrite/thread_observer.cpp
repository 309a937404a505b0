// The live observers of threads are a part of their session, so that a recorder finds them when it ends.
#include "engine/rewrite/thread_observer.h"

#include "engine/base/engine_session.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace uopscope {

namespace {
struct ThreadObservers {
  std::vector<ThreadObserver*> live;
};
std::vector<ThreadObserver*>& live() {
  return EngineSession::current().part<ThreadObservers>().live;
}
} // namespace

std::unique_ptr<ThreadObserver> ThreadObserver::ofThisThread() {
  Observer* starter = Observer::current();
  if (auto* started = dynamic_cast<ThreadObserver*>(starter)) starter = started->starter_;
  return starter ? std::make_unique<ThreadObserver>(*starter) : nullptr;
}

ThreadObserver::ThreadObserver(Observer& starter) : ForwardingObserver(starter), starter_(&starter) {
  live().push_back(this);
}

ThreadObserver::~ThreadObserver() {
  handOver();
  std::erase(live(), this);
}

void ThreadObserver::detachAll(const Observer& starter) {
  const auto* threads = EngineSession::current().findPart<ThreadObservers>();
  if (!threads) return; // every ObserverScope that ends asks
  for (ThreadObserver* thread : threads->live) {
    if (thread->starter_ != &starter) continue;
    thread->handOver();
    thread->starter_ = nullptr;
    thread->forwardTo(thread->nobody_);
  }
}

void ThreadObserver::enter() {
  if (depth_++ == 0 && starter_ && (own_ = starter_->fork(kOfOtherThread))) forwardTo(*own_);
}

void ThreadObserver::leave() {
  if (--depth_ == 0) handOver();
}

void ThreadObserver::onScopeBegin(const ScopeBegin& begin) {
  enter();
  inner().onScopeBegin(begin);
}
void ThreadObserver::onScopeEnd() {
  inner().onScopeEnd();
  leave();
}
void ThreadObserver::onPassBegin(const PassBegin& begin) {
  enter();
  inner().onPassBegin(begin);
}
void ThreadObserver::onPassEnd(const PassEnd& end) {
  inner().onPassEnd(end);
  leave();
}

void ThreadObserver::handOver() {
  if (!own_) return;
  forwardTo(*starter_);
  starter_->join(std::move(own_));
}

} // namespace uopscope
