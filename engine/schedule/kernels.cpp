// The pass "split kernels": the computation between buffers becomes a kernel.
//
//   END(STORE(INDEX(BUFFER b0, i), INDEX(AFTER(BUFFER b1, ...), i)), r)
//     ->  KERNEL(SINK(END(STORE(INDEX(DEFINE_GLOBAL 0, i), INDEX(DEFINE_GLOBAL 1, i)), r)), b0, AFTER(b1,
//     ...))
//
// A kernel numbers its buffers (outputs first) and its ranges (loops of the store first) from 0, so that
// equal kernels are equal nodes. The pass "fix_assign" then orders kernels: all reads of a buffer's contents
// come before the next write.
#include "engine/base/error.h"
#include "engine/base/id_map.h"
#include "engine/rules/movement_index.h"
#include "engine/rules/variables.h"
#include "engine/schedule/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace uopscope::sched {

namespace {

using namespace pat;

struct KernelContext {
  ScheduleState& state;
  std::vector<UOp> versions; ///< BUFFER or AFTER, by position
  UOpMap<int64_t> position;  ///< position of each BUFFER
};

/// The node of the tensor graph whose value a BUFFER or AFTER holds.
UOp contentsOf(UOp version, const ScheduleState& state) {
  return version.is(Op::AFTER) && version.tag() ? state.stored[static_cast<size_t>(version.tag().i())].node
                                                : version;
}

/// A BUFFER or AFTER becomes the kernel's DEFINE_GLOBAL for that buffer.
UOp toParameter(Match& m) {
  auto& ctx = m.ctx<KernelContext>();
  UOp version = m.root(), buffer = version.bufferOf();
  auto [it, isNew] = ctx.position.try_emplace(buffer, static_cast<int64_t>(ctx.versions.size()));
  if (isNew) {
    ctx.versions.push_back(version);
  } else if (UOp other = ctx.versions[static_cast<size_t>(it->second)]; other != version) {
    bool isOlder = version.is(Op::BUFFER) || other.dependsOn(version);
    ctx.state.wantCopy(contentsOf(isOlder ? version : other, ctx.state));
  }
  return UOp::make(Op::DEFINE_GLOBAL, buffer.dtype().ptr(buffer.shape()[0].i()), {}, Arg::of(it->second));
}

using rules::x;

constexpr RuleDef kInKernel[] = {
    RULE("buffer-to-parameter", any({Op::BUFFER, Op::BUFFER_VIEW, Op::AFTER}), toParameter),
    RULE("drop-marker", op({Op::CONTIGUOUS, Op::NOOP}, x).more(), x),
};
const KnownRules kInKernelKnown(kInKernel);

/// The same graph with its ranges numbered from 0: loops of the store in order of axes, then those of
/// reductions, then the rest.
UOp numberRanges(UOp root) {
  UOpMap<UOp> fresh;
  auto number = [&](UOp r) {
    if (!r.is(Op::RANGE) || fresh.contains(r)) return;
    const auto& arg = r.arg().as<RangeArg>();
    fresh[r] = r.withArg(Arg::of(RangeArg{{static_cast<int64_t>(fresh.size())}, arg.type}));
  };
  std::vector<UOp> order = root.toposort([](UOp u) { return !u.in({Op::AFTER, Op::BUFFER}); });
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (it->is(Op::END))
      for (UOp r : it->src().subspan(1)) number(r);
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (it->is(Op::REDUCE))
      for (UOp r : it->src().subspan(1)) number(r);
  for (UOp u : order) number(u);
  // Kernels below are numbered already and may contain the very ranges that are replaced here: they are left
  // alone.
  for (UOp u : order)
    for (UOp s : u.src())
      if (s.is(Op::AFTER)) fresh.try_emplace(s, s);
  return root.substitute(fresh);
}

/// A kernel that writes a buffer may read it only at the element being written; else it needs a copy of the
/// old contents.
void checkInPlace(UOp body, KernelContext& ctx, size_t outputs) {
  std::vector<UOp> nodes = body.toposort();
  UOpMap<UOp> written; // parameter -> index
  for (UOp u : nodes)
    if (u.is(Op::STORE)) written[u.src(0).src(0)] = ungate(u.src(0).src(1)).index;
  for (UOp u : nodes) {
    if (!u.is(Op::INDEX) || u.dtype().isPtr()) continue;
    auto it = written.find(u.src(0));
    if (it == written.end() || ungate(u.src(1)).index == it->second) continue;
    auto position = static_cast<size_t>(u.src(0).arg().i());
    if (position < outputs) ctx.state.wantCopy(contentsOf(ctx.versions[position], ctx.state));
  }
}

/// Whether an effect still writes a BUFFER. The effects inside a finished kernel write parameters and
/// registers instead, through STOREs, or through AFTERs in a kernel given by hand.
bool writesBuffer(UOp effect) {
  while (effect.in({Op::END, Op::GROUP}) && effect.srcCount()) effect = effect.src(0);
  return effect.is(Op::STORE) && effect.src(0).bufferOf().in({Op::BUFFER, Op::BUFFER_VIEW});
}

/// The Opts that x.contiguous(arg=opts) gives a stored value x; none if the kernel chooses its own.
KernelInfo infoOf(std::span<const UOp> nodes) {
  KernelInfo info;
  for (UOp u : nodes) {
    if (!u.is(Op::STORE) || !u.src(1).is(Op::CONTIGUOUS) || u.src(1).arg().kind() != ArgKind::Opts) continue;
    info.hasOptsToApply = true;
    info.optsToApply = u.src(1).arg().as<std::vector<Opt>>();
  }
  return info;
}

UOp splitStore(Match& m) {
  UOp root = m.root();
  if (!writesBuffer(root) || !root.ranges().empty())
    return m.decline("it writes no buffer, or loops are open");
  KernelContext ctx{m.ctx<ScheduleState>(), {}, {}};
  std::vector<UOp> order = root.toposort([](UOp u) { return !u.in({Op::AFTER, Op::BUFFER}); });
  UOp copy;
  for (UOp u : order)
    if (u.is(Op::STORE)) {
      UOp version = u.src(0).src(0), buffer = version.bufferOf();
      ctx.position[buffer] = static_cast<int64_t>(ctx.versions.size());
      ctx.versions.push_back(version);
      if (u.src(1).is(Op::COPY)) copy = u.src(1);
    }
  size_t outputs = ctx.versions.size();
  static const PatternMatcher inKernel({kInKernel});
  UOp ast;
  if (copy) {
    UOp read = copy.src(0);
    if (!read.is(Op::INDEX))
      throw Error(ErrorKind::Unsupported, "COPY of a computed value: it needs memory first");
    UOp device = copy.src(1);
    ctx.versions.push_back(read.src(0));
    UOp buffer = read.bufferOf();
    UOp parameter =
        UOp::make(Op::DEFINE_GLOBAL, buffer.dtype().ptr(buffer.shape()[0].i()), {}, Arg::of(int64_t{1}));
    ast = UOp::make(Op::COPY, copy.dtype(), {parameter, device});
  } else {
    UOp body = graphRewriteBottomUp(numberRanges(root), inKernel, {.name = "kernel split", .ctx = ctx});
    checkInPlace(body, ctx, outputs);
    std::vector<UOp> effects{body};
    if (body.is(Op::END) && body.src(0).is(Op::GROUP)) { // several outputs: each gets an END
      effects.clear();
      for (UOp store : body.src(0).src()) effects.push_back(store.end(body.src().subspan(1)));
    }
    ast = UOp::sink(effects, Arg::of(infoOf(order)));
    std::string device = ctx.versions[0].device();
    for (UOp v : ctx.versions)
      if (v.device() != device)
        throw Error(ErrorKind::Device,
                    fmt::format("one kernel would read buffers of {} and {}: move one side with .to() first",
                                device, v.device()));
  }
  std::vector<UOp> src{ast};
  src.insert(src.end(), ctx.versions.begin(), ctx.versions.end());
  std::vector<int64_t> written;
  for (size_t k = 0; k < outputs; ++k) written.push_back(static_cast<int64_t>(k));
  return UOp::make(Op::KERNEL, dtypes::void_, src, Arg::of(written));
}

/// Makes the KERNEL of a kernel given by hand; its buffers are in the order of its parameters.
UOp customKernel(Match& m) {
  UOp custom = m.root(), sink = m.ctx<ScheduleState>().customSinks[static_cast<size_t>(custom.arg().i())];
  std::vector<UOp> src{sink};
  src.insert(src.end(), custom.src().begin(), custom.src().end());
  std::set<int64_t> written;
  for (UOp u : sink.toposort())
    if (u.is(Op::STORE))
      if (UOp b = u.src(0).bufferOf(); b.is(Op::DEFINE_GLOBAL)) written.insert(b.arg().i());
  for (int64_t k : written)
    if (k >= static_cast<int64_t>(custom.srcCount()))
      throw Error(ErrorKind::Value,
                  fmt::format("the custom kernel stores to parameter {} and was given {} tensors", k,
                              custom.srcCount()));
  for (UOp memory : custom.src()) m.ctx<ScheduleState>().givenByHand.push_back(memory.bufferOf());
  return UOp::make(Op::KERNEL, dtypes::void_, src,
                   Arg::of(std::vector<int64_t>(written.begin(), written.end())));
}

constexpr RuleDef kSplit[] = {
    RULE("kernel-of-store", any({Op::STORE, Op::END}), splitStore),
    RULE("custom-kernel", any(Op::CUSTOM_KERNEL), customKernel),
};
const KnownRules kSplitKnown(kSplit);

// --- order ---

/// Whether kernel `from` must run before kernel `to`.
bool leadsTo(const std::vector<std::set<size_t>>& next, size_t from, size_t to) {
  std::vector<bool> seen(next.size(), false);
  std::vector<size_t> stack{from};
  while (!stack.empty()) {
    size_t k = stack.back();
    stack.pop_back();
    if (k == to) return true;
    if (seen[k]) continue;
    seen[k] = true;
    stack.insert(stack.end(), next[k].begin(), next[k].end());
  }
  return false;
}

struct AssignContext {
  UOpMap<std::vector<UOp>> readers; ///< KERNEL -> kernels that must read before it writes
};
UOp waitForReaders(Match& m) {
  UOp after = m.root();
  auto& ctx = m.ctx<AssignContext>();
  auto it = ctx.readers.find(after.src(1));
  if (it == ctx.readers.end() || after.srcCount() > 2)
    return m.decline("no kernel reads the contents it overwrites");
  std::vector<UOp> src(after.src().begin(), after.src().end());
  src.insert(src.end(), it->second.begin(), it->second.end());
  return after.withSrc(src);
}
constexpr RuleDef kFixAssign[] = {RULE("wait-for-readers", any(Op::AFTER), waitForReaders)};
const KnownRules kFixAssignKnown(kFixAssign);

UOp withoutTag(Match& m) {
  return m.root().tag() ? m.root().withTag({}) : m.decline("no tag");
}
constexpr RuleDef kRemoveTags[] = {RULE("remove-tag", anything(), withoutTag)};
const KnownRules kRemoveTagsKnown(kRemoveTags);

} // namespace

const PatternMatcher& splitMatcher() {
  static const PatternMatcher rules({kSplit});
  return rules;
}

UOp splitKernels(UOp sink, ScheduleState& state) {
  sink = graphRewrite(sink, splitMatcher(), {.name = "split kernels", .ctx = state});
  for (UOp u : sink.toposort([&](UOp u) { return u == sink || !u.is(Op::SINK); })) {
    if (!u.is(Op::AFTER) || !u.src(1).in({Op::END, Op::STORE})) continue;
    if (u.tag()) state.failing = static_cast<int>(u.tag().i());
    UOp open = u.src(1).ranges().empty() ? UOp() : u.src(1).ranges()[0];
    throw Error(ErrorKind::Spec,
                fmt::format("its store is in no kernel, since {} is open around it; this is a fault of the "
                            "scheduler: realize one of its sources first",
                            open ? fmt::format("loop {} (0 to {})", open.render(), open.vmax()) : "no loop"));
  }
  return sink;
}

UOp removeTags(UOp sink) {
  static const PatternMatcher tags({kRemoveTags});
  return graphRewrite(sink, tags, {.name = "remove all tags"});
}

const PatternMatcher& fixAssignMatcher() {
  static const PatternMatcher rules({kFixAssign});
  return rules;
}

UOp fixAssign(UOp sink, ScheduleState& state, std::vector<KernelEntry>& order) {
  std::vector<UOp> kernels;
  UOpMap<size_t> numberOf;
  std::map<uint32_t, std::vector<size_t>> readersOf; // version -> kernels that read it
  for (UOp u : sink.toposort())
    if (u.is(Op::KERNEL)) {
      numberOf[u] = kernels.size();
      kernels.push_back(u);
    }
  size_t n = kernels.size();
  std::vector<std::set<size_t>> next(n); // kernels that must run later
  std::vector<size_t> waiting(n, 0);
  auto precede = [&](size_t a, size_t b) {
    if (a != b && next[a].insert(b).second) ++waiting[b];
  };
  for (size_t k = 0; k < n; ++k)
    for (UOp version : kernels[k].src().subspan(1)) {
      readersOf[version.id()].push_back(k);
      if (version.is(Op::AFTER)) precede(numberOf.at(version.src(1)), k);
    }
  AssignContext ctx;
  std::map<std::pair<size_t, size_t>, UOp> hazards; // (reader, writer) -> the contents that are read
  for (size_t k = 0; k < n; ++k) {
    for (int64_t o : kernels[k].arg().ints()) {
      UOp version = kernels[k].src(static_cast<size_t>(o) + 1);
      for (size_t reader : readersOf[version.id()]) {
        if (reader == k) continue;
        bool alsoWrites = false; // two kernels that write the same version run in order of appearance
        for (int64_t p : kernels[reader].arg().ints())
          alsoWrites |= kernels[reader].src(static_cast<size_t>(p) + 1) == version;
        if (alsoWrites && reader > k) continue;
        precede(reader, k);
        hazards[{reader, k}] = version;
        ctx.readers[kernels[k]].push_back(kernels[reader]);
      }
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t k = 0; k < n; ++k)
    if (!waiting[k]) ready.push(k);
  std::vector<bool> placed(n, false);
  while (!ready.empty()) {
    size_t k = ready.top();
    ready.pop();
    placed[k] = true;
    KernelEntry entry{kernels[k], kernels[k].src(0), {}};
    for (UOp version : kernels[k].src().subspan(1)) entry.buffers.push_back(version.bufferOf());
    order.push_back(std::move(entry));
    for (size_t later : next[k])
      if (!--waiting[later]) ready.push(later);
  }
  if (order.size() < n) {
    for (const auto& [edge, version] : hazards)
      if (!placed[edge.second] && leadsTo(next, edge.second, edge.first))
        state.wantCopy(contentsOf(version, state));
    return sink;
  }
  if (ctx.readers.empty()) return sink;
  return graphRewriteBottomUp(sink, fixAssignMatcher(), {.name = "fix_assign", .ctx = ctx});
}

} // namespace uopscope::sched
