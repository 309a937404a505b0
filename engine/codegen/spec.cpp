// The rules that define valid graphs of each stage.
#include "engine/codegen/spec.h"

#include "engine/base/error.h"
#include "engine/codegen/access_traffic.h"
#include "engine/codegen/async_boxes.h"
#include "engine/codegen/async_copy.h"
#include "engine/codegen/images.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/loop_tree.h"
#include "engine/codegen/streamed_stores.h"
#include "engine/rules/typing.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

using namespace pat;

bool isTyped(const Match& m) {
  return wellTyped(m.root());
}
bool isConversion(const Match& m) {
  UOp u = m.root();
  return wellTyped(u) &&
         (!u.is(Op::BITCAST) || u.dtype().isPtr() || u.dtype().itemsize() == u.src(0).dtype().itemsize());
}
bool isDefinition(const Match& m) {
  UOp u = m.root();
  return u.dtype().isPtr() && u.srcCount() == 0 && u.arg().kind() == ArgKind::Int;
}
bool isLoop(const Match& m) {
  UOp u = m.root();
  return u.srcCount() >= 1 && u.dtype().isInt() && u.src(0).dtype() == u.dtype() &&
         u.arg().kind() == ArgKind::Range;
}
bool isIndexing(const Match& m) {
  UOp u = m.root();
  constexpr OpSet kMemory = group::kDefines | group::kMovement |
                            OpSet{Op::AFTER, Op::BUFFERIZE, Op::INDEX, Op::CAST, Op::VECTORIZE};
  if (u.srcCount() < 2 || !u.src(0).in(kMemory)) return false;
  for (size_t i = 1; i < u.srcCount(); ++i) {
    DType d = u.src(i).dtype();
    if (!d.isInt() && !(d.isBool() && i + 1 == u.srcCount() && i > 1)) return false;
  }
  return true;
}
bool isFlatIndexing(const Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 2 || u.srcCount() > 3 || !u.dtype().isPtr()) return false;
  if (!u.src(0).in(group::kDefines | OpSet{Op::AFTER})) return false;
  return u.src(1).dtype().isInt() && laneCount(u.src(1)) == (u.dtype().isImage() ? 2 : 1) &&
         (u.srcCount() == 2 || u.src(2).dtype().isBool());
}
bool isAddress(UOp u) {
  while (u.is(Op::CAST)) u = u.src(0);
  return u.is(Op::INDEX) || u.is(Op::LOAD) || u.is(Op::UNROLL);
}
/// The lanes of the gate of an access: each lane of a load may have its own.
int gateLanes(UOp access) {
  UOp u = access.src(0);
  while (u.is(Op::CAST)) u = u.src(0);
  return u.is(Op::INDEX) && u.srcCount() > 2 && u.src(2).dtype().isBool() ? laneCount(u.src(2)) : 1;
}
bool isLoad(const Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 1 || !isAddress(u.src(0)) || u.dtype().isPtr() || u.dtype().isVoid()) return false;
  if (gateLanes(u) != 1 && gateLanes(u) != laneCount(u)) return false;
  return u.srcCount() < 2 || u.src(1).dtype().isVoid() || u.src(1).dtype() == u.dtype();
}
bool isStore(const Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 2 || !u.dtype().isVoid() || !isAddress(u.src(0)) || gateLanes(u) != 1) return false;
  if (isBox(u) && u.src(1).is(Op::INDEX) && u.src(0).bufferOf().is(Op::DEFINE_LOCAL)) return true;
  DType to = u.src(0).dtype(), value = u.src(1).dtype();
  int64_t lanes = to.isPtr() ? to.base().count() * to.vcount() : to.count();
  if (u.src(0).is(Op::INDEX) && isPixelIndex(u.src(0))) lanes *= 4;
  if (isAsyncCopy(u) && !u.src(0).bufferOf().is(Op::DEFINE_LOCAL)) return false;
  if (isStreamed(u) && !u.src(0).bufferOf().is(Op::DEFINE_GLOBAL)) return false;
  return to.kind() == value.kind() && lanes == value.count();
}
bool endsLoops(const Match& m) {
  auto loops = m.root().src().subspan(std::min<size_t>(1, m.root().srcCount()));
  return std::all_of(loops.begin(), loops.end(), [](UOp r) { return r.dtype().isInt(); });
}
bool isReduction(const Match& m) {
  UOp u = m.root();
  return u.srcCount() >= 1 && u.arg().kind() == ArgKind::Op &&
         u.dtype().scalar() == u.src(0).dtype().scalar() && laneCount(u.src(0)) % laneCount(u) == 0;
}
bool hasLanes(const Match& m) {
  UOp u = m.root();
  switch (u.op()) {
  case Op::VECTORIZE: {
    for (UOp s : u.src())
      if (laneCount(s) != 1 || s.dtype().kind() != u.dtype().kind()) return false;
    return static_cast<size_t>(laneCount(u)) == u.srcCount() || u.srcCount() == 0;
  }
  case Op::CAT: {
    int n = 0;
    for (UOp s : u.src()) n += laneCount(s);
    return n == laneCount(u);
  }
  case Op::GEP: {
    for (int64_t i : u.arg().ints())
      if (i < 0 || i >= laneCount(u.src(0))) return false;
    return u.arg().ints().size() == static_cast<size_t>(laneCount(u));
  }
  case Op::VCONST: return u.arg().as<std::vector<ConstValue>>().size() == static_cast<size_t>(laneCount(u));
  default: {
    int64_t n = 1;
    const auto& axes = u.arg().ints();
    for (size_t i = 1; i < axes.size(); i += 2) n *= axes[i];
    UOp wide = u.is(Op::UNROLL) ? u.src(0) : u, narrow = u.is(Op::UNROLL) ? u : u.src(0);
    return u.dtype().isVoid() || laneCount(wide) == n * laneCount(narrow);
  }
  }
}
bool isEffect(const Match& m) {
  return m.root().dtype().isVoid();
}
bool isLikeItsSource(const Match& m) {
  return m.root().srcCount() >= 1 && m.root().dtype() == m.root().src(0).dtype();
}
bool endsSomething(const Match& m) {
  return m.root().srcCount() >= 2;
}

constexpr Pat kValid = pat::accepted();
constexpr Guard kTyped = guard::when(isTyped, "types or lanes of its sources differ"),
                kLanes = guard::when(hasLanes, "its sources have another number of lanes"),
                kOverLoops = guard::when(endsLoops, "a source after the first counts nothing");

constexpr RuleDef kShared[] = {
    RULE("valid-define", any(group::kDefines), kValid,
         guard::when(isDefinition, "no pointer with a number as argument")),
    RULE("valid-variable", any({Op::DEFINE_VAR, Op::SPECIAL}), kValid),
    RULE("valid-constant", any(Op::CONST), kValid, kTyped),
    RULE("valid-range", any(Op::RANGE), kValid, guard::when(isLoop, "its extent has another type")),
    RULE("valid-arithmetic", any(group::kAlu), kValid, kTyped),
    RULE("valid-cast", any({Op::CAST, Op::BITCAST}), kValid,
         guard::when(isConversion, "the lanes differ, or the sizes of a BITCAST")),
    RULE("valid-load", any(Op::LOAD), kValid,
         guard::when(isLoad, "no address, or an alternative of another type")),
    RULE("valid-store", any(Op::STORE), kValid,
         guard::when(isStore,
                     "no address, a value of another type, a copy that is asynchronous and not to shared "
                     "memory, or a streamed one that is not to a result")),
    RULE("valid-after", any(Op::AFTER), kValid, guard::when(isLikeItsSource, "another type than its source")),
    RULE("valid-effect", any({Op::SINK, Op::GROUP, Op::BARRIER, Op::NOOP, Op::CUSTOM}), kValid,
         guard::when(isEffect, "an effect has no type")),
    RULE("valid-inline-text", any({Op::CUSTOMI, Op::WMMA}), kValid),
};
const KnownRules kSharedKnown(kShared);
constexpr RuleDef kKernelOnly[] = {
    RULE("valid-address", any(Op::INDEX), kValid,
         guard::when(isIndexing, "no memory, or an index that is no integer")),
    RULE("valid-lanes",
         any({Op::VECTORIZE, Op::GEP, Op::CAT, Op::PTRCAT, Op::VCONST, Op::UNROLL, Op::CONTRACT}), kValid,
         kLanes),
    RULE("valid-reduce", any(Op::REDUCE), kValid,
         guard::when(isReduction, "another type than its source, or no operation"), kOverLoops),
    RULE("valid-end", any(Op::END), kValid, guard::when(endsSomething, "it ends no loop"), kOverLoops),
    RULE("valid-movement", any(group::kMovement | OpSet{Op::BUFFERIZE, Op::BIND, Op::CONTIGUOUS}), kValid),
};
const KnownRules kKernelOnlyKnown(kKernelOnly);
constexpr RuleDef kProgramOnly[] = {
    RULE("valid-low-address", any(Op::INDEX), kValid,
         guard::when(isFlatIndexing, "no definition of memory with one index")),
    RULE("valid-low-lanes", any({Op::VECTORIZE, Op::GEP}), kValid, kLanes),
    RULE("valid-single-end", op(Op::END, anything(), any(Op::RANGE)), kValid),
    RULE("valid-if", any({Op::IF, Op::ENDIF}), kValid),
};
const KnownRules kProgramOnlyKnown(kProgramOnly);

[[noreturn]] void refuse(UOp u, std::span<const UOp> all, std::string_view kernel, std::string_view pass,
                         std::string_view why) {
  specError(u, all, fmt::format("kernel '{}' is not valid after pass '{}': ", kernel, pass), why);
}

bool hasIndexType(UOp u) {
  return !u.dtype().isPtr() && u.dtype().kind() == Scalar::Index;
}

/// A loop around the load of an accumulator, inside those in which it was set, that neither chooses another element nor is one of
/// the loops that it counts: in the second turn of that loop the sum would go on from the first. `depthOf`: of effects, the blocks that they leave open.
UOp forgottenLoop(UOp load, std::span<const UOp> open, const UOpMap<size_t>& depthOf) {
  const UOp memory = load.src(0).bufferOf(), address = accessIndex(load);
  if (!memory.is(Op::DEFINE_REG) || !address.is(Op::INDEX)) return {};
  const UOp index = address.src(1);
  std::vector<UOp> counted;
  size_t setIn = open.size();
  bool isSet = false;
  for (UOp at = load.src(0); at != memory; at = at.src(0)) {
    if (!at.is(Op::AFTER)) continue;
    for (UOp s : at.src().subspan(1)) {
      if (s.is(Op::RANGE)) counted.push_back(s);
      const auto depth = depthOf.find(s);
      if (depth == depthOf.end()) continue;
      setIn = isSet ? std::max(setIn, depth->second) : depth->second;
      isSet = true;
    }
  }
  if (counted.empty() || !isSet) return {};
  for (size_t i = setIn; i < open.size(); ++i)
    if (open[i].is(Op::RANGE) && !std::ranges::count(counted, open[i]) && !index.dependsOn(open[i]))
      return open[i];
  return {};
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
    if (!kernelSpec().rewrite(u)) refuse(u, nodes, kernelName(sink), pass, " does not fit its sources");
    if (stage == SpecStage::Lowered && hasIndexType(u))
      refuse(u, nodes, kernelName(sink), pass, " still has the type index");
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
  UOpMap<size_t> depthOf;
  for (UOp u : program) {
    if (!programSpec().rewrite(u))
      refuse(u, program, kernel, "linearize/render", " does not fit a linear program");
    if (hasIndexType(u)) refuse(u, program, kernel, "linearize/render", " still has the type index");
    for (UOp s : u.src())
      if (!done.count(s))
        refuse(u, program, kernel, "linearize/render",
               fmt::format(" uses {} before it is there", describeNode(s)));
    if (const UOp loop = u.is(Op::LOAD) ? forgottenLoop(u, open, depthOf) : UOp())
      refuse(u, program, kernel, "linearize/render",
             fmt::format(" goes on from an earlier turn of {}, which it does not count", describeNode(loop)));
    if (u.is(Op::RANGE) || u.is(Op::IF)) open.push_back(u);
    if (u.is(Op::END) || u.is(Op::ENDIF)) {
      UOp closes = u.is(Op::END) ? u.src(1) : u.src(0);
      if (open.empty() || open.back() != closes)
        refuse(u, program, kernel, "linearize/render", " does not close the innermost block");
      open.pop_back();
    }
    if (u.in({Op::STORE, Op::END, Op::GROUP})) depthOf[u] = open.size();
    done[u] = true;
  }
  if (!open.empty()) refuse(open.back(), program, kernel, "linearize/render", " is never closed");
}

} // namespace uopscope
