// Sums by index, and elements set by a list of numbers, give the same values, in one step per term.
#include "engine/base/context_var.h"
#include "engine/codegen/scattered.h"
#include "engine/rewrite/driver.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>
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

TEST_CASE("two indices of a term are its place together") {
  Pool pool;
  PoolScope scope(pool);
  struct Case {
    int64_t rows, columns, width, terms;
    int64_t outer; ///< steps of the loop around the terms: parts, or strips; 0: none
    int64_t threads = 8;
  };
  for (auto [rows, columns, width, terms, outer, threads] :
       {Case{20, 20, 4, 30, 0},
        {20, 24, 1, 30, 1},
        {3, 5, 2, 30, -1}, // too few results: nothing is placed
        {2, 8, 4, 30, 0},
        {24, 200, 32, 7, 2},
        {4096, 32, 16, 4000, 8},
        {4096, 32, 16, 5000, 0}, // too many terms for parts
        {512, 16, 16, 10, 0},    // too few results
        {4095, 32, 32, 10, 7},
        {4099, 32, 32, 10, 2}, // no number of parts divides it
        {4096, 32, 16, 10, 2, 2},
        {4096, 32, 16, 10, 32, 100},
        {4096, 32, 16, 10, 0, 1}}) { // one thread clears them all
    ContextScope settings({{"SPEC", 1}, {"CPU_COUNT", threads}});
    CAPTURE(rows);
    CAPTURE(columns);
    CAPTURE(width);
    UOp r = UOp::range(rows, 0), c = UOp::range(columns, 1), d = UOp::range(width, 2),
        j = UOp::range(terms, 3, AxisType::Reduce);
    auto is = [&](int64_t which, UOp loop) {
      const UOp index = read(memory(which, terms, dtypes::int32), j);
      return index.alu(Op::CMPNE, {loop.cast(dtypes::int32)}).logicalNot();
    };
    UOp value = read(memory(3, terms * width, dtypes::int32), j * width + d);
    UOp sum = (is(1, r) & is(2, c))
                  .where(value, UOp::constant(dtypes::int32, int64_t{0}))
                  .reduce(Op::ADD, std::vector<UOp>{j});
    UOp out = memory(0, rows * columns * width, dtypes::int32).indexed({(r * columns + c) * width + d});
    UOp ast = kernel({out.store(sum).end({r, c, d})});
    if (rows < 100) checkKernel(ast, plainTarget(8), 5); // test_scatter.py has the values of the large ones
    const PatternMatcher rules({scatteredSumRules()});
    const UOp end = graphRewrite(ast, rules, {.name = "running sums"}).src(0);
    CHECK(end.dependsOn(r) == (outer < 0));
    CHECK(end.dependsOn(c) == (outer < 0));
    if (outer < 0) continue;
    const UOp first = end.src(1);
    CHECK((first.axisType() == AxisType::Reduce ? 0 : first.src(0).arg().i()) == outer);
  }
}

TEST_CASE("rows whose terms go to the same columns are taken a few at a time") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  struct Case {
    int64_t rows;
    bool isOfRow; ///< each row has indices of its own
    int64_t strip;
  };
  for (auto [rows, isOfRow, strip] : {Case{24, false, 4}, {13, false, 1}, {14, false, 2}, {24, true, 1}}) {
    CAPTURE(rows);
    CAPTURE(isOfRow);
    constexpr int64_t kColumns = 20, kTerms = 9;
    UOp r = UOp::range(rows, 0), c = UOp::range(kColumns, 1), j = UOp::range(kTerms, 2, AxisType::Reduce);
    auto ints = [](int64_t i, int64_t n) { return memory(i, n, dtypes::int32); };
    UOp index = isOfRow ? read(ints(1, rows * kTerms), r * kTerms + j) : read(ints(1, kTerms), j);
    UOp is = index.alu(Op::CMPNE, {c.cast(dtypes::int32)}).logicalNot();
    UOp sum = is.where(read(ints(2, rows * kTerms), r * kTerms + j), UOp::constant(dtypes::int32, int64_t{0}))
                  .reduce(Op::ADD, std::vector<UOp>{j});
    UOp ast = kernel({ints(0, rows * kColumns).indexed({r * kColumns + c}).store(sum).end({r, c})});
    checkKernel(ast, plainTarget(8), 5);
    const PatternMatcher rules({scatteredSumRules()});
    const UOp end = graphRewrite(ast, rules, {.name = "running sums"}).src(0);
    const UOp last = end.src(end.srcCount() - 1);
    CHECK((last.axisType() == AxisType::Reduce ? 1 : last.src(0).arg().i()) == strip);
  }
}

TEST_CASE("an index stays a condition where something else depends on its loop") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  constexpr int64_t kRows = 20, kColumns = 24, kTerms = 30;
  UOp r = UOp::range(kRows, 0), c = UOp::range(kColumns, 1), j = UOp::range(kTerms, 2, AxisType::Reduce);
  auto ints = [](int64_t i, int64_t n) { return memory(i, n, dtypes::int32); };
  auto equal = [](UOp index, UOp loop) {
    return index.alu(Op::CMPNE, {loop.cast(dtypes::int32)}).logicalNot();
  };
  const UOp first = equal(read(ints(1, kTerms), j), r), second = equal(read(ints(2, kTerms), j), c),
            ofRow = equal(read(ints(2, kTerms * kRows), r * kTerms + j), c),
            below = j.alu(Op::CMPLT, {r + 9});
  const UOp plain = read(ints(3, kTerms), j), rowwise = read(ints(3, kTerms * kRows), r * kTerms + j);
  for (auto [conditions, value] : {std::pair{first & second, rowwise}, // the value knows the row
                                   {first & ofRow, plain},             // the column's index does
                                   {first & second & below, plain}}) { // another condition does
    UOp sum = conditions.where(value, UOp::constant(dtypes::int32, int64_t{0}))
                  .reduce(Op::ADD, std::vector<UOp>{j});
    UOp ast = kernel({ints(0, kRows * kColumns).indexed({r * kColumns + c}).store(sum).end({r, c})});
    checkKernel(ast, plainTarget(8), 5);
    const PatternMatcher rules({scatteredSumRules()});
    const UOp end = graphRewrite(ast, rules, {.name = "running sums"}).src(0);
    CHECK(end.dependsOn(r));
    CHECK_FALSE(end.dependsOn(c));
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
