// Lanes whose gates differ are loaded as a vector under a mask of their gates, where the target has masks.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/bounds_check.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// Rows of three tiles of 16 lanes. Each result reads its neighbours, which the first and the last one of a row lack.
UOp neighbours(DType type, int64_t rows = 5) {
  const UOp r = UOp::range(rows, 0), i = UOp::range(48, 1), k = UOp::range(3, 2, AxisType::Reduce);
  const UOp at = i + k - 1, inside = (at >= 0) & (at < 48);
  const UOp zero = UOp::constant(type, int64_t{0});
  const UOp term = inside.where(read(memory(1, rows * 48, type), (r * 48 + at).validWhere(inside)), zero);
  const UOp sum = term.reduce(Op::ADD, std::vector<UOp>{k});
  return withOpts(kernel({memory(0, rows * 48, type).indexed({r * 48 + i}).store(sum).end({r, i})}),
                  {Opt{OptOp::UPCAST, 1, {16}}, Opt{OptOp::UNROLL, 0, {3}}});
}

int maskedLoads(const LoweredKernel& k) {
  int found = 0;
  for (UOp u : k.uops) found += u.is(Op::INDEX) && u.srcCount() == 3 && u.src(2).dtype().count() > 1;
  return found;
}

} // namespace

TEST_CASE("neighbours in rows are read under masks, and the interpreter agrees") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}, {"IGNORE_OOB", 0}});
  for (DType type : {dtypes::int32, dtypes::float32, dtypes::float64, dtypes::int8})
    for (int smallest : {0, 1, 4}) {
      CAPTURE(type.name());
      CAPTURE(smallest);
      const LoweredKernel k = checkKernel(neighbours(type), vectorTarget(16, smallest), 5);
      CHECK((maskedLoads(k) > 0) == (smallest && type.itemsize() >= smallest));
    }
}

TEST_CASE("an access under a mask is checked lane by lane") {
  Pool pool;
  PoolScope scope(pool);
  const UOp r = UOp::range(4, 0);
  const auto loaded = [&](int64_t size, int64_t firstClosed) {
    std::vector<UOp> gates;
    for (int64_t lane = 0; lane < 4; ++lane) gates.push_back(lane < firstClosed ? UOp::boolean(true) : r < 3);
    const UOp at = memory(1, size).indexed({r * 4, UOp::vectorize(gates)});
    const UOp value = at.cast(dtypes::float32.vec(4).ptr(size)).load({}, dtypes::float32.vec(4));
    const UOp to = memory(0, 16).indexed({r * 4}).cast(dtypes::float32.vec(4).ptr(16));
    return kernel({to.store(value).end({r})});
  };
  CHECK_NOTHROW(checkBounds(loaded(14, 2), "test")); // of the last step two lanes are read
  CHECK_THROWS_AS(checkBounds(loaded(14, 3), "test"), Error);
}
