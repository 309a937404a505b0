// Words of results: what the notation of patterns has no operator for.
//
//   RULE("ne-move-const", (x + c0) != c1, x != pat::fold(pat::op(Op::SUB, c1, c0))),
//   RULE("cast-into-branches", op(Op::CAST, where(c, x, y)), where(c, pat::toRoot(x), pat::toRoot(y))),
//   RULE("multiply-by-shift", x * c, x << pat::made(log2OfFactor)),          // UOp log2OfFactor(Match&)
//   RULE("sine-gradient", op(Op::SIN, x), pat::answers(pat::tensors(grad * op(Op::SIN, 1.57 + x * -1)))),
//
// "The root" is the node that is rewritten. A function in a result makes one node of it, mostly a constant; a
// rule whose whole result is made by a function names that function instead.
#pragma once
#include "engine/rewrite/pattern.h"

namespace uopscope::pat {

/// Every operation of the expression evaluated on constants; a cast too.
constexpr Pat fold(const Pat& expression) {
  Pat p = expression;
  for (int i = 0; i < p.count; ++i)
    if (p.nodes[static_cast<size_t>(i)].childCount) p.nodes[static_cast<size_t>(i)].fold = true;
  return p;
}

/// A node of this making. `var`: the variable it is alike to, or has the dtype of.
template <typename... P>
constexpr Pat making(Making how, OpSet ops, const PatVar* var, const P&... children) {
  Pat p = makeNode(ops, SrcMode::Exact, children...);
  p.root().making = how;
  if (var) p.root().var = p.bindVar(var->view());
  return p;
}

/// CAST or BITCAST to the dtype of the root; the operand itself where it has that dtype.
constexpr Pat toRoot(const Pat& a, Op o = Op::CAST) {
  return making(Making::ToRoot, o, nullptr, a);
}
/// CAST to the dtype of a variable's node.
constexpr Pat toTypeOf(PatVar like, const Pat& a) {
  return making(Making::ToVar, Op::CAST, &like, a);
}
/// CAST to a scalar type, with as many lanes as the operand.
constexpr Pat to(DType type, const Pat& a) {
  Pat p = making(Making::ToType, Op::CAST, nullptr, a);
  p.root().exactDtype = type.bits();
  return p;
}
/// The operation of the root, of these operands.
template <typename... P>
constexpr Pat sameOp(const P&... children) {
  return making(Making::SameOp, Op::NOOP, nullptr, children...);
}
/// The root with these sources; dtype, argument and tag stay.
template <typename... P>
constexpr Pat rootOf(const P&... children) {
  return making(Making::Alike, Op::NOOP, nullptr, children...);
}
/// The root with these as its first sources, and the others as they are.
template <typename... P>
constexpr Pat rootWith(const P&... children) {
  return making(Making::First, Op::NOOP, nullptr, children...);
}
/// A variable's node with these sources.
template <typename... P>
constexpr Pat alike(PatVar var, const P&... children) {
  return making(Making::Alike, Op::NOOP, &var, children...);
}

/// Invalid, the index that must not be accessed.
constexpr Pat invalid() {
  return makeNode(Op::CONST, SrcMode::Any).withArg(Arg::invalid());
}
/// NOOP: no effect, and in tensors() the zero that nobody has to compute.
constexpr Pat nothing() {
  return makeNode(Op::NOOP, SrcMode::Any);
}
/// What the table of replacements of the pass (replacement.h) has for the root.
constexpr Pat entry() {
  return making(Making::Entry, Op::NOOP, nullptr);
}
/// The answer of a rule of a spec: the root is valid.
constexpr Pat accepted() {
  return making(Making::Accepted, Op::NOOP, nullptr);
}
/// What a function makes of the match; null declines, and its reason is the rule's.
constexpr Pat made(RuleFn fn) {
  Pat p = making(Making::Call, Op::NOOP, nullptr);
  p.root().call = p.addCall(fn);
  return p;
}

/// An expression of tensors: a number has the shape and the device of the operand beside it. An operand may
/// be nothing(): a product with it, or a quotient of it, is nothing; a sum is its other term, and a WHERE has
/// 0 in its place.
constexpr Pat tensors(const Pat& expression) {
  Pat p = expression;
  for (int i = 0; i < p.count; ++i) p.nodes[static_cast<size_t>(i)].tensors = true;
  return p;
}
/// An answer for each source of the root: these for the first, nothing for the rest.
template <typename... P>
constexpr Pat answers(const P&... each) {
  return making(Making::Sources, Op::GROUP, nullptr, each...);
}

} // namespace uopscope::pat
