// Tensors from C++: values, gradients, random streams, effects of realize() on other tensors, memory, errors.
#include "engine/base/error.h"
#include "engine/rewrite/observer.h"
#include "engine/runtime/counters.h"
#include "engine/tensor/operation_scope.h"
#include "engine/tensor/placeholder.h"
#include "engine/tensor/sha256.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/uop/origin.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace uopscope;

namespace {
Tensor numbers(const std::vector<float>& v, const Ints& shape) {
  return Tensor::from<float>(v, shape);
}
} // namespace

TEST_CASE("a tensor is a graph until it is realized, then a buffer") {
  Tensor x = numbers({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor y = x.mul(2).sum(Ints{1});
  CHECK(y.uop().is(Op::RESHAPE));
  CHECK(y.uop().src(0).is(Op::REDUCE_AXIS));
  CHECK(y.values<float>() == std::vector<float>{12, 30});
  y.realize();
  CHECK(graph::isRealized(y.uop()));
}

TEST_CASE("a matrix product has the reference's shape: a sum over an expanded product") {
  Tensor a = Tensor::empty({2, 3}), b = Tensor::empty({3, 4});
  UOp u = a.matmul(b).uop();
  REQUIRE(u.is(Op::RESHAPE));
  UOp sum = u.src(0);
  REQUIRE(sum.is(Op::REDUCE_AXIS));
  CHECK(sum.arg().as<ReduceArg>() == ReduceArg{Op::ADD, {2}});
  REQUIRE(sum.src(0).is(Op::MUL));
  CHECK(sum.src(0).src(0).is(Op::EXPAND));
  CHECK(shapeStr(sum.src(0).shape()) == "(2, 4, 3)");
}

TEST_CASE("a large value that died while a graph was built is freed before the graph's kernels take memory") {
  struct AtLaunch : Observer {
    bool wantsRewrites() const override { return false; }
    void onLaunch(const Launch&) override {
      most = std::max<int64_t>(most, GlobalCounters::current().memUsed);
    }
    int64_t most = 0;
  } told;
  collectTensorPool();
  constexpr int64_t kNumbers = int64_t{12} << 20; // 48 MB
  const int64_t before = GlobalCounters::current().memUsed;
  Tensor gradient = Tensor::ones({kNumbers}).contiguous();
  gradient.realize();
  Tensor sum = numbers({1, 2}, {2});
  for (int k = 0; k < 1500; ++k) sum = sum.mul(k % 3 - 1).add(k); // a graph of a whole network
  gradient = numbers({1}, {1});
  ObserverScope scope(&told);
  sum.realize();
  CHECK(told.most > 0);
  CHECK(told.most < before + kNumbers * 4);
}

TEST_CASE("operations that change nothing make no node") {
  Tensor x = Tensor::empty({2, 3});
  CHECK(x.reshape({2, 3}).uop() == x.uop());
  CHECK(x.permute({0, 1}).uop() == x.uop());
  CHECK(x.expand({-1, 3}).uop() == x.uop());
  CHECK(x.cast(dtypes::float32).uop() == x.uop());
  CHECK(x.contiguous().uop() == x.uop());
  CHECK(x.pad({{0, 0}, {0, 0}}).uop() == x.uop());
}

TEST_CASE("random numbers are the reference's") {
  Tensor::manualSeed(0);
  auto uniform = Tensor::rand({5}).values<float>();
  const float wanted[] = {0.5921812057495117f, 0.41612815856933594f, 0.9928410053253174f, 0.9739949703216553f,
                          0.5406471490859985f};
  for (size_t i = 0; i < 5; ++i) CHECK(uniform[i] == wanted[i]);
  auto normal = Tensor::randn({5}).values<float>();
  CHECK(normal[0] == doctest::Approx(0.9389030337).epsilon(1e-5));
  CHECK(normal[1] == doctest::Approx(0.6674572229).epsilon(1e-5));
}

TEST_CASE("draws keep their numbers in whatever order they are realized") {
  Tensor::manualSeed(5);
  Tensor a = Tensor::rand({4}), b = Tensor::rand({4});
  auto second = b.values<float>(), first = a.values<float>();
  Tensor::manualSeed(5);
  CHECK(Tensor::rand({4}).values<float>() == first);
  CHECK(Tensor::rand({4}).values<float>() == second);
}

TEST_CASE("equal constants with gradients of their own stay apart") {
  Tensor a = Tensor::ones({2}, {{}, {}, true}), b = Tensor::ones({2}, {{}, {}, true});
  CHECK(a.uop() != b.uop());
  a.mul(2).add(b.mul(5)).sum().backward();
  CHECK(a.grad().values<float>() == std::vector<float>{2, 2});
  CHECK(b.grad().values<float>() == std::vector<float>{5, 5});
}

TEST_CASE("realizing one tensor lets others read what was computed") {
  Tensor x = numbers({1, 2, 3}, {3});
  Tensor shared = x.exp().contiguous(), user = shared.add(1);
  shared.realize();
  bool readsBuffer = false;
  for (UOp u : user.uop().toposort()) readsBuffer = readsBuffer || u == graph::base(shared.uop());
  CHECK(readsBuffer);
  for (UOp u : user.uop().toposort()) CHECK_FALSE(u.is(Op::EXP2));
}

TEST_CASE("numbering the loops of a kernel leaves the kernels below it alone") {
  // Sorting makes a chain of two-axis kernels; the slice at its end has loops with the same ids.
  Tensor sorted = numbers({3, 1, 4, 1.5f}, {4}).sort().first;
  Tensor firstTwo = sorted.shrink({{{Sint(0), Sint(2)}}});
  CHECK(firstTwo.values<float>() == std::vector<float>{1, 1.5f});
}

TEST_CASE("what nothing reaches is freed") {
  collectTensorPool();
  size_t before = tensorPool().liveNodes();
  {
    Tensor x = numbers({1, 2}, {2});
    for (int i = 0; i < 50; ++i) x = x.add(i);
    CHECK(tensorPool().liveNodes() > before + 50);
  }
  collectTensorPool();
  CHECK(tensorPool().liveNodes() <= before);
}

TEST_CASE("nodes remember the operation that made them") {
  Tensor x = Tensor::empty({2, 2});
  UOp u = x.add(3).relu().uop();
  REQUIRE(originOf(u));
  CHECK(originOf(u)->operation == "relu");
}

TEST_CASE("a gradient tells its observer each node once, however deep the graph is") {
  struct Origins : Observer {
    size_t told = 0;
    std::set<uint32_t> nodes;
    void onOrigin(const Origin& e) override {
      ++told;
      nodes.insert(e.node.id());
    }
  };
  auto toldOf = [](int layers) {
    Tensor x = Tensor::empty({4, 4}), y = x;
    for (int k = 0; k < layers; ++k) y = y.matmul(x).relu().add(y);
    const Tensor loss = y.sum();
    Origins origins;
    ObserverScope scope(&origins);
    loss.gradient({x});
    CHECK(origins.told <= origins.nodes.size() + 1); // the tensor of the gradient names its node, too
    return origins.told;
  };
  const size_t few = toldOf(10), many = toldOf(40);
  CHECK(few > 100);
  CHECK(many < 5 * few);
}

TEST_CASE("errors name the operation and the shapes") {
  auto messageOf = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  Tensor a = Tensor::empty({2, 3}), b = Tensor::empty({4, 2});
  std::string text = messageOf([&] { a.matmul(b); });
  CHECK(text.find("matmul") != std::string::npos);
  CHECK(text.find("(2, 3)") != std::string::npos);
  CHECK(text.find("(4, 2)") != std::string::npos);
  CHECK(messageOf([&] { a.add(b); }).find("add: cannot broadcast (2, 3) with (4, 2)") != std::string::npos);
  CHECK(messageOf([&] { a.reshape({7}); }).find("(2, 3)") != std::string::npos);
  CHECK(messageOf([&] { a.sum(Ints{2}); }).find("dim=2 out of range") != std::string::npos);
  CHECK(messageOf([&] { a.to("NOSUCH").realize(); }) != "");
}

TEST_CASE("SHA-256 of known messages") {
  auto hex = [](std::string_view text) {
    std::vector<uint8_t> bytes(text.begin(), text.end());
    std::string out;
    for (uint8_t b : sha256(bytes)) {
      out += "0123456789abcdef"[b >> 4];
      out += "0123456789abcdef"[b & 15];
    }
    return out;
  };
  CHECK(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("attention trains: a value that loses a loop of its host is stored by a kernel of its own") {
  Tensor::manualSeed(1);
  Tensor x = Tensor::randn({4, 8, 16}).realize();
  std::vector<Tensor> w;
  for (int i = 0; i < 3; ++i) w.push_back(Tensor::randn({16, 16}).realize().setRequiresGrad());
  x.matmul(w[0]).scaledDotProductAttention(x.matmul(w[1]), x.matmul(w[2])).square().sum().backward();
  Tensor::realize({w[0].grad(), w[1].grad(), w[2].grad()});
  auto together = w[2].grad().doubles();
  Tensor again = x.matmul(w[0])
                     .scaledDotProductAttention(x.matmul(w[1]), x.matmul(w[2]))
                     .square()
                     .sum()
                     .gradient({w[2]})[0];
  auto alone = again.doubles();
  for (size_t i = 0; i < alone.size(); ++i) CHECK(together[i] == doctest::Approx(alone[i]).epsilon(1e-4));
}

TEST_CASE("memory is asked for where no pool is current, after a transform made placeholders") {
  {
    PoolScope scope(tensorPool());
    newPlaceholder({Sint(3)}, dtypes::float32, "CPU");
  }
  REQUIRE_FALSE(Pool::hasCurrent());
  CHECK(numbers({1, 2}, {2}).buffer()->size() == 2);
}
