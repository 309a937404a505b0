// The pass "bufferize to store": every stored value gets a BUFFER and a STORE into it, and its readers read
// the BUFFER.
//
//   INDEX(BUFFERIZE(v, r0, r1), i, j)  ->  INDEX(AFTER(BUFFER, END(STORE(INDEX(BUFFER, r0*n+r1), v), r0,
//   r1)), i*n+j)
//
// The layout is row-major. A symbolic dimension takes the room of its largest value, so the place of an
// element does not depend on variables. An assignment stores into the existing buffer of its target.
#include "engine/base/error.h"
#include "engine/rules/movement_index.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

namespace uopscope::sched {

namespace {

using namespace pat;

struct StoreContext {
  ScheduleState& state;
  UOpMap<Shape> layout; ///< shape of the layout, by the AFTER of a stored value
};

UOp storeValue(Match& m) {
  auto& ctx = m.ctx<StoreContext>();
  UOp b = m.root(), value = b.src(0);
  if (!hasMemory(b)) return m.decline("its kernel stores it for itself");
  StoredValue& info = ctx.state.stored[static_cast<size_t>(b.tag().i())];
  std::vector<UOp> loops;
  Shape layout;
  for (UOp r : b.src().subspan(1)) {
    layout.emplace_back(r.vmax() + 1);
    if (r.is(Op::RANGE)) loops.push_back(r);
  }
  UOp buffer, address;
  if (value.is(Op::ASSIGN)) {
    UOp target = value.src(0);
    if (!target.is(Op::INDEX))
      throw Error(ErrorKind::Unsupported,
                  fmt::format("cannot assign through {}: only through views that reach every element once",
                              opName(target.op())));
    buffer = target.bufferOf();
    address = target.withDtype(target.dtype().ptr(buffer.arg().i()));
    value = value.src(1);
    layout = {Sint(buffer.arg().i())};
  } else {
    const std::string& device = info.device;
    if (device.empty())
      throw Error(ErrorKind::Device,
                  fmt::format("cannot store {} of shape {}: nothing in it says on which device",
                              opName(value.op()), shapeStr(info.shape)));
    int64_t size = prod(layout).i();
    UOp unique = UOp::make(Op::LUNIQUE, dtypes::void_, {}, Arg::of(ctx.state.nextBuffer++));
    buffer = UOp::make(Op::BUFFER, value.dtype(), {unique, deviceNode(device)}, Arg::of(size));
    address = buffer.indexed({flatIndex(layout, b.src().subspan(1))}, value.dtype().ptr(size));
  }
  if (info.choice)
    because([&] {
      return Decision{
          fmt::format("it is stored once; FLIP={} computes it again in its readers", info.choice->number),
          info.choice->stored,
          kPriceUnit,
          {{"computed again", info.choice->again}}};
    });
  else if (info.ownKernel)
    because([&] {
      const OwnKernel& own = *info.ownKernel;
      return Decision{own.reason, own.stored, kPriceUnit, {{"in its reader's loops", own.inReader}}};
    });
  info.buffer = buffer;
  UOp done = buffer.after(std::vector<UOp>{address.store(value).end(loops)}).withTag(b.tag());
  ctx.layout[done] = layout;
  return done;
}

UOp readStored(Match& m) {
  auto& ctx = m.ctx<StoreContext>();
  UOp u = m.root();
  UOp version = u.src(0);
  while (version.src(1).is(Op::CUSTOM_KERNEL) && version.src(0).is(Op::AFTER)) version = version.src(0);
  auto layout = ctx.layout.find(version);
  if (layout == ctx.layout.end() || u.srcCount() == 2)
    return m.decline("the buffer has no layout, or one index already");
  return u.src(0).indexed({flatIndex(layout->second, u.src().subspan(1))}, u.dtype());
}

constexpr RuleDef kStoreRules[] = {
    RULE("store-value", any(Op::BUFFERIZE), storeValue),
    RULE("read-stored", op(Op::INDEX, any(Op::AFTER)).more(), readStored),
};
const KnownRules kStoreRulesKnown(kStoreRules);

} // namespace

const PatternMatcher& storeMatcher() {
  static const PatternMatcher rules({kStoreRules});
  return rules;
}

UOp bufferizeToStore(UOp sink, ScheduleState& state) {
  StoreContext ctx{state, {}};
  return graphRewrite(sink, storeMatcher(), {.name = "bufferize to store", .ctx = ctx});
}

} // namespace uopscope::sched
