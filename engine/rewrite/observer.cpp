// The observer of a thread, together with the session in which it was set.
#include "engine/rewrite/observer.h"

#include "engine/base/engine_session.h"

namespace uopscope {

namespace {
struct Observed {
  Observer* observer = nullptr;
  const EngineSession* session = nullptr; ///< only work of this session is reported to it
};
thread_local Observed observed;

void announce(Pool& pool) {
  if (observed.observer) observed.observer->poolRetired(pool);
}
} // namespace

Observer* Observer::current() {
  return observed.observer && observed.session == &EngineSession::current() ? observed.observer : nullptr;
}
ObserverScope::ObserverScope(Observer* observer) : before_(observed.observer), session_(observed.session) {
  Pool::whenRetired(announce);
  observed = {observer, &EngineSession::current()};
}
ObserverScope::~ObserverScope() {
  observed = {before_, session_};
}

} // namespace uopscope
