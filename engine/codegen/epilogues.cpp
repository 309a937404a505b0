#include "engine/codegen/epilogues.h"

#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// Instructions of an epilogue that a loop saves at least: a loop costs a store and a load a register.
constexpr int64_t kSaved = 96;
constexpr int64_t kFewest =
    16; ///< instructions of an epilogue, so that store and load are a small part of them

/// About as many instructions as one operation becomes. The series of a transcendental function takes some twenty.
int64_t instructionsOf(UOp u) {
  constexpr OpSet kSeries{Op::EXP2, Op::LOG2, Op::SIN, Op::POW};
  if (u.in(kSeries)) return 20;
  return u.in(group::kAlu) ? 1 : 0;
}

struct Epilogue {
  std::vector<UOp> sums;    ///< reductions that the stored value uses
  int64_t instructions = 0; ///< for one element
};

Epilogue epilogueOf(UOp value) {
  Epilogue e;
  visitBelow(value, [&](UOp u) {
    if (u.is(Op::REDUCE)) e.sums.push_back(u);
    if (u.in(OpSet{Op::REDUCE, Op::INDEX})) return Visit::Past;
    e.instructions += instructionsOf(u);
    return Visit::Below;
  });
  std::ranges::sort(e.sums, {}, &UOp::id);
  return e;
}

/// The axes of the tile but the one along which results are contiguous.
std::vector<UOp> rowsOf(UOp end) {
  std::vector<UOp> rows;
  UOp lanes;
  const UOp place = end.src(0).src(0).src(1);
  for (UOp r : end.src().subspan(1)) {
    if (!r.is(Op::RANGE)) return {};
    if (r.axisType() != AxisType::Upcast) continue;
    const auto stride = coefficientOf(place, r);
    if (!stride || extentOf(r) < 0) return {};
    if (*stride == 1)
      lanes = r;
    else
      rows.push_back(r);
  }
  return lanes ? rows : std::vector<UOp>{};
}

/// The sum, stored for all rows, as the step of the loop reads it.
UOp storedRows(UOp sum, const std::vector<UOp>& rows, const UOpMap<UOp>& stepOf, int64_t number) {
  std::vector<UOp> axes, steps;
  for (UOp r : sum.ranges())
    if (std::ranges::find(rows, r) != rows.end()) axes.push_back(r);
  for (UOp r : sum.ranges()) // lanes last: they lie side by side
    if (r.axisType() == AxisType::Upcast && std::ranges::find(rows, r) == rows.end()) axes.push_back(r);
  UOp filled = UOp::index(0), read = UOp::index(0);
  int64_t size = 1;
  for (UOp r : axes) {
    const auto step = stepOf.find(r);
    filled = filled * extentOf(r) + r;
    read = read * extentOf(r) + (step == stepOf.end() ? r : step->second);
    size *= extentOf(r);
  }
  const UOp memory = registersOf(sum.dtype(), size, number);
  const UOp fill = memory.indexed({filled}).store(sum).end(axes);
  return memory.after(std::span<const UOp>(&fill, 1)).indexed({read}, sum.dtype());
}

constexpr RuleDef kEpilogues[] = {RULE("loop-epilogue", pat::any(Op::END), pat::entry())};

} // namespace

UOp loopEpilogue(UOp ast, const Target& target) {
  if (target.hasLocal || ast.srcCount() != 1) return ast;
  const UOp end = ast.src(0);
  if (!end.is(Op::END) || !end.src(0).is(Op::STORE) || !end.src(0).src(0).is(Op::INDEX)) return ast;
  const UOp store = end.src(0);
  const Epilogue epilogue = epilogueOf(store.src(1));
  std::vector<UOp> rows = rowsOf(end);
  std::erase_if(rows, [&](UOp r) {
    return std::ranges::none_of(epilogue.sums, [&](UOp sum) { return sum.dependsOn(r); });
  });
  int64_t count = 1;
  for (UOp r : rows) count *= extentOf(r);
  if (epilogue.instructions < kFewest || epilogue.instructions * (count - 1) < kSaved) return ast;

  UOpMap<UOp> stepOf, replace;
  int64_t nextId = nextRangeId(ast);
  for (UOp r : rows) stepOf[r] = UOp::range(r.src(0), {nextId++}, AxisType::Loop, r.dtype());
  replace = stepOf;
  int64_t number = nextRegister(ast);
  for (UOp sum : epilogue.sums)
    if (std::ranges::any_of(rows, [&](UOp r) { return sum.dependsOn(r); }))
      replace[sum] = storedRows(sum, rows, stepOf, number++);
  std::vector<UOp> ranges;
  for (UOp r : end.src().subspan(1)) ranges.push_back(stepOf.contains(r) ? stepOf[r] : r);
  std::ranges::stable_sort(ranges, {}, [](UOp r) { return r.axisType() == AxisType::Upcast; });
  const UOp looped = store.substitute(replace).end(ranges);
  because([&] {
    return fmt::format("each of {} rows would get the {} instructions of what follows its sum: a loop over "
                       "the rows holds them once",
                       count, epilogue.instructions);
  });
  static const PatternMatcher rules({kEpilogues});
  return replaceNodes(ast, {{end, looped}}, rules, "epilogues");
}

} // namespace uopscope
