// Assigns ranges to values, and writes them into the graph.
#include "engine/schedule/rangeify.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/rules/movement_index.h"
#include "engine/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace uopscope::sched {

namespace {

using namespace pat;

constexpr OpSet kLeaves{Op::BUFFER,     Op::BUFFER_VIEW,   Op::CONST,  Op::VCONST,
                        Op::DEFINE_VAR, Op::BIND,          Op::DEVICE, Op::UNIQUE,
                        Op::LUNIQUE,    Op::CUSTOM_KERNEL, Op::AFTER,  Op::NOOP};

bool isPlain(UOp index) {
  return index.is(Op::RANGE) || index.isConst();
}

} // namespace

Indices loopsOf(const Indices& indices) {
  Indices loops;
  for (UOp i : indices)
    if (!i.isConst()) loops.push_back(i);
  return loops;
}

Indices simplified(Indices indices, std::string_view pass) {
  if (std::all_of(indices.begin(), indices.end(), isPlain)) return indices;
  static const PatternMatcher matcher = symbolic() + simplifyValid() + dropAndClauses();
  UOp sink = graphRewrite(UOp::sink(indices), matcher, {.name = pass});
  return Indices(sink.src().begin(), sink.src().end());
}

const Indices* RangeAssignment::intern(Indices list) {
  std::vector<uint32_t> ids;
  ids.reserve(list.size());
  for (UOp u : list) ids.push_back(u.id());
  auto [it, isNew] = lists_.try_emplace(std::move(ids));
  if (isNew) it->second = std::make_unique<Indices>(std::move(list));
  return it->second.get();
}

const Indices* RangeAssignment::through(UOp movement, const Indices* at) {
  auto [it, isNew] = throughMemo_.try_emplace({movement.id(), at});
  if (isNew) {
    Indices moved = movementIndices(movement, *at);
    if (movement.is(Op::RESHAPE)) moved = simplified(std::move(moved), "reshape");
    if (movement.is(Op::PAD)) moved = simplified(std::move(moved), "pad");
    it->second = intern(std::move(moved));
  }
  return it->second;
}

/// A new range for each axis; with `outer`, its indices with new REDUCE ranges at `reduceAxes`.
const Indices* RangeAssignment::freshRanges(const Shape& shape, std::span<const int64_t> reduceAxes,
                                            const Indices* outer) {
  Indices list = outer ? *outer : Indices(shape.size());
  auto fresh = [&](const Sint& s, AxisType type) {
    if (s.isInt() && s.i() == 1) return UOp::index(0);
    return UOp::range(s.uop(), {state_.nextRange++}, type);
  };
  if (outer)
    for (int64_t axis : reduceAxes)
      list[static_cast<size_t>(axis)] = fresh(shape[static_cast<size_t>(axis)], AxisType::Reduce);
  else
    for (size_t k = 0; k < shape.size(); ++k) list[k] = fresh(shape[k], AxisType::Loop);
  return intern(std::move(list));
}

int RangeAssignment::store(UOp u, bool removable) {
  auto number = static_cast<int>(state_.stored.size());
  StoredValue& value = state_.stored.emplace_back();
  value.node = u;
  value.device = u.device();
  value.shape = u.shape();
  value.elements = elementCount(value.shape);
  value.removable = removable;
  value.level = groups_->levelOf(u);
  numberOf_.set(u.slot(), number);
  return number;
}

/// The common indices of readers whose indices differ in their gates alone; null if they differ otherwise.
const Indices* RangeAssignment::merge(const std::vector<Use>& uses) {
  const Indices* first = uses[0].at;
  bool identical = true;
  for (const Use& use : uses) identical &= use.at == first;
  if (identical) return first;
  Indices merged = *first;
  std::vector<std::vector<UOp>> valids(first->size());
  for (size_t k = 0; k < first->size(); ++k) {
    merged[k] = ungate((*first)[k]).index;
    bool always = false;
    for (const Use& use : uses) {
      GatedIndex g = ungate((*use.at)[k]);
      if (g.index != merged[k]) return nullptr;
      if (!g.valid)
        always = true;
      else if (std::find(valids[k].begin(), valids[k].end(), g.valid) == valids[k].end())
        valids[k].push_back(g.valid);
    }
    if (always || valids[k].empty()) continue;
    UOp any = valids[k][0];
    for (size_t i = 1; i < valids[k].size(); ++i) any = any | valids[k][i];
    merged[k] = gated(merged[k], any);
  }
  return intern(simplified(std::move(merged), "minimum_valid"));
}

void RangeAssignment::addUses(UOp reader, const Ranges& r) {
  size_t sources =
      reader.is(Op::COPY) || reader.is(Op::REDUCE_AXIS) || reader.is(Op::CONTIGUOUS) ? 1 : reader.srcCount();
  for (size_t k = 0; k < sources; ++k) {
    UOp s = reader.src(k);
    const Indices* at = r.in;
    double inside = 1; // part of the elements that a PAD reads: its margins need none
    for (; s.in(group::kMovement); s = s.src(0)) {
      at = through(s, at);
      if (s.is(Op::PAD)) inside *= elementCount(s.src(0).shape()) / std::max(1.0, elementCount(s.shape()));
    }
    if (s.in(kLeaves)) continue;
    uses_[static_cast<size_t>(*slotOf_.find(s.slot()))].push_back(
        {at, r.kernel, r.evals * inside, r.evals, r.runs});
  }
}

void RangeAssignment::assign(UOp u) {
  const auto& uses = uses_[static_cast<size_t>(*slotOf_.find(u.slot()))];
  bool wanted = realize_.contains(u);
  if (uses.empty() && !wanted) return;
  const Shape& shape = u.shape();

  double demand = 0;
  std::map<int, double> perKernel, most; // a kernel computes a value at the same indices once
  for (const Use& use : uses) {
    double &evals = perKernel[use.kernel], &all = most[use.kernel];
    all = std::max(all, use.most);
    evals = std::min(evals + use.evals, all);
  }
  for (const auto& [kernel, evals] : perKernel) demand += evals;

  Ranges r;
  const Indices* common = uses.empty() ? nullptr : merge(uses);
  const bool isAsked = wanted || !common || demand > elementCount(shape);
  const std::optional<OwnKernel> ownKernel = !isAsked ? ownKernelFor(u, uses, demand)
                                             : common ? productApart(u, uses)
                                                      : std::nullopt;
  const bool isCandidate = isAsked || ownKernel;
  const bool isApart = ownKernel && (ownKernel->isApart || isCarried(u));
  const Indices* inside =
      isCandidate && !wanted && !isApart ? insideKernel(u, uses, common != nullptr) : nullptr;
  if (inside) {
    r.kernel = uses[0].kernel;
    r.out = inside;
    r.evals = r.runs = elementCount(shape);
  } else if (isCandidate) {
    int number = store(u, !wanted);
    StoredValue& value = state_.stored[static_cast<size_t>(number)];
    value.ownKernel = ownKernel;
    r.kernel = number;
    const int group = isApart ? -1 : groups_->groupOf(u);
    if (auto known = groupRanges_.find(group); group >= 0 && known != groupRanges_.end()) {
      r = known->second;
      r.out = alongLoops(*r.out, shape);
    } else if (const Use* host = group < 0 && !isApart ? hostFor(u, uses) : nullptr) {
      r.out = host->at;
      r.kernel = host->kernel;
    } else {
      r.out = freshRanges(shape, {}, nullptr);
      if (group >= 0) groupRanges_[group] = r;
    }
    r.evals = r.runs = value.elements;
    ++storesOf_[r.kernel];
    if (isCarried(u)) carries_[r.kernel] = true;
    value.kernel = r.kernel;
    value.hosted = r.kernel != number;
    // Readers in the loops that store the value use it directly. Only the remaining readers would compute it
    // again.
    for (const Use& use : uses)
      if (use.at != r.out || use.kernel != r.kernel) value.demand += use.evals;
    for (const auto& [kernel, evals] : perKernel)
      if (kernel != r.kernel) {
        value.users.push_back(kernel);
        // A reader's level is no lower than that of what it reads: a way from one kernel of a level to another never leaves it.
        if (state_.stored[static_cast<size_t>(kernel)].level == value.level)
          kernelOrder_.addRead(kernel, r.kernel);
      }
  } else {
    r.kernel = uses[0].kernel;
    r.out = common;
    r.evals = demand;
    r.runs = runsOf(uses);
    if (isCarried(u)) carries_[r.kernel] = true;
  }
  state_.stored[static_cast<size_t>(r.kernel)].parts.push_back(u);
  r.in = r.out;
  if (u.is(Op::REDUCE_AXIS)) {
    double& iterations = sums_[r.kernel];
    iterations = std::max(iterations, tiledIterations(u));
    const Shape& in = u.src(0).shape();
    const auto& axes = u.arg().as<ReduceArg>().axes;
    r.in = freshRanges(in, axes, r.out);
    for (double* count : {&r.evals, &r.runs})
      for (int64_t axis : axes) *count *= static_cast<double>(in[static_cast<size_t>(axis)].vmax());
  }
  ranges_.set(u.slot(), r);
  if (vars::debugRangeify) print(u, r);
  addUses(u, r);
}

/// These loops as indices of a shape, assigned to its axes longer than 1 in order; null if the extents do not
/// fit.
const Indices* RangeAssignment::alongLoops(const Indices& list, const Shape& shape) {
  Indices loops = loopsOf(list), out;
  size_t next = 0;
  for (const Sint& s : shape) {
    bool isShort = s.isInt() && s.i() == 1;
    if (!isShort && (next == loops.size() || !loops[next].is(Op::RANGE) || !(Sint(loops[next].src(0)) == s)))
      return nullptr;
    out.push_back(isShort ? UOp::index(0) : loops[next++]);
  }
  return next == loops.size() ? intern(std::move(out)) : nullptr;
}

/// A reader whose kernel can also store the value: it reads all elements in order, no value between the two needs a kernel of its own,
/// and it waits for no other reader.
const RangeAssignment::Use* RangeAssignment::hostFor(UOp u, const std::vector<Use>& uses) {
  if (vars::plain || !OutputGroups::canShareLoops(u)) return nullptr;
  for (const Use& use : uses) {
    const StoredValue& host = state_.stored[static_cast<size_t>(use.kernel)];
    Indices loops = loopsOf(*use.at);
    if (carries_.contains(use.kernel)) continue;
    if (!loops.empty() && loops == loopsOf(*ranges_.find(host.node.slot())->out) &&
        alongLoops(loops, u.shape()) == use.at && host.level == groups_->levelOf(u) &&
        host.device == u.device() && OutputGroups::canShareLoops(host.node) &&
        std::ranges::none_of(uses, [&](const Use& other) {
          return other.kernel != use.kernel && kernelOrder_.waitsFor(use.kernel, other.kernel);
        }))
      return &use;
  }
  return nullptr;
}

void RangeAssignment::run(UOp sink) {
  order_ = sink.toposort();
  const std::vector<UOp>& order = order_;
  groups_.emplace(order, realize_);
  uses_.resize(order.size());
  for (size_t k = 0; k < order.size(); ++k) slotOf_.set(order[k].slot(), static_cast<int>(k));
  for (size_t k = order.size(); k-- > 0;) {
    UOp u = order[k];
    if (u.in(kLeaves) || u.in(group::kMovement) || u.is(Op::SINK)) continue;
    assign(u);
  }
}

UOp RangeAssignment::bufferize(int number) {
  const StoredValue& value = state_.stored[static_cast<size_t>(number)];
  std::vector<UOp> src{value.node};
  const Indices& out = *ranges_.find(value.node.slot())->out;
  src.insert(src.end(), out.begin(), out.end());
  BufferizeOpts opts{value.device, AddrSpace::Global, value.removable};
  return UOp::make(Op::BUFFERIZE, value.node.dtype(), src, Arg::of(opts), Arg::of(int64_t{number}));
}

UOp RangeAssignment::memoryOf(UOp u) {
  u = baseOf(u);
  if (int number = storedNumber(u); number >= 0) return bufferize(number);
  if (u.is(Op::BUFFER) || u.is(Op::BUFFER_VIEW)) return u;
  if (!u.is(Op::AFTER) || !u.src(1).is(Op::CUSTOM_KERNEL))
    throw Error(ErrorKind::Spec,
                fmt::format("{} has no memory that a kernel given by hand could use", opName(u.op())));
  UOp kernel = u.src(1);
  std::vector<UOp> buffers;
  for (UOp b : kernel.src().subspan(1)) buffers.push_back(memoryOf(b));
  // The SINK of the kernel is stored outside of the graph, so no pass changes it.
  auto& sinks = state_.customSinks;
  auto at = std::find(sinks.begin(), sinks.end(), kernel.src(0)) - sinks.begin();
  if (at == static_cast<std::ptrdiff_t>(sinks.size())) sinks.push_back(kernel.src(0));
  UOp plain = UOp::make(Op::CUSTOM_KERNEL, dtypes::void_, buffers, Arg::of(static_cast<int64_t>(at)));
  return memoryOf(u.src(0)).after(std::vector<UOp>{plain});
}

UOp RangeAssignment::belowAssigns(UOp u) {
  UOp at = u;
  while (at.is(Op::ASSIGN)) {
    const Node** known = belowAssigns_.find(at.slot());
    at = known ? UOp(*known) : at.src(0);
  }
  for (; u.is(Op::ASSIGN) && !belowAssigns_.contains(u.slot()); u = u.src(0))
    belowAssigns_.set(u.slot(), at.node());
  return at;
}

UOp RangeAssignment::read(UOp source, const Indices* at, int reader) {
  std::vector<UOp> pads; // conditions of the PADs passed; where one is false, the value is 0
  UOp s = source;
  for (; s.in(group::kMovement); s = s.src(0)) {
    if (s.is(Op::PAD))
      if (UOp v = padValid(s, *at)) pads.push_back(v);
    at = through(s, at);
  }
  UOp value = s;
  int number = storedNumber(s);
  if (auto inner = inner_.find(s); inner != inner_.end() && ranges_.find(s.slot())->out != at) {
    std::vector<UOp> stored{s}, index;
    for (size_t axis : inner->second) {
      stored.push_back((*ranges_.find(s.slot())->out)[axis]);
      index.push_back((*at)[axis]);
    }
    BufferizeOpts own{"", AddrSpace::Reg, false};
    value = UOp::make(Op::BUFFERIZE, s.dtype(), stored, Arg::of(own)).indexed(index);
  } else if (number >= 0 && ranges_.find(s.slot())->kernel == reader && ranges_.find(s.slot())->out == at) {
    // In the loops that store it, the value is at hand.
    value = s.is(Op::ASSIGN) ? read(s.src(1), at, reader) : s;
  } else if (number >= 0) {
    if (s.is(Op::ASSIGN)) // an assigned view is read at its place in the buffer
      for (UOp t = belowAssigns(s); t.in(group::kMovement); t = belowAssigns(t.src(0))) at = through(t, at);
    value = bufferize(number).indexed(*at);
  } else if (s.is(Op::AFTER)) {
    UOp version = memoryOf(s);
    for (s = s.src(0); s.in(group::kMovement) || s.is(Op::AFTER); s = s.src(0))
      if (!s.is(Op::AFTER)) at = through(s, at);
    value = version.indexed(*at);
  } else if (s.is(Op::BUFFER) || s.is(Op::BUFFER_VIEW)) {
    value = s.indexed(*at);
  } else if ((s.is(Op::CONST) || s.is(Op::VCONST)) && s.srcCount()) {
    value = s.withSrc({});
  }
  for (size_t k = pads.size(); k-- > 0;) {
    UOp zero = UOp::constant(value.dtype(), int64_t{0});
    value = pads[k].where(value, zero);
  }
  return value;
}

void RangeAssignment::print(UOp u, const Ranges& r) {
  auto list = [](const Indices& indices) {
    std::string text;
    for (UOp i : indices) text += "[" + i.render() + "]";
    return text;
  };
  std::string in = r.in == r.out ? "" : list(*r.in) + " -> ";
  fmt::print(stderr, "{} {:14} {:20} kernel {:3} {}{}\n", storedNumber(u) >= 0 ? "***" : "   ",
             opName(u.op()), shapeStr(u.shape()), r.kernel, in, list(*r.out));
}

// --- passes ---

namespace {

/// The values that certainly get memory: outputs, CONTIGUOUS, both ends of a copy, buffers of kernels given
/// by hand.
UOpMap<bool> valuesToStore(UOp sink) {
  UOpMap<bool> stored;
  auto want = [&](UOp u) {
    if (UOp base = baseOf(u); !base.in(kLeaves)) stored[base] = true;
  };
  for (UOp u : sink.toposort()) {
    if (u.in({Op::CONTIGUOUS, Op::ASSIGN, Op::COPY})) want(u);
    if (u.is(Op::COPY)) want(u.src(0));
    if (u.is(Op::CUSTOM_KERNEL) && u.srcCount())
      for (UOp s : u.src().subspan(1)) want(s);
    if (u == sink) // any SINK but the root is a kernel given by hand
      for (UOp s : u.src()) want(s);
  }
  return stored;
}

struct ApplyContext {
  RangeAssignment& ranges;
  ScheduleState& state;
  UOp root;
  bool tagged = false; ///< tags were needed to keep some results apart
};

UOp applySink(Match& m) {
  UOp sink = m.root();
  auto& ctx = m.ctx<ApplyContext>();
  if (sink != ctx.root) return m.decline("not the SINK of the schedule");
  std::vector<UOp> stores;
  auto store = [&](UOp base) {
    auto& outputs = ctx.state.outputs;
    if (std::find(outputs.begin(), outputs.end(), base) != outputs.end()) return;
    outputs.push_back(base);
    stores.push_back(ctx.ranges.memoryOf(base));
  };
  for (UOp s : sink.src()) {
    UOp base = baseOf(s);
    bool byHand = base.is(Op::AFTER) && base.src(1).is(Op::CUSTOM_KERNEL);
    if (ctx.ranges.storedNumber(base) >= 0 || byHand) store(base);
  }
  // A value stored by a kernel that uses it directly has no reader, but its assignment must still happen.
  for (size_t k = 0; k < ctx.state.stored.size(); ++k) {
    const StoredValue& value = ctx.state.stored[k];
    UOp node = value.node;
    bool kept = node.is(Op::ASSIGN) || (node.is(Op::CONTIGUOUS) && ctx.state.held.contains(node));
    if (value.hosted && kept) store(node);
  }
  return UOp::sink(stores);
}

UOp applyRanges(Match& m) {
  UOp u = m.root();
  auto& ctx = m.ctx<ApplyContext>();
  const Indices* at = ctx.ranges.sourceIndices(u);
  if (!at) return m.decline("no ranges were assigned to it");
  int kernel = ctx.ranges.kernelOf(u);
  if (u.is(Op::REDUCE_AXIS)) {
    const auto& arg = u.arg().as<ReduceArg>();
    std::vector<UOp> src{ctx.ranges.read(u.src(0), at, kernel)};
    for (int64_t axis : arg.axes)
      if ((*at)[static_cast<size_t>(axis)].is(Op::RANGE)) src.push_back((*at)[static_cast<size_t>(axis)]);
    return src.size() == 1 ? src[0] : UOp::make(Op::REDUCE, u.dtype(), src, Arg::of(arg.op));
  }
  std::vector<UOp> src;
  for (UOp s : u.src()) src.push_back(s.is(Op::DEVICE) ? s : ctx.ranges.read(s, at, kernel));
  UOp now = u.withSrc(src);
  if (now == u) return m.decline("its indices are its sources");
  // Without its movement operations a node may equal a different node of the graph, which has ranges of its
  // own.
  const Indices* others = ctx.ranges.sourceIndices(now);
  bool taken = others && (others != at || ctx.ranges.kernelOf(now) != kernel);
  if (!taken) return now;
  ctx.tagged = true;
  return now.withTag(Arg::of(int64_t{kernel}));
}

UOp withoutMark(Match& m) {
  return m.root().tag() ? m.root().withTag({}) : m.decline("no mark");
}

constexpr OpSet kComputed =
    group::kElementwise | OpSet{Op::CONTIGUOUS, Op::COPY, Op::ASSIGN, Op::REDUCE_AXIS};
constexpr RuleDef kApply[] = {
    RULE("store-outputs", any(Op::SINK), applySink),
    RULE("apply-ranges", any(kComputed), applyRanges),
};
const KnownRules kApplyKnown(kApply);
/// Tags of stored values are their numbers and stay.
constexpr RuleDef kUnmark[] = {RULE("remove-reader-mark", any(kComputed), withoutMark)};
const KnownRules kUnmarkKnown(kUnmark);

} // namespace

const PatternMatcher& applyRangesMatcher() {
  static const PatternMatcher rules({kApply});
  return rules;
}

UOp rangeify(UOp sink, ScheduleState& state) {
  UOpMap<bool> wanted;
  {
    AnalysisPass pass("get realize", sink);
    wanted = valuesToStore(sink);
  }
  UOpMap<bool> refused;
  std::optional<RangeAssignment> assignment;
  do {
    AnalysisPass pass("assign ranges", sink);
    state.stored.clear();
    assignment.emplace(state, wanted, refused);
    assignment->run(sink);
  } while (assignment->refuseRows(refused));
  ApplyContext ctx{*assignment, state, sink};
  sink = graphRewriteBottomUp(sink, applyRangesMatcher(), {.name = "apply rangeify", .ctx = ctx});
  static const PatternMatcher unmark({kUnmark});
  return ctx.tagged ? graphRewrite(sink, unmark, {.name = "remove all tags"}) : sink;
}

} // namespace uopscope::sched
