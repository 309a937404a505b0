// TinyJit from C++: replays launch and do not schedule, inputs and variables change, unsuitable calls are
// refused, memory stays.
#include "engine/base/context_var.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/tensor/jit.h"
#include "engine/uop/sint.h"

#include <doctest/doctest.h>

using namespace uopscope;

namespace {
Tensor row(const std::vector<float>& v) {
  return Tensor::from<float>(v, {static_cast<int64_t>(v.size())});
}
struct Scopes : Observer {
  bool wantsRewrites() const override { return false; }
  void onScopeBegin(const ScopeBegin& b) override { schedules += b.kind == ScopeKind::Schedule; }
  void onLaunch(const Launch&) override { ++launches; }
  int schedules = 0, launches = 0;
};
} // namespace

TEST_CASE("the third call launches without calling the function or making a schedule") {
  int calls = 0;
  TinyJit f([&](const std::vector<Tensor>& in) {
    ++calls;
    return std::vector<Tensor>{in[0].mul(2).contiguous().realize().add(in[1])};
  });
  for (const float i : {0.f, 1.f}) f({row({i, 1}), row({3, 4})});
  Scopes told;
  ObserverScope scope(&told);
  for (const float i : {0.f, 1.f, 2.f}) {
    CHECK(f({row({i, 1}), row({3, 4 + i})})[0].values<float>() == std::vector<float>{2 * i + 3, 6 + i});
  }
  CHECK(calls == 2);
  CHECK(told.schedules == 0);
  CHECK(told.launches == 6);
  CHECK(f.captured()->run().stepCount() == 2);
}

TEST_CASE("variables take the value of the call, inside and outside of their kernels' sizes") {
  Tensor table = Tensor::arange(10).cast(dtypes::float32).realize();
  UOp v;
  {
    PoolScope scope(tensorPool());
    v = UOp::variable("n", 1, 10);
  }
  UOpRef keep = v;
  UOp bound;
  auto bind = [&](int64_t i) {
    PoolScope scope(tensorPool());
    return UOp::make(Op::BIND, v.dtype(), {v, v.constLike(i)});
  };
  TinyJit f([&](const std::vector<Tensor>& in) {
    PoolScope scope(tensorPool());
    return std::vector<Tensor>{table.shrink({{{Sint(0), Sint(bound)}}}).sum().add(in[0])};
  });
  for (int64_t i = 1; i < 8; ++i) {
    bound = bind(i);
    UOpRef hold = bound;
    const auto sum = i * (i - 1) / 2 + 1;
    const auto want = static_cast<float>(sum);
    CHECK(f({row({1})}, {bound})[0].values<float>() == std::vector<float>{want});
  }
}

TEST_CASE("other shapes, types and counts of inputs are refused, and say what was captured") {
  TinyJit f([](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].add(1)}; });
  f({row({1, 2})});
  f({row({1, 2})});
  CHECK_THROWS_AS(f({row({1, 2, 3})}), JitError);
  CHECK_THROWS_AS(f({row({1, 2}), row({1})}), JitError);
  CHECK_THROWS_AS(f({Tensor::scalar(ConstValue::ofFloat(1))}), JitError);
  Tensor twice = row({1, 2}).realize();
  TinyJit g([](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].add(in[1])}; });
  g({twice, row({1, 2})});
  CHECK_THROWS_AS(g({twice, twice}), JitError);
  CHECK(f({row({4, 5})})[0].values<float>() == std::vector<float>{5, 6});
  f.reset();
  CHECK(f({row({1, 2, 3})})[0].values<float>() == std::vector<float>{2, 3, 4});
}

TEST_CASE("a captured run keeps its kernels when the cache is dropped") {
  TinyJit f([](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].exp2().add(1)}; });
  f({row({1, 2})});
  f({row({1, 2})});
  clearKernelCache();
  CHECK(f({row({3, 4})})[0].values<float>() == std::vector<float>{9, 17});
}

TEST_CASE("JIT=0 calls the function") {
  ContextScope off({{"JIT", 0}});
  int calls = 0;
  TinyJit f([&](const std::vector<Tensor>& in) {
    ++calls;
    return std::vector<Tensor>{in[0].add(1)};
  });
  for (int i = 0; i < 4; ++i) f({row({1})});
  CHECK(calls == 4);
}
