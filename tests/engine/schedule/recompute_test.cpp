// The pass "recompute from stored": what a layer stores for its gradient is little, and the numbers stay.
#include "engine/base/context_var.h"
#include "engine/rewrite/observer.h"
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
