// Words for results: node makings for which the notation of patterns has no operator.
//
//   RULE("ne-move-const", (x + c0) != c1, x != pat::fold(pat::op(Op::SUB, c1, c0))),
//   RULE("cast-into-branches", op(Op::CAST, where(c, x, y)), where(c, pat::toRoot(x), pat::toRoot(y))),
//   RULE("multiply-by-shift", x * c, x << pat::made(log2OfFactor)),          // UOp log2OfFactor(Match&)
//   RULE("sine-gradient", op(Op::SIN, x), pat::answers(pat::tensors(grad * op(Op::SIN, 1.57 + x * -1)))),
//
// "The root" is the node being rewritten. A function inside a result makes one node of it, usually a
// constant. If a function makes the whole result, the rule names the function instead.
#pragma once
#include "engine/rewrite/pattern.h"

namespace uopscope::pat {

/// Evaluates every operation of the expression, casts included, on constants.
constexpr Pat fold(const Pat& expression) {
  Pat p = expression;
  for (int i = 0; i < p.count; ++i)
    if (p.nodes[static_cast<size_t>(i)].childCount) p.nodes[static_cast<size_t>(i)].fold = true;
  return p;
}

/// A node of this making. `var` is the variable whose node it copies, or whose dtype it gets.
template <typename... P>
constexpr Pat making(Making how, OpSet ops, const PatVar* var, const P&... children) {
  Pat p = makeNode(ops, SrcMode::Exact, children...);
  p.root().making = how;
  if (var) p.root().var = p.bindVar(var->view());
  return p;
}

/// CAST or BITCAST to the dtype of the root; the operand itself if it has that dtype.
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
/// The operation of the root on these operands.
template <typename... P>
constexpr Pat sameOp(const P&... children) {
  return making(Making::SameOp, Op::NOOP, nullptr, children...);
}
/// The root with these sources; its dtype, argument and tag stay.
template <typename... P>
constexpr Pat rootOf(const P&... children) {
  return making(Making::Alike, Op::NOOP, nullptr, children...);
}
/// The root with these as its first sources; its further sources stay.
template <typename... P>
constexpr Pat rootWith(const P&... children) {
  return making(Making::First, Op::NOOP, nullptr, children...);
}
/// A variable's node with these sources.
template <typename... P>
constexpr Pat alike(PatVar var, const P&... children) {
  return making(Making::Alike, Op::NOOP, &var, children...);
}

/// Invalid: the index of an access that must not happen.
constexpr Pat invalid() {
  return makeNode(Op::CONST, SrcMode::Any).withArg(Arg::invalid());
}
/// NOOP: no effect. In tensors() it is a zero that is never computed.
constexpr Pat nothing() {
  return makeNode(Op::NOOP, SrcMode::Any);
}
/// The replacement of the root in the table of the pass (replacement.h).
constexpr Pat entry() {
  return making(Making::Entry, Op::NOOP, nullptr);
}
/// The answer of a spec's rule: the root is valid.
constexpr Pat accepted() {
  return making(Making::Accepted, Op::NOOP, nullptr);
}
/// The result of a function of the match. If it returns null the rule declines, with the function's reason.
constexpr Pat made(RuleFn fn) {
  Pat p = making(Making::Call, Op::NOOP, nullptr);
  p.root().call = p.addCall(fn);
  return p;
}

/// An expression of tensors: a number has the shape and the device of the operand beside it. An operand may
/// be nothing(). A product with it, or a quotient of it, is nothing; a sum with it is the remaining term; a
/// WHERE uses 0 in its place.
constexpr Pat tensors(const Pat& expression) {
  Pat p = expression;
  for (int i = 0; i < p.count; ++i) p.nodes[static_cast<size_t>(i)].tensors = true;
  return p;
}
/// An answer for each source of the root: these for the first sources, nothing for the rest.
template <typename... P>
constexpr Pat answers(const P&... each) {
  return making(Making::Sources, Op::GROUP, nullptr, each...);
}

} // namespace uopscope::pat
