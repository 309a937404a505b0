// The pass "limit buffers", for devices that limit the buffers of a kernel (MAX_KERNEL_BUFFERS): if an
// expression reads more buffers, some of its operands get memory of their own.
#include "engine/base/context_var.h"
#include "engine/base/id_map.h"
#include "engine/schedule/passes.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope::sched {

namespace {

using namespace pat;

struct LimitContext {
  ScheduleState& state;
  size_t most;
};

size_t buffersRead(UOp root, size_t enough) {
  size_t found = 0;
  visitBelow(root, [&](UOp u) {
    if (!u.in({Op::BUFFERIZE, Op::BUFFER, Op::AFTER, Op::BUFFER_VIEW, Op::DEFINE_VAR})) return Visit::Below;
    return ++found > enough ? Visit::Stop : Visit::Past;
  });
  return found;
}

/// Stores the operand over all loops in its scope, and reads it back.
UOp storeOperand(UOp operand, LimitContext& ctx) {
  std::vector<UOp> outer = operand.ranges(), src, at;
  UOpMap<UOp> fresh;
  Shape shape;
  StoredValue value;
  value.device = operand.device();
  for (UOp r : outer) {
    fresh[r] = UOp::range(r.src(0), {ctx.state.nextRange++}, AxisType::Loop);
    shape.emplace_back(Sint(r.src(0)));
  }
  src.push_back(operand.substitute(fresh));
  for (UOp r : outer) src.push_back(fresh[r]);
  value.node = operand;
  value.shape = shape;
  value.elements = value.demand = elementCount(shape);
  value.removable = false;
  auto number = static_cast<int64_t>(ctx.state.stored.size());
  value.kernel = static_cast<int>(number);
  BufferizeOpts opts{value.device, AddrSpace::Global, false};
  ctx.state.stored.push_back(std::move(value));
  return UOp::make(Op::BUFFERIZE, operand.dtype(), src, Arg::of(opts), Arg::of(number)).indexed(outer);
}

UOp limit(Match& m) {
  auto& ctx = m.ctx<LimitContext>();
  UOp u = m.root();
  if (u.dtype().kind() == Scalar::Index || buffersRead(u, ctx.most) + 1 <= ctx.most)
    return m.decline("an index, or few enough buffers");
  std::vector<UOp> src;
  for (UOp s : u.src())
    src.push_back(s.in(group::kElementwise) && buffersRead(s, 1) > 1 ? storeOperand(s, ctx) : s);
  UOp now = u.withSrc(src);
  return now == u ? m.decline("it is within the limit") : now;
}

constexpr RuleDef kLimit[] = {RULE("limit-buffers", any(group::kBinary | group::kTernary), limit)};
const KnownRules kLimitKnown(kLimit);

} // namespace

const PatternMatcher& limitMatcher() {
  static const PatternMatcher rules({kLimit});
  return rules;
}

UOp limitBuffers(UOp sink, ScheduleState& state) {
  const int64_t most = vars::maxKernelBuffers;
  if (most < 3) return sink;
  LimitContext ctx{state, static_cast<size_t>(most)};
  return graphRewrite(sink, limitMatcher(), {.name = "limit buffers", .ctx = ctx});
}

} // namespace uopscope::sched
