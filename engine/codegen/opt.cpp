// Opts, and the change that each makes to the ranges of a kernel.
#include "engine/codegen/opt.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/base/integers.h"
#include "engine/codegen/block_order.h"
#include "engine/codegen/epilogues.h"
#include "engine/codegen/inner_values.h"
#include "engine/codegen/loop_tree.h"
#include "engine/codegen/panels.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/same_place.h"
#include "engine/codegen/staging.h"
#include "engine/codegen/tile_cores.h"
#include "engine/rewrite/replacement.h"
#include "engine/rules/algebra.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

constexpr int64_t kMostUpcast = 256; ///< all registers for results, where they are widest

/// Place of a type in the list of ranges: outer loops come first.
int order(AxisType t) {
  switch (t) {
  case AxisType::Outer: return -2;
  case AxisType::Loop: return -1;
  case AxisType::Global:
  case AxisType::Thread: return 0;
  case AxisType::Warp: return 1;
  case AxisType::Local:
  case AxisType::GroupReduce: return 2;
  case AxisType::Upcast: return 3;
  case AxisType::Reduce: return 4;
  case AxisType::Unroll: return 5;
  case AxisType::Placeholder: return 6;
  }
  return 6;
}

AxisType typeOf(OptOp op) {
  switch (op) {
  case OptOp::UPCAST: return AxisType::Upcast;
  case OptOp::UNROLL: return AxisType::Unroll;
  case OptOp::LOCAL: return AxisType::Local;
  case OptOp::THREAD: return AxisType::Thread;
  default: return AxisType::GroupReduce;
  }
}

/// Whether a term is 0 in the steps that padding adds to a range. Reads give 0 there.
bool vanishesInPadding(UOp u, UOp range, UOpMap<bool>& known) {
  if (auto hit = known.find(u); hit != known.end()) return hit->second;
  auto of = [&](size_t i) { return vanishesInPadding(u.src(i), range, known); };
  bool result = false;
  switch (u.op()) {
  case Op::CONST: result = u.isConst(0.0); break;
  case Op::INDEX: result = u.src(1).dependsOn(range); break;
  case Op::LOAD:
  case Op::CAST:
  case Op::NEG:
  case Op::SQRT:
  case Op::SIN:
  case Op::TRUNC: result = of(0); break;
  case Op::AND: result = of(0) || of(1); break;
  case Op::MUL: // 0 times an infinity is not 0
    result = (of(0) && (of(1) || u.src(1).isConst())) || (of(1) && u.src(0).isConst());
    break;
  case Op::ADD:
  case Op::SUB:
  case Op::MAX:
  case Op::OR:
  case Op::XOR: result = of(0) && of(1); break;
  case Op::WHERE: result = of(1) && of(2); break;
  case Op::REDUCE: result = (u.arg().op() == Op::ADD || u.arg().op() == Op::MAX) && of(0); break;
  default: break;
  }
  return known[u] = result;
}

using namespace pat;
constexpr RuleDef kSplitRange[] = {RULE("split-range", any(Op::RANGE), entry())};
const KnownRules kSplitRangeKnown(kSplitRange);
constexpr RuleDef kPadRange[] = {RULE("pad-range", any(Op::RANGE), entry())};
const KnownRules kPadRangeKnown(kPadRange);
constexpr RuleDef kGatePadding[] = {RULE("gate-padding", any(Op::INDEX), entry())};
const KnownRules kGatePaddingKnown(kGatePadding);
constexpr RuleDef kSwapRanges[] = {RULE("swap-ranges", any(Op::RANGE), entry())};
const KnownRules kSwapRangesKnown(kSwapRanges);
constexpr RuleDef kSwapDone[] = {RULE("swapped-range", any(Op::RANGE), entry())};
const KnownRules kSwapDoneKnown(kSwapDone);
constexpr RuleDef kLoopsToGlobal[] = {RULE("loop-to-global", any(Op::RANGE), entry())};
const KnownRules kLoopsToGlobalKnown(kLoopsToGlobal);
constexpr RuleDef kDescribeKernel[] = {RULE("describe-kernel", any(Op::SINK), entry())};
const KnownRules kDescribeKernelKnown(kDescribeKernel);

} // namespace

KernelOptimizer::KernelOptimizer(UOp ast, const Target& target) : ast_(ast), target_(&target) {
  if (ast.arg().kind() == ArgKind::Kernel) {
    const auto& info = ast.arg().as<KernelInfo>();
    dontUseLocals_ = info.dontUseLocals;
    applied_ = info.appliedOpts;
  }
  nextId_ = nextRangeId(ast);
  refresh();
}

void KernelOptimizer::replace(const UOpMap<UOp>& nodes, const PatternMatcher& rules) {
  // Nothing can refuse the Opt from here on, so its reason is reported now, and once.
  if (!why_.reason.empty()) because([&] { return why_; });
  why_ = {};
  ast_ = replaceNodes(ast_, nodes, rules, pass_);
}

void KernelOptimizer::refresh() {
  ranges_.clear();
  reduces_.clear();
  accesses_.clear();
  stores_.clear();
  for (UOp u : ast_.toposort()) {
    if (u.is(Op::RANGE) && u.vmax() > 0) ranges_.push_back(u);
    if (u.is(Op::REDUCE)) reduces_.push_back(u);
    if (u.is(Op::INDEX)) accesses_.push_back(u);
    if (u.is(Op::STORE) && u.src(0).is(Op::INDEX) && !u.src(0).bufferOf().is(Op::DEFINE_REG))
      stores_.push_back(u);
  }
  std::sort(ranges_.begin(), ranges_.end(), [](UOp a, UOp b) {
    int x = order(a.axisType()), y = order(b.axisType());
    if (x != y) return x < y;
    return a.arg().as<RangeArg>().ids < b.arg().as<RangeArg>().ids;
  });
}

int64_t KernelOptimizer::extent(size_t axis) const {
  UOp e = ranges_[axis].src(0);
  return e.isConst() ? e.arg().i() : -1;
}

std::vector<size_t> KernelOptimizer::axesOf(std::initializer_list<AxisType> types) const {
  std::vector<size_t> axes;
  for (size_t i = 0; i < ranges_.size(); ++i)
    if (std::find(types.begin(), types.end(), ranges_[i].axisType()) != types.end()) axes.push_back(i);
  return axes;
}

std::vector<UOp> KernelOptimizer::parallelRanges() const {
  std::vector<UOp> common;
  bool first = true;
  for (UOp effect : ast_.src()) {
    if (!effect.is(Op::END)) return {};
    std::vector<UOp> own;
    for (UOp r : rangesIn(effect.src().subspan(1)))
      if (r.axisType() != AxisType::Reduce) own.push_back(r);
    if (first)
      common = own;
    else
      std::erase_if(common, [&](UOp r) { return std::find(own.begin(), own.end(), r) == own.end(); });
    first = false;
  }
  // A loop cannot run in parallel if an inner effect closes it as well, or an inner store does not depend on
  // it.
  for (UOp u : ast_.toposort()) {
    if (!u.is(Op::STORE) && !u.is(Op::BUFFERIZE)) continue;
    // A register belongs to one thread, and each thread fills all registers that it reads.
    if (u.is(Op::STORE) && u.src(0).bufferOf().is(Op::DEFINE_REG)) continue;
    const auto& open = u.is(Op::STORE) ? u.src(0).ranges() : u.ranges();
    std::erase_if(common, [&](UOp r) { return std::find(open.begin(), open.end(), r) == open.end(); });
  }
  std::erase_if(common, [&](UOp r) { return stepsShareMemory(r) && !stepsKeepToSlabs(r); });
  return common;
}

bool KernelOptimizer::stepsShareMemory(UOp range) const {
  auto isInside = [&](UOp u) {
    const auto& open = u.ranges();
    return std::find(open.begin(), open.end(), range) != open.end();
  };
  // Stores that no AFTER orders write different elements: their order says nothing.
  auto isUnorderedStore = [&](UOp access) {
    return !access.src(0).below().has(Op::AFTER) && !access.src(0).is(Op::AFTER) &&
           std::any_of(stores_.begin(), stores_.end(), [&](UOp store) { return store.src(0) == access; });
  };
  return std::any_of(stores_.begin(), stores_.end(), [&](UOp store) {
    if (!isInside(store)) return false;
    const UOp to = store.src(0), place = indexOf(to.src(1));
    return mayCoincide(place, range) || std::any_of(accesses_.begin(), accesses_.end(), [&](UOp a) {
             return a != to && a.bufferOf() == to.bufferOf() && isInside(a) && indexOf(a.src(1)) != place &&
                    !(isUnorderedStore(a) && isUnorderedStore(to));
           });
  });
}

bool KernelOptimizer::stepsKeepToSlabs(UOp range) const {
  for (UOp store : stores_) {
    const UOp memory = store.src(0).bufferOf();
    std::optional<Slab> all;
    for (UOp a : accesses_) {
      if (a.bufferOf() != memory) continue;
      const std::optional<Slab> own = slabOf(a.src(1), range);
      if (!own || (all && own->stride != all->stride)) return false;
      if (!all) all = own;
      all->least = std::min(all->least, own->least);
      all->most = std::max(all->most, own->most);
      if (all->most - all->least >= std::abs(all->stride)) return false;
    }
  }
  return true;
}

bool KernelOptimizer::mayBecomeLanes(UOp range) const {
  if (stepsShareMemory(range)) return false;
  if (!ast_.below().has(Op::DEFINE_REG)) return true;
  for (UOp u : ast_.toposort()) {
    if (!u.is(Op::STORE) || !u.src(0).bufferOf().is(Op::DEFINE_REG) || u.src(0).src(1).dependsOn(range))
      continue;
    const auto& open = u.ranges();
    if (std::find(open.begin(), open.end(), range) != open.end()) return false;
  }
  return true;
}

int64_t KernelOptimizer::expandedSize() const {
  int64_t n = 1;
  for (size_t a : axesOf({AxisType::Upcast, AxisType::Unroll})) n *= extent(a);
  return n;
}

void KernelOptimizer::refuse(const Opt& opt, const std::string& why) const {
  throw Error(ErrorKind::Compile, fmt::format("{} does not fit kernel '{}': {}", toString(opt), name(), why));
}

size_t KernelOptimizer::axisOf(const Opt& opt) const {
  auto pick = [&](const std::vector<size_t>& axes) {
    if (opt.axis < 0 || static_cast<size_t>(opt.axis) >= axes.size())
      refuse(opt, fmt::format("it has {} such axes", axes.size()));
    return axes[static_cast<size_t>(opt.axis)];
  };
  std::vector<size_t> all(ranges_.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  if (opt.op == OptOp::GROUP || opt.op == OptOp::GROUPTOP) return pick(axesOf({AxisType::Reduce}));
  if (opt.op != OptOp::UNROLL) return pick(all);
  std::vector<size_t> unrollable;
  for (size_t a : axesOf({AxisType::GroupReduce, AxisType::Reduce}))
    if (extent(a) > 1) unrollable.push_back(a);
  return pick(unrollable);
}

void KernelOptimizer::split(const Opt& opt, size_t axis) {
  UOp range = ranges_[axis];
  AxisType to = typeOf(opt.op), from = range.axisType();
  int64_t n = extent(axis), amount = opt.arg.empty() ? 0 : opt.arg[0];
  if (amount == 0) amount = n;
  require(n > 0, opt, "the range is symbolic or empty");
  const bool overlap = (opt.op == OptOp::UPCAST || opt.op == OptOp::THREAD || opt.op == OptOp::UNROLL) &&
                       opt.arg.size() == 2 && opt.arg[1] == kOverlap && n % amount;
  if (amount < 1 || (n % amount && !overlap)) refuse(opt, fmt::format("{} does not divide {}", amount, n));
  require((opt.op != OptOp::UPCAST && opt.op != OptOp::UNROLL) || mayBecomeLanes(range), opt,
          "a step of that loop uses memory that a different step writes");
  switch (opt.op) {
  case OptOp::UPCAST:
    require(from == AxisType::Global || from == AxisType::Local || from == AxisType::Loop, opt,
            "UPCAST takes GLOBAL, LOCAL and LOOP ranges");
    require(amount <= kMostUpcast, opt, "more than 256 lanes");
    require(!overlap || (amount < n && mayOverlap(range)), opt,
            "results may not be computed twice there, or a tile is longer than the range");
    break;
  case OptOp::UNROLL:
    require(from == AxisType::Reduce || from == AxisType::GroupReduce, opt, "UNROLL takes REDUCE ranges");
    require(amount <= 64, opt, "more than 64 lanes");
    if (!overlap) break;
    require(amount < n && mayPeel(range), opt,
            "there are more lanes than terms, or a term has loops of its own");
    peel(range, n, amount);
    return;
  case OptOp::LOCAL:
    require(!dontUseLocals_, opt, "locals are switched off");
    require(from == AxisType::Global || from == AxisType::Loop, opt, "LOCAL takes GLOBAL and LOOP ranges");
    require(!stepsShareMemory(range), opt, "its steps run in their order: they share memory");
    if (from == AxisType::Loop) { // all threads would run what is outside of the loop
      auto parallel = parallelRanges();
      require(std::find(parallel.begin(), parallel.end(), range) != parallel.end(), opt,
              "not every store is inside that loop");
    }
    break;
  case OptOp::THREAD: {
    require(target_->hasThreads, opt, "the target has no threads");
    require(axesOf({AxisType::Thread}).empty(), opt, "it has threads already");
    require(amount <= target_->globalMax[0], opt, "too many threads");
    auto parallel = parallelRanges();
    require(std::find(parallel.begin(), parallel.end(), range) != parallel.end(), opt,
            "not every store is inside that loop");
    require(!overlap || (amount < n && mayOverlap(range)), opt,
            "results may not be computed twice there, or there are more threads than steps");
    break;
  }
  default: {
    require(!dontUseLocals_, opt, "locals are switched off");
    require(from == AxisType::Reduce, opt, "GROUP takes REDUCE ranges");
    require(!reduces_.empty() && !stepsShareMemory(range), opt, "that loop adds up in memory, step by step");
    int64_t bytes = amount;
    for (size_t a : axesOf({AxisType::Upcast, AxisType::Warp, AxisType::Local, AxisType::GroupReduce}))
      bytes *= extent(a);
    bytes *= reduces_[0].dtype().itemsize();
    if (bytes > target_->sharedMax)
      refuse(opt, fmt::format("needs {} bytes of shared memory of {}", bytes, target_->sharedMax));
    for (UOp red : reduces_)
      for (UOp r : red.src().subspan(1))
        if (r == range)
          for (UOp open : red.ranges())
            require(open.axisType() != AxisType::Reduce && open.axisType() != AxisType::Unroll &&
                        open.axisType() != AxisType::GroupReduce,
                    opt, "the reduction is inside a different reduction");
  }
  }
  UOp rest = range.withSrc({UOp::constant(range.dtype(), ceilDiv(n, amount))});
  UOp fresh = UOp::range(UOp::constant(range.dtype(), amount), {nextId_++}, to, range.dtype());
  bool top = opt.op == OptOp::GROUPTOP || opt.op == OptOp::THREAD;
  UOpMap<UOp> replace;
  replace[range] = amount == n ? fresh
                   : top       ? startOfPart(fresh, ceilDiv(n, amount), n) + rest
                               : startOfPart(rest, amount, n) + fresh;
  static const PatternMatcher splitRange({kSplitRange});
  this->replace(replace, splitRange);
}

void KernelOptimizer::padTo(size_t axis, int64_t multiple) {
  Opt opt{OptOp::PADTO, static_cast<int>(axis), {multiple}};
  UOp range = ranges_[axis];
  AxisType type = range.axisType();
  int64_t n = extent(axis);
  require(n > 0 && multiple > 0, opt, "the range is symbolic or empty");
  require(type != AxisType::Upcast && type != AxisType::Unroll && type != AxisType::Thread, opt,
          "an expanded or threaded range cannot be padded");
  require(!stepsShareMemory(range), opt, "its steps share memory: a step more would change it");
  if (type == AxisType::Reduce || type == AxisType::GroupReduce)
    for (UOp red : reduces_) {
      std::vector<UOp> over = rangesIn(red.src().subspan(1));
      if (std::find(over.begin(), over.end(), range) == over.end()) continue;
      require(red.arg().op() == Op::ADD, opt, "only sums can be padded");
      UOpMap<bool> known;
      require(vanishesInPadding(red.src(0), range, known), opt, "a term may not be 0 where its reads are");
    }
  int64_t size = roundUp(n, multiple);
  require(size < 4 * n, opt, "it would more than quadruple the work");
  UOp wide = range.withSrc({UOp::constant(range.dtype(), size)});
  UOp valid = wide < n;
  UOpMap<UOp> gates;
  static const PatternMatcher padRange({kPadRange}), gatePadding({kGatePadding});
  replace({{range, wide}}, padRange);
  for (UOp u : ast_.toposort()) {
    if (!u.is(Op::INDEX) || !u.src(1).dependsOn(wide)) continue;
    std::vector<UOp> src(u.src().begin(), u.src().end());
    UOp index = src[1];
    if (index.is(Op::WHERE) && index.src(2).isInvalidConst())
      src[1] = index.src(1).validWhere(index.src(0) & valid);
    else
      src[1] = index.validWhere(valid);
    gates[u] = u.withSrc(src);
  }
  replace(gates, gatePadding);
}

void KernelOptimizer::swapAxes(size_t axis, size_t other) {
  Opt opt{OptOp::SWAP, static_cast<int>(axis), {static_cast<int64_t>(other)}};
  require(other < ranges_.size(), opt, "no such axis");
  UOp a = ranges_[axis], b = ranges_[other];
  bool loops =
      a.axisType() == b.axisType() && (a.axisType() == AxisType::Global || a.axisType() == AxisType::Loop);
  require(loops, opt, "SWAP takes two GLOBAL or two LOOP ranges");
  // A register that one loop carries along is cleared for every step of the loop around it.
  require(mayBecomeLanes(a) && mayBecomeLanes(b), opt,
          "a step of one of them uses what an earlier step stored");
  auto withIds = [](UOp r, UOp ids) {
    return r.withArg(Arg::of(RangeArg{ids.arg().as<RangeArg>().ids, r.axisType()}))
        .withTag(Arg::of(int64_t{1}));
  };
  UOpMap<UOp> replace, untag;
  replace[a] = withIds(a, b);
  replace[b] = withIds(b, a);
  for (auto& [from, to] : replace) untag[to] = to.withTag({});
  // Two steps, since each range takes the ids of the other.
  static const PatternMatcher swap({kSwapRanges}), done({kSwapDone});
  this->replace(replace, swap);
  this->replace(untag, done);
}

bool KernelOptimizer::apply(const Opt& opt, const Decision& why) {
  UOp before = ast_;
  pass_ = optOpName(opt.op);
  std::string amount = opt.arg.empty() || opt.op == OptOp::TC ? "" : fmt::format(" by {}", opt.arg[0]);
  why_ = why;
  why_.reason = opt.axis < 0 ? pass_ : fmt::format("{} axis {}{}", pass_, opt.axis, amount);
  if (!why.reason.empty()) why_.reason += ": " + why.reason;
  switch (opt.op) {
  case OptOp::NOLOCALS:
    require(axesOf({AxisType::Warp, AxisType::Local, AxisType::GroupReduce}).empty(), opt,
            "it uses locals already");
    dontUseLocals_ = true;
    break;
  case OptOp::LOCAL:
  case OptOp::GROUP:
  case OptOp::GROUPTOP: require(target_->hasLocal, opt, "the target has no work groups"); [[fallthrough]];
  case OptOp::UPCAST:
  case OptOp::UNROLL:
  case OptOp::THREAD: split(opt, axisOf(opt)); break;
  case OptOp::PADTO:
    require(!opt.arg.empty(), opt, "it needs a multiple");
    padTo(axisOf(opt), opt.arg[0]);
    break;
  case OptOp::SWAP:
    require(!opt.arg.empty() && opt.arg[0] >= 0, opt, "it needs the other axis");
    swapAxes(axisOf(opt), static_cast<size_t>(opt.arg[0]));
    break;
  case OptOp::TC: useTensorCore(opt); break;
  }
  if (ast_ == before && opt.op != OptOp::NOLOCALS) return false;
  applied_.push_back(opt);
  refresh();
  return true;
}

void KernelOptimizer::loopsToGlobal() {
  if (!target_->hasLocal) return;
  UOpMap<UOp> replace;
  for (UOp r : parallelRanges())
    if (r.axisType() == AxisType::Loop)
      replace[r] = r.withArg(Arg::of(RangeArg{r.arg().as<RangeArg>().ids, AxisType::Global}));
  if (replace.empty()) return;
  static const PatternMatcher toGlobal({kLoopsToGlobal});
  ast_ = replaceNodes(ast_, replace, toGlobal, "loops to global");
  refresh();
}

std::string KernelOptimizer::name() const {
  std::string text = reduces_.empty() ? "E" : "r";
  auto safe = [](std::string s) {
    for (char& ch : s)
      if (!isalnum(static_cast<unsigned char>(ch))) ch = '_';
    return s;
  };
  for (UOp u : ast_.toposort())
    if (u.is(Op::SPECIAL)) text += fmt::format("_{}", u.vmax() + 1);
  for (UOp r : ranges_) { // a loop whose steps depend on another one is named by the most of them
    const bool goesByLoops = r.src(0).below().has(Op::RANGE);
    text += "_" + (goesByLoops ? std::to_string(r.vmax() + 1) : safe(r.src(0).render()));
  }
  return text;
}

UOp KernelOptimizer::optimized() const {
  KernelInfo info;
  if (ast_.arg().kind() == ArgKind::Kernel) info = ast_.arg().as<KernelInfo>();
  if (info.name == "test" || info.name.empty()) info.name = name();
  info.appliedOpts = applied_;
  info.dontUseLocals = dontUseLocals_;
  info.axisTypes.clear();
  for (UOp r : ranges_) info.axisTypes.push_back(r.axisType());
  static const PatternMatcher flatten({flattenRangeRules()}), describe({kDescribeKernel});
  UOp stored = storeInnerValues(ast_);
  UOp packed = stored;
  if (!applied_.empty() && target_->hasShared) {
    packed = orderBlocks(packed, *target_, nextId_);
    packed = stageOperands(packed, *target_, nextRangeId(packed));
  } else if (!applied_.empty() && !vars::plain) {
    packed = packTiles(packed, nextId_);
    packed = packPanels(packed, *target_, packed == stored ? nextId_ : nextRangeId(packed));
  }
  UOp flat = graphRewrite(packed, flatten, {.name = "flatten range"});
  if (!applied_.empty() && !vars::plain) flat = loopEpilogue(flat, *target_);
  return replaceNodes(flat, {{flat, flat.withArg(Arg::of(info))}}, describe, "describe kernel");
}

UOp optimizeKernel(UOp ast, const Target& target) {
  KernelOptimizer s(ast, target);
  s.loopsToGlobal();
  const KernelInfo* info = ast.arg().kind() == ArgKind::Kernel ? &ast.arg().as<KernelInfo>() : nullptr;
  if (info && info->hasOptsToApply) {
    for (const Opt& opt : info->optsToApply) s.apply(opt);
  } else if (!vars::noopt && !(info && !info->appliedOpts.empty())) {
    chooseOpts(s);
  }
  return s.optimized();
}

} // namespace uopscope
