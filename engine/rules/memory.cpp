// Loads, stores and effects: accesses without an effect are removed, and lists of effects keep effects alone.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"

#include <algorithm>

namespace uopscope::rules {

namespace {

constexpr PatVar a{"a"}, i{"i"}, at{"at"};
constexpr Pat kIndex = pat::any(OpSet{Op::INDEX});
constexpr OpSet kNoEffect{Op::UNROLL, Op::NOOP, Op::VECTORIZE, Op::SINK};
constexpr OpSet kEffects{Op::RANGE,  Op::STORE,  Op::KERNEL,        Op::BARRIER, Op::END,
                         Op::UNROLL, Op::CUSTOM, Op::CUSTOM_KERNEL, Op::CUSTOMI};

UOp nothing() {
  return UOp::make(Op::NOOP, dtypes::void_, std::initializer_list<UOp>{});
}

/// A store at Invalid does nothing, and a load gives 0.
UOp invalidAccess(Match& m) {
  UOp u = m.root();
  if (u.is(Op::STORE)) return nothing();
  return u.srcCount() > 1 && u.src(1).dtype() == u.dtype() ? u.src(1) : u.constLike(int64_t{0});
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
    if (s.in(kEffects))
      src.push_back(s);
    else
      src.insert(src.end(), s.src().begin(), s.src().end());
  }
  return std::equal(src.begin(), src.end(), u.src().begin(), u.src().end())
             ? m.decline("every source has an effect")
             : u.withSrc(src);
}

constexpr Pat ownLoad = pat::op(Op::LOAD, kIndex.named(i));
constexpr Pat kPlainIndex = pat::op(Op::INDEX, a, Pat(at).withDtype(kMaskIndex)).named(i);
/// An index behind this gate.
constexpr Pat gated(const Pat& gate) {
  return pat::alike(i, a, pat::where(gate, at, pat::invalid()));
}

constexpr RuleDef kEffectRules[] = {
    RULE("after-effects", pat::any(OpSet{Op::AFTER}), flattenAfter),
    RULE("after-nothing", pat::op(Op::AFTER, x), x),
};

constexpr RuleDef kMemoryRules[] = {
    // a[i] = a[i] does nothing, unless ranges must be closed there.
    RULE("store-own-load", pat::op(Op::STORE, kIndex.named(i), ownLoad), pat::nothing()),
    // a[i] = c ? v : a[i] stores v where c holds.
    RULE("store-where-then", pat::op(Op::STORE, kPlainIndex, pat::where(cond, x, ownLoad)).more(),
         pat::rootWith(gated(cond), x)),
    RULE("store-where-else", pat::op(Op::STORE, kPlainIndex, pat::where(cond, ownLoad, x)).more(),
         pat::rootWith(gated(pat::logicalNot(cond)), x)),
    RULE("access-invalid",
         pat::op(OpSet{Op::LOAD, Op::STORE}, pat::orCasted(pat::op(Op::INDEX, a, kInvalid).more())).more(),
         invalidAccess),
    RULE("group-of-one", pat::op(Op::GROUP, x), x),
    RULE("flatten-effects", pat::any(OpSet{Op::SINK, Op::GROUP}), flattenEffects),
    RULE("end-of-nothing", pat::op(Op::END, pat::op(OpSet(Op::NOOP)).named(x)).more(), x),
};

} // namespace

Family effectRules() {
  return kEffectRules;
}
Family memoryRules() {
  return kMemoryRules;
}

} // namespace uopscope::rules
