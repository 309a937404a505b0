// The table of passes, the matchers that it names, and the execution of a pass.
#include "engine/codegen/kernel_passes.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/bounds_check.h"
#include "engine/codegen/column_sums.h"
#include "engine/codegen/control_flow.h"
#include "engine/codegen/cut_ranges.h"
#include "engine/codegen/decompositions.h"
#include "engine/codegen/effect_order.h"
#include "engine/codegen/expander.h"
#include "engine/codegen/final_rules.h"
#include "engine/codegen/gpudims.h"
#include "engine/codegen/guarded_values.h"
#include "engine/codegen/images.h"
#include "engine/codegen/joined_sums.h"
#include "engine/codegen/lane_rules.h"
#include "engine/codegen/locals.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/codegen/running.h"
#include "engine/codegen/scattered.h"
#include "engine/codegen/streamed_stores.h"
#include "engine/codegen/streams.h"
#include "engine/codegen/tile_cores.h"
#include "engine/codegen/well_formed.h"
#include "engine/codegen/windows.h"
#include "engine/rewrite/replacement.h"
#include "engine/rules/load_collapse.h"
#include "engine/rules/rules.h"
#include "engine/rules/typing.h"
#include "engine/rules/user_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// The symbolic rules for graphs with vector arithmetic. Two rules are left out: one would turn a lane of a
/// sum into a sum of two lanes, the other would take vector constants apart. A rule of laneRules pushes lanes
/// into addresses.
PatternMatcher keepingVectors(const PatternMatcher& rules) {
  std::vector<std::shared_ptr<const Rule>> kept;
  for (const auto& rule : rules.rules())
    if (rule->name() != "gep-through-alu" && rule->name() != "vector-of-constants") kept.push_back(rule);
  return PatternMatcher(std::move(kept));
}

constexpr RuleDef kDescribe[] = {RULE("describe-bare-kernel", pat::any(Op::SINK), pat::entry())};
const KnownRules kDescribeKnown(kDescribe);

struct Matchers {
  PatternMatcher none;
  PatternMatcher describe{{kDescribe}};
  PatternMatcher wellFormed{{wellFormedRules(), imageGateRules(), closeRangesRules()}};
  PatternMatcher loadCollapse{{loadCollapseRules()}};
  PatternMatcher splitRanges{{splitRangeRules(), flattenRangeRules()}};
  PatternMatcher initialSymbolic = sym() + PatternMatcher({flattenRangeRules()});
  PatternMatcher streams{{streamRules()}};
  PatternMatcher running{{runningSumRules(), scatteredSumRules()}};
  PatternMatcher windows{{windowRules()}};
  PatternMatcher simplifyRanges{{simplifyRangeRules()}};
  PatternMatcher columnSums{{columnSumRules()}};
  PatternMatcher cutStoreRanges{{cutStoreRangeRules(), flattenRangeRules()}};
  PatternMatcher postopt = sym() + moveWhereOnLoad();
  PatternMatcher expander = PatternMatcher({groupReduceRules(), expanderRules()}) + sym();
  PatternMatcher locals{{localBufferRules()}};
  PatternMatcher reduce = PatternMatcher({reduceRules(), closeRangesRules()}) + keepingVectors(pushGep());
  PatternMatcher gpuDims{{gpuDimRules()}};
  PatternMatcher addLoads{{addLoadRules()}};
  PatternMatcher devectorize =
      PatternMatcher({laneRules(), imageRules(), accessRules()}) + keepingVectors(sym());
  PatternMatcher lowerIndex = lowerIndexDtype() + PatternMatcher({accessRules()});
  PatternMatcher postIndex = keepingVectors(symbolic());
  PatternMatcher decompose =
      symbolicSimple() + PatternMatcher({dtypeEmulationRules(), transcendentalRules(), decompositionRules()});
  PatternMatcher jointFunctions{{jointFunctionRules()}};
  PatternMatcher guardedValues{{guardedValueRules()}};
  PatternMatcher final{{finalRules()}};
  PatternMatcher effectOrder{{effectOrderRules()}};
  PatternMatcher streamedStores{{streamedStoreRules()}};
  PatternMatcher controlFlow{{controlFlowRules()}};
};
const Matchers& matchers() {
  static const Matchers all;
  return all;
}

using Part = KernelPass::Part;
constexpr SpecStage kKernel = SpecStage::Kernel, kLowered = SpecStage::Lowered;

/// The rules of a pass that has the same rules for every target.
template <PatternMatcher Matchers::* rules>
const PatternMatcher* all(const Target&) {
  return &(matchers().*rules);
}
const PatternMatcher* noRules(const Target&) {
  return nullptr;
}
/// Loops are cut on processors alone: where each iteration is a thread, a part of a loop is no loop.
const PatternMatcher* cutOnCpu(const Target& target) {
  return target.hasLocal ? nullptr : &matchers().cutStoreRanges;
}
const PatternMatcher* carriedOnCpu(const Target& target) {
  return target.hasLocal ? nullptr : &matchers().running;
}
const PatternMatcher* byRowsOnCpu(const Target& target) {
  return target.hasLocal || vars::plain ? nullptr : &matchers().columnSums;
}
const PatternMatcher* streamedOnCpu(const Target& target) {
  return target.hasLocal ? nullptr : &matchers().streams;
}
const PatternMatcher* stagedOnCpu(const Target& target) {
  return target.hasLocal ? nullptr : &matchers().windows;
}
/// The lanes of a GPU are threads: a branch that some of them take holds all of them up.
const PatternMatcher* skippedOnCpu(const Target& target) {
  return target.hasLocal ? nullptr : &matchers().guardedValues;
}
/// A thread of a GPU has registers enough, and its compiler orders a program as it likes.
const PatternMatcher* orderedOnCpu(const Target& target) {
  return target.hasLocal ? nullptr : &matchers().effectOrder;
}
/// What a GPU stores does not read a line before.
const PatternMatcher* pastCachesOnCpu(const Target& target) {
  return target.hasLocal ? nullptr : &matchers().streamedStores;
}
const PatternMatcher* joinedOnCpu(const Target& target) {
  return target.hasLocal || vars::plain ? nullptr : &joinedSumRules();
}
const PatternMatcher* users(const Target& target) {
  bool any = target.preMatcher || rendererRules(target.device).pre;
  return any ? &matchers().none : nullptr;
}

// --- passes that are more than one rewrite with the target as context ---

UOp rewrite(const KernelPass& pass, UOp sink, const Target& target, PassContext context) {
  return graphRewrite(sink, *pass.rules(target), {.name = pass.name, .ctx = context});
}

UOp onTarget(const KernelPass& pass, UOp sink, const Target& target) {
  TargetContext context{target, tileMemoryOf(sink)};
  return rewrite(pass, sink, target, context);
}

UOp viewAst(const KernelPass& pass, UOp sink, const Target& target) {
  sink = rewrite(pass, sink, target, {});
  if (sink.arg().kind() == ArgKind::Kernel) return sink;
  UOp described = sink.withArg(Arg::of(KernelInfo{}));
  return replaceNodes(sink, {{sink, described}}, matchers().describe, "describe kernel");
}

UOp splitRanges(const KernelPass& pass, UOp sink, const Target& target) {
  SplitRangesContext splits;
  return rewrite(pass, sink, target, splits);
}

UOp joinSumsOfKernel(const KernelPass& pass, UOp sink, const Target& target) {
  return joinSums(sink, target, pass.name);
}

/// Cuts loops, simplifies, and repeats: a piece may be cut again along its remaining loops.
UOp cutStoreRanges(const KernelPass& pass, UOp sink, const Target& target) {
  CutRangesContext cuts(nextRangeId(sink), target.hasThreads ? target.globalMax[0] : 1);
  for (size_t before = cuts.pieces;;) {
    cuts.firstNew = cuts.nextId;
    sink = rewrite(pass, sink, target, cuts);
    if (cuts.pieces == before) return sink;
    before = cuts.pieces;
    sink = graphRewrite(sink, matchers().initialSymbolic, {.name = "initial symbolic"});
  }
}

UOp postoptSymbolic(const KernelPass& pass, UOp sink, const Target& target) {
  sink = rewrite(pass, sink, target, {});
  if (!vars::ignoreOob) checkBounds(sink, pass.name);
  return sink;
}

UOp addLocalBuffers(const KernelPass& pass, UOp sink, const Target& target) {
  LocalsContext locals;
  locals.first = nextRegister(sink); // memory of a group is numbered along with registers
  if (sink.below().has(Op::DEFINE_LOCAL))
    for (UOp u : sink.toposort())
      if (u.is(Op::DEFINE_LOCAL) && u.arg().kind() == ArgKind::Int)
        locals.first = std::max(locals.first, u.arg().i() + 1);
  return rewrite(pass, sink, target, locals);
}

UOp removeReduce(const KernelPass& pass, UOp sink, const Target& target) {
  ReduceContext reductions{target, nextRegister(sink)};
  return rewrite(pass, sink, target, reductions);
}

UOp preMatcher(const KernelPass& pass, UOp sink, const Target& target) {
  if (target.preMatcher) sink = graphRewrite(sink, *target.preMatcher, {.name = pass.name});
  RendererRules own = rendererRules(target.device);
  return own.pre ? graphRewrite(sink, *own.pre, {.name = pass.name}) : sink;
}

UOp decompose(const KernelPass& pass, UOp sink, const Target& target) {
  TargetContext context{target, tileMemoryOf(sink)};
  const bool hasAny = sink.below().has(Op::EXP2) || sink.below().has(Op::SIN);
  const PatternMatcher* beforeSources = hasAny ? &matchers().jointFunctions : nullptr;
  return graphRewrite(sink, *pass.rules(target),
                      {.name = pass.name, .ctx = context, .bottomUp = beforeSources});
}

UOp skipGuarded(const KernelPass& pass, UOp sink, const Target& target) {
  return skipGuardedValues(sink, target, *pass.rules(target), pass.name);
}

/// Rules of renderers may make new operations, which are decomposed here. All earlier ones are decomposed
/// already.
UOp finalRewrite(const KernelPass& pass, UOp sink, const Target& target) {
  TargetContext context{target};
  RendererRules own = rendererRules(target.device);
  if (!target.extraMatcher && !own.extra) return rewrite(pass, sink, target, context);
  PatternMatcher rules = matchers().decompose + matchers().final;
  if (target.extraMatcher) rules = rules + *target.extraMatcher;
  if (own.extra) rules = rules + *own.extra;
  return graphRewrite(sink, rules, {.name = pass.name, .ctx = context});
}

UOp orderByLiveness(const KernelPass& pass, UOp sink, const Target& target) {
  return orderEffects(sink, target, *pass.rules(target), pass.name);
}

UOp streamLargeResults(const KernelPass& pass, UOp sink, const Target& target) {
  return streamStores(sink, target, *pass.rules(target), pass.name);
}

UOp addControlFlow(const KernelPass& pass, UOp sink, const Target& target) {
  ControlFlowContext order = orderLoops(sink);
  if (order.before.empty()) return graphRewrite(sink, matchers().none, {.name = pass.name});
  return graphRewriteBottomUp(sink, *pass.rules(target), {.name = pass.name, .ctx = order});
}

using M = Matchers;
constexpr KernelPass kPasses[] = {
    {"View Base AST", Part::Always, kKernel, all<&M::none>, viewAst,
     "the kernel as the schedule, or a script, made it"},
    {"early movement ops", Part::Always, kKernel, all<&M::wellFormed>, nullptr,
     "movement operations that scripts put between a buffer and its index become index arithmetic"},
    {"carry maximum", Part::Always, kKernel, streamedOnCpu, onTarget,
     "sums that a softmax weights go once over the keys, a block of rows at a time"},
    {"load collapse", Part::BeforeOpts, kKernel, all<&M::loadCollapse>, nullptr,
     "sums that pick one element, such as a one-hot product, become one load"},
    {"running sums", Part::BeforeOpts, kKernel, carriedOnCpu, nullptr,
     "sums that grow from result to result, or go to the result an index names, take one step a term"},
    {"split ranges", Part::BeforeOpts, kKernel, all<&M::splitRanges>, splitRanges,
     "a range whose remainder is used, or whose quotient picks a factor of products, becomes two"},
    {"initial symbolic", Part::BeforeOpts, kKernel, all<&M::initialSymbolic>, nullptr,
     "index and value expressions take their simplest form"},
    {"join sums", Part::BeforeOpts, kKernel, joinedOnCpu, joinSumsOfKernel,
     "sums that read the same memory in the same order share a loop"},
    {"simplify ranges", Part::BeforeOpts, kKernel, all<&M::simplifyRanges>, nullptr,
     "ranges that no address needs apart become one"},
    {"column sums", Part::BeforeOpts, kKernel, byRowsOnCpu, onTarget,
     "sums along columns of large memory read whole rows into accumulators in a cache"},
    {"cut store ranges", Part::BeforeOpts, kKernel, cutOnCpu, cutStoreRanges,
     "a loop that a comparison with a constant splits in cases becomes a loop for each case"},
    {"windows", Part::BeforeOpts, kKernel, stagedOnCpu, onTarget,
     "the picture that the windows of a convolution read is copied once, with its margins"},
    {"optimisations", Part::AfterOpts, kKernel, noRules, nullptr,
     "no rewrite: the place behind the Opts, for rules that users add"},
    {"postopt symbolic", Part::AfterOpts, kKernel, all<&M::postopt>, postoptSymbolic,
     "expressions are simplified again, and conditions move onto the loads they guard"},
    {"expander", Part::AfterOpts, kKernel, all<&M::expander>, nullptr,
     "UPCAST and UNROLL ranges become lanes of vectors"},
    {"add local buffers", Part::AfterOpts, kKernel, all<&M::locals>, addLocalBuffers,
     "values that threads, or lanes, share get memory of their own"},
    {"remove_reduce", Part::AfterOpts, kKernel, all<&M::reduce>, removeReduce,
     "a REDUCE becomes a loop over an accumulator in registers"},
    {"add gpudims", Part::AfterOpts, kKernel, all<&M::gpuDims>, onTarget,
     "GLOBAL and LOCAL ranges become hardware indices, THREAD ranges the number of the core"},
    {"** add loads (code)", Part::AfterOpts, kKernel, all<&M::addLoads>, nullptr,
     "reads of an address become LOADs: from here on the graph is code"},
    {"devectorize", Part::AfterOpts, kKernel, all<&M::devectorize>, onTarget,
     "vectors take the widths that the target loads, stores and computes with"},
    {"lower all index dtypes", Part::AfterOpts, kLowered, all<&M::lowerIndex>, onTarget,
     "index types become 32- or 64-bit integers"},
    {"post index symbolic", Part::AfterOpts, kLowered, all<&M::postIndex>, nullptr,
     "expressions that a known width makes simpler are simplified"},
    {"pre_matcher", Part::AfterOpts, kLowered, users, preMatcher, "rules that a user gave the renderer"},
    {"decompositions", Part::AfterOpts, kLowered, all<&M::decompose>, decompose,
     "operations that the target lacks are computed by those it has"},
    {"skip guarded values", Part::AfterOpts, kLowered, skippedOnCpu, skipGuarded,
     "values that a condition seldom lets through are computed only where some lane takes them"},
    {"final rewrite", Part::AfterOpts, kLowered, all<&M::final>, finalRewrite,
     "the last changes before code, with the renderer's own rules"},
    {"order by liveness", Part::AfterOpts, kLowered, orderedOnCpu, orderByLiveness,
     "stores that share values follow one another where too many registers would be in use"},
    {"stream stores", Part::AfterOpts, kLowered, pastCachesOnCpu, streamLargeResults,
     "large results that are written in order go to memory past the caches"},
    {"add control flow",
     Part::AfterOpts,
     {},
     all<&M::controlFlow>,
     addControlFlow,
     "loops that follow one another are chained, so that the graph alone says their order"},
};

} // namespace

std::span<const KernelPass> kernelPasses() {
  return kPasses;
}

std::span<const std::string_view> kernelPassNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const KernelPass& pass : kPasses) list.push_back(pass.name);
    return list;
  }();
  return names;
}

UOp runKernelPass(const KernelPass& pass, UOp sink, const Target& target) {
  auto run = [&] {
    if (!pass.rules(target)) return sink;
    return pass.run ? pass.run(pass, sink, target) : rewrite(pass, sink, target, {});
  };
  const std::string kernel = fmt::format("kernel '{}'", kernelName(sink));
  try {
    if (vars::spec >= 2) {
      SpecObserver eachNode(kernelSpec(), fmt::format("{}, pass '{}'", kernel, pass.name),
                            Observer::current());
      ObserverScope watch(&eachNode);
      sink = run();
    } else {
      sink = run();
    }
    for (const auto& added : userRulesAfter(pass.name))
      sink = graphRewrite(sink, *added, {.name = fmt::format("after {}", pass.name)});
    if (vars::spec >= 1 && pass.stage) typeVerify(sink, *pass.stage, pass.name);
    return sink;
  } catch (const Error& e) {
    if (std::string_view(e.what()).starts_with(kernel)) throw; // the message names the kernel already
    throw Error(e.kind(), fmt::format("{}, pass '{}': {}", kernel, pass.name, e.what()));
  }
}

} // namespace uopscope
