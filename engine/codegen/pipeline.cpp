// The pipeline: from a kernel's graph to its linear program, as one list of named passes.
//
// Every pass is a graph_rewrite that an observer sees by name. With SPEC=1 the graph is verified after each,
// with SPEC=2 every node as a rule makes it; with IGNORE_OOB=0 indices are checked against their buffers.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/bounds_check.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/control_flow.h"
#include "engine/codegen/decompositions.h"
#include "engine/codegen/early.h"
#include "engine/codegen/estimates.h"
#include "engine/codegen/expander.h"
#include "engine/codegen/gpudims.h"
#include "engine/codegen/locals.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/opt.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/codegen/spec.h"
#include "engine/codegen/user_rules.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/load_collapse.h"
#include "engine/rules/rules.h"
#include "engine/rules/typing.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// One pass: the rewrite, then verification where SPEC asks. An error says which kernel and pass it happened
/// in.
UOp pass(std::string_view name, UOp sink, const PatternMatcher& matcher, PassContext ctx = {},
         SpecStage stage = SpecStage::Kernel, const char* file = __builtin_FILE(),
         int line = __builtin_LINE()) {
  try {
    if (vars::spec >= 2) {
      SpecObserver eachNode(kernelSpec(), fmt::format("kernel '{}', pass '{}'", kernelName(sink), name),
                            Observer::current());
      ObserverScope watch(&eachNode);
      sink = graphRewrite(sink, matcher, {.name = name, .ctx = ctx}, file, line);
    } else {
      sink = graphRewrite(sink, matcher, {.name = name, .ctx = ctx}, file, line);
    }
    for (const auto& rules : userRulesAfter(name))
      sink = graphRewrite(sink, *rules, {.name = fmt::format("after {}", name)}, file, line);
    if (vars::spec >= 1) typeVerify(sink, stage, name);
    return sink;
  } catch (const Error& e) {
    std::string text = e.what();
    if (text.find("kernel '") != std::string::npos) throw;
    throw Error(e.kind(), fmt::format("kernel '{}', pass '{}': {}", kernelName(sink), name, text));
  }
}

/// The symbolic rules for graphs with arithmetic on vectors: a lane of a sum stays a lane of it, where
/// elsewhere it becomes the sum of two lanes, which would take vectors apart. Lanes of addresses are pushed
/// by a rule of laneRules.
PatternMatcher keepingVectors(const PatternMatcher& rules) {
  std::vector<std::shared_ptr<const Rule>> kept;
  for (const auto& rule : rules.rules())
    if (rule->name() != "gep-through-alu") kept.push_back(rule);
  return PatternMatcher(std::move(kept));
}

struct Matchers {
  PatternMatcher none;
  PatternMatcher early{{earlyRules(), closeRangesRules()}};
  PatternMatcher loadCollapse{{loadCollapseRules()}};
  PatternMatcher splitRanges{{splitRangeRules(), flattenRangeRules()}};
  PatternMatcher initialSymbolic = sym() + PatternMatcher({flattenRangeRules()});
  PatternMatcher simplifyRanges{{simplifyRangeRules()}};
  PatternMatcher cutStoreRanges{{cutStoreRangeRules(), flattenRangeRules()}};
  PatternMatcher postopt = sym() + moveWhereOnLoad();
  PatternMatcher expander = PatternMatcher({groupReduceRules(), expanderRules()}) + sym();
  PatternMatcher locals{{localBufferRules()}};
  PatternMatcher reduce = PatternMatcher({reduceRules(), closeRangesRules()}) + keepingVectors(pushGep());
  PatternMatcher gpuDims{{gpuDimRules()}};
  PatternMatcher addLoads{{addLoadRules()}};
  PatternMatcher devectorize = PatternMatcher({laneRules(), accessRules()}) + keepingVectors(sym());
  PatternMatcher lowerIndex = lowerIndexDtype() + PatternMatcher({accessRules()});
  PatternMatcher postIndex = keepingVectors(symbolic());
  PatternMatcher decompose =
      symbolicSimple() + PatternMatcher({dtypeEmulationRules(), transcendentalRules(), decompositionRules()});
  PatternMatcher final{{finalRules()}};
  PatternMatcher controlFlow{{controlFlowRules()}};
};
const Matchers& matchers() {
  static const Matchers all;
  return all;
}

} // namespace

namespace {

/// The first passes, those that every kernel takes.
UOp kernelOf(UOp sink) {
  const Matchers& m = matchers();
  if (!sink.is(Op::SINK))
    throw Error(ErrorKind::Spec, fmt::format("a kernel is a SINK, this is {}", opName(sink.op())));
  if (sink.arg().kind() != ArgKind::Kernel) sink = sink.withArg(Arg::of(KernelInfo{}));
  checkRangesClosed(sink);

  sink = pass("View Base AST", sink, m.none);
  return pass("early movement ops", sink, m.early);
}

} // namespace

UOp readyForOpts(UOp sink, const Target& target) {
  const Matchers& m = matchers();
  sink = pass("load collapse", kernelOf(sink), m.loadCollapse);
  SplitRangesContext splits;
  sink = pass("split ranges", sink, m.splitRanges, splits);
  sink = pass("initial symbolic", sink, m.initialSymbolic);
  sink = pass("simplify ranges", sink, m.simplifyRanges);
  if (!target.hasLocal) { // where an iteration is a thread, parts of a loop are no loops
    CutRangesContext cuts(nextRangeId(sink));
    size_t before = 0;
    while (before != cuts.pieces) { // a piece may be cut along its other loops, once it is simplified
      if (before) sink = pass("initial symbolic", sink, m.initialSymbolic);
      before = cuts.pieces;
      cuts.firstNew = cuts.nextId;
      sink = pass("cut store ranges", sink, m.cutStoreRanges, cuts);
    }
  }
  return sink;
}

UOp fullRewriteToSink(UOp sink, const Target& target, bool optimize) {
  const Matchers& m = matchers();
  TargetContext onTarget{target};
  if (optimize) {
    sink = optimizeKernel(readyForOpts(sink, target), target);
    if (vars::spec >= 1) typeVerify(sink, SpecStage::Kernel, "optimisations");
  } else {
    sink = kernelOf(sink);
  }

  // From here on loops are lanes, registers and hardware indices.
  sink = pass("postopt symbolic", sink, m.postopt);
  if (!vars::ignoreOob) checkBounds(sink, "postopt symbolic");
  sink = pass("expander", sink, m.expander);
  LocalsContext locals;
  sink = pass("add local buffers", sink, m.locals, locals);
  ReduceContext reductions;
  sink = pass("remove_reduce", sink, m.reduce, reductions);
  sink = pass("add gpudims", sink, m.gpuDims, onTarget);

  // From here on it is code.
  sink = pass("** add loads (code)", sink, m.addLoads);
  sink = pass("devectorize", sink, m.devectorize, onTarget);
  sink = pass("lower all index dtypes", sink, m.lowerIndex, onTarget, SpecStage::Lowered);
  sink = pass("post index symbolic", sink, m.postIndex, {}, SpecStage::Lowered);
  RendererRules own = rendererRules(target.device);
  if (target.preMatcher) sink = pass("pre_matcher", sink, *target.preMatcher, {}, SpecStage::Lowered);
  if (own.pre) sink = pass("pre_matcher", sink, *own.pre, {}, SpecStage::Lowered);
  sink = pass("decompositions", sink, m.decompose, onTarget, SpecStage::Lowered);
  // Decomposed already, but for what a renderer's own rules make.
  if (target.extraMatcher || own.extra) {
    PatternMatcher final = m.decompose + m.final;
    if (target.extraMatcher) final = final + *target.extraMatcher;
    if (own.extra) final = final + *own.extra;
    sink = pass("final rewrite", sink, final, onTarget, SpecStage::Lowered);
  } else {
    sink = pass("final rewrite", sink, m.final, onTarget, SpecStage::Lowered);
  }

  ControlFlowContext order = orderLoops(sink);
  return graphRewriteBottomUp(sink, m.controlFlow, {.name = "add control flow", .ctx = order});
}

namespace {

std::string identifier(std::string name) {
  for (char& ch : name)
    if (!isalnum(static_cast<unsigned char>(ch))) ch = '_';
  return name.empty() || isdigit(static_cast<unsigned char>(name[0])) ? "k" + name : name;
}

void addOnce(std::vector<int>& list, int position) {
  if (std::find(list.begin(), list.end(), position) == list.end()) list.push_back(position);
}

void describeMemory(LoweredKernel& k) {
  for (UOp u : k.uops) {
    if (u.is(Op::DEFINE_GLOBAL)) addOnce(k.globals, static_cast<int>(u.arg().i()));
    if (u.is(Op::DEFINE_VAR)) k.vars.push_back(u);
    if (!u.is(Op::LOAD) && !u.is(Op::STORE)) continue;
    UOp buffer = u.src(0).bufferOf();
    if (buffer.is(Op::DEFINE_GLOBAL))
      addOnce(u.is(Op::STORE) ? k.outs : k.ins, static_cast<int>(buffer.arg().i()));
  }
  for (auto* list : {&k.globals, &k.outs, &k.ins}) std::sort(list->begin(), list->end());
  std::sort(k.vars.begin(), k.vars.end(),
            [](UOp a, UOp b) { return a.arg().as<VarArg>().name < b.arg().as<VarArg>().name; });
}

void describeLaunch(LoweredKernel& k, const Target& target) {
  if (target.hasLocal) {
    k.globalSize.assign(3, 1);
    k.localSize.assign(3, 1);
  }
  for (UOp u : k.uops) {
    if (u.is(Op::SPECIAL)) {
      const std::string& name = u.arg().str();
      auto& sizes = name[0] == 'l' ? k.localSize : k.globalSize;
      size_t at = static_cast<size_t>(name.back() - '0');
      if (sizes.size() <= at) sizes.resize(at + 1, 1);
      sizes[at] = Sint(u.src(0));
    }
    if (u.is(Op::DEFINE_VAR) && u.arg().as<VarArg>().name == "core_id")
      k.globalSize = {Sint(u.arg().as<VarArg>().vmax + 1), 1, 1};
  }
}

} // namespace

LoweredKernel lowerKernel(UOp ast, const Target& target) {
  LoweredKernel k;
  k.pool = std::make_shared<Pool>();
  PoolScope scope(*k.pool);
  k.ast = k.pool->import(ast);
  k.sink = fullRewriteToSink(k.ast, target);
  k.uops = linearize(k.sink);
  if (vars::spec >= 1) typeVerify(k.uops);
  static const PatternMatcher nothing;
  graphRewrite(k.sink, nothing, {.name = "linearize/render"});
  const auto& info = k.sink.arg().as<KernelInfo>();
  k.name = identifier(info.name);
  k.appliedOpts = info.appliedOpts;
  describeMemory(k);
  describeLaunch(k, target);
  k.estimates = estimate(k.uops);
  return k;
}

} // namespace uopscope
