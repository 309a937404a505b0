// The thread's observer.
#include "engine/rewrite/observer.h"

namespace uopscope {

namespace {
thread_local Observer* currentObserver = nullptr;

void announce(Pool& pool) {
  if (currentObserver) currentObserver->poolRetired(pool);
}
} // namespace

Observer* Observer::current() {
  return currentObserver;
}
ObserverScope::ObserverScope(Observer* observer) : before_(currentObserver) {
  Pool::whenRetired(announce);
  currentObserver = observer;
}
ObserverScope::~ObserverScope() {
  currentObserver = before_;
}

} // namespace uopscope
