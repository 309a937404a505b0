// Parts of a long work: each once, on several threads, until one fails or the caller stops it.
#include "engine/base/context_var.h"
#include "engine/base/engine_session.h"
#include "engine/base/error.h"
#include "replay/compare/on_all_threads.h"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

using namespace uopscope;

namespace {

struct Threads { // a session of its own, with that many processors
  explicit Threads(int64_t count) : in(session) { vars::cpuCount.set(count); }
  EngineSession session;
  EngineSessionScope in;
};

} // namespace

TEST_CASE("parts of a long work are done once each, by several threads in the session of the caller") {
  for (const int64_t threads : {1, 4}) {
    const Threads use(threads);
    std::mutex guard;
    std::multiset<size_t> done;
    std::set<std::thread::id> by;
    std::atomic<bool> sameSession{true};
    EngineSession& here = EngineSession::current();
    CHECK(onAllThreads(40, [&](size_t k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (&EngineSession::current() != &here) sameSession = false;
      std::lock_guard lock(guard);
      done.insert(k), by.insert(std::this_thread::get_id());
    }));
    CHECK(done.size() == 40);
    CHECK(std::set<size_t>(done.begin(), done.end()).size() == 40);
    CHECK(by.size() == static_cast<size_t>(threads));
    CHECK(sameSession);
  }
  CHECK(onAllThreads(0, [](size_t) { FAIL("there is no part"); }));
}

TEST_CASE("parts of a long work: progress grows, and its answer stops the work") {
  const Threads use(2);
  double last = 0;
  bool grows = true;
  std::atomic<int> done{0};
  auto slowly = [&](size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++done;
  };
  CHECK(onAllThreads(50, slowly, [&](double share) {
    grows = grows && share >= last && share <= 1;
    last = share;
    return true;
  }));
  CHECK(grows);
  CHECK(last > 0);
  CHECK(done == 50);
  done = 0;
  CHECK(!onAllThreads(5000, slowly, [](double share) { return share < 0.01; }));
  CHECK(done < 500);
}

TEST_CASE("parts of a long work: what a part throws ends the work and reaches the caller") {
  const Threads use(4);
  std::atomic<int> done{0};
  auto failing = [&](size_t k) {
    if (k == 7) throw Error(ErrorKind::Value, "the seventh");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++done;
  };
  CHECK_THROWS_WITH_AS(onAllThreads(5000, failing), "the seventh", Error);
  CHECK(done < 4000);
}
