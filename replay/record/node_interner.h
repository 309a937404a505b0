// Gives every node of every pool its id in the trace. Nodes are equal when their operation, dtype, argument,
// tag and the trace ids of their sources are equal, so a graph that a second pool makes again is stored once.
#pragma once
#include "engine/base/hash.h"
#include "engine/uop/uop.h"
#include "replay/record/node_blocks.h"

#include <array>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace uopscope {

class NodeInterner {
public:
  explicit NodeInterner(const Database& db);
  /// The id of a graph's root, 0 for null. It visits sources first, each node once, without recursion, so
  /// depth does not matter.
  uint32_t intern(const Node* root);
  /// The id of a node that intern() has met, else 0.
  uint32_t idOf(const Node* node) { return known(node); }
  /// Asks for a report by takeMet() as soon as the node becomes part of a recorded graph.
  void watch(const Node* node) { watched_.insert(node); }
  /// Watched nodes met since the last call, in order.
  std::vector<const Node*> takeMet() { return std::exchange(met_, {}); }
  bool hasMet() const { return !met_.empty(); }
  /// The nodes of the pool are about to be freed; its node ids mean nothing from here on.
  void forget(uint32_t poolSerial);
  /// From here on a node with a source that is known already may be known itself (see epochFirst_).
  void beginEpoch();
  uint32_t count() const { return blocks_.count(); }
  /// Writes the nodes not yet in the file; needed before a commit.
  void flush() { blocks_.flush(); }

private:
  static constexpr uint32_t kPage = 1024;
  /// Trace ids of one pool's nodes, by page. Node ids of a long-lived pool grow without end, but its living
  /// nodes stay few.
  struct PoolIds {
    std::vector<std::unique_ptr<std::array<uint32_t, kPage>>> pages;
    uint32_t& at(uint32_t id);
  };
  struct Slot {
    uint64_t high = 0;
    uint32_t low = 0, id = 0;
  };
  uint32_t& known(const Node* node);
  uint32_t internOne(const Node* node);
  uint32_t argId(ArgKind kind, uint64_t bits);
  uint32_t dtypeId(DType dtype);
  uint32_t kindId(const Node* node);
  void put(const Slot& slot);
  void putWaiting();

  NodeBlockWriter blocks_;
  Statement insertKind_, insertArg_, insertDtype_;
  std::unordered_map<uint32_t, PoolIds> pools_;
  uint32_t lastSerial_ = 0;
  PoolIds* lastPool_ = nullptr;
  static constexpr size_t kMostSlots = 1 << 21; ///< 32 MB a generation; there are two
  std::vector<Slot> slots_, older_;             ///< older_: the generation before, empty at first
  size_t used_ = 0;                             ///< used entries of slots_
  /// The first id of the current epoch, in which all nodes are of one pool and none was freed. A pool has no node twice,
  /// so a node with a source of this epoch is new: it is not looked for.
  uint32_t epochFirst_ = 0;
  std::vector<Slot>
      waiting_; ///< new nodes of this epoch whose place in the table is still on its way to the cache
  struct ArgKey {
    uint64_t bits;
    ArgKind kind;
    bool operator==(const ArgKey&) const = default;
  };
  struct ArgKeyHash {
    size_t operator()(const ArgKey& k) const { return mixHash(k.bits, static_cast<uint64_t>(k.kind) + 1); }
  };
  std::unordered_map<ArgKey, uint32_t, ArgKeyHash> args_;
  std::unordered_map<uint64_t, uint32_t> dtypes_;
  /// Everything of a node but its sources. Every new node asks for its kind, so kinds lie side by side in a table of
  /// their own: open addressing, a power of two of entries, at most half of them used.
  struct Kind {
    uint64_t dtype = 0, argBits = 0, tagBits = 0;
    Op op = Op::NOOP;
    ArgKind argKind = ArgKind::None, tagKind = ArgKind::None;
    uint32_t id = 0; ///< 0: the entry is free
    uint64_t hash() const {
      const uint64_t kinds = static_cast<uint64_t>(op) << 16 | static_cast<uint64_t>(argKind) << 8 |
                             static_cast<uint64_t>(tagKind);
      return mixHash(mixHash(mixHash(kinds + 1, dtype), argBits), tagBits);
    }
    bool isLike(const Kind& k) const {
      return dtype == k.dtype && argBits == k.argBits && tagBits == k.tagBits && op == k.op &&
             argKind == k.argKind && tagKind == k.tagKind;
    }
  };
  /// The entry of a kind, or the free one where it belongs.
  Kind& placeOf(const Kind& kind);
  std::vector<Kind> kinds_;
  uint32_t kindCount_ = 0;
  std::unordered_set<const Node*> watched_;
  std::vector<const Node*> met_, stack_;
  std::vector<uint32_t> sources_;
};

} // namespace uopscope
