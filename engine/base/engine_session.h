// A session: everything that a program changes while it runs. Settings, the pool of tensors, live tensors,
// random streams, devices, memory of buffers, caches, counters and rules of users hang on it, so that two
// sessions in one process know nothing of each other, and a session that ends leaves nothing behind.
//
//   EngineSession mine;                        // settings as a new process would have them
//   EngineSessionScope in(mine);               // this thread works in it
//   vars::noopt.set(1);                  // the session outside keeps its own value
//
// Each library keeps its own state as a part, a type that no other library knows:
//
//   struct Cache { std::unordered_map<Key, Entry> entries; };
//   Cache& cache() { return EngineSession::current().part<Cache>(); }
//
// Invariant: a part is made when it is first asked for. Parts are destroyed in the opposite order, while
// their session is the current one, so a part that another part's constructor asked for outlives it.
//
// A thread that entered no session works in the session of the process. A helper thread enters the session of
// the thread it works for (`EngineSessionScope in(theirs)`). Only one thread at a time works with the tensors
// of a session; its helpers may use settings, devices, memory and compiled kernels at the same time.
// All sessions share the contents of arguments, compiled rules, the threads that run kernels, the cache files
// on disk, and the origins of nodes (kept per pool).
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace uopscope {

class EngineSession {
public:
  static constexpr size_t kMaxSettings = 128, kMaxParts = 64;

  EngineSession();
  ~EngineSession();
  EngineSession(const EngineSession&) = delete;
  EngineSession& operator=(const EngineSession&) = delete;

  /// The session that this thread works in.
  static EngineSession& current();
  /// The session of threads that entered none; it ends with the process.
  static EngineSession& process();

  /// The session's part of type T; made if the session has none yet.
  template <typename T>
  T& part() {
    size_t place = placeOf<T>();
    void* made = parts_[place].load(std::memory_order_acquire);
    return made ? *static_cast<T*>(made) : makePart<T>(place);
  }
  /// The session's part of type T, or null if it has none.
  template <typename T>
  T* findPart() {
    return static_cast<T*>(parts_[placeOf<T>()].load(std::memory_order_acquire));
  }

  /// The value of the setting with that number (ContextVar).
  std::atomic<int64_t>& setting(size_t number) { return settings_[number]; }

private:
  struct Made {
    size_t place;
    std::shared_ptr<void> part;
  };
  static size_t newPlace();
  template <typename T>
  static size_t placeOf() {
    static const size_t place = newPlace();
    return place;
  }
  template <typename T>
  T& makePart(size_t place) {
    std::lock_guard lock(making_);
    if (void* made = parts_[place].load(std::memory_order_acquire)) return *static_cast<T*>(made);
    auto part = std::make_shared<T>();
    T& answer = *part;
    made_.push_back({place, std::move(part)});
    parts_[place].store(&answer, std::memory_order_release);
    return answer;
  }

  std::array<std::atomic<int64_t>, kMaxSettings> settings_{};
  std::array<std::atomic<void*>, kMaxParts> parts_{};
  std::recursive_mutex making_; ///< recursive: the constructor of a part may ask for further parts
  std::vector<Made> made_;      ///< in order of completion
};

/// Makes a session the current one of this thread for a block.
class EngineSessionScope {
public:
  explicit EngineSessionScope(EngineSession& session);
  ~EngineSessionScope();
  EngineSessionScope(const EngineSessionScope&) = delete;
  EngineSessionScope& operator=(const EngineSessionScope&) = delete;

private:
  EngineSession* before_;
};

namespace detail {
/// The session that this thread entered; null: it works in the session of the process.
extern constinit thread_local EngineSession* enteredSession;
} // namespace detail

inline EngineSession& EngineSession::current() {
  EngineSession* entered = detail::enteredSession;
  return entered ? *entered : process();
}

} // namespace uopscope
