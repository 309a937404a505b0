// Custom kernels between computed values.
#include "schedule_fixture.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// parameter 0 [i] = parameter 1 [i] * 2
UOp doubling(int64_t n) {
  UOp to = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(n), {}, Arg::of(int64_t{0}));
  UOp from = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(n), {}, Arg::of(int64_t{1}));
  UOp r = UOp::range(n, 0);
  UOp store = to.indexed({r}).store(from.indexed({r}, dtypes::float32) * UOp::constant(dtypes::float32, 2.0));
  KernelInfo info;
  info.name = "doubling";
  return UOp::sink(std::vector<UOp>{store.end({r})}, Arg::of(info));
}
UOp custom(UOp sink, const std::vector<UOp>& buffers) {
  std::vector<UOp> src{sink};
  src.insert(src.end(), buffers.begin(), buffers.end());
  return UOp::make(Op::CUSTOM_KERNEL, dtypes::void_, src);
}

} // namespace

TEST_CASE("a custom kernel reads and writes buffers as they are") {
  Fixture f;
  UOp to = f.buffer(6), from = f.buffer(6);
  UOp kernel = custom(doubling(6), {to, from}), result = to.after(std::vector<UOp>{kernel});
  Schedule s = f.schedule({result});
  REQUIRE(s.items.size() == 1);
  CHECK(s.items[0].ast.arg().as<KernelInfo>().name == "doubling");
  CHECK(s.items[0].buffers[0].get() == to);
  CHECK(s.items[0].buffers[1].get() == from);
  CHECK(Fixture::became(s, result) == to);
  f.run(s);
  for (size_t i = 0; i < 6; ++i)
    CHECK(f.memory[to.id()][i].asDouble() == 2 * f.memory[from.id()][i].asDouble());
}

TEST_CASE("a custom kernel among computed values") {
  Fixture f;
  UOp a = f.tensor({2, 3}), b = f.tensor({2, 3}), to = reshape(f.buffer(6), {2, 3});
  UOp kernel = custom(doubling(6), {to, contiguous(a + b)});
  UOp doubled = to.after(std::vector<UOp>{kernel});
  UOp y = permute(doubled, {1, 0}) + filled(1, {3, 2});
  Schedule s = f.schedule({y});
  CHECK(s.items.size() == 3);
  f.run(s);
  const Elements &got = f.memoryOf(Fixture::became(s, y).bufferOf()), &x = f.memory[a.src(0).id()],
                 &z = f.memory[b.src(0).id()];
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 3; ++j)
      CHECK(got[j * 2 + i].asDouble() == 2 * (x[i * 3 + j].asDouble() + z[i * 3 + j].asDouble()) + 1);
}

TEST_CASE("a custom kernel after a custom kernel") {
  Fixture f;
  UOp p = f.buffer(4), q = f.buffer(4), r = f.buffer(4);
  UOp first = p.after(std::vector<UOp>{custom(doubling(4), {p, q})});
  UOp second = r.after(std::vector<UOp>{custom(doubling(4), {r, contiguous(first)})});
  Schedule s = f.schedule({second});
  CHECK(s.items.size() == 2);
  f.run(s);
  for (size_t i = 0; i < 4; ++i) CHECK(f.memory[r.id()][i].asDouble() == 4 * f.memory[q.id()][i].asDouble());
}

TEST_CASE("a custom kernel that stores beyond its tensors") {
  Fixture f;
  UOp r = UOp::range(4, 0);
  UOp to = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(4), {}, Arg::of(int64_t{3}));
  UOp sink = UOp::sink(std::vector<UOp>{to.indexed({r}).store(UOp::constant(dtypes::float32, 1.0)).end({r})},
                       Arg::of(KernelInfo{}));
  UOp b = f.buffer(4);
  CHECK_THROWS_AS(f.schedule({b.after(std::vector<UOp>{custom(sink, {b})})}), Error);
}

TEST_CASE("a custom kernel that ends in memory instead of a store") {
  // C[i] = 0; C[i] += A[j] for all j: END over AFTER, as Python's C.set(...).end(i) makes it
  Fixture f;
  UOp to = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(4), {}, Arg::of(int64_t{0}));
  UOp from = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(3), {}, Arg::of(int64_t{1}));
  UOp i = UOp::range(4, 0), j = UOp::range(3, 1, AxisType::Reduce);
  UOp zero = to.indexed({i}).store(UOp::constant(dtypes::float32, 0.0));
  UOp cleared = to.after(std::vector<UOp>{zero});
  UOp sum =
      cleared.after(std::vector<UOp>{j}).indexed({i}, dtypes::float32) + from.indexed({j}, dtypes::float32);
  UOp done = cleared.after(std::vector<UOp>{cleared.indexed({i}).store(sum).end({j})});
  UOp sink = UOp::sink(std::vector<UOp>{done.end({i})}, Arg::of(KernelInfo{}));
  UOp a = f.buffer(4), b = f.buffer(3), result = a.after(std::vector<UOp>{custom(sink, {a, b})});
  Schedule s = f.schedule({result});
  REQUIRE(s.items.size() == 1);
  CHECK(s.items[0].buffers[0].get() == a);
}
