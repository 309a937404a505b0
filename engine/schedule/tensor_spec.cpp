// The rules that define valid tensor graphs.
#include "engine/schedule/tensor_spec.h"

#include "engine/base/error.h"
#include "engine/rules/typing.h"
#include "engine/uop/shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::sched {

namespace {

using namespace pat;

bool isBuffer(const Match& m) {
  DType d = m.root().dtype();
  return !d.isPtr() && !d.isVoid() && m.root().arg().kind() == ArgKind::Int && m.root().arg().i() >= 0;
}
bool isView(const Match& m) {
  UOp u = m.root();
  return u.srcCount() == 1 && u.arg().kind() == ArgKind::Ints && u.arg().ints().size() == 2;
}
bool isTyped(const Match& m) {
  return wellTyped(m.root());
}
bool isLikeItsSource(const Match& m) {
  return m.root().srcCount() >= 1 && m.root().dtype() == m.root().src(0).dtype();
}
/// Computes the shape, which throws if the sources do not fit; true if the type stays the same.
bool movesByIndex(const Match& m) {
  auto amounts = m.root().src().subspan(std::min<size_t>(1, m.root().srcCount()));
  return std::all_of(amounts.begin(), amounts.end(), [](UOp amount) {
    return amount.dtype().kind() == Scalar::Index || amount.dtype().isVoid();
  });
}
bool reducesBy(const Match& m) {
  Arg arg = m.root().arg();
  return arg.kind() == ArgKind::Reduce && OpSet{Op::ADD, Op::MUL, Op::MAX}.has(arg.as<ReduceArg>().op);
}
bool sourcesAreAlike(const Match& m) {
  return m.root().src(0).dtype() == m.root().src(1).dtype();
}

constexpr Pat kValid = pat::accepted();
constexpr Guard kLikeItsSource = guard::when(isLikeItsSource, "another type than its source"),
                kTyped = guard::when(isTyped, "types or lanes of its sources differ");
constexpr Pat kDevice = any(Op::DEVICE);

constexpr RuleDef kTensorSpec[] = {
    RULE("tensor-buffer", op(Op::BUFFER, any({Op::UNIQUE, Op::LUNIQUE}), kDevice), kValid,
         guard::when(isBuffer, "no size, or a type that memory cannot hold")),
    RULE("tensor-view", any(Op::BUFFER_VIEW), kValid,
         guard::when(isView, "no size and offset of one buffer")),
    // A constant may name its device, and have a UNIQUE.
    RULE("tensor-constant", each(Op::CONST, any({Op::DEVICE, Op::UNIQUE, Op::LUNIQUE})), kValid, kTyped),
    RULE("tensor-elementwise", any(group::kElementwise), kValid, kTyped),
    RULE("tensor-movement", any(group::kMovement), kValid, kLikeItsSource,
         guard::when(movesByIndex, "an amount that is no index")),
    RULE("tensor-reduce", op(Op::REDUCE_AXIS, anything()), kValid, kLikeItsSource,
         guard::when(reducesBy, "neither a sum, a product nor a maximum")),
    RULE("tensor-marker", any(group::kMarkers | OpSet{Op::CONTIGUOUS}), kValid, kLikeItsSource),
    RULE("tensor-assign", op(Op::ASSIGN, anything(), anything()).more(), kValid, kLikeItsSource,
         guard::when(sourcesAreAlike, "target and value differ in type")),
    RULE("tensor-copy", op(Op::COPY, anything(), kDevice), kValid, kLikeItsSource),
    RULE("tensor-bind", op(Op::BIND, any(Op::DEFINE_VAR), any(Op::CONST)), kValid),
    RULE("tensor-leaf", any({Op::UNIQUE, Op::LUNIQUE, Op::DEVICE, Op::DEFINE_VAR}), kValid),
    RULE("tensor-shape", any({Op::VECTORIZE, Op::VCONST, Op::NOOP}), kValid),
    RULE("tensor-effect",
         any({Op::SINK, Op::CUSTOM_KERNEL, Op::KERNEL, Op::AFTER, Op::MSELECT, Op::MSTACK, Op::MULTI,
              Op::ALLREDUCE, Op::ENCDEC}),
         kValid),
};
const KnownRules kTensorSpecKnown(kTensorSpec);

} // namespace

const PatternMatcher& tensorSpec() {
  static const PatternMatcher rules({kTensorSpec});
  return rules;
}

void verifyTensorGraph(UOp sink, std::string_view pass) {
  // Nodes inside a kernel given by hand are checked by the spec of kernels.
  auto isTensor = [](UOp u) { return !u.is(Op::CUSTOM_KERNEL) && !u.is(Op::KERNEL); };
  std::vector<UOp> nodes = sink.toposort(isTensor);
  std::string where = fmt::format("the tensor graph is not valid after pass '{}': ", pass);
  for (UOp u : nodes) {
    if (!tensorSpec().rewrite(u)) specError(u, nodes, where, " does not fit its sources");
    try {
      shapeOf(u);
    } catch (const Error& e) {
      specError(u, nodes, where, fmt::format(" has no shape: {}", e.what()));
    }
  }
}

} // namespace uopscope::sched
