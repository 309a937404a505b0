// The pass "recompute from stored": what a layer stores for its gradient is little, and the numbers stay.
#include "engine/base/context_var.h"
#include "engine/rewrite/observer.h"
#include "engine/schedule/kernel_order.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/tensor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

using namespace uopscope;

namespace {

Tensor wavesOf(const Ints& shape, double scale) {
  Tensor x =
      Tensor::arange(shape[0] * shape[1]).cast(dtypes::float32).reshape({Sint(shape[0]), Sint(shape[1])});
  return ((x * 0.7).sin() * scale).contiguous().realize();
}

/// The types of what the kernel stores that computes the most.
std::vector<DType> largestStores(const std::vector<Tensor>& results) {
  std::vector<DType> most;
  for (const ScheduleItem& item : Tensor::schedule(results).items) {
    std::vector<DType> stored;
    for (UOp u : item.ast.toposort())
      if (u.is(Op::STORE)) stored.push_back(u.src(1).dtype());
    if (stored.size() > most.size()) most = stored;
  }
  return most;
}

using Function = std::function<Tensor(const Tensor&)>;

/// The results of a layer and the gradients of what follows it.
std::vector<Tensor> layer(const Function& f) {
  const Tensor x = wavesOf({96, 40}, 1.5), w = wavesOf({40, 72}, 0.3), v = wavesOf({72, 24}, 0.2);
  const Tensor loss = f(x.matmul(w)).matmul(v).square().mean();
  std::vector<Tensor> all = loss.gradient({x, w, v});
  all.push_back(loss);
  return all;
}

std::vector<std::vector<float>> valuesOf(const Function& f) {
  std::vector<std::vector<float>> values;
  for (const Tensor& t : layer(f)) values.push_back(t.values<float>());
  return values;
}

struct Recomputed : Observer {

  void onDecision(const Decision& d) override {
    if (d.reason.starts_with("computed from what its kernel stores")) {
      ++count;
      CHECK(*d.price <= d.others.at(0).price);
    }
  }
  int count = 0;
};

} // namespace

TEST_CASE("a layer stores a few numbers for its gradient, and no condition that these decide") {
  struct Case {
    std::string name;
    size_t most;
    Function f;
  };
  const Case cases[]{
      {"gelu", 4, [](const Tensor& h) { return h.gelu(); }}, // 9 of them by a decision for each value alone
      {"tanh", 4, [](const Tensor& h) { return h.tanh(); }}, // 13
      {"mish", 8, [](const Tensor& h) { return h.mish(); }}, // 19
      {"erf", 3, [](const Tensor& h) { return h.erf(); }},   // 18
      {"silu", 3, [](const Tensor& h) { return h.silu(); }}, // 6
      {"norm", 5, [](const Tensor& h) { return (h.layernorm() * 1.5 + 0.25).gelu(); }},
  };
  for (const auto& [name, most, f] : cases) {
    CAPTURE(name);
    clearScheduleCache();
    CHECK(largestStores(layer(f)).size() <= most);
    const auto now = valuesOf(f);
    const ContextScope plain({{"PLAIN", 1}});
    const auto wanted = valuesOf(f);
    for (size_t k = 0; k < now.size(); ++k)
      for (size_t i = 0; i < now[k].size(); ++i)
        CHECK(std::abs(now[k][i] - wanted[k][i]) <= 2e-5F * std::max(1.0F, std::abs(wanted[k][i])));
  }
}

TEST_CASE("a product is computed once, though two kernels of one level read what is made of it") {
  // The slope, given, goes back through a product that has as many sums below as the layer has.
  const Tensor x = wavesOf({96, 40}, 1.5), w = wavesOf({40, 72}, 0.3), v = wavesOf({72, 24}, 0.2),
               slope = wavesOf({96, 24}, 1);
  const Function functions[]{
      [](const Tensor& h) { return h.gelu(); }, [](const Tensor& h) { return h.tanh(); },
      [](const Tensor& h) { return h.mish(); }, [](const Tensor& h) { return h.erf(); },
      [](const Tensor& h) { return h.silu() * h.sigmoid(); }};
  for (const Function& f : functions) {
    clearScheduleCache();
    const auto gradients = [&] {
      return (f(x.matmul(w * 0.5)).matmul(v) * slope).sum(Ints{0, 1}).gradient({x, w, v});
    };
    CHECK(Tensor::schedule(gradients()).items.size() == 5);
    std::vector<std::vector<float>> now;
    for (const Tensor& t : gradients()) now.push_back(t.values<float>());
    const ContextScope plain({{"PLAIN", 1}});
    const auto wanted = gradients();
    for (size_t k = 0; k < now.size(); ++k) {
      const auto values = wanted[k].values<float>();
      for (size_t i = 0; i < values.size(); ++i)
        CHECK(std::abs(now[k][i] - values[i]) <= 2e-5F * std::max(1.0F, std::abs(values[i])));
    }
  }
}

TEST_CASE("a kernel waits for those that it reads, directly or through others") {
  sched::KernelOrder order;
  order.addRead(3, 2);
  order.addRead(2, 1);
  order.addRead(4, 1);
  CHECK(order.waitsFor(3, 1));
  CHECK(order.waitsFor(2, 1));
  CHECK(!order.waitsFor(1, 3));
  CHECK(!order.waitsFor(3, 4));
  for (int k = 10; k < 9000; ++k) order.addRead(k + 1, k);
  CHECK(order.waitsFor(9000, 1)); // too far to see: it is taken for granted
  CHECK(!order.waitsFor(1000, 1));
}

TEST_CASE("each value that readers compute has both prices, and the lower one is chosen") {
  clearScheduleCache();
  Recomputed seen;
  {
    const ObserverScope watched(&seen);
    Tensor::schedule(layer([](const Tensor& h) { return h.gelu(); }));
  }
  CHECK(seen.count >= 3);
}

TEST_CASE("a sum is stored instead of all that is computed from it") {
  clearScheduleCache();
  size_t sums = 0;
  for (const ScheduleItem& item : Tensor::schedule(layer([](const Tensor& h) { return h.tanh(); })).items) {
    size_t stores = 0, ofSums = 0;
    for (UOp u : item.ast.toposort())
      if (u.is(Op::STORE)) {
        ++stores;
        ofSums += u.src(1).is(Op::REDUCE) ? 1 : 0;
      }
    if (stores >= 3) sums += ofSums; // the kernel of tanh
  }
  CHECK(sums == 1);
}

TEST_CASE("relu's mask is one byte, where its sum would take four") {
  clearScheduleCache();
  const std::vector<DType> stored = largestStores(layer([](const Tensor& h) { return h.relu(); }));
  REQUIRE(stored.size() == 2);
  CHECK((stored[0].isBool() || stored[1].isBool()));
}
