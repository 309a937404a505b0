// Steps that use a place twice keep their order; steps with slabs of their own go to threads.
#include "engine/codegen/opt.h"
#include "engine/codegen/same_place.h"
#include "engine/rules/algebra.h"
#include "engine/uop/print.h"
#include "kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// Whether two steps of `range` have a place in common, tried with every value of the ranges and of `read`.
bool shareAPlace(UOp gated, UOp range, const std::vector<UOp>& leaves) {
  std::map<int64_t, std::set<int64_t>> stepsAt;
  std::vector<int64_t> now(leaves.size());
  for (size_t i = 0; i < leaves.size(); ++i) now[i] = leaves[i].vmin();
  while (true) {
    Binding at;
    for (size_t i = 0; i < leaves.size(); ++i) at[leaves[i]] = ConstValue::ofInt(now[i]);
    if (evaluate(validOf(gated), at)->i) stepsAt[evaluate(indexOf(gated), at)->i].insert(at.at(range).i);
    size_t i = 0;
    while (i < leaves.size() && now[i] == leaves[i].vmax()) {
      now[i] = leaves[i].vmin();
      ++i;
    }
    if (i == leaves.size()) break;
    ++now[i];
  }
  return std::ranges::any_of(stepsAt, [](const auto& place) { return place.second.size() > 1; });
}

bool keepsToSlab(UOp gated, UOp range) {
  const std::optional<Slab> slab = slabOf(gated, range);
  return slab && slab->most - slab->least < std::abs(slab->stride);
}

} // namespace

TEST_CASE("steps may have a place of their own, or share one") {
  Pool pool;
  PoolScope scope(pool);
  const UOp r = UOp::range(8, 0), s = UOp::range(4, 1);
  CHECK_FALSE(mayCoincide(r * 4 + s, r));
  CHECK(mayCoincide(r / 2, r));
  CHECK(mayCoincide(s, r));
  CHECK(mayCoincide(read(memory(1, 8, dtypes::int32), r).cast(dtypes::index), r));
}

TEST_CASE("digits of a range keep its steps apart, whatever its length") {
  Pool pool;
  PoolScope scope(pool);
  const UOp r = UOp::range(600, 0), s = UOp::range(4, 1);
  auto starts = [&](int64_t last) {
    return (r < 599).where(r * 6, UOp::constant(dtypes::index, ConstValue::ofInt(last)));
  };
  // Found to coincide once the first 256 steps were all that was tried.
  CHECK(mayCoincide(r % 300, r));
  CHECK(mayCoincide(starts(6 * 400), r));
  for (UOp apart : {r / 8 * 100 + r % 8, r / 8 % 5 * 16 + r % 8 + r / 40 * 80 + s * 1000,
                    r % 24 / 4 * 4 + r % 4 + r / 24 * 24, starts(6 * 599 - 2) * 4 + s,
                    r / 100 * 7 + r % 100 * 50, r % 600 * 3})
    CHECK_FALSE(mayCoincide(apart, r));
  for (UOp shared : {r / 8 * 7 + r % 8, r / 8 * 100 + r % 4, r / 9 * 100 + r % 8, r % 300 / 8 * 8 + r % 8,
                     starts(6 * 598)})
    CHECK(mayCoincide(shared, r));
}

TEST_CASE("whether steps coincide agrees with trying all of them") {
  Pool pool;
  PoolScope scope(pool);
  uint64_t state = 7;
  auto random = [&](int64_t n) {
    return static_cast<int64_t>((state = state * 6364136223846793005 + 1442695040888963407) >> 33) % n;
  };
  int apart = 0, unsure = 0;
  for (int round = 0; round < 4000; ++round) {
    const UOp r = UOp::range(1 + random(90), 0);
    UOp place = UOp::constant(dtypes::index, ConstValue::ofInt(0));
    for (int64_t terms = 1 + random(3); terms > 0; --terms) {
      UOp x = r;
      for (int64_t parts = random(3); parts > 0; --parts)
        x = random(2) ? x / (1 + random(8)) : x % (1 + random(16));
      place = place + x * (random(40) - 12);
    }
    std::set<int64_t> seen;
    for (int64_t step = 0; step <= r.vmax(); ++step)
      seen.insert(evaluate(place, {{r, ConstValue::ofInt(step)}})->i);
    const bool coincides = static_cast<int64_t>(seen.size()) <= r.vmax();
    apart += !coincides;
    CAPTURE(expression(place));
    if (place.dependsOn(r))
      CHECK(mayCoincide(place, r) == coincides);
    else
      ++unsure;
  }
  CHECK(apart > 400);
  CHECK(unsure < 1000);
}

TEST_CASE("a number read from memory stays in the slab of its step behind its gate") {
  Pool pool;
  PoolScope scope(pool);
  const UOp r = UOp::range(8, 0), lane = UOp::range(8, 1);
  const UOp j = read(memory(1, 8, dtypes::int32), r).cast(dtypes::index);
  const UOp inside = (j >= 0) & (j < 8);
  CHECK(keepsToSlab((r * 8 + j).validWhere(inside), r));
  CHECK_FALSE(keepsToSlab(r * 8 + j, r));
  CHECK_FALSE(keepsToSlab((r * 7 + j).validWhere(inside), r));
  CHECK(keepsToSlab(j * 64 + r * 8 + lane, r)); // 8 of every 64 places, whatever j is
  CHECK_FALSE(keepsToSlab(j * 63 + r * 8 + lane, r));
  CHECK_FALSE(keepsToSlab(j * 32 + r * 8 + lane, r)); // the steps of the next 32 places are among these
  const UOp own = (j >= r * 8) & (j < r * 8 + 8);
  CHECK(keepsToSlab((j * 8 + lane).validWhere(own), r));
  CHECK_FALSE(keepsToSlab((j * 7 + lane).validWhere(own), r));
  CHECK_FALSE(keepsToSlab((j * 8 + lane).validWhere((j >= r * 8) & (j < r * 8 + 9)), r));
  CHECK_FALSE(keepsToSlab((j * 8 + lane).validWhere((j >= r * 7) & (j < r * 8 + 8)), r));
  CHECK_FALSE(keepsToSlab((j * 8 + lane).validWhere(j < r * 8 + 8), r));
  const UOp wide = UOp::range(16, 2); // step 1 of one range in 16 places is no step 2
  CHECK_FALSE(keepsToSlab((r * 8 + wide).validWhere((r >= r * 2 - 9) & (r < r * 2 + 1)), r));
}

TEST_CASE("random indices whose steps keep to slabs never share a place") {
  Pool pool;
  PoolScope scope(pool);
  std::mt19937 random(7);
  const auto upTo = [&](int64_t most) { return std::uniform_int_distribution<int64_t>(0, most)(random); };
  int kept = 0;
  for (int round = 0; round < 3000; ++round) {
    const UOp r = UOp::range(2 + upTo(3), 0), lane = UOp::range(1 + upTo(5), 1);
    const UOp j = UOp::variable("j", -3, 9, dtypes::index);
    UOp at = r * (upTo(16) - 4) + lane * (upTo(4) - 1) + j * (upTo(3) * upTo(12)) + upTo(5);
    UOp gate = UOp::constant(dtypes::bool_, int64_t{1});
    if (upTo(1)) gate = gate & (j < 1 + upTo(6));
    if (upTo(1)) gate = gate & (j >= upTo(3) - 2);
    if (upTo(2) == 0) gate = gate & (j < r * upTo(4) + upTo(4));
    if (upTo(2) == 0) gate = gate & (j >= r * upTo(4) + upTo(2) - 1);
    if (upTo(3) == 0) at = j * upTo(8) + lane;
    if (!at.validWhere(gate).dependsOn(r) || !keepsToSlab(at.validWhere(gate), r)) continue;
    CAPTURE(at.render());
    CAPTURE(gate.render());
    CHECK_FALSE(shareAPlace(at.validWhere(gate), r, {r, lane, j}));
    ++kept;
  }
  CHECK(kept > 300);
}

TEST_CASE("sums by index run on threads along rows of their own, and along columns") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget(8);
  target.hasThreads = true;
  const auto isParallel = [&](UOp store, UOp loop) {
    const std::vector<UOp> parallel = KernelOptimizer(kernel({store}), target).parallelRanges();
    return std::ranges::count(parallel, loop) > 0;
  };
  const UOp r = UOp::range(64, 0), k = UOp::range(16, 1, AxisType::Reduce);
  const UOp j = read(memory(1, 64 * 16, dtypes::int32), r * 16 + k).cast(dtypes::index);
  const auto adding = [&](UOp place) {
    const UOp sum = read(memory(0, 4096).after(std::vector{k}), place) + 1.0;
    return memory(0, 4096).indexed({place}).store(sum).end({k, r});
  };
  const UOp inside = (j >= 0) & (j < 64);
  CHECK(isParallel(adding((r * 64 + j).validWhere(inside)), r));
  CHECK(isParallel(adding((j * 64 + r).validWhere(inside)), r));
  CHECK_FALSE(isParallel(adding((r * 32 + j).validWhere(inside)), r));
  CHECK_FALSE(isParallel(adding(j), r));
  // Another place of the buffer is read in a slab that belongs to the next step.
  const UOp next = read(memory(0, 4200), r * 64 + 64 + k);
  const UOp mixed = memory(0, 4200).indexed({(r * 64 + j).validWhere(inside)}).store(next).end({k, r});
  CHECK_FALSE(isParallel(mixed, r));
}
