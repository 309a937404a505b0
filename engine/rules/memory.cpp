// Loads, stores and effects: accesses without an effect are removed, and lists of effects keep effects alone.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"

#include <algorithm>

namespace uopscope::rules {

namespace {

constexpr PatVar a{"a"}, i{"i"};
constexpr Pat kIndex = pat::any(OpSet{Op::INDEX});
constexpr OpSet kNoEffect{Op::UNROLL, Op::NOOP, Op::VECTORIZE, Op::SINK};
constexpr OpSet kEffects{Op::RANGE,  Op::STORE,  Op::KERNEL,        Op::BARRIER, Op::END,
                         Op::UNROLL, Op::CUSTOM, Op::CUSTOM_KERNEL, Op::CUSTOMI};

/// A store that does nothing still stands for all that its memory waits for: whoever comes after it comes after those.
UOp nothingBut(UOp address) {
  std::vector<UOp> effects;
  for (UOp u = address; u.in({Op::INDEX, Op::CAST, Op::AFTER}); u = u.src(0))
    if (u.is(Op::AFTER))
      for (UOp s : u.src().subspan(1))
        if (!s.is(Op::RANGE)) effects.push_back(s);
  return UOp::make(Op::NOOP, dtypes::void_, effects);
}
/// Where a store changes nothing: it stores what is there, or at no place.
UOp noStore(Match& m) {
  return nothingBut(m.root().src(0));
}

/// Replaces each source without an effect of its own (a list of effects) by its sources.
UOp flattenEffects(Match& m) {
  UOp u = m.root();
  // A vector of values is a value and is no list.
  auto isList = [](UOp s) { return s.in(kNoEffect) && (!s.is(Op::VECTORIZE) || s.dtype().isVoid()); };
  bool any = std::any_of(u.src().begin(), u.src().end(), isList);
  if (!any) return m.decline("every source has an effect");
  std::vector<UOp> src;
  for (UOp s : u.src()) {
    if (isList(s))
      src.insert(src.end(), s.src().begin(), s.src().end());
    else
      src.push_back(s);
  }
  return u.withSrc(src);
}
UOp flattenAfter(Match& m) {
  UOp u = m.root();
  std::vector<UOp> src{u.src(0)};
  for (UOp s : u.src().subspan(1)) {
    if (s.in(kEffects)) {
      src.push_back(s);
      continue;
    }
    for (UOp below : s.src()) // of an expression of loops, the loops
      if (!below.isConst() && std::ranges::find(src, below) == src.end()) src.push_back(below);
  }
  return std::equal(src.begin(), src.end(), u.src().begin(), u.src().end())
             ? m.decline("every source has an effect")
             : u.withSrc(src);
}

/// Whether none of what a NOOP stands for happens in the loops that are closed around it.
bool happensOutside(const Match& m) {
  const std::vector<UOp>& open = m[x].ranges();
  return std::none_of(open.begin(), open.end(), [&](UOp r) {
    return std::find(m.root().src().begin() + 1, m.root().src().end(), r) != m.root().src().end();
  });
}

constexpr Pat ownLoad = pat::op(Op::LOAD, kIndex.named(i));
constexpr Pat kPlainIndex = pat::op(Op::INDEX, a, Pat(at).withDtype(kMaskIndex)).named(i);
constexpr Pat kNowhere = pat::orCasted(pat::op(Op::INDEX, a, kInvalid).more());
/// An index behind this gate.
constexpr Pat gated(const Pat& gate) {
  return pat::alike(i, a, pat::where(gate, at, pat::invalid()));
}

constexpr RuleDef kEffectRules[] = {
    RULE("after-effects", pat::any(OpSet{Op::AFTER}), flattenAfter),
    RULE("after-nothing", pat::op(Op::AFTER, x), x),
};
const KnownRules kEffectRulesKnown(kEffectRules);

constexpr RuleDef kMemoryRules[] = {
    // a[i] = a[i] does nothing, unless ranges must be closed there.
    RULE("store-own-load", pat::op(Op::STORE, kIndex.named(i), ownLoad), noStore),
    // a[i] = c ? v : a[i] stores v where c holds.
    RULE("store-where-then", pat::op(Op::STORE, kPlainIndex, pat::where(cond, x, ownLoad)).more(),
         pat::rootWith(gated(cond), x)),
    RULE("store-where-else", pat::op(Op::STORE, kPlainIndex, pat::where(cond, ownLoad, x)).more(),
         pat::rootWith(gated(pat::logicalNot(cond)), x)),
    RULE("store-nowhere", pat::op(Op::STORE, kNowhere).more(), noStore),
    RULE("load-nowhere-else", pat::op(Op::LOAD, kNowhere, x).more(), x, guard::likeRoot(x)),
    RULE("load-nowhere", pat::op(Op::LOAD, kNowhere).more(), 0),
    RULE("group-of-one", pat::op(Op::GROUP, x), x),
    RULE("flatten-effects", pat::any(OpSet{Op::SINK, Op::GROUP}), flattenEffects),
    RULE("end-of-nothing", pat::op(Op::END, pat::op(OpSet(Op::NOOP)).more().named(x)).more(), x,
         guard::when(happensOutside, "a store in the loop comes before")),
};
const KnownRules kMemoryRulesKnown(kMemoryRules);

} // namespace

Family effectRules() {
  return kEffectRules;
}
Family memoryRules() {
  return kMemoryRules;
}

} // namespace uopscope::rules
