// Finds the guarded values of a kernel, condition by condition, and moves them into loops of no or one step.
#include "engine/codegen/guarded_values.h"

#include "engine/codegen/lanes.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// Operations on a vector that are worth a branch: a wrong guess of it costs 15 to 20 cycles, in which two begin each.
constexpr size_t kWorthwhile = 40;

/// The choices by one condition whose values on one side are guarded.
struct Guarded {
  UOp condition;
  size_t side = 0;               ///< 1: the values are taken where the condition holds; 2: where it does not
  std::vector<UOp> choices = {}; ///< the WHEREs
  /// What the values are computed from: WHEREs of the condition, with a constant on the other side.
  std::vector<UOp> guards = {};
  std::vector<UOp> computed = {}; ///< all nodes between the guards and the choices, sources first
};

bool isConstant(UOp u) {
  return u.in({Op::CONST, Op::VCONST}) || (u.is(Op::VECTORIZE) && std::ranges::all_of(u.src(), isConstant));
}

/// The choices and guards of each condition that has both.
std::vector<Guarded> conditionsOf(const std::vector<UOp>& nodes) {
  std::vector<Guarded> all;
  UOpMap<size_t> placeOf;
  for (UOp u : nodes) {
    if (!u.is(Op::WHERE) || isConstant(u.src(0))) continue;
    const auto [hit, isNew] = placeOf.emplace(u.src(0), all.size());
    if (isNew)
      for (size_t side : {size_t{1}, size_t{2}}) all.push_back({.condition = u.src(0), .side = side});
    const bool constant[] = {isConstant(u.src(1)), isConstant(u.src(2))};
    for (size_t side : {size_t{1}, size_t{2}}) {
      Guarded& g = all[hit->second + side - 1];
      if (!constant[side - 1]) (constant[2 - side] ? g.guards : g.choices).push_back(u);
    }
  }
  std::erase_if(all, [](const Guarded& g) { return g.choices.empty() || g.guards.empty(); });
  return all;
}

/// The same with the choices that one loop can take: those of the same loops and of one depth, the most choices on a way below
/// them, so that no loop waits for itself. A choice of an outer loop would otherwise be made in an inner one, and with it
/// whatever waits for it, such as a sum between the two.
std::vector<Guarded> inOwnLoops(const std::vector<Guarded>& all, const std::vector<UOp>& nodes) {
  UOpMap<bool> isChoice;
  for (const Guarded& g : all)
    for (UOp choice : g.choices) isChoice[choice] = true;
  UOpMap<size_t> depthOf;
  for (UOp u : nodes) {
    size_t depth = 0;
    for (UOp s : u.src()) depth = std::max(depth, depthOf[s] + isChoice.count(s));
    depthOf[u] = depth;
  }
  std::vector<Guarded> out;
  for (const Guarded& g : all) {
    const size_t first = out.size();
    for (UOp choice : g.choices) {
      const auto fits = [&](const Guarded& other) {
        return other.choices[0].ranges() == choice.ranges() && depthOf[other.choices[0]] == depthOf[choice];
      };
      auto group = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), fits);
      if (group == out.end())
        group = out.insert(out.end(), {.condition = g.condition, .side = g.side, .guards = g.guards});
      group->choices.push_back(choice);
    }
  }
  return out;
}

/// Fills in the computed nodes, and keeps of the guards those that they read. False if a value is computed from anything else, or
/// has other users.
bool complete(Guarded& g, const UOpMap<std::vector<UOp>>& users) {
  constexpr OpSet kPlain = group::kElementwise | OpSet{Op::VECTORIZE, Op::GEP};
  UOpMap<bool> isGuard, met;
  for (UOp u : g.guards) isGuard[u] = true;
  g.guards.clear();
  bool isPlain = true;
  auto enter = [&](UOp u) {
    if (!isPlain || isConstant(u) || !met.emplace(u, true).second) return false;
    if (isGuard.contains(u)) {
      g.guards.push_back(u);
      return false;
    }
    return isPlain = u.in(kPlain);
  };
  for (UOp choice : g.choices)
    for (UOp u : choice.src(g.side).toposort(enter)) g.computed.push_back(u);
  if (!isPlain) return false;
  UOpMap<bool> own;
  for (UOp u : g.computed) own[u] = true;
  for (UOp choice : g.choices) own[choice] = true;
  return std::ranges::all_of(g.choices, [&](UOp choice) {
    return std::ranges::all_of(users.at(choice.src(g.side)), [&](UOp user) { return own.contains(user); });
  });
}

/// Whether registers hold a value of this type, as wide as it is.
bool fitsRegister(UOp u, const Target& target) {
  return !u.dtype().isBool() && laneCount(u) <= accessLanes(target, u.dtype(), AddrSpace::Reg);
}

std::vector<Guarded> guardedValues(UOp sink, const Target& target) {
  const std::vector<UOp> nodes = sink.toposort();
  std::vector<Guarded> found = conditionsOf(nodes);
  if (found.empty()) return found;
  found = inOwnLoops(found, nodes);
  const UOpMap<std::vector<UOp>> users = sink.consumerMap();
  std::erase_if(found, [&](Guarded& g) {
    auto fits = [&](UOp u) { return fitsRegister(u, target); };
    return !complete(g, users) || g.computed.size() < kWorthwhile || !std::ranges::all_of(g.choices, fits) ||
           !std::ranges::all_of(g.guards, fits);
  });
  return found;
}

/// Moves guarded values into loops. Keeps the numbers of ranges and registers that it makes.
class Mover {
public:
  explicit Mover(UOp sink) : nextRange_(nextRangeId(sink)), nextRegister_(nextRegister(sink)) {}

  /// What stands for each choice.
  void move(const Guarded& g, UOpMap<UOp>& replaced) {
    std::vector<UOp> outer;
    for (UOp choice : g.choices)
      for (UOp r : choice.ranges())
        if (std::ranges::find(outer, r) == outer.end()) outer.push_back(r);
    const UOp taken = g.side == 1 ? g.condition : g.condition.logicalNot();
    const UOp range = UOp::make(Op::RANGE, dtypes::int32, {combineLanes(taken, Op::OR).cast(dtypes::int32)},
                                Arg::of(RangeArg{{nextRange_++}, AxisType::Loop}));

    UOpMap<UOp> inside;
    for (UOp guard : g.guards) {
      const UOp memory = memoryFor(guard);
      const UOp start = address(memory.after(outer), guard).store(guard);
      inside[guard] = address(memory.after(std::vector<UOp>{start, range}), guard).load();
    }
    for (UOp u : g.computed) {
      std::vector<UOp> src(u.src().begin(), u.src().end());
      for (UOp& s : src)
        if (auto hit = inside.find(s); hit != inside.end()) s = hit->second;
      inside[u] = u.withSrc(src);
    }
    std::vector<UOp> stores, memories;
    for (UOp choice : g.choices) {
      const UOp memory = memories.emplace_back(memoryFor(choice));
      const UOp start = address(memory.after(outer), choice).store(choice.src(3 - g.side));
      std::vector<UOp> src(choice.src().begin(), choice.src().end());
      src[g.side] = inside.at(src[g.side]);
      stores.push_back(
          address(memory.after(std::vector<UOp>{start, range}), choice).store(choice.withSrc(src)));
    }
    const UOp done = UOp::groupOf(stores).end(std::vector<UOp>{range});
    for (size_t i = 0; i < memories.size(); ++i)
      replaced[g.choices[i]] = address(memories[i].after(std::vector<UOp>{done}), g.choices[i]).load();
  }

private:
  UOp memoryFor(UOp value) { return registersOf(value.dtype(), laneCount(value), nextRegister_++); }
  static UOp address(UOp memory, UOp value) {
    const DType type = memory.dtype();
    const UOp first = memory.indexed({UOp::constant(dtypes::int32, int64_t{0})});
    return laneCount(value) == 1 ? first : first.cast(value.dtype().ptr(type.size(), AddrSpace::Reg));
  }

  int64_t nextRange_, nextRegister_;
};

constexpr RuleDef kSkip[] = {RULE("skip-guarded-values", pat::any(Op::WHERE), pat::entry())};
const KnownRules kSkipKnown(kSkip);

} // namespace

std::span<const RuleDef> guardedValueRules() {
  return kSkip;
}

UOp skipGuardedValues(UOp sink, const Target& target, const PatternMatcher& rules, std::string_view pass) {
  if (!sink.below().has(Op::WHERE)) return sink;
  const std::vector<Guarded> found = guardedValues(sink, target);
  if (found.empty()) return sink;
  Mover mover(sink);
  UOpMap<UOp> replaced;
  for (const Guarded& g : found) mover.move(g, replaced);
  because([&] {
    size_t operations = 0;
    for (const Guarded& g : found) operations += g.computed.size();
    return fmt::format("{} operations are left out where no lane takes their values", operations);
  });
  return replaceNodes(sink, replaced, rules, pass);
}

} // namespace uopscope
