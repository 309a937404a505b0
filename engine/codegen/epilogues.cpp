#include "engine/codegen/epilogues.h"

#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

// docs/design/costs.md has the measurements.
/// Of an epilogue; a loop costs each register a store and a load.
constexpr int64_t kFewestInstructions = 8;
constexpr int64_t kSaved = 48; ///< instructions that a loop saves at least

/// About as many instructions as one operation becomes. The series of a transcendental function takes some twenty.
int64_t instructionsOf(UOp u) {
  constexpr OpSet kSeries{Op::EXP2, Op::LOG2, Op::SIN, Op::POW};
  if (u.in(kSeries)) return 20;
  return u.in(group::kAlu) ? 1 : 0;
}

struct Epilogue {
  std::vector<UOp> sums;    ///< reductions that the stored values use
  int64_t instructions = 0; ///< for one element of each of them
};

Epilogue epilogueOf(std::span<const UOp> stores) {
  Epilogue e;
  std::vector<UOp> values;
  for (UOp store : stores) values.push_back(store.src(1));
  visitBelow(values, [&](UOp u) {
    if (u.is(Op::REDUCE)) e.sums.push_back(u);
    if (u.in(OpSet{Op::REDUCE, Op::INDEX})) return Visit::Past;
    e.instructions += instructionsOf(u);
    return Visit::Below;
  });
  std::ranges::sort(e.sums, {}, &UOp::id);
  return e;
}

/// The stores in one loop nest; none where it has other effects.
std::vector<UOp> storesOf(UOp end) {
  std::vector<UOp> stores;
  bool storesAlone = true;
  visitBelow(end.src(0), [&](UOp u) {
    if (u.is(Op::GROUP)) return Visit::Below;
    storesAlone &= u.is(Op::STORE) && u.src(0).is(Op::INDEX);
    stores.push_back(u);
    return Visit::Past;
  });
  return storesAlone ? stores : std::vector<UOp>{};
}

/// The axes of the tile but the one along which the results of a store are contiguous.
std::vector<UOp> rowsOf(UOp store, std::span<const UOp> ranges) {
  std::vector<UOp> rows;
  UOp lanes;
  for (UOp r : ranges) {
    if (!r.is(Op::RANGE)) return {};
    if (r.axisType() != AxisType::Upcast) continue;
    const auto stride = coefficientOf(store.src(0).src(1), r);
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
const KnownRules kEpiloguesKnown(kEpilogues);

} // namespace

UOp loopEpilogue(UOp ast, const Target& target) {
  static const PatternMatcher rules({kEpilogues}); // made for every kernel: then the list of all rules has it
  const UOp end = onlyEnd(ast);
  if (target.hasLocal || !end) return ast;
  const std::vector<UOp> stores = storesOf(end);
  if (stores.empty()) return ast;
  const auto ranges = end.src().subspan(1);
  std::vector<UOp> rows = rowsOf(stores[0], ranges);
  for (UOp store : stores)
    if (rowsOf(store, ranges) != rows) return ast;
  const Epilogue epilogue = epilogueOf(stores);
  const auto hasRow = [&](UOp sum) {
    return std::ranges::any_of(rows, [&](UOp r) { return sum.dependsOn(r); });
  };
  std::erase_if(rows, [&](UOp r) {
    return std::ranges::none_of(epilogue.sums, [&](UOp sum) { return sum.dependsOn(r); });
  });
  int64_t count = 1;
  for (UOp r : rows) count *= extentOf(r);
  if (epilogue.instructions < kFewestInstructions || epilogue.instructions * (count - 1) < kSaved) return ast;

  UOpMap<UOp> stepOf, replace;
  int64_t nextId = nextRangeId(ast), number = nextRegister(ast);
  for (UOp r : rows) stepOf[r] = UOp::range(r.src(0), {nextId++}, AxisType::Loop, r.dtype());
  replace = stepOf;
  for (UOp sum : epilogue.sums)
    if (hasRow(sum)) replace[sum] = storedRows(sum, rows, stepOf, number++);
  std::vector<UOp> looped;
  for (UOp r : ranges) looped.push_back(stepOf.contains(r) ? stepOf[r] : r);
  std::ranges::stable_sort(looped, {}, [](UOp r) { return r.axisType() == AxisType::Upcast; });
  because([&] {
    return fmt::format("each of {} rows would get the {} instructions of what follows its sum: a loop over "
                       "the rows holds them once",
                       count, epilogue.instructions);
  });
  return replaceNodes(ast, {{end, end.src(0).substitute(replace).end(looped)}}, rules, "epilogues");
}

} // namespace uopscope
