// The time model on programs made by hand and a made-up processor whose rates are round numbers.
#include "engine/codegen/access_traffic.h"
#include "engine/codegen/instruction_work.h"
#include "engine/codegen/time_model.h"
#include "kernels.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

MachineRates rates() {
  MachineRates r;
  r.cycleNs = 1, r.registerLanes = 16, r.cores = 2;
  r.multiplyAdds = 2, r.additions = 2, r.mixed = 4;
  r.division = 10, r.scalarDivision = 4, r.shuffles = 2, r.instructions = 4, r.loads = 2, r.stores = 1;
  r.latency = 4, r.forwarding = 6, r.mispredicted = 20;
  r.first.bytes = 32 << 10;
  r.second = {1 << 20, 64, 64, 32, 4, 4};
  r.last = {16 << 20, 16, 8, 8, 12, 16};
  r.memory = {0, 4, 2, 2, 100, 32};
  r.launchNs = 50, r.threadsNs = 1000, r.wakeNs = 5000, r.newByteNs = 0.25, r.newLargeByteNs = 0.05;
  return r;
}

const DType kVector = dtypes::float32.vec(16);

UOp vectorAt(UOp buffer, UOp index) {
  return buffer.indexed({index}).cast(kVector.ptr(buffer.dtype().size()));
}
/// out[i] = f(in[i]) in vectors of 16, without Opts: what code generation ends with.
std::vector<UOp> streaming(int64_t vectors, const std::function<UOp(UOp)>& f, UOp first = {}) {
  const UOp i = UOp::range(vectors, 0, AxisType::Loop, dtypes::int32);
  UOp at = i * 16;
  if (first) at = first + at;
  const UOp value = f(vectorAt(memory(1, vectors * 16), at).load({}, kVector));
  return linearize(kernel({vectorAt(memory(0, vectors * 16), at).store(value).end({i})}));
}
UOp unchanged(UOp x) {
  return x;
}
/// sum over i of in[i * stride], one number a turn.
std::vector<UOp> chained(int64_t terms, int64_t stride = 1) {
  const UOp acc = UOp::make(Op::DEFINE_REG, dtypes::float32.ptr(1, AddrSpace::Reg), {}, Arg::of(int64_t{0}));
  const UOp zero = UOp::constant(dtypes::int32, int64_t{0});
  const UOp i = UOp::range(terms, 0, AxisType::Reduce, dtypes::int32);
  const UOp begin = acc.indexed({zero}).store(UOp::constant(dtypes::float32, 0.0));
  const UOp inLoop = acc.after(std::vector<UOp>{begin, i}).indexed({zero});
  const UOp term = memory(1, terms * stride).indexed({i * stride}).load();
  const UOp end = inLoop.store(inLoop.load() + term).end({i});
  const UOp sum = acc.after(std::vector<UOp>{end}).indexed({zero}).load();
  return linearize(kernel({memory(0, 1).indexed({zero}).store(sum)}));
}
UOp coreId(int64_t threads) {
  return UOp::variable("core_id", 0, threads - 1, dtypes::int32);
}

} // namespace

TEST_CASE("time model: a loop takes as long as its arithmetic") {
  Pool pool;
  const PoolScope scope(pool);
  auto products = [](int n) {
    return [n](UOp x) {
      const UOp factor = UOp::constant(dtypes::float32, 1.5).broadcast(16);
      std::vector<UOp> all;
      for (int k = 0; k < n; ++k) all.push_back(x.alu(Op::MUL, {k ? all.back() : factor}));
      return all.back();
    };
  };
  // 100 vectors in the first cache: 40 products at two a cycle, and the end of the loop.
  const PredictedTime t = predictTime(streaming(100, products(40)), rates());
  CHECK(t.of(TimePart::Arithmetic) == doctest::Approx((100 * 20 + 10) * 1e-9));
  CHECK(t.of(TimePart::Memory) == 0);
  CHECK(t.of(TimePart::Launch) == doctest::Approx(50e-9));
  CHECK(t.seconds > t.of(TimePart::Arithmetic));
  CHECK(t.threads == 1);
  const PredictedTime twice = predictTime(streaming(200, products(40)), rates());
  CHECK(twice.of(TimePart::Arithmetic) > 1.9 * t.of(TimePart::Arithmetic));
  // Registers of half the width take twice as many operations.
  MachineRates narrow = rates();
  narrow.registerLanes = 8;
  CHECK(predictTime(streaming(100, products(40)), narrow).of(TimePart::Arithmetic) ==
        doctest::Approx((100 * 40 + 10) * 1e-9));
}

TEST_CASE("time model: data comes from the cache that holds it") {
  Pool pool;
  const PoolScope scope(pool);
  const PredictedTime near = predictTime(streaming(256, unchanged), rates()); // 16 kB twice: fits 32 kB
  CHECK(near.of(TimePart::Caches) == 0);
  CHECK(near.of(TimePart::Memory) == 0);
  const PredictedTime second = predictTime(streaming(4096, unchanged), rates()); // 256 kB twice
  CHECK(second.of(TimePart::Memory) == 0);
  CHECK(second.of(TimePart::Caches) ==
        doctest::Approx(4096 * (1 + 2) * 1e-9).epsilon(0.01));                   // 64 and 32 a cycle
  const PredictedTime far = predictTime(streaming(1 << 20, unchanged), rates()); // 64 MB twice
  CHECK(far.bound() == TimePart::Memory);
  CHECK(far.of(TimePart::Memory) == doctest::Approx((1 << 20) * (16 + 32) * 1e-9).epsilon(0.01));
  // What other kernels touched in between pushes a small buffer out.
  const LaunchState later{.since = {0, 64e6}};
  CHECK(predictTime(streaming(256, unchanged), rates(), later).of(TimePart::Memory) ==
        doctest::Approx(256 * 16 * 1e-9).epsilon(0.01));
}

TEST_CASE("time model: a sum of one number after the other waits for each addition") {
  Pool pool;
  const PoolScope scope(pool);
  const PredictedTime t = predictTime(chained(1000), rates());
  CHECK(t.bound() == TimePart::Latency);
  CHECK(t.of(TimePart::Latency) == doctest::Approx(4000e-9).epsilon(0.02));
  // Numbers 4 kB apart are lines of their own: in memory each costs a jump.
  const PredictedTime apart = predictTime(chained(100'000, 1024), rates());
  CHECK(apart.bound() == TimePart::Memory);
  CHECK(apart.of(TimePart::Memory) == doctest::Approx(100'000 * 32 * 1e-9).epsilon(0.01));
}

TEST_CASE("time model: threads, pauses, new memory and code have their price") {
  Pool pool;
  const PoolScope scope(pool);
  auto two = streaming(64, unchanged, coreId(2) * 1024);
  const PredictedTime t = predictTime(two, rates());
  CHECK(t.threads == 2);
  CHECK(t.of(TimePart::Launch) == doctest::Approx(1000e-9));
  CHECK(predictTime(two, rates(), {.asleep = true}).of(TimePart::Launch) == doctest::Approx(5000e-9));
  const double added = predictTime(two, rates(), {.newBytes = 1e6}).seconds - t.seconds;
  CHECK(added == doctest::Approx(250e-6));
  CHECK(predictTime(two, rates(), {.newLargeBytes = 1e6}).seconds - t.seconds == doctest::Approx(50e-6));
  CHECK(predictTime(two, rates(), {.first = true}).seconds > t.seconds);
  CHECK(predictTime(two, rates(), {.first = true, .newCode = true}).seconds >
        predictTime(two, rates(), {.first = true}).seconds);
  // Four threads on two cores take turns, and both cores share the memory.
  const PredictedTime four = predictTime(streaming(64, unchanged, coreId(4) * 1024), rates());
  CHECK(four.of(TimePart::Arithmetic) == doctest::Approx(2 * t.of(TimePart::Arithmetic)));
}

TEST_CASE("time model: a loop whose length is a variable runs for its share") {
  Pool pool;
  const PoolScope scope(pool);
  const UOp n = UOp::variable("n", 1, 1000, dtypes::int32);
  const UOp i = UOp::range(n, {0}, AxisType::Loop, dtypes::int32);
  const UOp value = vectorAt(memory(1, 16000), i * 16).load({}, kVector);
  const auto program = linearize(kernel({vectorAt(memory(0, 16000), i * 16).store(value).end({i})}));
  const PredictedTime all = predictTime(program, rates()),
                      tenth = predictTime(program, rates(), {.share = 0.1});
  CHECK(tenth.of(TimePart::Arithmetic) < 0.2 * all.of(TimePart::Arithmetic));
}

TEST_CASE("time model: nothing is predicted without rates or for a GPU") {
  Pool pool;
  const PoolScope scope(pool);
  CHECK(predictTime(streaming(64, unchanged), {}).seconds == 0);
  CHECK(predictTime({}, rates()).seconds == 0);
  const UOp thread = UOp::special(UOp::constant(dtypes::int32, int64_t{64}), "gidx0", dtypes::int32);
  CHECK(predictTime(streaming(64, unchanged, thread * 1024), rates()).seconds == 0);
  for (size_t i = 0; i < kTimeParts; ++i) CHECK(!timePartName(static_cast<TimePart>(i)).empty());
}

TEST_CASE("access traffic: an operand that fits is fetched once, another in each turn") {
  Pool pool;
  const PoolScope scope(pool);
  // for i in 100: for k in 1000: read a[k * 16 ...] (64 kB, the same each time) and b[i * 16000 + k * 16 ...]
  const UOp i = UOp::range(100, 0, AxisType::Loop, dtypes::int32),
            k = UOp::range(1000, 1, AxisType::Loop, dtypes::int32);
  AccessTraffic t;
  for (UOp u : {i, k, vectorAt(memory(1, 16000), k * 16).load({}, kVector),
                vectorAt(memory(2, 1600000), i * 16000 + k * 16).load({}, kVector)})
    t.follow(u);
  t.finish();
  REQUIRE(t.groups().size() == 2);
  const AccessGroup &a = t.groups()[0], &b = t.groups()[1];
  CHECK(t.executions(a.block) == 100'000);
  CHECK(t.lines(a, 2) == 1000);
  CHECK(t.lines(b, 2) == 100'000);
  CHECK(t.linesFrom(a, 1 << 20, 0) == 1000);     // a stays in a megabyte
  CHECK(t.linesFrom(a, 16 << 10, 0) == 100'000); // and not in 16 kB
  CHECK(t.linesFrom(b, 1 << 20, 0) == 100'000);
  CHECK(t.linesFrom(a, 8 << 20, 0) == 0); // all of it fits: it is there from the launch before
  CHECK(t.linesFrom(a, 8 << 20, 4e6) == 1000);
}

TEST_CASE("access traffic: windows overlap, and far lines crowd a cache") {
  Pool pool;
  const PoolScope scope(pool);
  // for y in 64: for w in 3: read in[y + w]: 66 numbers, not 192
  const UOp y = UOp::range(64, 0, AxisType::Loop, dtypes::int32),
            w = UOp::range(3, 1, AxisType::Loop, dtypes::int32);
  AccessTraffic t;
  for (UOp u : {y, w, memory(1, 1 << 20).indexed({(y + w) * 1024}).load()}) t.follow(u);
  t.finish();
  const AccessGroup& g = t.groups().at(0);
  CHECK(t.lines(g, 2) == 66);
  CHECK(t.crowding(g, 2) == 64); // 4 kB apart: one set of 64
  CHECK(t.footprint(0) == 66 * 64 * 64);
  CHECK(!isIndirect((y + w) * 1024));
  CHECK(isIndirect(memory(2, 64, dtypes::int32).indexed({y}).load()));
}

TEST_CASE("instruction work: what LLVM leaves out costs nothing") {
  Pool pool;
  const PoolScope scope(pool);
  const UOp x = vectorAt(memory(1, 64), UOp::constant(dtypes::int32, int64_t{0})).load({}, kVector);
  const UOp sum = x.alu(Op::ADD, {x}), wide = x.alu(Op::MUL, {sum});
  const UOp same = x.gep({3}).broadcast(16);
  std::vector<UOp> mixed;
  for (int64_t lane = 0; lane < 16; ++lane) mixed.push_back((lane % 2 ? x : sum).gep({lane}));
  const UOp shuffled = UOp::vectorize(mixed);
  const std::vector<UOp> program{x, sum, wide, same, shuffled};
  const InstructionWork work(program, 16), narrow(program, 4);
  CHECK(work.of(sum).additions == 1);
  CHECK(narrow.of(sum).additions == 4);
  CHECK(work.of(wide).multiplies == 1);
  CHECK(work.of(x).loads == 1);
  CHECK(work.of(same).shuffles == 1);
  CHECK(work.of(shuffled).shuffles == 2); // of two vectors, in one go each
  CHECK(work.of(mixed[1]).shuffles == 0); // the shuffle takes it
  CHECK(work.of(UOp::constant(kVector, 1.0)).instructions() == 0);
}
