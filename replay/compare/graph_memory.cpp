// Evaluates the memory of graphs: addresses, loads, and the writes of effects. Registers and local memory are
// run in order, as a kernel runs them. A buffer of the schedule is asked for one element, and only the store
// that wrote this element is evaluated.
#include "engine/base/error.h"
#include "engine/uop/eval.h"
#include "replay/compare/graph_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace uopscope {
namespace {

constexpr int64_t kLoopsOfKernel = 4096;              // more than a kernel has
constexpr int64_t kCopyLoop = (int64_t{1} << 19) - 1; // no range of a graph has this number

/// The effect of a kernel that copies `source`, its second buffer, to its first buffer.
UOp copyOf(UOp source) {
  const UOp r = UOp::range(source.dtype().size(), kCopyLoop);
  const UOp to = UOp::make(Op::DEFINE_GLOBAL, source.dtype(), {}, Arg::of(int64_t{0}));
  return to.indexed({r}, to.dtype()).store(source.indexed({r}, source.dtype().base())).end({r});
}

} // namespace

ConstValue readAs(const ConstValue& v, DType from, DType to) {
  if (v.isInvalid() || from.kind() == to.kind()) return v;
  if (from.itemsize() != to.itemsize()) cannotEvaluate("memory is read in pieces of another size");
  return evalAlu(Op::BITCAST, to, from, {v});
}

UOp memoryBase(UOp u) {
  while (u.in(OpSet{Op::AFTER, Op::CAST, Op::INDEX}) || (u.in(group::kMovement) && u.dtype().isPtr()))
    u = u.src(0);
  return u.in(group::kDefines | kScheduleMemory) ? u : UOp();
}

UOp ValueContext::launchedWith(UOp kernel) {
  if (const auto it = launched.find(kernel); it != launched.end()) return it->second;
  const UOp body =
      kernel.src(0).is(Op::COPY) && kernel.srcCount() == 3 ? copyOf(kernel.src(0).src(0)) : kernel.src(0);
  UOpMap<UOp> names;
  for (const UOp u : body.toposort())
    if (u.is(Op::DEFINE_GLOBAL)) {
      if (const auto k = static_cast<size_t>(u.arg().i()) + 1; k < kernel.srcCount())
        names[u] = kernel.src(k);
    } else if (u.is(Op::RANGE) && kernel.src(0).is(Op::SINK)) {
      RangeArg own = u.arg().as<RangeArg>();
      own.ids[0] += kLoopsOfKernel * (static_cast<int64_t>(kernel.slot()) + 1);
      names[u] = u.withArg(Arg::of(own));
    }
  return launched[kernel] = body.substitute(names);
}

uint64_t GraphValues::memoryKey(UOp memory) {
  UOp base = memoryBase(memory);
  if (!base) cannotEvaluate(fmt::format("{} is no memory", opName(memory.op())));
  if (base.in(group::kDefines)) return mixHash(static_cast<uint64_t>(base.op()), base.arg().hash());
  return mixHash(0xB0F, base.slot());
}

Lanes GraphValues::computeLoad(UOp u) {
  Lanes instead;
  if (u.srcCount() > 1 && !u.src(1).dtype().isVoid()) instead = value(u.src(1));
  for (const UOp s : u.src().subspan(1))
    if (s.dtype().isVoid()) ensureRan(s);
  const auto lanes = static_cast<size_t>(u.dtype().count());
  std::vector<Pointer> from = pointers(u.src(0));
  if (from.size() == 1 && from[0].width == 1 && lanes > 1) from[0].width = static_cast<int>(lanes);
  const DType type = u.dtype().scalar();
  Lanes out;
  for (const Pointer& p : from)
    for (int k = 0; k < p.width; ++k)
      if (p.valid)
        out.push_back(read(p.memory, p.index + k, type));
      else
        out.push_back(instead.empty() ? convertConst(type, ConstValue::ofInt(0))
                                      : instead[out.size() % instead.size()]);
  if (out.size() != lanes)
    cannotEvaluate(fmt::format("a LOAD of {} lanes from {} addresses", lanes, out.size()));
  return out;
}

/// Reads an element of a tensor or of memory in graphs that do not yet distinguish LOADs from addresses.
Lanes GraphValues::computeIndex(UOp u) {
  const UOp from = u.src(0);
  if (u.dtype().isPtr()) cannotEvaluate("an address is no value");
  const bool isMemory = from.in(group::kDefines | kScheduleMemory | OpSet{Op::AFTER}) || from.dtype().isPtr();
  if (!isMemory || (from.in(kScheduleMemory) && ctx_.opaque.contains(from.slot()))) {
    TensorIndex at;
    for (const UOp s : u.src().subspan(1)) {
      const ConstValue i = value(s).front();
      if (i.isInvalid()) return Lanes(1, i); // a value is not computed there; memory would give 0
      at.push_back(i.i);
    }
    if (from.is(Op::BUFFERIZE) && !ctx_.opaque.contains(from.slot())) return bufferizedAt(from, at);
    return valueAt(from, std::move(at));
  }
  Lanes out;
  const DType type = u.dtype().scalar();
  for (const Pointer& p : indexPointers(u))
    for (int k = 0; k < p.width; ++k)
      out.push_back(p.valid ? read(p.memory, p.index + k, type) : convertConst(type, ConstValue::ofInt(0)));
  const auto lanes = static_cast<size_t>(std::max(1, u.dtype().count()));
  if (out.size() == 1 && lanes > 1) return Lanes(lanes, out[0]);
  return out;
}

Lanes GraphValues::computeBuffer(UOp u) {
  if (!hasIndex_) cannotEvaluate("a tensor has no single value");
  int64_t flat = 0;
  if (index_.size() == 1) {
    flat = index_[0];
  } else {
    const auto it = ctx_.layouts.find(u);
    if (it == ctx_.layouts.end() || it->second.size() != index_.size())
      cannotEvaluate("a buffer of another rank");
    for (size_t k = 0; k < index_.size(); ++k) flat = flat * it->second[k] + index_[k];
  }
  return {read(u, flat, u.dtype().scalar())};
}

ConstValue GraphValues::unknownAt(uint64_t memory, int64_t address, DType type) {
  const DType as = ctx_.memoryTypes.try_emplace(memory, type).first->second;
  const ConstValue v = valueOfHash(as, mixHash(mixHash(ctx_.seed, memory), static_cast<uint64_t>(address)));
  return readAs(v, as, type);
}

ConstValue GraphValues::read(UOp memory, int64_t address, DType type) {
  spend();
  if (memory.is(Op::AFTER)) return readStored(memory, address, type);
  if (memory.is(Op::CAST) || memory.is(Op::INDEX) || memory.in(group::kMovement))
    return read(memory.src(0), address, type);
  const uint64_t key = memoryKey(memory);
  if (const auto it = written_.find({key, address}); it != written_.end()) return it->second;
  if (ctx_.contents) return ctx_.contents(memory, address, type);
  return unknownAt(key, address, type);
}

/// Of the effects that an AFTER waits for, the latest write wins. Where a loop around the read is not run
/// here, the writes of earlier iterations are unknown.
ConstValue GraphValues::readStored(UOp after, int64_t address, DType type) {
  if (ctx_.opaque.contains(after.slot()))
    return unknownAt(mixHash(mixHash(0xAF7E, after.slot()), environment(after)), address, type);
  const UOp base = memoryBase(after);
  if (!base) cannotEvaluate("AFTER of a node that is no memory");
  const uint64_t key = memoryKey(after);
  if (base.in(kScheduleMemory)) {
    for (size_t k = after.srcCount(); k-- > 1;) {
      const UOp waited = after.src(k), effect = waited.is(Op::KERNEL) ? ctx_.launchedWith(waited) : waited;
      if (!effect.in(OpSet{Op::END, Op::STORE, Op::GROUP, Op::SINK}))
        return unknownAt(mixHash(mixHash(0xAF7E, after.slot()), environment(after)), address, type);
      const WriteMap& writes = writesOf(effect, key);
      const auto it = writes.find(address);
      if (it == writes.end()) continue;
      std::vector<std::pair<uint32_t, std::optional<int64_t>>> before;
      for (const auto& [variable, at] : it->second.at) {
        before.emplace_back(variable, get(variable));
        set(variable, at);
      }
      const Lanes v = value(it->second.store.src(1));
      for (const auto& [variable, at] : before)
        if (at)
          set(variable, *at);
        else
          unset(variable);
      return v[it->second.lane % v.size()];
    }
    return read(after.src(0), address, type);
  }
  bool open = false;
  for (const UOp s : after.src().subspan(1))
    if (!s.dtype().isVoid())
      for (const Variable& v : ctx_.variables.namedBy(s)) // a symbolic extent is one number, not a loop
        open |= !(v.node && v.node.is(Op::DEFINE_VAR)) && !running_.contains(v.key);
  // Earlier iterations of a loop that is not run here have left unknown values in memory.
  const bool reads =
      std::any_of(after.src().begin() + 1, after.src().end(), [](UOp s) { return s.dtype().isVoid(); });
  if (open && (reads || base.is(Op::DEFINE_REG) || base.is(Op::DEFINE_LOCAL))) {
    uint64_t hash = key;
    for (const UOp s : after.src().subspan(1))
      if (!s.dtype().isVoid()) hash = mixHash(hash, environment(s));
    return unknownAt(hash, address, type);
  }
  if (reads)
    if (const Past* past = pastOf(after)) {
      const auto it = past->find({key, address});
      return it != past->end() ? it->second : read(base, address, type);
    }
  for (const UOp s : after.src().subspan(1))
    if (s.dtype().isVoid()) ensureRan(s);
  return read(after.src(0), address, type);
}

void GraphValues::setProgram(UOp root) {
  for (const UOp end : root.toposort()) {
    if (!end.is(Op::END)) continue;
    std::vector<UOp> stack{end.src(0)};
    std::set<uint64_t> met;
    while (!stack.empty()) {
      const UOp u = stack.back();
      stack.pop_back();
      if (u.is(Op::STORE)) {
        if (memoryBase(u.src(0)) && met.insert(memoryKey(u.src(0))).second)
          loops_[memoryKey(u.src(0))].push_back(end);
      } else {
        for (const UOp s : u.src())
          if (s.dtype().isVoid()) stack.push_back(s);
      }
    }
  }
}

/// What lies in memory where a loop stands at a chosen iteration: written by the effects that the AFTER waits for, then
/// by the iterations before. Null where no loop around it stands at one. These iterations are a run of their own, so
/// that memory before, in and after the loop can be asked in any order.
const GraphValues::Past* GraphValues::pastOf(UOp after) {
  std::set<uint32_t> around;
  for (const UOp s : after.src().subspan(1)) {
    if (s.dtype().isVoid()) continue;
    for (const Variable& v : ctx_.variables.namedBy(s))
      if (chosen_.contains(v.key)) around.insert(v.key);
  }
  if (around.empty()) return nullptr;
  const auto [it, isNew] = pasts_.try_emplace({after.slot(), environment(after)});
  if (!isNew) return &it->second;
  GraphValues run(ctx_);
  run.loops_ = loops_;
  for (const auto& [key, iteration] : wanted_) run.choose(key, iteration);
  for (const uint32_t key : around) run.chosen_.erase(key);
  try {
    run.runUntil(after, around);
  } catch (...) {
    pasts_.erase(it);
    throw;
  }
  it->second = std::move(run.written_);
  return &it->second;
}

void GraphValues::runUntil(UOp after, const std::set<uint32_t>& around) {
  for (const UOp s : after.src().subspan(1))
    if (s.dtype().isVoid()) ensureRan(s);
  for (const UOp end : loops_[memoryKey(after)]) {
    VariableList loops = ctx_.variables.closedBy(end);
    std::erase_if(loops, [&](const Variable& v) { return !around.contains(v.key); });
    if (loops.empty()) continue;
    std::vector<int64_t> chosen, now(loops.size(), 0);
    for (const Variable& v : loops) chosen.push_back(*get(v.key));
    while (now < chosen) { // in the order of the loops: the first changes slowest
      for (size_t k = 0; k < loops.size(); ++k) set(loops[k].key, now[k]);
      run(end.src(0));
      for (size_t k = loops.size(); k-- > 0;) {
        if (++now[k] < extentOf(loops[k]) || k == 0) break;
        now[k] = 0;
      }
    }
    for (size_t k = 0; k < loops.size(); ++k) set(loops[k].key, chosen[k]);
  }
}

void GraphValues::ensureRan(UOp effect) {
  if (ctx_.opaque.contains(effect.slot())) return;
  const uint64_t now = environment(effect) ^ 1;
  if (const auto it = ran_.find(effect.slot()); it != ran_.end() && it->second == now) return;
  ran_[effect.slot()] = now;
  run(effect);
}

void GraphValues::run(UOp effect) {
  spend();
  if (++depth_ > 3000) cannotEvaluate("the graph is too deep");
  ++deep_;
  switch (effect.op()) {
  case Op::STORE: runStore(effect); break;
  case Op::END: forEach(ctx_.variables.closedBy(effect), [&] { run(effect.src(0)); }); break;
  case Op::AFTER:
    for (const UOp s : effect.src().subspan(1))
      if (s.dtype().isVoid()) ensureRan(s);
    if (effect.src(0).dtype().isVoid()) run(effect.src(0));
    break;
  case Op::CONTRACT: forEach(ctx_.variables.closedBy(effect), [&] { run(effect.src(0)); }); break;
  case Op::BARRIER: {
    VariableList lanes; // every thread of the group arrives here
    for (const Variable& v : ctx_.variables.of(effect))
      if (v.node && ((v.node.is(Op::SPECIAL) && v.node.arg().str().starts_with('l')) ||
                     (v.node.is(Op::RANGE) &&
                      (v.node.axisType() == AxisType::Local || v.node.axisType() == AxisType::GroupReduce))))
        lanes.push_back(v);
    forEach(lanes, [&] {
      for (const UOp s : effect.src()) run(s);
    });
    break;
  }
  case Op::GROUP:
  case Op::SINK:
  case Op::NOOP:
    for (const UOp s : effect.src())
      if (s.dtype().isVoid() || s.is(Op::AFTER)) run(s);
    break;
  case Op::ENDIF: break; // the gate of the store itself says where it runs
  default: cannotEvaluate(fmt::format("{} is not run", opName(effect.op())));
  }
  --depth_;
  --deep_;
}

/// The effects on a store's memory that come before it, whether or not the store's gate lets it read what they left.
const std::vector<UOp>& GraphValues::effectsBefore(UOp store) {
  const auto [known, isNew] = before_.try_emplace(store.slot());
  if (const UOp base = isNew ? memoryBase(store.src(0)) : UOp(); base && base.is(Op::DEFINE_GLOBAL))
    for (const UOp u : store.src(1).toposort())
      if (u.is(Op::AFTER) && memoryBase(u) == base)
        std::ranges::copy_if(u.src().subspan(1), std::back_inserter(known->second),
                             [](UOp s) { return s.dtype().isVoid(); });
  return known->second;
}

void GraphValues::runStore(UOp store) {
  VariableList loops = ctx_.variables.closedBy(store);
  for (const Variable& v : ctx_.variables.of(store))
    if (!v.node && !running_.contains(v.key)) loops.push_back(v); // lanes of an UNROLL
  forEach(loops, [&] {
    for (const UOp effect : effectsBefore(store)) ensureRan(effect);
    const auto to = pointers(store.src(0));
    const Lanes v = value(store.src(1));
    size_t lane = 0;
    const size_t each = to.size() == 1 ? v.size() : 0;
    for (const Pointer& p : to) {
      const int width = each ? static_cast<int>(each) : p.width;
      for (int k = 0; k < width; ++k, ++lane)
        if (p.valid) written_[{memoryKey(p.memory), p.index + k}] = v[lane % v.size()];
    }
  });
}

/// Whether the effect writes the same places in every sample: none of them depends on memory, on a symbolic integer or on an
/// unknown function.
bool GraphValues::hasPlainAddresses(UOp effect) {
  const auto [known, isNew] = ctx_.plain.try_emplace(effect, false);
  if (!isNew) return known->second;
  constexpr OpSet kPlain = group::kAlu | OpSet{Op::RANGE, Op::CONST, Op::CAST, Op::VECTORIZE, Op::VCONST};
  bool plain = !effect.below().has(Op::DEFINE_VAR);
  for (const UOp u : effect.toposort([](UOp u) { return u.in({Op::END, Op::GROUP, Op::SINK, Op::STORE}); })) {
    if (!plain || !u.is(Op::STORE)) continue;
    UOp address = u.src(0);
    while (address.is(Op::CAST)) address = address.src(0);
    plain = address.is(Op::INDEX);
    for (size_t k = 1; plain && k < address.srcCount(); ++k)
      for (const UOp part : address.src(k).toposort())
        plain &= part.in(kPlain) && !ctx_.opaque.contains(part.slot());
  }
  return ctx_.plain[effect] = plain;
}

const WriteMap& GraphValues::writesOf(UOp effect, uint64_t memory) {
  WriteMaps& known = hasPlainAddresses(effect) ? ctx_.writes : writes_;
  const auto [it, isNew] = known.try_emplace({effect.slot(), environment(effect), memory});
  if (isNew) collectWrites(effect, memory, it->second);
  return it->second;
}

void GraphValues::collectWrites(UOp effect, uint64_t memory, WriteMap& out) {
  VariableList loops;
  std::function<void(UOp)> walk = [&](UOp u) {
    if (u.is(Op::END)) {
      const size_t outer = loops.size();
      for (const Variable& v : ctx_.variables.closedBy(u)) loops.push_back(v);
      walk(u.src(0));
      loops.resize(outer);
    } else if (u.in(OpSet{Op::GROUP, Op::SINK})) {
      for (const UOp s : u.src()) walk(s);
    } else if (u.is(Op::STORE)) {
      if (memoryKey(u.src(0)) != memory) return;
      expectToSpend(loops, u.src(0));
      forEach(loops, [&] {
        spend();
        size_t lane = 0;
        for (const Pointer& p : pointers(u.src(0)))
          for (int k = 0; k < p.width; ++k, ++lane) {
            if (!p.valid) continue;
            Writer w{u, {}, lane};
            for (const Variable& v : loops) w.at.emplace_back(v.key, *get(v.key));
            out[p.index + k] = std::move(w);
          }
      });
    } else {
      cannotEvaluate(fmt::format("{} writes memory that is read", opName(u.op())));
    }
  };
  walk(effect);
}

} // namespace uopscope
