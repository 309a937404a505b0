// Large graphs: time near linear, no recursion.
#include "engine/base/clock.h"
#include "schedule_fixture.h"

#include <pthread.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

double secondsToSchedule(int operations) {
  Fixture f;
  UOp a = f.tensor({16}), b = f.tensor({16}), x = a;
  for (int k = 0; k < operations; ++k) x = k % 2 ? x * b : x + a;
  int64_t start = nowNs();
  Schedule s = f.schedule({x});
  CHECK(s.items.size() == 1);
  return static_cast<double>(nowNs() - start) * 1e-9;
}

/// Whether ten times as much takes less than 25 times as long; other work on the machine may disturb one of three tries.
template <typename Run>
bool isNearLinear(const Run& run, int small, int large) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const double few = run(small), many = run(large);
    MESSAGE(small, ": ", few * 1e3, " ms, ", large, ": ", many * 1e3, " ms");
    if (many < 25 * few + 0.05) return true;
  }
  return false;
}

} // namespace

TEST_CASE("a chain of 10,000 operations is one kernel, in time near linear") {
  CHECK(isNearLinear(secondsToSchedule, 1000, 10000));
}

TEST_CASE("a thousand outputs") {
  auto run = [](int n) {
    Fixture f;
    std::vector<UOp> outputs;
    for (int k = 0; k < n; ++k) outputs.push_back(sum(f.tensor({4, 4}) * f.tensor({4, 4}), {1}));
    int64_t start = nowNs();
    Schedule s = f.schedule(outputs);
    CHECK(static_cast<int>(s.items.size()) == n);
    CHECK(static_cast<int>(s.becomes.size()) >= n);
    return static_cast<double>(nowNs() - start) * 1e-9;
  };
  CHECK(isNearLinear(run, 100, 1000));
}

TEST_CASE("a chain of assignments is a kernel each, in time near linear") {
  auto run = [](int n) {
    Fixture f;
    UOp other = f.tensor({256}), u = f.tensor({256});
    for (int k = 0; k < n; ++k) u = assign(u, k % 2 ? u + other : u * other);
    int64_t start = nowNs();
    Schedule s = f.schedule({u});
    CHECK(static_cast<int>(s.items.size()) == n);
    return static_cast<double>(nowNs() - start) * 1e-9;
  };
  CHECK(isNearLinear(run, 200, 2000));
}

TEST_CASE("a chain of assignments fits on a small stack") {
  auto work = [](void*) -> void* {
    Fixture f;
    UOp other = f.tensor({256}), u = f.tensor({256});
    for (int k = 0; k < 8000; ++k) u = assign(u, k % 2 ? u + other : u * other);
    CHECK(f.schedule({u}).items.size() == 8000);
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_t thread{};
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, size_t{1} << 20) == 0);
  REQUIRE(pthread_create(&thread, &attributes, work, nullptr) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_CASE("a long sum with more results than its parts may have stays one sum, whether or not 64 divides its "
          "length") {
  for (int64_t length : {65536, 65535, 65537}) {
    Fixture f;
    UOp rows = expand(f.tensor({1, 1, length}), {1024, 1024, length}),
        each = expand(f.tensor({1024, 1024, 1}), {1024, 1024, length});
    CHECK(f.schedule({sum(rows * each, {2})}).items.size() == 1);
  }
}
