// The observer of a thread, together with the session in which it was set, and the list of the threads that have had one.
#include "engine/rewrite/observer.h"

#include "engine/base/engine_session.h"
#include "engine/rewrite/session_observers.h"
#include "engine/rewrite/thread_observer.h"

#include <mutex>
#include <utility>

namespace uopscope {

namespace {
struct Observed {
  Observer* observer = nullptr;
  const EngineSession* session = nullptr; ///< only work of this session is reported to it
};
thread_local constinit Observed observed;

/// Guards `observed` of each listed thread where a different thread reads it, and the list.
constinit std::mutex listMutex;
class ListedThread;
constinit ListedThread* firstListed = nullptr;

/// Keeps a thread in the list until it ends.
class ListedThread {
public:
  ListedThread() {
    std::lock_guard lock(listMutex);
    next_ = std::exchange(firstListed, this);
  }
  ~ListedThread() {
    std::lock_guard lock(listMutex);
    for (ListedThread** at = &firstListed; *at; at = &(*at)->next_)
      if (*at == this) {
        *at = next_;
        return;
      }
  }
  ListedThread(const ListedThread&) = delete;
  ListedThread& operator=(const ListedThread&) = delete;

  const Observed& its() const { return *its_; }
  bool isThisThread() const { return its_ == &observed; }
  ListedThread* next() const { return next_; }

private:
  Observed* its_ = &observed;
  ListedThread* next_ = nullptr;
};

void observe(const Observed& now) {
  static thread_local const ListedThread listed;
  static_cast<void>(listed);
  std::lock_guard lock(listMutex);
  observed = now;
}

void announce(Pool& pool) {
  if (observed.observer) observed.observer->poolRetired(pool);
}
} // namespace

Observer* Observer::current() {
  return observed.observer && observed.session == &EngineSession::current() ? observed.observer : nullptr;
}
ObserverScope::ObserverScope(Observer* observer) : before_(observed.observer), session_(observed.session) {
  Pool::whenRetired(announce);
  observe({observer, &EngineSession::current()});
}
ObserverScope::~ObserverScope() {
  if (observed.observer) ThreadObserver::detachAll(*observed.observer);
  observe({before_, session_});
}

void tellOtherThreadsOfRetired(Pool& pool) {
  const EngineSession* session = &EngineSession::current();
  std::lock_guard lock(listMutex);
  for (const ListedThread* t = firstListed; t; t = t->next())
    if (!t->isThisThread() && t->its().observer && t->its().session == session)
      t->its().observer->poolRetired(pool);
}

} // namespace uopscope
