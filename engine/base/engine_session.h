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
// Invariant: parts are made when they are first asked for and destroyed in the opposite order, while their
// session is the current one. What a part's constructor asks for outlives that part.
//
// A thread that entered no session works in the session of the process. A thread that helps another one
// enters its session (`EngineSessionScope in(theirs)`). One thread at a time works with the tensors of a session;
// settings, devices, memory and compiled kernels may be used by its helpers at the same time.
// Not of a session, because it is the same for all of them: contents of arguments, compiled rules, threads
// that run kernels, files of the cache on disk, and where nodes come from (known by their pool).
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

  /// The session's T, made now where there is none.
  template <typename T>
  T& part() {
    size_t place = placeOf<T>();
    void* made = parts_[place].load(std::memory_order_acquire);
    return made ? *static_cast<T*>(made) : makePart<T>(place);
  }
  /// The session's T where there is one, or null.
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
  std::recursive_mutex making_; ///< a part's constructor may ask for others
  std::vector<Made> made_;      ///< in order of completion
};

/// The thread works in a session for a block.
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
/// Null: the process's.
extern constinit thread_local EngineSession* enteredSession;
} // namespace detail

inline EngineSession& EngineSession::current() {
  EngineSession* entered = detail::enteredSession;
  return entered ? *entered : process();
}

} // namespace uopscope
