// Sessions: a change in one session is invisible in another, on one thread or on several; and the parts that
// end with a session, with their order.
#include "engine/base/context_var.h"
#include "engine/base/engine_session.h"
#include "engine/rewrite/observer.h"
#include "engine/rules/user_rules.h"
#include "engine/runtime/counters.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/operation_scope.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/tensor_memory.h"

#include <doctest/doctest.h>

#include <functional>
#include <numeric>
#include <string>
#include <thread>

using namespace uopscope;

namespace {

std::vector<std::string>& ended() {
  static std::vector<std::string> names;
  return names;
}
struct First {
  ~First() { ended().push_back("first"); }
};
struct Second {
  Second() { EngineSession::current().part<First>(); }
  ~Second() { ended().push_back(EngineSession::current().findPart<First>() ? "second" : "second, too late"); }
};

std::vector<float> draws(int64_t n) {
  return Tensor::rand({n}).values<float>();
}

/// A training step in a few kernels; one seed always gives the same numbers.
std::vector<float> trained(int64_t seed, int64_t size) {
  Tensor::manualSeed(seed);
  Tensor w = Tensor::rand({size, size});
  w = w.setRequiresGrad();
  Tensor x = Tensor::rand({3, size});
  x.matmul(w).relu().sum().backward();
  return w.grad().values<float>();
}

struct Counting : Observer {
  void onScopeBegin(const ScopeBegin&) override { ++scopes; }
  void poolRetired(Pool& pool) override { retired += &pool == shared; }
  const Pool* shared = nullptr;
  int scopes = 0, retired = 0;
};

} // namespace

TEST_CASE("engine sessions: settings, default devices and random streams are each session's own") {
  int64_t outside = vars::noopt;
  std::string device = Device::defaultName();
  EngineSession mine;
  {
    EngineSessionScope in(mine);
    CHECK(vars::noopt.value() == vars::noopt.initial());
    vars::noopt.set(outside + 7);
    Device::setDefaultName("REF");
    Tensor::training() = true;
    Tensor::manualSeed(5);
  }
  CHECK(vars::noopt.value() == outside);
  CHECK(Device::defaultName() == device);
  CHECK_FALSE(Tensor::training());

  Tensor::manualSeed(9);
  std::vector<float> whole = draws(4), rest = draws(4);
  Tensor::manualSeed(9);
  CHECK(draws(4) == whole);
  {
    EngineSessionScope in(mine);
    CHECK(vars::noopt.value() == outside + 7);
    CHECK(Device::defaultName() == "REF");
    CHECK(Tensor::training());
    CHECK(draws(4) != whole);
  }
  CHECK(draws(4) == rest);
}

TEST_CASE("engine sessions: tensors, counters and compiled kernels of one are unknown to another") {
  auto compute = [] { return Tensor::arange(11).mul(3).sum().values<int32_t>(); };
  CHECK(compute() == std::vector<int32_t>{165});
  size_t live = Tensor::live().size(), schedules = scheduleCacheSize();
  int64_t kernels = GlobalCounters::current().kernelCount;
  {
    EngineSession mine;
    EngineSessionScope in(mine);
    CHECK(Tensor::live().empty());
    CHECK(scheduleCacheSize() == 0);
    CHECK(kernelCacheStats().kernels == 0);
    CHECK(compute() == std::vector<int32_t>{165});
    CHECK(kernelCacheStats().kernels == 1);
    CHECK(GlobalCounters::current().kernelCount == 1);
    Tensor kept = Tensor::full({3}, ConstValue::ofInt(2));
    CHECK(Tensor::live().size() == 1);
  }
  CHECK(Tensor::live().size() == live);
  CHECK(scheduleCacheSize() == schedules);
  CHECK(GlobalCounters::current().kernelCount == kernels);
}

TEST_CASE("engine sessions: several threads train at the same time, each in its own") {
  constexpr int kThreads = 4;
  std::vector<std::vector<float>> want, got(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    EngineSession alone;
    EngineSessionScope in(alone);
    want.push_back(trained(i, 5 + i % 2));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([i, &got] {
      EngineSession own;
      EngineSessionScope in(own);
      for (int again = 0; again < 3; ++again) got[static_cast<size_t>(i)] = trained(i, 5 + i % 2);
    });
  for (std::thread& t : threads) t.join();
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == want[i]);
  CHECK(want[0] != want[2]);
}

TEST_CASE("engine sessions: an observer hears the session that it was set in") {
  Counting counting;
  ObserverScope scope(&counting);
  Tensor::arange(13).add(1).realize();
  int heard = counting.scopes;
  CHECK(heard > 0);
  {
    EngineSession mine;
    EngineSessionScope in(mine);
    CHECK(Observer::current() == nullptr);
    Tensor::arange(17).add(1).realize();
    Counting within;
    ObserverScope inner(&within);
    Tensor::arange(19).add(1).realize();
    CHECK(within.scopes > 0);
  }
  CHECK(counting.scopes == heard);
  CHECK(Observer::current() == &counting);
}

TEST_CASE("engine sessions: parts end in the opposite order, in their session, and leave nothing") {
  ended().clear();
  {
    EngineSession mine;
    EngineSessionScope in(mine);
    EngineSession::current().part<Second>();
    CHECK(mine.findPart<First>() != nullptr);
  }
  CHECK(ended() == std::vector<std::string>{"second", "first"});
  CHECK(EngineSession::current().findPart<Second>() == nullptr);
}

TEST_CASE("schedules kept are bounded: a loop over ever new shapes drops the oldest") {
  EngineSession mine;
  EngineSessionScope in(mine);
  Device::setDefaultName("NULL");
  size_t most = 0;
  for (int64_t n = 1; n <= 1300; ++n) {
    Tensor::schedule({Tensor::empty({n}).add(ConstValue::ofInt(1))});
    most = std::max(most, scheduleCacheSize());
  }
  CHECK(most == 1024);
  auto last = Tensor::schedule({Tensor::empty({1300}).add(ConstValue::ofInt(1))});
  CHECK(last.cacheHit);
}

TEST_CASE(
    "engine sessions: an observer learns that a different thread of its session collects the shared pool") {
  EngineSession mine, others;
  Counting told;
  EngineSessionScope in(mine);
  told.shared = &tensorPool();
  ObserverScope scope(&told);
  std::thread([&] {
    EngineSessionScope alsoIn(mine);
    collectTensorPool();
  }).join();
  CHECK(told.retired == 1);
  std::thread([&] {
    EngineSessionScope elsewhere(others);
    collectTensorPool();
  }).join();
  CHECK(told.retired == 1);
  collectTensorPool();
  CHECK(told.retired == 2);
}
