// Sums by index, and elements set by a list of numbers, give the same values, in one step per term.
#include "engine/base/context_var.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <array>

using namespace uopscope;
using namespace uopscope::testing;

TEST_CASE("terms with the number of a result go to that result") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (auto [results, width, terms] : {std::array<int64_t, 3>{40, 32, 50}, {17, 1, 60}, {64, 6, 9}}) {
    CAPTURE(width);
    UOp v = UOp::range(results, 0), d = UOp::range(width, 1), j = UOp::range(terms, 2, AxisType::Reduce);
    UOp index = read(memory(1, terms, dtypes::int32), j),
        value = read(memory(2, terms * width, dtypes::int32), j * width + d);
    UOp zero = UOp::constant(dtypes::int32, int64_t{0});
    for (auto [negated, added] : {std::pair{false, false}, {true, false}, {true, true}}) {
      UOp is = index.alu(Op::CMPNE, {v.cast(dtypes::int32)});
      UOp term = negated ? is.where(zero, value) : is.logicalNot().where(value, zero);
      UOp sum = term.reduce(Op::ADD, std::vector<UOp>{j});
      if (added) sum = sum * 3 + read(memory(3, results * width, dtypes::int32), v * width + d);
      LoweredKernel k = checkKernel(
          kernel({memory(0, results * width, dtypes::int32).indexed({v * width + d}).store(sum).end({v, d})}),
          plainTarget(8), 5);
      CHECK(stepsOf(k) <= std::max(results, terms) * width);
    }
  }
}

TEST_CASE("the last entry that names an element sets it, in one step per entry") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  constexpr int64_t kResults = 40, kWidth = 6, kEntries = 90;
  auto number = [](int64_t n) { return UOp::constant(dtypes::int32, n); };
  auto ints = [](int64_t i, int64_t n) { return memory(i, n, dtypes::int32); };
  UOp v = UOp::range(kResults, 0), d = UOp::range(kWidth, 1), j = UOp::range(kEntries, 2, AxisType::Reduce);
  UOp is = read(ints(1, kEntries), j).alu(Op::CMPNE, {v.cast(dtypes::int32)}).logicalNot();
  auto steps = [&](UOp entry, int64_t none, bool isLast) {
    UOp last = is.where(entry, number(none)).reduce(Op::MAX, std::vector<UOp>{j});
    UOp place = ((last.cast(dtypes::index) - 1) * kWidth + d).validWhere(last.alu(Op::CMPNE, {number(0)}));
    UOp set =
        last.alu(Op::CMPNE, {number(0)})
            .where(read(ints(2, kEntries * kWidth), place), read(ints(3, kResults * kWidth), v * kWidth + d));
    UOp value = isLast ? set : last * 3;
    return stepsOf(
        checkKernel(kernel({ints(0, kResults * kWidth).indexed({v * kWidth + d}).store(value).end({v, d})}),
                    plainTarget(8), 5));
  };
  UOp entry = j.cast(dtypes::int32) + 1;
  CHECK(steps(entry, 0, true) % kEntries == 0);
  CHECK(steps(entry * 2, 0, false) % kEntries == 0);
  // Numbers that fall, that repeat, or that may be below the one of no entry, say nothing about the order.
  CHECK(steps(number(kEntries) - j.cast(dtypes::int32), 0, false) % kEntries != 0);
  CHECK(steps(entry / 2, 0, false) % kEntries != 0);
  CHECK(steps(entry, 5, false) % kEntries != 0);
}
