// The table of known nodes holds 96 bits of a hash and no content, which saves reading the nodes back. A
// wrong answer needs a collision among the nodes of one trace: its chance is 1 in 10^14 at twenty million
// nodes. The table has two generations of bounded size: a node not met for two million nodes is forgotten,
// and gets a new id if another pool makes it again. Within a pool a node always keeps its id; one that was freed and made
// again in the same epoch is a new node, and gets a new id too.
#include "replay/record/node_interner.h"

#include <algorithm>
#include <utility>

namespace uopscope {

namespace {
constexpr size_t kMostWaiting = 32; ///< a read of memory takes as long as some ten nodes
constexpr size_t kGrowth =
    2; ///< of a table that is full: an entry moves once on average, and less memory is touched
constexpr uint64_t kSeed = 0x243F6A8885A308D3ull, kOtherFactor = 0xD6E8FEB86659FD93ull;
} // namespace

NodeInterner::NodeInterner(const Database& db)
    : blocks_(db),
      insertKind_(db.prepare("INSERT INTO kind (id, op, dtype, arg, tag) VALUES (?, ?, ?, ?, ?)")),
      insertArg_(db.prepare("INSERT INTO arg (id, value) VALUES (?, ?)")),
      insertDtype_(db.prepare("INSERT INTO dtype (id, name) VALUES (?, ?)")), slots_(1 << 12),
      kinds_(1 << 8) {}

uint32_t& NodeInterner::PoolIds::at(uint32_t id) {
  uint32_t page = id / kPage;
  if (page >= pages.size()) pages.resize(page + page / 2 + 1);
  if (!pages[page]) pages[page] = std::make_unique<std::array<uint32_t, kPage>>();
  return (*pages[page])[id % kPage];
}

uint32_t& NodeInterner::known(const Node* node) {
  if (uint32_t serial = node->pool->serial(); !lastPool_ || serial != lastSerial_) {
    beginEpoch();
    lastSerial_ = serial;
    lastPool_ = &pools_[lastSerial_];
  }
  return lastPool_->at(node->id);
}

void NodeInterner::beginEpoch() {
  putWaiting();
  epochFirst_ = blocks_.count() + 1;
}

void NodeInterner::forget(uint32_t poolSerial) {
  beginEpoch();
  pools_.erase(poolSerial);
  lastPool_ = nullptr;
  std::erase_if(watched_, [&](const Node* node) { return node->pool->serial() == poolSerial; });
}

uint32_t NodeInterner::intern(const Node* root) {
  if (!root) return 0;
  if (uint32_t id = known(root)) return id;
  stack_.push_back(root);
  while (!stack_.empty()) {
    const Node* node = stack_.back();
    if (known(node)) {
      stack_.pop_back();
      continue;
    }
    bool ready = true;
    auto src = UOp(node).src();
    for (size_t i = src.size(); i-- > 0;)
      if (!known(src[i].node())) {
        stack_.push_back(src[i].node());
        ready = false;
      }
    if (!ready) continue;
    stack_.pop_back();
    uint32_t id = internOne(node);
    known(node) = id;
    if (!watched_.empty() && watched_.erase(node)) met_.push_back(node);
  }
  return known(root);
}

uint32_t NodeInterner::internOne(const Node* node) {
  uint32_t kind = kindId(node);
  uint64_t high = mixHash(kSeed, kind), low = mixHash(~kSeed, kind, kOtherFactor);
  sources_.clear();
  bool isNew = false;
  for (UOp s : UOp(node).src()) {
    uint32_t id = known(s.node());
    isNew |= id >= epochFirst_;
    sources_.push_back(id);
    high = mixHash(high, id);
    low = mixHash(low, id, kOtherFactor);
  }
  auto low32 = static_cast<uint32_t>(low >> 16);
  if (isNew) {
    const uint32_t id = blocks_.add(kind, sources_);
    __builtin_prefetch(&slots_[high & (slots_.size() - 1)], 1);
    waiting_.push_back({high, low32, id});
    if (waiting_.size() >= kMostWaiting) putWaiting();
    return id;
  }
  auto find = [&](const std::vector<Slot>& slots) -> uint32_t {
    size_t mask = slots.size() - 1;
    for (size_t at = high & mask; slots[at].id; at = (at + 1) & mask)
      if (slots[at].high == high && slots[at].low == low32) return slots[at].id;
    return 0;
  };
  if (uint32_t id = find(slots_)) return id;
  if (uint32_t id = older_.empty() ? 0 : find(older_)) {
    put({high, low32, id});
    return id;
  }
  uint32_t id = blocks_.add(kind, sources_);
  put({high, low32, id});
  return id;
}

void NodeInterner::putWaiting() {
  for (const Slot& slot : waiting_) put(slot);
  waiting_.clear();
}

void NodeInterner::put(const Slot& slot) {
  if (++used_ * 4 > slots_.size() * 3) {
    if (slots_.size() < kMostSlots) {
      std::vector<Slot> old(std::min(slots_.size() * kGrowth, kMostSlots));
      old.swap(slots_);
      used_ = 1;
      for (const Slot& s : old)
        if (s.id) put(s);
    } else {
      older_ = std::exchange(slots_, std::vector<Slot>(kMostSlots));
      used_ = 1;
    }
  }
  size_t mask = slots_.size() - 1, at = slot.high & mask;
  while (slots_[at].id) at = (at + 1) & mask;
  slots_[at] = slot;
}

uint32_t NodeInterner::argId(ArgKind kind, uint64_t bits) {
  if (kind == ArgKind::None) return 0;
  auto [it, fresh] = args_.try_emplace({bits, kind}, static_cast<uint32_t>(args_.size() + 1));
  if (fresh) insertArg_.bind(1, int64_t{it->second}).bind(2, Arg::fromRaw(kind, bits).encode()).run();
  return it->second;
}

NodeInterner::Kind& NodeInterner::placeOf(const Kind& kind) {
  const size_t mask = kinds_.size() - 1;
  size_t at = kind.hash() & mask;
  while (kinds_[at].id && !kinds_[at].isLike(kind)) at = (at + 1) & mask;
  return kinds_[at];
}

uint32_t NodeInterner::kindId(const Node* node) {
  Kind kind{node->dtype.bits(), node->argBits, node->tagBits, node->op, node->argKind, node->tagKind};
  if (const Kind& found = placeOf(kind); found.id) return found.id;
  if (2 * ++kindCount_ > kinds_.size())
    for (const Kind& k : std::exchange(kinds_, std::vector<Kind>(kinds_.size() * kGrowth)))
      if (k.id) placeOf(k) = k;
  kind.id = kindCount_;
  placeOf(kind) = kind;
  insertKind_.bind(1, int64_t{kind.id})
      .bind(2, static_cast<int64_t>(node->op))
      .bind(3, int64_t{dtypeId(node->dtype)})
      .bindId(4, argId(node->argKind, node->argBits))
      .bindId(5, argId(node->tagKind, node->tagBits))
      .run();
  return kind.id;
}

uint32_t NodeInterner::dtypeId(DType dtype) {
  auto [it, fresh] = dtypes_.try_emplace(dtype.bits(), static_cast<uint32_t>(dtypes_.size() + 1));
  if (fresh) insertDtype_.bind(1, int64_t{it->second}).bind(2, dtype.name()).run();
  return it->second;
}

} // namespace uopscope
