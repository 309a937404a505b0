// The pool: the one place that makes nodes. An open-addressing table with linear probing maps content to a
// node. The hash is computed from ids and content, so it is the same in every run. docs/design/performance.md
// gives the measured cost of making a node.
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/id_map.h"
#include "engine/uop/fact_store.h"
#include "engine/uop/node_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace uopscope {

namespace {

thread_local Pool* currentPool = nullptr;
std::atomic<uint32_t> poolCount{0};
std::atomic<void (*)(UOp)> bufferHook{nullptr};
std::atomic<void (*)(Pool&)> retireHook{nullptr};
constexpr uint8_t kMarked = 1;

uint32_t hashOf(Op op, DType dtype, std::span<const UOp> src, Arg arg, Arg tag) {
  uint64_t h = mixHash(0x243F6A8885A308D3ull + static_cast<uint64_t>(op), dtype.bits());
  if (arg) h = mixHash(h, arg.hash());
  if (tag) h = mixHash(h, tag.hash() + 1);
  for (UOp s : src) h = mixHash(h, s.id() + 0x100000000ull);
  return static_cast<uint32_t>(h ^ h >> 32);
}

bool sameContent(const Node* n, Op op, DType dtype, std::span<const UOp> src, Arg arg, Arg tag) {
  return n->op == op && n->dtype == dtype && n->srcCount == src.size() && n->argBits == arg.bits() &&
         n->argKind == arg.kind() && n->tagBits == tag.bits() && n->tagKind == tag.kind() &&
         (src.empty() || std::memcmp(n + 1, src.data(), src.size_bytes()) == 0);
}

} // namespace

Pool::Pool() : slots_(256), serial_(++poolCount), facts_(std::make_unique<FactStore>()) {}
Pool::~Pool() {
  if (auto* hook = retireHook.load(std::memory_order_relaxed)) hook(*this);
  if (!madeBuffer_) return;
  std::vector<const Node*> buffers;
  for (const Slot& slot : slots_)
    if (slot.node && (slot.node->op == Op::BUFFER || slot.node->op == Op::BUFFER_VIEW))
      buffers.push_back(slot.node);
  std::sort(buffers.begin(), buffers.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
  announceDeadBuffers(buffers);
}

void Pool::whenRetired(void (*hook)(Pool&)) {
  retireHook = hook;
}

void Pool::whenBufferDies(void (*hook)(UOp)) {
  bufferHook = hook;
}

void Pool::announceDeadBuffers(std::span<const Node* const> dead) {
  auto* hook = bufferHook.load();
  if (!hook || !madeBuffer_) return;
  for (const Node* node : dead)
    if (node->op == Op::BUFFER || node->op == Op::BUFFER_VIEW) hook(UOp(node));
}

Pool& Pool::current() {
  if (!currentPool)
    throw Error(ErrorKind::Runtime,
                "no pool is current on this thread: open a PoolScope before making nodes");
  return *currentPool;
}
bool Pool::hasCurrent() {
  return currentPool != nullptr;
}

PoolScope::PoolScope(Pool& pool) : before_(currentPool) {
  currentPool = &pool;
}
PoolScope::~PoolScope() {
  currentPool = before_;
}

UOp Pool::make(Op op, DType dtype, std::span<const UOp> src, Arg arg, Arg tag) {
#ifdef UOPSCOPE_CHECKED
  checkNode(op, src, arg);
#endif
  OpSet below(op);
  for (UOp s : src) {
    if (!s) [[unlikely]]
      throw Error(ErrorKind::Spec, fmt::format("a source of {} is no node", opName(op)));
    if (s.node()->pool != this) [[unlikely]]
      throw Error(ErrorKind::Runtime,
                  fmt::format("{} of pool {} given as source to {} in pool {}: import the graph first",
                              opName(s.op()), s.node()->pool->serial(), opName(op), serial_));
    below = below | s.below();
  }
  uint32_t hash = hashOf(op, dtype, src, arg, tag);
  size_t mask = slots_.size() - 1, at = hash & mask;
  for (; slots_[at].node; at = (at + 1) & mask)
    if (slots_[at].hash == hash && sameContent(slots_[at].node, op, dtype, src, arg, tag))
      return UOp(slots_[at].node);

  if (nextId_ == UINT32_MAX)
    throw Error(ErrorKind::Runtime, fmt::format("pool {} has used up all ids: start a new process", serial_));
  Node* node = nullptr;
  uint32_t slot = 0;
  if (src.size() < freeBySrcCount_.size() && !freeBySrcCount_[src.size()].empty()) {
    node = freeBySrcCount_[src.size()].back();
    freeBySrcCount_[src.size()].pop_back();
    slot = node->slot;
  } else {
    node = static_cast<Node*>(arena_.allocate(sizeof(Node) + src.size_bytes()));
    slot = nextSlot_++;
  }
  *node = Node{.id = nextId_++,
               .slot = slot,
               .hash = hash,
               .srcCount = static_cast<uint32_t>(src.size()),
               .op = op,
               .argKind = arg.kind(),
               .tagKind = tag.kind(),
               .flags = 0,
               .pins = 0,
               .dtype = dtype,
               .argBits = arg.bits(),
               .tagBits = tag.bits(),
               .facts = nullptr,
               .pool = this,
               .below = below,
               .settled = 0};
  if (!src.empty()) std::memcpy(static_cast<void*>(node + 1), src.data(), src.size_bytes());
  slots_[at] = {hash, node};
  if (op == Op::BUFFER || op == Op::BUFFER_VIEW) madeBuffer_ = true;
  if (++live_ * 2 > slots_.size()) grow();
  return UOp(node);
}

void Pool::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (!slot.node) continue;
    size_t at = slot.hash & mask;
    while (slots_[at].node) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

UOp Pool::import(UOp root, UOpMap<UOp>* imported) {
  if (root.node()->pool == this) return root;
  IdMap<const Node*> copied;
  std::vector<std::pair<UOp, bool>> stack{{root, false}};
  std::vector<UOp> src;
  while (!stack.empty()) {
    auto [u, sourcesDone] = stack.back();
    stack.pop_back();
    if (copied.contains(u.slot())) continue;
    if (!sourcesDone) {
      if (imported)
        if (auto it = imported->find(u); it != imported->end()) {
          copied.set(u.slot(), it->second.node());
          continue;
        }
      stack.emplace_back(u, true);
      for (size_t i = u.srcCount(); i-- > 0;)
        if (!copied.contains(u.src(i).slot())) stack.emplace_back(u.src(i), false);
      continue;
    }
    src.clear();
    for (UOp s : u.src()) src.emplace_back(*copied.find(s.slot()));
    UOp copy = make(u.op(), u.dtype(), src, u.arg(), u.tag());
    copied.set(u.slot(), copy.node());
    if (imported) imported->emplace(u, copy);
  }
  return UOp(*copied.find(root.slot()));
}

uint64_t Pool::settledBit(uint64_t ruleSet) {
  for (size_t bit = 0; bit < ruleSets_.size(); ++bit)
    if (ruleSets_[bit] == ruleSet) return uint64_t{1} << bit;
  if (ruleSets_.size() == 64) return 0;
  ruleSets_.push_back(ruleSet);
  return uint64_t{1} << (ruleSets_.size() - 1);
}

std::vector<uint32_t> Pool::liveIds() const {
  std::vector<uint32_t> ids;
  for (const Slot& slot : slots_)
    if (slot.node) ids.push_back(slot.node->id);
  return ids;
}

size_t Pool::collect() {
  if (auto* hook = retireHook.load(std::memory_order_relaxed)) hook(*this);
  std::vector<const Node*> stack;
  auto mark = [&](const Node* n) {
    auto* node = const_cast<Node*>(n);
    if (node->flags & kMarked) return;
    node->flags |= kMarked;
    stack.push_back(node);
  };
  for (const Slot& slot : slots_)
    if (slot.node && slot.node->pins) mark(slot.node);
  while (!stack.empty()) {
    UOp u(stack.back());
    stack.pop_back();
    for (UOp s : u.src()) mark(s.node());
    if (u.is(Op::MSTACK) && u.node()->facts && u.node()->facts->device) mark(u.node()->facts->device.node());
  }

  // Nodes are freed in order of their ids, so the reuse of memory does not depend on the order of the table.
  std::vector<const Node*> dead;
  std::vector<Slot> survivors;
  for (const Slot& slot : slots_) {
    if (!slot.node) continue;
    if (slot.node->flags & kMarked)
      survivors.push_back(slot);
    else
      dead.push_back(slot.node);
  }
  std::sort(dead.begin(), dead.end(), [](const Node* a, const Node* b) { return a->id > b->id; });
  announceDeadBuffers(dead);
  for (const Node* node : dead) {
    facts_->release(node);
    if (node->srcCount >= freeBySrcCount_.size()) freeBySrcCount_.resize(node->srcCount + 1);
    freeBySrcCount_[node->srcCount].push_back(const_cast<Node*>(node));
  }
  facts_->forgetRanges();
  std::fill(slots_.begin(), slots_.end(), Slot{});
  size_t mask = slots_.size() - 1;
  for (const Slot& slot : survivors) {
    const_cast<Node*>(slot.node)->flags &= static_cast<uint8_t>(~kMarked);
    if (slot.node->facts) slot.node->facts->ranges = nullptr;
    size_t at = slot.hash & mask;
    while (slots_[at].node) at = (at + 1) & mask;
    slots_[at] = slot;
  }
  live_ = survivors.size();
  return dead.size();
}

const std::vector<UOp>* FactStore::shareRanges(const std::vector<UOp>& ranges) {
  std::vector<uint32_t> ids;
  ids.reserve(ranges.size());
  for (UOp r : ranges) ids.push_back(r.id());
  return &lists_.try_emplace(std::move(ids), ranges).first->second;
}

Facts* FactStore::take() {
  if (free_.empty()) {
    if (used_ == kBlock) {
      blocks_.push_back(std::make_unique<Facts[]>(kBlock));
      used_ = 0;
    }
    return &blocks_.back()[used_++];
  }
  Facts* facts = free_.back();
  free_.pop_back();
  return facts;
}

void FactStore::release(const Node* node) {
  if (!node->facts) return;
  *node->facts = Facts();
  free_.push_back(node->facts);
  node->facts = nullptr;
}

} // namespace uopscope
