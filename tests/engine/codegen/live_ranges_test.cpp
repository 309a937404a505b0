// Live ranges of small programs whose answer can be counted by hand.
#include "engine/codegen/live_ranges.h"
#include "tests/engine/codegen/kernels.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

constexpr RegisterFile kAvx2{16, 32, 15, 8}, kAvx512{32, 64, 15, 8}, kGpu{0, 0, 255, 4};
const DType kEight = dtypes::float32.vec(8);

/// A linear program that is written down instruction by instruction.
class Written {
public:
  UOp add(UOp u) {
    if (std::ranges::find(program, u) == program.end()) program.push_back(u);
    return u;
  }
  UOp constant(int64_t value) { return add(UOp::constant(dtypes::int32, value)); }
  UOp after(UOp memory, UOp effect) { return add(UOp::make(Op::AFTER, memory.dtype(), {memory, effect})); }
  UOp array(Op op, int64_t size, int64_t number) {
    const AddrSpace space = op == Op::DEFINE_REG ? AddrSpace::Reg : AddrSpace::Global;
    return add(UOp::make(op, dtypes::float32.ptr(size, space), {}, Arg::of(number)));
  }
  UOp at(UOp memory, UOp index, DType type = kEight) {
    UOp place = add(UOp::make(Op::INDEX, memory.dtype(), {memory, index}));
    return type.count() > 1
               ? add(UOp::make(Op::CAST, type.ptr(memory.dtype().size(), memory.dtype().addrspace()),
                               {place}))
               : place;
  }
  UOp load(UOp memory, UOp index, DType type = kEight) {
    return add(UOp::make(Op::LOAD, type, {at(memory, index, type)}));
  }
  UOp store(UOp memory, UOp index, UOp value) {
    return add(UOp::make(Op::STORE, dtypes::void_, {at(memory, index, value.dtype()), value}));
  }
  UOp sum(UOp x, UOp y) { return add(UOp::make(Op::ADD, x.dtype(), {x, y})); }
  size_t placeOf(UOp u) const { return static_cast<size_t>(std::ranges::find(program, u) - program.begin()); }
  LiveRanges live(const RegisterFile& file) const { return liveRanges(program, file); }
  std::vector<UOp> program;
};

} // namespace

TEST_CASE(
    "live ranges: loads that wait for their users take a register each, in vectors as wide as the target's") {
  Pool pool;
  PoolScope scope(pool);
  Written w;
  UOp out = w.array(Op::DEFINE_GLOBAL, 64, 0), in = w.array(Op::DEFINE_GLOBAL, 64, 1);
  std::vector<UOp> loads;
  for (int64_t i = 0; i < 4; ++i) loads.push_back(w.load(in, w.constant(8 * i)));
  // Each is read twice, so that no instruction takes it from memory.
  UOp first = w.sum(loads[0], loads[1]), second = w.sum(loads[2], loads[3]);
  UOp third = w.sum(loads[0], loads[2]), fourth = w.sum(loads[1], loads[3]);
  UOp all = w.sum(w.sum(first, second), w.sum(third, fourth));
  w.store(out, w.constant(0), all);

  LiveRanges live = w.live(kAvx2);
  CHECK(live.alive[w.placeOf(loads[3])].vectors == 4);
  CHECK(live.alive[w.placeOf(first)].vectors == 5);
  CHECK(live.vectors.registers == 6);
  CHECK(live.vectors.at == w.placeOf(second));
  CHECK(live.general.registers == 2); // the two buffers
  CHECK(live.spilledBytes == 0);
  const RegisterFile narrow{16, 16, 15, 8}, few{4, 32, 15, 8};
  CHECK(w.live(narrow).vectors.registers == 12); // two registers a vector of eight lanes
  CHECK(w.live(few).spilledBytes == 2 * 32);
  // The values there, the longest lived first: the buffer that the end stores to, four loads, two sums.
  std::vector<LiveValue> there = live.aliveBehind(w.placeOf(second));
  REQUIRE(there.size() == 7);
  CHECK(there[0].made == w.placeOf(out));
  CHECK_FALSE(there[0].isVector);
  CHECK(there[1].made == w.placeOf(loads[0]));
  CHECK(there[1].until == w.placeOf(third));
  // A thread of a GPU has 32-bit registers: eight a vector, and none for the buffers.
  CHECK(w.live(kGpu).general.registers == 48);
}

TEST_CASE("live ranges: a load with one user is read by it, unless its memory is written before") {
  Pool pool;
  PoolScope scope(pool);
  for (const bool written : {false, true}) {
    CAPTURE(written);
    Written w;
    UOp out = w.array(Op::DEFINE_GLOBAL, 64, 0), in = w.array(Op::DEFINE_GLOBAL, 64, 1);
    UOp base = w.load(in, w.constant(0)), twice = w.sum(base, base);
    UOp once = w.load(in, w.constant(8));
    if (written) w.store(in, w.constant(16), twice);
    UOp result = w.sum(twice, once);
    w.store(out, w.constant(0), result);
    LiveRanges live = w.live(kAvx2);
    CHECK(live.alive[w.placeOf(once)].vectors == (written ? 2 : 1));
    CHECK(live.vectors.registers == (written ? 2 : 1));
  }
}

TEST_CASE("live ranges: a value that a loop uses lives to its END, an accumulator through it, in a register "
          "of its own") {
  Pool pool;
  PoolScope scope(pool);
  Written w;
  UOp out = w.array(Op::DEFINE_GLOBAL, 64, 0), in = w.array(Op::DEFINE_GLOBAL, 1024, 1),
      acc = w.array(Op::DEFINE_REG, 8, 0), zero = w.constant(0), n = w.constant(16);
  UOp scale = w.load(in, zero), twice = w.sum(scale, scale);
  const std::vector<UOp> zeros(8, w.add(UOp::constant(dtypes::float32, 0.0)));
  UOp nothing = w.add(UOp::make(Op::VECTORIZE, kEight, zeros));
  UOp start = w.store(acc, zero, nothing);
  UOp k = w.add(UOp::make(Op::RANGE, dtypes::int32, {n}, Arg::of(RangeArg{{0}, AxisType::Reduce})));
  UOp term = w.load(in, k), product = w.add(UOp::make(Op::MUL, kEight, {term, twice}));
  UOp grown = w.sum(w.load(w.after(acc, start), zero), product), stored = w.store(acc, zero, grown);
  UOp end = w.add(UOp::make(Op::END, dtypes::void_, {stored, k}));
  UOp total = w.load(w.after(acc, end), zero);
  w.store(out, zero, w.sum(total, total));

  LiveRanges live = w.live(kAvx2);
  CHECK(live.alive[w.placeOf(start)].vectors == 2); // the accumulator and what the loop multiplies with
  CHECK(live.alive[w.placeOf(product)].vectors == 3);
  CHECK(live.alive[w.placeOf(grown)].vectors == 2); // the sum lies in the accumulator's register
  CHECK(live.alive[w.placeOf(end) - 1].vectors == 2);
  CHECK(live.alive[w.placeOf(end)].vectors == 1); // only the accumulator is read behind the loop
  CHECK(live.vectors.registers == 3);
  CHECK(live.alive[w.placeOf(term)].general == 3); // two buffers and the counter
  CHECK(live.alive[w.placeOf(end)].general == 1);
}

TEST_CASE("live ranges: constants, addresses, lanes and arrays that a loop indexes take no register") {
  Pool pool;
  PoolScope scope(pool);
  Written w;
  UOp out = w.array(Op::DEFINE_GLOBAL, 64, 0), in = w.array(Op::DEFINE_GLOBAL, 64, 1),
      row = w.array(Op::DEFINE_REG, 64, 0), n = w.constant(4);
  UOp i = w.add(UOp::make(Op::RANGE, dtypes::int32, {n}, Arg::of(RangeArg{{0}, AxisType::Loop})));
  UOp further = w.sum(i, n); // only an address
  UOp wide = w.load(in, further);
  UOp lane = w.add(UOp::make(Op::GEP, dtypes::float32, {wide}, Arg::of(std::vector<int64_t>{3})));
  UOp kept = w.store(row, i, lane); // memory: the index is no constant
  UOp again = w.load(w.after(row, kept), i, dtypes::float32);
  UOp stored = w.store(out, i, w.sum(again, again));
  w.add(UOp::make(Op::END, dtypes::void_, {stored, i}));
  LiveRanges live = w.live(kAvx2);
  CHECK(live.alive[w.placeOf(further)].general == 3);
  CHECK(live.alive[w.placeOf(lane)].vectors == 0);
  CHECK(live.alive[w.placeOf(kept)].vectors == 0);
  CHECK(live.vectors.registers == 1);
}

TEST_CASE(
    "live ranges: lanes that are shuffled come out of whole vectors, one lane in all places is read alone") {
  Pool pool;
  PoolScope scope(pool);
  for (const bool shuffled : {false, true}) {
    CAPTURE(shuffled);
    Written w;
    UOp out = w.array(Op::DEFINE_GLOBAL, 64, 0), in = w.array(Op::DEFINE_GLOBAL, 64, 1), zero = w.constant(0);
    UOp x = w.load(in, zero);
    std::vector<UOp> lanes;
    for (int64_t i = 0; i < 8; ++i)
      lanes.push_back(w.add(
          UOp::make(Op::GEP, dtypes::float32, {x}, Arg::of(std::vector<int64_t>{shuffled ? 7 - i : 7}))));
    UOp turned = w.add(UOp::make(Op::VECTORIZE, kEight, lanes));
    w.store(out, zero, turned);
    CHECK(w.live(kAvx2).alive[w.placeOf(x)].vectors == (shuffled ? 1 : 0));
    CHECK(w.live(kAvx2).vectors.registers == 1);
  }
}

TEST_CASE("live ranges: masks of AVX-512 have registers of their own") {
  Pool pool;
  PoolScope scope(pool);
  Written w;
  UOp out = w.array(Op::DEFINE_GLOBAL, 64, 0), in = w.array(Op::DEFINE_GLOBAL, 64, 1), zero = w.constant(0);
  UOp x = w.load(in, zero), y = w.sum(x, x);
  UOp less = w.add(UOp::make(Op::CMPLT, dtypes::bool_.vec(8), {x, y}));
  w.store(out, zero, w.add(UOp::make(Op::WHERE, kEight, {less, x, y})));
  CHECK(w.live(kAvx2).alive[w.placeOf(less)].vectors == 3);
  CHECK(w.live(kAvx512).alive[w.placeOf(less)].vectors == 2);
}

TEST_CASE("live ranges: a tile of a product keeps its accumulators, and a wider tile predicts spills") {
  Target target = plainTarget(8);
  target.nativeOps = target.nativeOps | OpSet{Op::MULACC};
  const RegisterFile file = registerFileOf(target);
  CHECK(file.vectorBytes == 32);
  Pool pool;
  PoolScope scope(pool);
  auto peakOf = [&](int64_t rows, int64_t lanes) {
    KernelInfo info;
    info.hasOptsToApply = true;
    info.optsToApply = {{OptOp::UPCAST, 0, {rows}}, {OptOp::UPCAST, 1, {lanes}}};
    UOp sink = matmul(64, 64, 64);
    LoweredKernel k = lowerKernel(sink.withArg(Arg::of(info)), target);
    return liveRanges(k.uops, {16, 32, 15, 8});
  };
  LiveRanges small = peakOf(4, 16), large = peakOf(8, 32);
  CHECK(small.vectors.registers >= 8);
  CHECK(small.spilledBytes == 0);
  CHECK(large.vectors.registers >= 32);
  CHECK(large.spilledBytes >= 16 * 32);
}
