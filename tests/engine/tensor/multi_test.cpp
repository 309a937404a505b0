// Tensors on several devices give the values of one device: every operation, both kinds of all-reduce, and
// rejected calls.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/rewrite/observer.h"
#include "engine/rewrite/rule.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/operation_scope.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/uop/unique.h"

#include <doctest/doctest.h>

using namespace uopscope;

namespace {
const std::vector<std::string> kTwo{"CPU", "CPU:1"}, kFour{"CPU", "CPU:1", "CPU:2", "CPU:3"};

Tensor grid(int64_t rows, int64_t cols) {
  return Tensor::arange(rows * cols).reshape({Sint(rows), Sint(cols)}).cast(dtypes::float32).sub(7).realize();
}
void agree(const Tensor& several, const Tensor& one) {
  CHECK(several.shape() == one.shape());
  std::vector<float> got = several.values<float>(), want = one.values<float>();
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-5));
}
} // namespace

TEST_CASE("a sharded tensor is one part on each device and reads as before") {
  Tensor x = grid(4, 6);
  for (std::optional<int64_t> axis :
       {std::optional<int64_t>(0), std::optional<int64_t>(1), std::optional<int64_t>()}) {
    Tensor s = x.shard(kTwo, axis);
    CHECK(s.devices() == kTwo);
    CHECK(s.shardAxis() == axis);
    s.realize();
    CHECK(s.uop().is(Op::MULTI));
    CHECK(s.devices() == kTwo);
    CHECK(s.shardAxis() == axis);
    agree(s, x);
    agree(s.to("CPU"), x);
  }
}

TEST_CASE("operations on shards give the values of one device") {
  Tensor x = grid(4, 6), w = grid(6, 4);
  for (int64_t axis : {0, 1}) {
    Tensor s = x.shard(kTwo, axis), rep = x.shard(kTwo), other = x.shard(kTwo, 1 - axis);
    agree(s.add(1), x.add(1));
    agree(s.add(s), x.add(x));
    agree(s.mul(rep), x.mul(x));
    agree(s.add(other), x.add(x));
    agree(s.sum(), x.sum());
    agree(s.sum(Ints{0}), x.sum(Ints{0}));
    agree(s.max(Ints{1}), x.max(Ints{1}));
    agree(s.permute({1, 0}), x.permute({1, 0}));
    agree(s.reshape({2, 2, 6}), x.reshape({2, 2, 6}));
    agree(s.reshape({24}), x.reshape({24}));
    agree(s.reshape({4, 1, 6}).expand({4, 3, 6}), x.reshape({4, 1, 6}).expand({4, 3, 6}));
    agree(s.pad({{1, 1}, {0, 2}}), x.pad({{1, 1}, {0, 2}}));
    agree(s.flip({0, 1}), x.flip({0, 1}));
    agree(s.shrink({{{Sint(2), Sint(4)}}, {{Sint(0), Sint(3)}}}),
          x.shrink({{{Sint(2), Sint(4)}}, {{Sint(0), Sint(3)}}}));
    agree(s.relu().softmax(), x.relu().softmax());
    agree(s.matmul(w.shard(kTwo)), x.matmul(w));
    agree(s.matmul(w.shard(kTwo, 1 - axis)), x.matmul(w));
    agree(s.clone(), x);
  }
}

TEST_CASE("all three ways of an all-reduce agree") {
  Tensor x = grid(8, 10);
  for (auto settings : {std::vector<std::pair<std::string, int64_t>>{{"RING", 0}, {"ALL2ALL", 0}},
                        {{"RING", 2}, {"ALL2ALL", 0}},
                        {{"RING", 0}, {"ALL2ALL", 2}}}) {
    ContextScope scope(settings);
    Tensor s = x.shard(kFour, 0);
    agree(s.sum(Ints{0}), x.sum(Ints{0}));
    agree(s.max(Ints{0}), x.max(Ints{0}));
    agree(s.sum(), x.sum());
    agree(s.mul(2).sum(Ints{0}).add(s), x.mul(2).sum(Ints{0}).add(x));
  }
}

TEST_CASE("assignments and gradients stay on their shards") {
  Tensor x = grid(4, 6), s = x.shard(kTwo, 0).realize();
  s.assign(s.mul(3)).realize();
  agree(s, x.mul(3));
  CHECK(s.shardAxis() == 0);
  Tensor w = grid(6, 2).setRequiresGrad(true), ws = w.detach().shard(kTwo).setRequiresGrad(true);
  x.matmul(w).square().sum().backward();
  x.shard(kTwo, 0).matmul(ws).square().sum().backward();
  agree(ws.grad(), w.grad());
  Tensor u = grid(6, 2).setRequiresGrad(true);
  x.shard(kTwo, 1).matmul(u.shard(kTwo, 0)).square().sum().backward();
  agree(u.grad(), w.grad());
}

TEST_CASE("devices of a kind share their kernels") {
  Tensor s = grid(8, 3).shard(kFour, 0).realize();
  clearKernelCache();
  s.mul(5).add(2).realize();
  CHECK(kernelCacheStats().misses == 1);
  clearKernelCache();
}

TEST_CASE("axes that do not split and devices that do not agree are refused") {
  Tensor x = grid(3, 4);
  CHECK_THROWS_WITH_AS(x.shard(kTwo, 0), doctest::Contains("does not split"), Error);
  CHECK_THROWS_WITH_AS(x.shard(kTwo, 1).shard(kTwo, 1), doctest::Contains("multi-device"), Error);
  CHECK_THROWS_WITH_AS(x.shard(kTwo, 1).add(x).realize(), doctest::Contains("same device"), Error);
  CHECK_THROWS_AS(x.shard({"CPU", "NOPE"}, 1), Error);
}

namespace {
/// Passes by name, with the rules applied in each.
struct MultiMapSteps : Observer {
  void onPassBegin(const PassBegin& b) override {
    pass = b.name;
    if (pass == "Apply Multi Map") first = b.root;
  }
  void onPassEnd(const PassEnd& e) override {
    if (pass == "Apply Multi Map") last = e.root;
    pass.clear();
  }
  Control onRewrite(const RewriteEvent& e) override {
    if (pass == "Apply Multi Map") rules.push_back(e.rule->name());
    return Control::Apply;
  }
  void onDecision(const Decision& d) override { reasons.push_back(d.reason); }
  std::string pass;
  UOp first, last;
  std::vector<std::string> rules, reasons;
};
} // namespace

TEST_CASE("taking a graph apart is a pass: a step for each operation, with its reason") {
  Tensor s = grid(4, 6).shard(kTwo, 0).realize();
  MultiMapSteps steps;
  {
    ObserverScope watch(&steps);
    s.mul(s).sum(Ints{0}).realize();
  }
  CHECK(steps.rules ==
        std::vector<std::string>{"operation-on-each-device", "reduce-shards", "reshape-shards"});
  REQUIRE(steps.first);
  REQUIRE(steps.last);
  CHECK(std::any_of(steps.reasons.begin(), steps.reasons.end(), [](const std::string& why) {
    return why.find("axis 0 is split over 2 devices and reduced") == 0;
  }));
}

TEST_CASE("a node of several effects becomes one on each device") {
  PoolScope scope(tensorPool());
  UOp s = grid(4, 6).shard(kTwo, 0).realize().uop();
  UOp after = UOp::make(Op::AFTER, s.dtype(), {s, UOp::groupOf(std::vector<UOp>{})});
  UOp now = separateDevices(UOp::sink(std::vector<UOp>{after})).at(after);
  REQUIRE(now.is(Op::MULTI));
  CHECK(now.src(0).src(0) == UOp::make(Op::AFTER, s.dtype(), {s.src(0).src(0), after.src(1)}));
  CHECK(now.src(0).src(1) == UOp::make(Op::AFTER, s.dtype(), {s.src(0).src(1), after.src(1)}));
}

TEST_CASE("a sharded tensor is on the devices of its parts, also after the pool was collected") {
  Tensor x = grid(4, 6).shard(kTwo, 0).realize();
  for (int round = 0; round < 2; ++round) {
    PoolScope scope(tensorPool());
    CHECK(x.uop().srcCount() == 1);
    CHECK(x.uop().src(0).device() == "CPU,CPU:1");
    CHECK(deviceOf(x.uop()) == deviceNode("CPU,CPU:1"));
    collectTensorPool();
  }
}

TEST_CASE("an ALLREDUCE gives every device the reduction of all shards") {
  PoolScope scope(tensorPool());
  UOp s = grid(4, 6).shard(kTwo, 0).realize().uop();
  UOp all = UOp::make(Op::ALLREDUCE, s.dtype(), {s, deviceOf(s)}, Arg::of(Op::ADD));
  UOp now = separateDevices(UOp::sink(std::vector<UOp>{all})).at(all);
  REQUIRE(now.is(Op::MULTI));
  CHECK(now.src(0).srcCount() == 2);
  CHECK(now.src(0).src(0).below().has(Op::COPY));
}
