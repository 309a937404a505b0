// Rules of validity.
#include "engine/codegen/spec.h"

#include "engine/base/error.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/loop_tree.h"
#include "engine/rules/typing.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

using namespace pat;

UOp yes(bool isValid) {
  return validIf(isValid);
}
UOp valid() {
  return validNode();
}

UOp typed(Match& m) {
  return yes(wellTyped(m.root()));
}
UOp conversion(Match& m) {
  UOp u = m.root();
  bool sameSize =
      !u.is(Op::BITCAST) || u.dtype().isPtr() || u.dtype().itemsize() == u.src(0).dtype().itemsize();
  return yes(wellTyped(u) && sameSize);
}
UOp definition(Match& m) {
  UOp u = m.root();
  return yes(u.dtype().isPtr() && u.srcCount() == 0 && u.arg().kind() == ArgKind::Int);
}
UOp loopNode(Match& m) {
  UOp u = m.root();
  return yes(u.srcCount() >= 1 && u.dtype().isInt() && u.src(0).dtype() == u.dtype() &&
             u.arg().kind() == ArgKind::Range);
}
UOp address(Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 2) return {};
  constexpr OpSet kMemory = group::kDefines | group::kMovement |
                            OpSet{Op::AFTER, Op::BUFFERIZE, Op::INDEX, Op::CAST, Op::VECTORIZE};
  if (!u.src(0).in(kMemory)) return {};
  for (size_t i = 1; i < u.srcCount(); ++i) {
    DType d = u.src(i).dtype();
    if (!d.isInt() && !(d.isBool() && i + 1 == u.srcCount() && i > 1)) return {};
  }
  return valid();
}
UOp lowAddress(Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 2 || u.srcCount() > 3 || !u.dtype().isPtr()) return {};
  if (!u.src(0).in(group::kDefines | OpSet{Op::AFTER})) return {};
  return yes(u.src(1).dtype().isInt() && laneCount(u.src(1)) == 1 &&
             (u.srcCount() == 2 || u.src(2).dtype() == dtypes::bool_));
}
bool isAddress(UOp u) {
  while (u.is(Op::CAST)) u = u.src(0);
  return u.is(Op::INDEX) || u.is(Op::LOAD) || u.is(Op::UNROLL);
}
UOp loadNode(Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 1 || !isAddress(u.src(0)) || u.dtype().isPtr() || u.dtype().isVoid()) return {};
  return yes(u.srcCount() < 2 || u.src(1).dtype().isVoid() || u.src(1).dtype() == u.dtype());
}
UOp storeNode(Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 2 || !u.dtype().isVoid() || !isAddress(u.src(0))) return {};
  DType to = u.src(0).dtype(), value = u.src(1).dtype();
  int64_t lanes = to.isPtr() ? to.base().count() * to.vcount() : to.count();
  return yes(to.kind() == value.kind() && lanes == value.count());
}
UOp reduction(Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 1 || u.arg().kind() != ArgKind::Op || u.dtype().scalar() != u.src(0).dtype().scalar())
    return {};
  for (UOp r : u.src().subspan(1))
    if (!r.dtype().isInt()) return {};
  return yes(laneCount(u.src(0)) % laneCount(u) == 0);
}
UOp lanesOf(Match& m) {
  UOp u = m.root();
  switch (u.op()) {
  case Op::VECTORIZE: {
    for (UOp s : u.src())
      if (laneCount(s) != 1 || s.dtype().kind() != u.dtype().kind()) return {};
    return yes(static_cast<size_t>(laneCount(u)) == u.srcCount() || u.srcCount() == 0);
  }
  case Op::CAT: {
    int n = 0;
    for (UOp s : u.src()) n += laneCount(s);
    return yes(n == laneCount(u));
  }
  case Op::GEP: {
    for (int64_t i : u.arg().ints())
      if (i < 0 || i >= laneCount(u.src(0))) return {};
    return yes(u.arg().ints().size() == static_cast<size_t>(laneCount(u)));
  }
  case Op::VCONST:
    return yes(u.arg().as<std::vector<ConstValue>>().size() == static_cast<size_t>(laneCount(u)));
  default: {
    int64_t n = 1;
    const auto& axes = u.arg().ints();
    for (size_t i = 1; i < axes.size(); i += 2) n *= axes[i];
    UOp wide = u.is(Op::UNROLL) ? u.src(0) : u, narrow = u.is(Op::UNROLL) ? u : u.src(0);
    return yes(u.dtype().isVoid() || laneCount(wide) == n * laneCount(narrow));
  }
  }
}
UOp effectNode(Match& m) {
  return yes(m.root().dtype().isVoid());
}
UOp accept(Match&) {
  return valid();
}
UOp afterNode(Match& m) {
  return yes(m.root().srcCount() >= 1 && m.root().dtype() == m.root().src(0).dtype());
}
UOp endNode(Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 2) return {};
  for (UOp r : u.src().subspan(1))
    if (!r.dtype().isInt()) return {};
  return valid();
}
UOp endOfOne(Match& m) {
  return yes(m.root().srcCount() == 2 && m.root().src(1).is(Op::RANGE));
}

constexpr RuleDef kShared[] = {
    RULE("valid-define", any(group::kDefines), definition),
    RULE("valid-variable", any({Op::DEFINE_VAR, Op::SPECIAL}), accept),
    RULE("valid-constant", any(Op::CONST), typed),
    RULE("valid-range", any(Op::RANGE), loopNode),
    RULE("valid-arithmetic", any(group::kAlu), typed),
    RULE("valid-cast", any({Op::CAST, Op::BITCAST}), conversion),
    RULE("valid-load", any(Op::LOAD), loadNode),
    RULE("valid-store", any(Op::STORE), storeNode),
    RULE("valid-after", any(Op::AFTER), afterNode),
    RULE("valid-effect", any({Op::SINK, Op::GROUP, Op::BARRIER, Op::NOOP, Op::CUSTOM}), effectNode),
    RULE("valid-inline-text", any({Op::CUSTOMI, Op::WMMA}), accept),
};
constexpr RuleDef kKernelOnly[] = {
    RULE("valid-address", any(Op::INDEX), address),
    RULE("valid-lanes",
         any({Op::VECTORIZE, Op::GEP, Op::CAT, Op::PTRCAT, Op::VCONST, Op::UNROLL, Op::CONTRACT}), lanesOf),
    RULE("valid-reduce", any(Op::REDUCE), reduction),
    RULE("valid-end", any(Op::END), endNode),
    RULE("valid-movement", any(group::kMovement | OpSet{Op::BUFFERIZE, Op::BIND, Op::CONTIGUOUS}), accept),
};
constexpr RuleDef kProgramOnly[] = {
    RULE("valid-low-address", any(Op::INDEX), lowAddress),
    RULE("valid-low-lanes", any({Op::VECTORIZE, Op::GEP}), lanesOf),
    RULE("valid-single-end", any(Op::END), endOfOne),
    RULE("valid-if", any({Op::IF, Op::ENDIF}), accept),
};

[[noreturn]] void invalid(UOp u, std::span<const UOp> all, std::string_view kernel, std::string_view pass,
                          std::string_view why) {
  specError(u, all, fmt::format("kernel '{}' is not valid after pass '{}': ", kernel, pass), why);
}

bool hasIndexType(UOp u) {
  return !u.dtype().isPtr() && u.dtype().kind() == Scalar::Index;
}

} // namespace

const PatternMatcher& kernelSpec() {
  static const PatternMatcher rules({kShared, kKernelOnly});
  return rules;
}
const PatternMatcher& programSpec() {
  static const PatternMatcher rules({kShared, kProgramOnly});
  return rules;
}

void typeVerify(UOp sink, SpecStage stage, std::string_view pass) {
  std::vector<UOp> nodes = sink.toposort();
  for (UOp u : nodes) {
    if (!kernelSpec().rewrite(u)) invalid(u, nodes, kernelName(sink), pass, " does not fit its sources");
    if (stage == SpecStage::Lowered && hasIndexType(u))
      invalid(u, nodes, kernelName(sink), pass, " still has the type index");
  }
  try {
    checkRangesClosed(sink);
  } catch (const Error& e) {
    throw Error(ErrorKind::Spec, fmt::format("after pass '{}': {}", pass, e.what()));
  }
}

void typeVerify(std::span<const UOp> program) {
  std::string kernel = program.empty() ? "empty" : kernelName(program.back());
  UOpMap<bool> done;
  std::vector<UOp> open;
  for (UOp u : program) {
    if (!programSpec().rewrite(u))
      invalid(u, program, kernel, "linearize/render", " does not fit a linear program");
    if (hasIndexType(u)) invalid(u, program, kernel, "linearize/render", " still has the type index");
    for (UOp s : u.src())
      if (!done.count(s))
        invalid(u, program, kernel, "linearize/render",
                fmt::format(" uses {} before it is there", describeNode(s)));
    if (u.is(Op::RANGE) || u.is(Op::IF)) open.push_back(u);
    if (u.is(Op::END) || u.is(Op::ENDIF)) {
      UOp closes = u.is(Op::END) ? u.src(1) : u.src(0);
      if (open.empty() || open.back() != closes)
        invalid(u, program, kernel, "linearize/render", " does not close the innermost block");
      open.pop_back();
    }
    done[u] = true;
  }
  if (!open.empty()) invalid(open.back(), program, kernel, "linearize/render", " is never closed");
}

} // namespace uopscope
