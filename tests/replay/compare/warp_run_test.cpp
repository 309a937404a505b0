// Walks of one warp: threads that part and meet again, values, elements and their cost, faults, and programs without threads.
#include "engine/base/error.h"
#include "engine/codegen/codegen.h"
#include "engine/render/gpu_text.h"
#include "replay/compare/warp_run.h"
#include "tests/engine/render/linear_program.h"

#include <doctest/doctest.h>

#include <bit>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr int64_t kThreads = 48, kSize = 4096;

/// A kernel of 2 groups of 48 threads; thread l of group g is number 48 g + l.
struct Parts {
  LinearProgram p{"walked"};
  UOp out = p.global(0, dtypes::float32, kSize), in = p.global(1, dtypes::float32, kSize);
  UOp g = p.add(Op::SPECIAL, dtypes::int32, {p.i32(2)}, Arg::of("gidx0"));
  UOp l = p.add(Op::SPECIAL, dtypes::int32, {p.i32(kThreads)}, Arg::of("lidx0"));
  UOp number = p.add(Op::ADD, dtypes::int32, {p.add(Op::MUL, dtypes::int32, {g, p.i32(kThreads)}), l});
  UOp times(UOp a, int64_t b) { return p.add(Op::MUL, dtypes::int32, {a, p.i32(b)}); }
  size_t positionOf(UOp u) {
    auto& uops = p.kernel().uops;
    return static_cast<size_t>(std::find(uops.begin(), uops.end(), u) - uops.begin());
  }
};

std::vector<const WarpStep*> stepsOf(const WarpRun& run, size_t node) {
  std::vector<const WarpStep*> out;
  for (const WarpStep& s : run.steps())
    if (s.node == node) out.push_back(&s);
  return out;
}

} // namespace

TEST_CASE("a warp executes a load together, and its sectors are counted") {
  Parts k;
  const UOp near = k.p.load(k.in, k.number), far = k.p.load(k.in, k.times(k.number, 16));
  k.p.store(k.out, k.number, k.p.add(Op::ADD, dtypes::float32, {near, far}));
  const size_t atNear = k.positionOf(near), atFar = k.positionOf(far);
  const WarpRun run("walked", k.p.finish().uops, {.group = 1, .warp = 0});
  CHECK(run.groups() == 2);
  CHECK(run.warps() == 2);
  CHECK(run.fault().empty());
  const auto together = stepsOf(run, atNear);
  REQUIRE(together.size() == 1);
  CHECK(together[0]->active == 0xffffffff);
  CHECK(together[0]->elements[3] == kThreads + 3);
  CHECK(run.costOf(*together[0]).sectors == 4);
  CHECK(run.costOf(*together[0]).least == 4);
  CHECK(run.costOf(*stepsOf(run, atFar)[0]).sectors == 32);
  CHECK(run.memories()[static_cast<size_t>(together[0]->memory)].name == "data1_4096");
  CHECK(run.executions(atNear, 5) == 1);

  const WarpRun rest("walked", k.p.kernel().uops, {.group = 0, .warp = 1}); // the last 16 threads
  CHECK(stepsOf(rest, atNear)[0]->active == 0xffff);
  CHECK_THROWS_WITH_AS(WarpRun("walked", k.p.kernel().uops, {.group = 2}),
                       doctest::Contains("2 groups of 2 warps"), Error);
}

TEST_CASE("threads that leave a loop early wait for the others") {
  Parts k;
  const UOp i = k.p.range(
      k.p.add(Op::ADD, dtypes::int32, {k.p.add(Op::MOD, dtypes::int32, {k.l, k.p.i32(3)}), k.p.i32(1)}), 0);
  const UOp inside = k.p.store(k.out, k.number, k.p.add(Op::CAST, dtypes::float32, {i}));
  k.p.end(i);
  const UOp after = k.p.store(k.in, k.number, k.p.add(Op::CAST, dtypes::float32, {k.l}));
  const size_t atInside = k.positionOf(inside), atAfter = k.positionOf(after);
  const WarpRun run("walked", k.p.finish().uops, {});
  const auto body = stepsOf(run, atInside);
  REQUIRE(body.size() == 3);
  CHECK(body[0]->active == 0xffffffff);
  CHECK(std::popcount(body[1]->active) == 21); // l % 3 is 1 or 2
  CHECK(std::popcount(body[2]->active) == 10);
  CHECK(body[2]->isActive(2));
  CHECK(body[2]->values[2].f == 2);
  CHECK(run.executions(atInside, 2) == 3);
  REQUIRE(stepsOf(run, atAfter).size() == 1);
  CHECK(stepsOf(run, atAfter)[0]->active == 0xffffffff);
}

TEST_CASE(
    "a gate keeps threads from memory, a fault ends the walk, and a processor's program has no threads") {
  Parts k;
  const UOp gate = k.p.add(Op::CMPLT, dtypes::bool_, {k.l, k.p.i32(4)});
  const UOp load = k.p.gatedLoad(k.in, k.number, gate, k.p.constant(dtypes::float32, ConstValue::ofFloat(7)));
  k.p.store(k.out, k.number, load);
  const size_t at = k.positionOf(load);
  const WarpRun run("walked", k.p.finish().uops, {});
  const WarpStep& step = *stepsOf(run, at)[0];
  CHECK(step.elements[3] == 3);
  CHECK(step.elements[4] == -1);
  CHECK(step.values[4].f == 7);
  CHECK(run.costOf(step).sectors == 1);

  Parts wrong;
  wrong.p.store(wrong.out, wrong.times(wrong.number, 1000), wrong.p.load(wrong.in, wrong.number));
  const WarpRun beyond("walked", wrong.p.finish().uops, {});
  CHECK(beyond.fault().find("data0_4096, which has 4096 elements") != std::string::npos);
  CHECK(!beyond.steps().empty());

  LinearProgram plain("plain");
  const UOp out = plain.global(0, dtypes::float32, 4);
  plain.store(out, plain.i32(0), plain.constant(dtypes::float32, ConstValue::ofFloat(1)));
  CHECK_THROWS_WITH_AS(WarpRun("plain", plain.finish().uops, {}), doctest::Contains("DEV=REF:GPU"), Error);
}

TEST_CASE("a core that four warps share is walked with one of them") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(64, 0), j = UOp::range(64, 1), t = UOp::range(192, 2, AxisType::Reduce);
  auto read = [](int64_t position, UOp at) {
    return UOp::make(Op::DEFINE_GLOBAL, dtypes::float16.ptr(64 * 192), {}, Arg::of(position))
        .indexed({at}, dtypes::float16);
  };
  UOp product = (read(1, i * 192 + t) * read(2, t * 64 + j)).cast(dtypes::float32);
  KernelInfo info;
  info.hasOptsToApply = true;
  const Target target = cudaLanguage("sm_90a").target();
  const auto core =
      std::find_if(target.tensorCores.begin(), target.tensorCores.end(),
                   [](const TensorCore& c) { return std::string_view(c.name) == "wgmma_64_64_16_half"; });
  info.optsToApply = {{OptOp::TC, 0, {core - target.tensorCores.begin(), 0, 1}}, {OptOp::UNROLL, 0, {4}}};
  UOp out = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(64 * 64), {}, Arg::of(int64_t{0}));
  const UOp stored =
      out.indexed({i * 64 + j}).store(product.reduce(Op::ADD, std::vector<UOp>{t})).end({i, j});
  LoweredKernel k = lowerKernel(UOp::sink(std::vector<UOp>{stored}, Arg::of(info)), target);
  const WarpRun run("product", k.uops, {.group = 0, .warp = 2});
  CHECK(run.fault() == "");
  CHECK(run.warps() == 4);
  CHECK(run.size() == 32);
  const auto product0 = std::find_if(k.uops.begin(), k.uops.end(), [](UOp u) { return u.is(Op::WMMA); });
  REQUIRE(product0 != k.uops.end());
  const auto walked = stepsOf(run, static_cast<size_t>(product0 - k.uops.begin()));
  REQUIRE(walked.size() == 3); // steps of the sum
  CHECK(walked[0]->active == 0xffffffff);
}
