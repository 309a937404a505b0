// Which session a thread works in, and how a session ends.
#include "engine/base/engine_session.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"

#include <fmt/format.h>

#include <utility>

namespace uopscope {

namespace detail {
constinit thread_local EngineSession* enteredSession = nullptr;
}

EngineSession::EngineSession() {
  for (const ContextVar* var : ContextVar::all())
    settings_[var->number()].store(var->initial(), std::memory_order_relaxed);
}

EngineSession::~EngineSession() {
  EngineSessionScope in(*this);
  while (!made_.empty()) {
    Made last = std::move(made_.back());
    made_.pop_back();
    parts_[last.place].store(nullptr, std::memory_order_release);
  }
}

EngineSession& EngineSession::process() {
  static EngineSession session;
  if (!detail::enteredSession) detail::enteredSession = &session; // so that the next call takes the fast path
  return session;
}

size_t EngineSession::newPlace() {
  static std::atomic<size_t> next{0};
  size_t place = next++;
  if (place >= kMaxParts)
    throw Error(ErrorKind::Runtime,
                fmt::format("a session has {} kinds of parts at most: raise kMaxParts", kMaxParts));
  return place;
}

EngineSessionScope::EngineSessionScope(EngineSession& session)
    : before_(std::exchange(detail::enteredSession, &session)) {}

EngineSessionScope::~EngineSessionScope() {
  detail::enteredSession = before_;
}

} // namespace uopscope
