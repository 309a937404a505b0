// vmap is compared as graphs, tangents of linear operations too; tangents of others by numbers (gradient_check.cpp).
#include "replay/compare/transform_check.h"

#include "engine/tensor/graph.h"
#include "engine/uop/sint.h"

#include <algorithm>

namespace uopscope {
namespace {

using Verdict = ValueCheck::Verdict;

ValueCheck told(Verdict verdict, std::string why = {}) {
  ValueCheck out;
  out.verdict = verdict;
  out.why = std::move(why);
  return out;
}
ValueCheck differentShapes(const Shape& before, const Shape& after) {
  ValueCheck out = told(Verdict::Differs);
  out.before = shapeStr(before), out.after = shapeStr(after);
  return out;
}
Shape withoutFirst(const Shape& shape) {
  return {shape.begin() + 1, shape.end()};
}

/// Element b of a value with a batch axis.
UOp elementOf(UOp batched, int64_t b) {
  Bounds bounds;
  for (const Sint& n : batched.shape()) bounds.push_back({0, n});
  bounds[0] = {b, b + 1};
  return graph::reshape(graph::shrink(batched, bounds), withoutFirst(batched.shape()));
}

ValueCheck checkBatch(RewriteChecker& checker, UOp before, UOp after, const TransformMemory& known,
                      const CheckLimits& limits) {
  const Shape& shape = after.shape();
  if (shape.empty() || withoutFirst(shape) != before.shape()) return differentShapes(before.shape(), shape);
  if (before.is(Op::BUFFER)) return told(Verdict::Same); // an argument: any value of its shape will do
  if (!shape[0].isInt()) return told(Verdict::Unknown, "the length of the batch is a variable");
  ValueCheck out = told(Verdict::Same);
  for (const int64_t b : {int64_t{0}, shape[0].i() - 1}) {
    if (b < 0 || out.verdict != Verdict::Same) continue; // an empty batch has no elements
    std::vector<UOp> sources;
    for (const UOp s : before.src()) {
      const auto found = known.find(s);
      sources.push_back(found == known.end() ? s : elementOf(found->second, b));
    }
    out = checker.check(before.withSrc(sources), elementOf(after, b), limits);
  }
  return out;
}

/// Operations that do to a tangent as to a value.
bool isLinear(UOp u) {
  return u.in(group::kMovement | OpSet{Op::COPY, Op::CONTIGUOUS, Op::CONTIGUOUS_BACKWARD}) ||
         (u.is(Op::REDUCE_AXIS) && u.arg().as<ReduceArg>().op == Op::ADD);
}
bool hasNoSlope(UOp u) {
  constexpr OpSet kJumps =
      group::kComparison | OpSet{Op::TRUNC, Op::IDIV, Op::MOD,      Op::AND,     Op::OR,    Op::XOR,
                                 Op::SHL,   Op::SHR,  Op::THREEFRY, Op::BITCAST, Op::DETACH};
  return u.in(kJumps) || !u.dtype().isFloat() || (u.is(Op::CAST) && !u.src(0).dtype().isFloat());
}

ValueCheck checkTangent(RewriteChecker& checker, UOp before, UOp after, const TransformMemory& known,
                        const CheckLimits& limits) {
  if (after.is(Op::NOOP)) {
    const bool none = std::all_of(before.src().begin(), before.src().end(), [&](UOp s) {
      const auto found = known.find(s);
      return found == known.end() || found->second.is(Op::NOOP);
    });
    return none || hasNoSlope(before)
               ? told(Verdict::Same)
               : told(Verdict::Unknown, "a derivative of zero is not known of this operation");
  }
  if (after.shape() != before.shape()) return differentShapes(before.shape(), after.shape());
  if (before.is(Op::BUFFER)) return told(Verdict::Same);
  const auto first = before.srcCount() ? known.find(before.src(0)) : known.end();
  if (isLinear(before) && first != known.end() && !first->second.is(Op::NOOP)) {
    std::vector<UOp> sources(before.src().begin(), before.src().end());
    sources[0] = first->second;
    return checker.check(before.withSrc(sources), after, limits);
  }
  return checker.checkTangent(before, after, known, limits);
}

} // namespace

bool isTransform(std::string_view pass) {
  return pass == "vmap" || pass == "jvp";
}

ValueCheck checkTransform(RewriteChecker& checker, std::string_view pass, UOp before, UOp after,
                          const TransformMemory& known, const CheckLimits& limits) {
  // Values with a derivative given by hand are no steps.
  for (const UOp s : before.src())
    for (const auto& [value, became] : known)
      if (value.is(Op::BUFFER) && !known.contains(s) && s.dependsOn(value))
        return told(Verdict::Unknown, "it depends on a value whose derivative was given by hand");
  return pass == "vmap" ? checkBatch(checker, before, after, known, limits)
                        : checkTangent(checker, before, after, known, limits);
}

} // namespace uopscope
