// Lanes that lie a few places apart are picked out of vectors that hold what lies between them as well, and what windows share is read by
// few vectors, of which the last one overlaps.
#include "engine/base/context_var.h"
#include "engine/codegen/memory.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

constexpr int64_t kRows = 3, kLanes = 16;

/// Rows of 16 lanes, each of which reads every `step`-th element, and `terms` of them.
UOp everyFew(int64_t step, int64_t terms, DType type, int64_t rowLength) {
  const UOp r = UOp::range(kRows, 0), i = UOp::range(kLanes, 1), k = UOp::range(terms, 2, AxisType::Reduce);
  const UOp first = r * rowLength + i * step, from = memory(1, kRows * rowLength, type);
  const UOp sum = terms > 1 ? read(from, first + k).reduce(Op::ADD, std::vector<UOp>{k}) : read(from, first);
  std::vector<Opt> opts{{OptOp::UPCAST, 1, {kLanes}}};
  if (terms > 1) opts.push_back({OptOp::UNROLL, 0, {terms}});
  return withOpts(kernel({memory(0, kRows * kLanes, type).indexed({r * kLanes + i}).store(sum).end({r, i})}),
                  opts);
}

/// Loads from global memory: those of one element, and the others.
struct Loads {
  int single = 0, vectors = 0;
};
Loads loadsOf(const LoweredKernel& k) {
  Loads found;
  for (UOp u : k.uops)
    if (u.is(Op::LOAD) && u.bufferOf().is(Op::DEFINE_GLOBAL))
      ++(u.dtype().count() > 1 ? found.vectors : found.single);
  return found;
}

} // namespace

TEST_CASE("every second to fourth element: vectors of all that lies between, within the row") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}, {"IGNORE_OOB", 0}});
  for (const DType type : {dtypes::float32, dtypes::float64, dtypes::int8})
    for (const int lanes : {4, 8, 16})
      for (const int64_t step : {2, 3, 4}) {
        CAPTURE(type.name());
        CAPTURE(lanes);
        CAPTURE(step);
        // The last row ends with the last lane: nothing behind it may be read.
        const int64_t places = (kLanes - 1) * step + 1;
        const Loads found = loadsOf(checkKernel(everyFew(step, 1, type, places), vectorTarget(lanes), 5));
        const int64_t width = accessLanes(vectorTarget(lanes), type, AddrSpace::Global);
        const int64_t vectors = (places + width - 1) / width;
        const bool isFew = 2 * vectors <= kLanes;
        CHECK(found.single == (isFew ? 0 : kLanes));
        if (isFew) CHECK(found.vectors <= std::max(vectors, int64_t{2}));
      }
}

TEST_CASE("elements further apart, and pieces of four, are read as they are") {
  Pool pool;
  PoolScope scope(pool);
  CHECK(loadsOf(checkKernel(everyFew(5, 1, dtypes::float32, 81), vectorTarget(16), 5)).single == kLanes);
  const Loads pieces = loadsOf(checkKernel(everyFew(6, 4, dtypes::float32, 97), vectorTarget(16), 5));
  CHECK(pieces.single == 0);
  CHECK(pieces.vectors == kLanes);
}

TEST_CASE("windows with a stride share vectors, and the last one overlaps") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}, {"IGNORE_OOB", 0}});
  // 16 lanes of windows of 5, two apart: 35 elements, which are three vectors of 16 and not 16, 16, 2 and 1.
  const Loads found =
      loadsOf(checkKernel(everyFew(2, 5, dtypes::float32, 35), vectorTarget(16), 5, {}, 1e-5));
  CHECK(found.single == 0);
  CHECK(found.vectors == 3);
}
