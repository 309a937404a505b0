// Rules of validity of tensor graphs. See tensor_spec.h.
#include "engine/schedule/tensor_spec.h"

#include "engine/base/error.h"
#include "engine/rules/typing.h"
#include "engine/uop/shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::sched {

namespace {

using namespace pat;

bool isDevice(UOp u) {
  return u.is(Op::DEVICE);
}

UOp bufferNode(Match& m) {
  UOp u = m.root();
  bool sized = u.arg().kind() == ArgKind::Int && u.arg().i() >= 0;
  return validIf(u.srcCount() == 2 && u.src(0).in(OpSet{Op::UNIQUE, Op::LUNIQUE}) && isDevice(u.src(1)) &&
                 sized && !u.dtype().isPtr() && !u.dtype().isVoid());
}
UOp bufferView(Match& m) {
  UOp u = m.root();
  return validIf(u.srcCount() == 1 && u.arg().kind() == ArgKind::Ints && u.arg().ints().size() == 2);
}
/// A constant may name its device, and be one of its own kind.
UOp constNode(Match& m) {
  UOp u = m.root();
  bool places = std::all_of(u.src().begin(), u.src().end(),
                            [](UOp s) { return s.in(OpSet{Op::DEVICE, Op::UNIQUE, Op::LUNIQUE}); });
  return validIf(wellTyped(u) && places);
}
UOp elementwise(Match& m) {
  return validIf(wellTyped(m.root()));
}
/// Shapes are computed, which fails where they do not fit; the type stays.
UOp sameTypeAsSource(Match& m) {
  UOp u = m.root();
  return validIf(u.srcCount() >= 1 && u.dtype() == u.src(0).dtype());
}
UOp movementNode(Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 1 || u.dtype() != u.src(0).dtype()) return {};
  for (UOp amounts : u.src().subspan(1))
    if (amounts.dtype().kind() != Scalar::Index && !amounts.dtype().isVoid()) return {};
  return validNode();
}
UOp reduceAxis(Match& m) {
  UOp u = m.root();
  if (u.srcCount() != 1 || u.arg().kind() != ArgKind::Reduce || u.dtype() != u.src(0).dtype()) return {};
  Op op = u.arg().as<ReduceArg>().op;
  return validIf(OpSet{Op::ADD, Op::MUL, Op::MAX}.has(op));
}
UOp assignNode(Match& m) {
  UOp u = m.root();
  return validIf(u.srcCount() >= 2 && u.dtype() == u.src(0).dtype() && u.src(0).dtype() == u.src(1).dtype());
}
UOp copyNode(Match& m) {
  UOp u = m.root();
  return validIf(u.srcCount() == 2 && isDevice(u.src(1)) && u.dtype() == u.src(0).dtype());
}
UOp bindNode(Match& m) {
  UOp u = m.root();
  return validIf(u.srcCount() == 2 && u.src(0).is(Op::DEFINE_VAR) && u.src(1).isConst());
}
UOp accept(Match&) {
  return validNode();
}

constexpr RuleDef kTensorSpec[] = {
    RULE("tensor-buffer", any(Op::BUFFER), bufferNode),
    RULE("tensor-view", any(Op::BUFFER_VIEW), bufferView),
    RULE("tensor-constant", any(Op::CONST), constNode),
    RULE("tensor-elementwise", any(group::kElementwise), elementwise),
    RULE("tensor-movement", any(group::kMovement), movementNode),
    RULE("tensor-reduce", any(Op::REDUCE_AXIS), reduceAxis),
    RULE("tensor-marker", any({Op::CONTIGUOUS, Op::CONTIGUOUS_BACKWARD, Op::DETACH}), sameTypeAsSource),
    RULE("tensor-assign", any(Op::ASSIGN), assignNode),
    RULE("tensor-copy", any(Op::COPY), copyNode),
    RULE("tensor-bind", any(Op::BIND), bindNode),
    RULE("tensor-leaf", any({Op::UNIQUE, Op::LUNIQUE, Op::DEVICE, Op::DEFINE_VAR}), accept),
    RULE("tensor-shape", any({Op::VECTORIZE, Op::VCONST, Op::NOOP}), accept),
    RULE("tensor-effect",
         any({Op::SINK, Op::CUSTOM_KERNEL, Op::KERNEL, Op::AFTER, Op::MSELECT, Op::MSTACK, Op::MULTI,
              Op::ALLREDUCE, Op::ENCDEC}),
         accept),
};

} // namespace

const PatternMatcher& tensorSpec() {
  static const PatternMatcher rules({kTensorSpec});
  return rules;
}

void verifyTensorGraph(UOp sink, std::string_view pass) {
  // The inside of a kernel given by hand has a spec of its own.
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
