// The thread's observer.
#include "engine/rewrite/observer.h"

namespace uopscope {

namespace {
thread_local Observer* currentObserver = nullptr;
}

Observer* Observer::current() {
  return currentObserver;
}
ObserverScope::ObserverScope(Observer* observer) : before_(currentObserver) {
  currentObserver = observer;
}
ObserverScope::~ObserverScope() {
  currentObserver = before_;
}

} // namespace uopscope
