// From tensors to numbers: schedules, runs, and makes every tensor that depended on a computed value read its
// buffer. The tensor pool is collected here, the one place where no bare node is in use.
#include "engine/base/engine_session.h"
#include "engine/base/id_map.h"
#include "engine/rewrite/session_observers.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/counters.h"
#include "engine/runtime/device.h"
#include "engine/runtime/run_schedule.h"
#include "engine/tensor/fold_values.h"
#include "engine/tensor/gradient.h"
#include "engine/tensor/loops.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/old_contents.h"
#include "engine/tensor/placeholder.h"
#include "engine/tensor/state.h"
#include "engine/tensor/stored_once.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/uop/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace uopscope {

namespace {

/// Replaces nodes in the graphs of all live tensors.
void applyBecomes(const std::vector<std::pair<UOpRef, UOpRef>>& becomes) {
  if (becomes.empty()) return;
  UOpMap<UOp> map;
  IdMap<bool> touched;
  for (const auto& [old, now] : becomes)
    if (old.get() != now.get()) {
      map[old] = now;
      touched.set(old.get().slot(), true);
    }
  std::vector<Tensor::State*> states;
  std::vector<UOp> before;
  std::vector<std::pair<UOp, bool>> stack;
  auto depends = [&](UOp root) {
    stack.assign(1, {root, false});
    while (!stack.empty()) {
      auto [u, done] = stack.back();
      stack.pop_back();
      if (touched.contains(u.slot())) continue;
      if (done) {
        bool any = false;
        for (UOp s : u.src()) any = any || *touched.find(s.slot());
        touched.set(u.slot(), any);
        continue;
      }
      stack.push_back({u, true});
      for (UOp s : u.src())
        if (!touched.contains(s.slot())) stack.push_back({s, false});
    }
    return *touched.find(root.slot());
  };
  forEachTensor([&](Tensor::State& s) {
    if (!depends(s.uop)) return;
    states.push_back(&s);
    before.push_back(s.uop);
  });
  UOp after = UOp::sink(before).substitute(map);
  for (size_t i = 0; i < states.size(); ++i) states[i]->become(after.src(i));
}

/// Gives memory of their own to tensors that stand for the same node and are not names of one memory.
void separateEqual(const std::vector<Tensor>& tensors) {
  UOpMap<Tensor::State*> first;
  for (const Tensor& t : tensors) {
    UOp value = graph::viewed(t.uop());
    if (graph::isMemory(value) || graph::base(value).is(Op::CONST)) continue;
    auto [it, isNew] = first.try_emplace(value, t.state().get());
    bool same = false;
    it->second->forEachName([&](Tensor::State& s) { same = same || &s == t.state().get(); });
    if (isNew || same) continue;
    UOp own = UOp::make(Op::CONTIGUOUS, value.dtype(), {value}, Arg::of("own"));
    t.state()->forEachName([&](Tensor::State& s) { s.become(UOp(s.uop).substitute({{value, own}})); });
  }
}

/// If tensors bind a variable to several values, the variable keeps the first value; each later value becomes
/// a number.
void separateBindings(const std::vector<Tensor>& tensors) {
  std::vector<UOp> bound;
  for (const Tensor& t : tensors)
    if (t.uop().below().contains(Op::BIND)) bound.push_back(t.uop());
  if (bound.empty()) return;
  PoolScope scope(tensorPool());
  UOpMap<UOp> first; // by variable
  std::vector<std::pair<UOpRef, UOpRef>> numbers;
  for (UOp u : UOp::sink(bound).toposort()) {
    if (!u.is(Op::BIND) || u.srcCount() < 2) continue;
    auto [it, isNew] = first.try_emplace(u.src(0), u);
    if (!isNew && it->second != u) numbers.emplace_back(u, u.src(1));
  }
  applyBecomes(numbers);
}

/// Whether a value is the number that a variable is bound to, as Tensor(variable) makes it. Whoever reads it takes the variable, so
/// it needs memory only as the result of a captured function.
bool isBoundNumber(UOp u) {
  if (RunCapture::active()) return false;
  if (u.is(Op::ADD) && u.src(0).isConst(0)) u = u.src(1);
  while (u.is(Op::CAST)) u = u.src(0);
  return u.is(Op::BIND);
}

/// The graphs of these tensors, for one device each. Tensors on several devices are separated here
/// permanently: they stand for their shards from now on.
std::vector<UOp> separatedRoots(const std::vector<Tensor>& tensors) {
  std::vector<UOp> all;
  for (const Tensor& t : tensors)
    if (!graph::isRealized(t.uop())) all.push_back(t.uop());
  if (touchesSeveralDevices(all)) {
    PoolScope scope(tensorPool());
    std::vector<std::pair<UOpRef, UOpRef>> apart;
    for (auto& [before, after] : separateDevices(UOp::sink(all))) apart.emplace_back(before, after);
    applyBecomes(apart);
  }
  std::vector<UOp> roots;
  auto add = [&](UOp u) {
    if (graph::isRealized(u) || isBoundNumber(u)) return;
    roots.push_back(graph::viewed(u)); // its views and markers become views of its buffer
  };
  for (const Tensor& t : tensors) {
    UOp u = t.uop();
    if (u.is(Op::MULTI))
      for (UOp part : u.src(0).src()) add(part);
    else
      add(u);
  }
  return roots;
}

/// Further results of kernels given by hand that these graphs run. A kernel that writes several tensors must not run
/// once for each, so all of them are computed with the first.
std::vector<UOp> furtherResults(const std::vector<UOp>& graphs) {
  auto runsKernel = [](UOp u) { return u.below().contains(Op::CUSTOM_KERNEL); };
  if (std::none_of(graphs.begin(), graphs.end(), runsKernel)) return {};
  IdMap<bool> run, seen;
  for (UOp u : UOp::sink(graphs).toposort(runsKernel)) {
    if (u.is(Op::CUSTOM_KERNEL)) run.set(u.slot(), true);
    seen.set(u.slot(), true);
  }
  std::vector<UOp> found, stack;
  forEachTensor([&](Tensor::State& s) {
    stack.assign(1, s.uop);
    while (!stack.empty()) {
      UOp u = stack.back();
      stack.pop_back();
      if (!runsKernel(u) || seen.contains(u.slot())) continue;
      seen.set(u.slot(), true);
      if (u.is(Op::AFTER) && run.contains(u.src(1).slot())) found.push_back(u);
      stack.insert(stack.end(), u.src().begin(), u.src().end());
    }
  });
  return found;
}

/// The values to compute for these tensors, and for tensors whose sources would be overwritten.
std::vector<UOp> rootsOf(std::vector<Tensor> tensors, Tensor::State* inPlace) {
  foldValues(tensors);
  separateBindings(tensors);
  separateEqual(tensors);
  {
    PoolScope scope(tensorPool());
    std::vector<std::pair<UOpRef, UOpRef>> repeated;
    storeRepeatedOnce(tensors, repeated);
    applyBecomes(repeated);
  }
  for (;;) {
    std::vector<UOp> nodes;
    for (const Tensor& t : tensors) nodes.push_back(t.uop());
    if (makeLoopStores(nodes, applyBecomes)) continue;
    if (auto apart = withoutLoops(nodes); !apart.empty()) {
      applyBecomes(apart);
      continue;
    }
    if (computeBeforeCapture(nodes)) continue; // while a value on several devices is still one node
    for (UOp u : furtherResults(nodes)) tensors.push_back(Tensor::fromUOp(u));
    std::vector<UOp> roots = separatedRoots(tensors);
    refusePlaceholders(roots);
    OldContentsKept kept = keepOldContents(roots, inPlace);
    if (!kept.changed) return roots;
    tensors.insert(tensors.end(), kept.along.begin(), kept.along.end());
  }
}

/// The conditions for collecting the tensor pool.
struct Collecting {
  int heldNodes = 0; ///< number of scopes in which nodes must not be freed
  bool atEachRealize = false;
  size_t nodesAfter = 0;
  int64_t memoryAfter = 0; ///< in bytes
};
Collecting& collecting() {
  return EngineSession::current().part<Collecting>();
}

} // namespace

void collectIfGrown() {
  if (OperationScope::current()) return;
  const Collecting& last = collecting();
  constexpr size_t kNodes = 4096;               // a pool is collected after at least so many new nodes
  constexpr int64_t kMemory = int64_t{4} << 20; // bytes of buffers whose nodes may be dead
  Pool& pool = tensorPool();
  bool many = pool.liveNodes() > last.nodesAfter + std::max(kNodes, last.nodesAfter / 2);
  bool large = GlobalCounters::current().memUsed > last.memoryAfter + kMemory &&
               pool.liveNodes() < last.nodesAfter + 16 * kNodes;
  if (last.heldNodes == 0 && (many || large || last.atEachRealize)) collectTensorPool();
}

namespace {
/// Frees values that died while a graph was built, before its kernels take memory: gradients of the step before, say.
void collectBeforeRun() {
  constexpr size_t kNodes = 1024;
  constexpr int64_t kMemory = int64_t{32} << 20;
  const Collecting& last = collecting();
  if (OperationScope::current() || last.heldNodes || GlobalCounters::current().memUsed < kMemory) return;
  if (tensorPool().liveNodes() > last.nodesAfter + std::max(kNodes, last.nodesAfter / 2)) collectTensorPool();
}
} // namespace

NodesHeld::NodesHeld() {
  ++collecting().heldNodes;
}
NodesHeld::~NodesHeld() {
  --collecting().heldNodes;
}

size_t collectTensorPool() {
  Pool& pool = tensorPool();
  PoolScope scope(pool);
  tellOtherThreadsOfRetired(pool);
  size_t freed = pool.collect();
  if (freed) {
    auto ids = pool.liveIds();
    std::unordered_set<uint32_t> alive(ids.begin(), ids.end());
    dropOrigins(pool, [&](uint32_t id) { return alive.contains(id); });
    dropCustomDerivatives([&](uint32_t id) { return alive.contains(id); });
  }
  collecting().nodesAfter = pool.liveNodes();
  collecting().memoryAfter = GlobalCounters::current().memUsed;
  return freed;
}

void releaseAtEachRealize(bool each) {
  collecting().atEachRealize = each;
}

void releaseUnreached() {
  if (collecting().heldNodes == 0 && !OperationScope::current()) collectTensorPool();
}

namespace {
/// Shards of live tensors, whose successors are needed like those of any value that a tensor stands for.
std::vector<UOpRef> heldShards(const std::vector<UOp>& roots) {
  std::vector<UOp> held;
  forEachTensor([&](Tensor::State& s) {
    UOp base = graph::base(s.uop);
    if (!base.is(Op::MULTI) || !base.src(0).is(Op::MSTACK)) return;
    for (UOp part : base.src(0).src())
      if (!graph::isRealized(part)) held.push_back(part);
  });
  if (held.empty()) return {};
  IdMap<bool> scheduled;
  for (UOp u : UOp::sink(roots).toposort()) scheduled.set(u.slot(), true);
  std::vector<UOpRef> shards;
  for (UOp part : held)
    if (scheduled.contains(part.slot())) shards.emplace_back(part);
  return shards;
}
} // namespace

Schedule Tensor::schedule(const std::vector<Tensor>& tensors) {
  OperationScope op("schedule");
  std::vector<UOp> roots = rootsOf(tensors, nullptr);
  std::vector<UOpRef> shards = heldShards(roots);
  Schedule s = createSchedule(UOp::sink(roots));
  applyBecomes(s.becomes);
  return s;
}

void Tensor::realize(const std::vector<Tensor>& tensors) {
  // An argument under a transform has no values: what depends on it is computed with the transform's result.
  std::vector<Tensor> ready = tensors;
  std::erase_if(ready, [](const Tensor& t) { return dependsOnPlaceholder(t.uop()); });
  if (!ready.empty() || tensors.empty()) realizeTensors(ready);
}

void realizeTensors(const std::vector<Tensor>& tensors, Tensor::State* inPlace) {
  collectBeforeRun();
  {
    OperationScope op("realize");
    std::vector<UOp> roots = rootsOf(tensors, inPlace);
    if (!roots.empty()) {
      std::vector<UOpRef> shards = heldShards(roots);
      Schedule s = createSchedule(UOp::sink(roots));
      runSchedule(s);
      applyBecomes(s.becomes); // after the run, so that a tensor whose kernel failed stays unchanged
    }
  }
  collectIfGrown();
}

Tensor Tensor::realize() const {
  realize(std::vector<Tensor>{*this});
  return *this;
}

std::shared_ptr<Buffer> Tensor::buffer() const {
  PoolScope scope(tensorPool());
  intShape();
  if (devices().size() > 1) return to(devices()[0]).buffer();
  Tensor x = contiguous();
  refusePlaceholders(std::vector<UOp>{x.uop()});
  x.realize();
  if (!graph::isRealized(x.uop()))
    fail(ErrorKind::Runtime, fmt::format("{} was not computed into a buffer", opName(x.uop().op())));
  return Buffer::of(graph::base(x.uop()));
}

std::vector<std::byte> Tensor::bytes() const {
  ReadingScope op("data");
  std::vector<std::byte> out(static_cast<size_t>(intNumel()) * static_cast<size_t>(dtype().itemsize()));
  if (!out.empty()) buffer()->copyOut(out.data());
  return out;
}

namespace {

ConstValue loadElement(const std::byte* at, DType d) {
  auto read = [&](auto v) {
    std::memcpy(&v, at, sizeof v);
    return v;
  };
  switch (d.kind()) {
  case Scalar::Bool: return ConstValue::ofBool(read(uint8_t{}) != 0);
  case Scalar::Int8: return ConstValue::ofInt(read(int8_t{}));
  case Scalar::UInt8: return ConstValue::ofInt(read(uint8_t{}));
  case Scalar::Int16: return ConstValue::ofInt(read(int16_t{}));
  case Scalar::UInt16: return ConstValue::ofInt(read(uint16_t{}));
  case Scalar::Int32: return ConstValue::ofInt(read(int32_t{}));
  case Scalar::UInt32: return ConstValue::ofInt(read(uint32_t{}));
  case Scalar::Int64: return ConstValue::ofInt(read(int64_t{}));
  case Scalar::UInt64: return ConstValue::ofInt(static_cast<int64_t>(read(uint64_t{})));
  case Scalar::Float16: return ConstValue::ofFloat(dtypes::fromHalf(read(uint16_t{})));
  case Scalar::BFloat16: return ConstValue::ofFloat(dtypes::fromBFloat16(read(uint16_t{})));
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return ConstValue::ofFloat(dtypes::fromFp8(d, read(uint8_t{})));
  case Scalar::Float32: return ConstValue::ofFloat(read(float{}));
  case Scalar::Float64: return ConstValue::ofFloat(read(double{}));
  default: fail(ErrorKind::Type, fmt::format("values of {} cannot be read", d.name()));
  }
}

} // namespace

ConstValue Tensor::item() const {
  ReadingScope op("item");
  if (intNumel() != 1)
    fail(ErrorKind::Shape, fmt::format("must have one element for item, got shape {}", shapeStr(shape())));
  return loadElement(bytes().data(), dtype());
}

std::vector<double> Tensor::doubles() const {
  auto raw = bytes();
  std::vector<double> out;
  auto step = static_cast<size_t>(dtype().itemsize());
  for (size_t i = 0; i < raw.size(); i += step) {
    ConstValue v = loadElement(raw.data() + i, dtype());
    out.push_back(dtype() == dtypes::uint64 ? static_cast<double>(static_cast<uint64_t>(v.i)) : v.asDouble());
  }
  return out;
}

template <typename T>
std::vector<T> Tensor::values() const {
  std::vector<T> out;
  auto raw = bytes();
  auto step = static_cast<size_t>(dtype().itemsize());
  for (size_t i = 0; i < raw.size(); i += step) {
    ConstValue v = loadElement(raw.data() + i, dtype());
    if (v.kind == ConstValue::Kind::Float)
      out.push_back(static_cast<T>(v.f));
    else
      out.push_back(dtype() == dtypes::uint64 ? static_cast<T>(static_cast<uint64_t>(v.i))
                                              : static_cast<T>(v.i));
  }
  return out;
}
template std::vector<float> Tensor::values<float>() const;
template std::vector<double> Tensor::values<double>() const;
template std::vector<int32_t> Tensor::values<int32_t>() const;
template std::vector<int64_t> Tensor::values<int64_t>() const;
template std::vector<uint8_t> Tensor::values<uint8_t>() const;

} // namespace uopscope
