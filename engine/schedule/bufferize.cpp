// The pass "bufferize to store": every stored value gets a BUFFER and a STORE into it, and its readers read
// the BUFFER.
//
//   INDEX(BUFFERIZE(v, r0, r1), i, j)  ->  INDEX(AFTER(BUFFER, END(STORE(INDEX(BUFFER, r0*n+r1), v), r0,
//   r1)), i*n+j)
//
// The layout is row-major. A symbolic dimension takes the room of its largest value, so the place of an
// element does not depend on variables. An assignment stores into the existing buffer of its target.
#include "engine/base/error.h"
#include "engine/rewrite/replacement.h"
#include "engine/rules/movement_index.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <map>
#include <set>

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

// --- several outputs ---

constexpr RuleDef kGroup[] = {RULE("merge-stores", any(Op::END), entry())};

struct StoreNode {
  UOp end;
  int kernel = -1;
  std::vector<size_t> needs;   ///< stores of the buffers that this store reads
  std::vector<size_t> follows; ///< stores that read the contents that this store overwrites
};

/// Whether the kernels can still be ordered if each kernel's stores become one node.
bool hasOrder(const std::vector<StoreNode>& stores, const std::vector<size_t>& nodeOf, size_t nodes) {
  std::vector<std::set<size_t>> next(nodes);
  std::vector<size_t> waiting(nodes, 0), ready;
  for (size_t k = 0; k < stores.size(); ++k)
    for (size_t n : stores[k].needs)
      if (nodeOf[n] == nodeOf[k])
        return false; // one store of a group reads the finished buffer of another
      else if (next[nodeOf[n]].insert(nodeOf[k]).second)
        ++waiting[nodeOf[k]];
  for (size_t k = 0; k < stores.size(); ++k)
    for (size_t n : stores[k].follows) // one kernel may read an element and then write it
      if (nodeOf[n] != nodeOf[k] && next[nodeOf[n]].insert(nodeOf[k]).second) ++waiting[nodeOf[k]];
  for (size_t k = 0; k < nodes; ++k)
    if (!waiting[k]) ready.push_back(k);
  size_t done = 0;
  for (; !ready.empty(); ++done) {
    size_t k = ready.back();
    ready.pop_back();
    for (size_t later : next[k])
      if (!--waiting[later]) ready.push_back(later);
  }
  return done == nodes;
}

} // namespace

const PatternMatcher& groupMatcher() {
  static const PatternMatcher rules({kGroup});
  return rules;
}

UOp groupStores(UOp sink, ScheduleState& state) {
  std::vector<StoreNode> stores;
  UOpMap<size_t> numberOf;
  UOpMap<std::vector<size_t>> readersOf, writersOf; // of a version: a BUFFER, or the AFTER of an assignment
  // The loops are part of the key: a value that lost loops of its host no longer fits the host's kernel and
  // is stored by a kernel of its own.
  std::map<std::pair<int, std::vector<uint32_t>>, std::vector<size_t>> kernels;
  for (UOp u : sink.toposort()) {
    if (!u.is(Op::AFTER) || !u.src(1).is(Op::END) || numberOf.contains(u.src(1))) continue;
    StoreNode node{u.src(1), state.stored[static_cast<size_t>(u.tag().i())].kernel, {}, {}};
    for (UOp v : node.end.toposort([](UOp x) { return !x.is(Op::AFTER); })) {
      for (UOp s : v.src())
        if (s.is(Op::AFTER) && s.src(1).is(Op::END)) node.needs.push_back(numberOf.at(s.src(1)));
      if (v.is(Op::INDEX)) (v.dtype().isPtr() ? writersOf : readersOf)[v.src(0)].push_back(stores.size());
    }
    numberOf[node.end] = stores.size();
    std::vector<uint32_t> loops;
    for (UOp r : node.end.src().subspan(1)) loops.push_back(r.id());
    kernels[{node.kernel, std::move(loops)}].push_back(stores.size());
    stores.push_back(std::move(node));
  }
  for (const auto& [version, writers] : writersOf)
    if (auto readers = readersOf.find(version); readers != readersOf.end())
      for (size_t k : writers) stores[k].follows = readers->second;
  std::vector<std::vector<size_t>> groups;
  for (const auto& [kernel, members] : kernels)
    if (members.size() > 1) groups.push_back(members);
  if (groups.empty()) return sink;
  auto nodesOf = [&](const std::vector<std::vector<size_t>>& merged, std::vector<size_t>& nodeOf) {
    nodeOf.resize(stores.size());
    for (size_t k = 0; k < stores.size(); ++k) nodeOf[k] = k;
    for (const auto& members : merged)
      for (size_t k : members) nodeOf[k] = members[0];
    return hasOrder(stores, nodeOf, stores.size());
  };
  std::vector<size_t> nodeOf;
  if (!nodesOf(groups, nodeOf)) { // some group waits for itself: groups are added one at a time
    std::vector<std::vector<size_t>> fine;
    for (const auto& members : groups) {
      fine.push_back(members);
      if (!nodesOf(fine, nodeOf)) fine.pop_back();
    }
    groups = std::move(fine);
  }
  UOpMap<UOp> merged; // END -> END of all stores of its kernel
  for (const auto& members : groups) {
    std::vector<UOp> effects;
    for (size_t k : members) effects.push_back(stores[k].end.src(0));
    UOp first = stores[members[0]].end;
    UOp all = UOp::groupOf(effects).end(first.src().subspan(1));
    for (size_t k : members) merged[stores[k].end] = all;
  }
  return replaceNodes(sink, merged, groupMatcher(), "group outputs");
}

const PatternMatcher& storeMatcher() {
  static const PatternMatcher rules({kStoreRules});
  return rules;
}

UOp bufferizeToStore(UOp sink, ScheduleState& state) {
  StoreContext ctx{state, {}};
  return graphRewrite(sink, storeMatcher(), {.name = "bufferize to store", .ctx = ctx});
}

} // namespace uopscope::sched
