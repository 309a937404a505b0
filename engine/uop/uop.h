// UOp: the one node type, from tensor graph to linear program.
//
// A UOp is a pointer-sized handle to an immutable, hash-consed node: making the same (op, dtype, src, arg,
// tag) twice in a pool gives the same node, so == on handles is structural equality. Nodes live in a Pool and
// carry ids that rise in creation order; ids, never addresses, reach hashes, files and tests. Tables beside
// the nodes are keyed by slot, which stays small however long a pool lives.
//
// Each thread has a current pool (PoolScope); every node is made there and its sources must live there too.
// Pools are independent. `import` copies a graph from one pool to another: a kernel gets a small pool of its
// own this way, and its ids do not depend on the kernels compiled before it.
//
//   Pool pool; PoolScope scope(pool);
//   UOp i = UOp::range(16, 0);
//   UOp e = i * 4 + 2;                  // ADD(MUL(RANGE, CONST 4), CONST 2)
//   e == UOp::range(16, 0) * 4 + 2      // true
#pragma once
#include "engine/base/arena.h"
#include "engine/uop/arg.h"
#include "engine/uop/dtype.h"
#include "engine/uop/ops.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace uopscope {

class Pool;
class UOp;
class FactStore;
struct Facts;

/// The node behind a UOp handle. Read it through UOp; pool.cpp alone makes one.
struct Node {
  uint32_t id;   ///< rises in order of creation and is never given twice
  uint32_t slot; ///< place in the pool: dense, and given again once the node is freed
  uint32_t hash;
  uint32_t srcCount;
  Op op;
  ArgKind argKind, tagKind;
  uint8_t flags;
  mutable uint32_t pins; ///< UOpRefs that hold the node
  DType dtype;
  uint64_t argBits, tagBits;
  mutable Facts* facts;     ///< lazily computed properties, see facts.h; owned by the pool
  Pool* pool;               ///< the pool that made the node
  OpSet below;              ///< operations of this node and of all its transitive sources
  mutable uint64_t settled; ///< rule sets that change nothing from here down: see Pool::settledBit
};

/// A dimension of a shape: an int or a symbolic integer. sint.h has its arithmetic.
class Sint;
using Shape = std::vector<Sint>;

class UOp {
public:
  constexpr UOp() = default;
  constexpr explicit UOp(const Node* node) : node_(node) {}

  const Node* node() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const UOp&) const = default;

  Op op() const { return node_->op; }
  DType dtype() const { return node_->dtype; }
  Arg arg() const { return Arg::fromRaw(node_->argKind, node_->argBits); }
  Arg tag() const { return Arg::fromRaw(node_->tagKind, node_->tagBits); }
  uint32_t id() const { return node_->id; }
  /// The key of side tables (IdMap): a small number, which stands for this node only while the node lives.
  uint32_t slot() const { return node_->slot; }
  /// The operations of this node and of all its transitive sources.
  const OpSet& below() const { return node_->below; }
  std::span<const UOp> src() const { return {reinterpret_cast<const UOp*>(node_ + 1), node_->srcCount}; }
  /// Source i. Throws Error(Spec) if there is none, since graphs come from scripts and files.
  UOp src(size_t i) const {
    if (i >= node_->srcCount) [[unlikely]]
      throwNoSource(i);
    return reinterpret_cast<const UOp*>(node_ + 1)[i];
  }
  size_t srcCount() const { return node_->srcCount; }
  bool is(Op op) const { return node_->op == op; }
  bool in(const OpSet& ops) const { return ops.has(node_->op); }

  // --- making ---
  /// The node of these fields in the current pool.
  static UOp make(Op op, DType dtype, std::span<const UOp> src = {}, Arg arg = {}, Arg tag = {});
  static UOp make(Op op, DType dtype, std::initializer_list<UOp> src, Arg arg = {}, Arg tag = {}) {
    return make(op, dtype, std::span<const UOp>(src.begin(), src.size()), arg, tag);
  }
  /// The same node with these sources.
  UOp withSrc(std::span<const UOp> src) const { return make(op(), dtype(), src, arg(), tag()); }
  UOp withSrc(std::initializer_list<UOp> src) const { return make(op(), dtype(), src, arg(), tag()); }
  UOp withArg(Arg a) const { return make(op(), dtype(), src(), a, tag()); }
  UOp withTag(Arg t) const { return make(op(), dtype(), src(), arg(), t); }
  UOp withDtype(DType d) const { return make(op(), d, src(), arg(), tag()); }
  UOp withOp(Op o) const { return make(o, dtype(), src(), arg(), tag()); }

  /// A CONST with the value as the type holds it. For a vector type every lane has that value.
  static UOp constant(DType dtype, ConstValue value);
  static UOp constant(DType dtype, int64_t value) { return constant(dtype, ConstValue::ofInt(value)); }
  static UOp constant(DType dtype, double value) { return constant(dtype, ConstValue::ofFloat(value)); }
  static UOp index(int64_t value) { return constant(dtypes::index, value); }
  static UOp boolean(bool value) { return constant(dtypes::bool_, ConstValue::ofBool(value)); }
  /// Invalid: the index of an access that must not happen.
  static UOp invalid() { return make(Op::CONST, dtypes::index, {}, Arg::invalid()); }
  static UOp range(UOp end, std::vector<int64_t> ids, AxisType type = AxisType::Loop,
                   DType dtype = dtypes::index);
  static UOp range(int64_t end, int64_t id, AxisType type = AxisType::Loop, DType dtype = dtypes::index);
  static UOp variable(std::string_view name, int64_t vmin, int64_t vmax, DType dtype = dtypes::index);
  static UOp special(UOp end, std::string_view name, DType dtype = dtypes::index);
  static UOp sink(std::span<const UOp> src, Arg arg = {});
  static UOp vectorize(std::span<const UOp> scalars);
  static UOp groupOf(std::span<const UOp> effects); ///< GROUP; the effect itself if it is alone

  /// The operation `op` with this node as its first source. A comparison has dtype bool. Sources are not
  /// converted.
  UOp alu(Op op, std::span<const UOp> others = {}) const;
  UOp alu(Op op, std::initializer_list<UOp> others) const {
    return alu(op, std::span<const UOp>(others.begin(), others.size()));
  }
  UOp constLike(ConstValue v) const { return constant(dtype(), v); }
  UOp constLike(int64_t v) const { return constant(dtype(), v); }
  UOp cast(DType d) const;    ///< this node if it has the type already
  UOp bitcast(DType d) const; ///< likewise
  UOp gep(std::vector<int64_t> lanes) const;
  UOp broadcast(int n) const; ///< VECTORIZE of n copies, or a CONST of n lanes; this node for n == 1
  UOp load(std::vector<UOp> more = {},
           DType dtype = {}) const; ///< LOAD of this INDEX; dtype void: the pointer's base type
  UOp store(UOp value, std::vector<UOp> more = {}) const;
  UOp indexed(std::vector<UOp> indices, DType dtype = {}) const; ///< INDEX; dtype void: this dtype
  UOp end(std::span<const UOp> ranges) const; ///< END of the ranges after this; this node for no ranges
  UOp end(std::initializer_list<UOp> ranges) const {
    return end(std::span<const UOp>(ranges.begin(), ranges.size()));
  }
  UOp after(std::span<const UOp> effects) const;
  UOp reduce(Op op, std::span<const UOp> ranges) const; ///< REDUCE; this node for no ranges
  UOp where(UOp ifTrue, UOp ifFalse) const { return alu(Op::WHERE, {ifTrue, ifFalse}); }
  /// This node where the gate holds, else Invalid.
  UOp validWhere(UOp gate) const;
  UOp logicalNot() const;
  /// The smaller operand: MAX of negated operands for signed integers and floats, WHERE for other types.
  UOp minimum(UOp o) const;
  UOp maximum(UOp o) const { return alu(Op::MAX, {o}); }

  // --- asking ---
  bool isConst() const { return op() == Op::CONST; }
  /// Whether this is a CONST whose value equals v numerically.
  bool isConst(double v) const { return op() == Op::CONST && arg().isNumber() && arg().number() == v; }
  bool isInvalidConst() const { return op() == Op::CONST && arg().kind() == ArgKind::Invalid; }
  /// The value of a CONST.
  ConstValue constValue() const { return arg().constant(); }
  /// The memory at the end of a chain of INDEX, AFTER, CAST ...: a DEFINE_* or BUFFER.
  UOp bufferOf() const;
  /// The axis type of a RANGE.
  AxisType axisType() const { return arg().as<RangeArg>().type; }

  /// All reachable nodes, sources before users, ties in order of sources; this node is last. Iterative.
  std::vector<UOp> toposort() const;
  /// The same without the nodes for which `enter` is false, and without sources reached through these alone.
  std::vector<UOp> toposort(const std::function<bool(UOp)>& enter) const;
  /// All transitive sources of this node; with the node itself when asked.
  std::vector<UOp> backwardSlice(bool withSelf = false) const;
  /// Whether `other` is this node or one of its transitive sources.
  bool dependsOn(UOp other) const;
  /// For each reachable node the nodes that use it, in topological order.
  std::unordered_map<UOp, std::vector<UOp>, struct UOpHash> consumerMap() const;
  /// The same graph with nodes replaced. Replacements are not searched for further nodes to replace.
  UOp substitute(const std::unordered_map<UOp, UOp, struct UOpHash>& replacements) const;
  /// A 128-bit content hash of the whole graph, equal across pools and processes.
  std::pair<uint64_t, uint64_t> key() const;

  // --- facts, computed once per node (facts.h) ---
  /// Bounds of an integer or bool, and of float constants; the bounds of the type where nothing is known.
  /// They saturate at int64: an unknown uint64 has vmax INT64_MAX.
  int64_t vmin() const;
  int64_t vmax() const;
  /// The RANGEs in scope: those among the transitive sources that no END or REDUCE below closes, sorted by
  /// id.
  const std::vector<UOp>& ranges() const;
  /// The shape in the tensor graph. Throws Error(Shape) if the node has none; hasShape() asks first.
  const Shape& shape() const;
  bool hasShape() const;
  /// The device name in the tensor graph; empty for a constant, several names joined by ','.
  std::string device() const;

  // --- printing (print.h) ---
  /// The expression of an index or ALU graph: "(r0*4+2)".
  std::string render() const;
  /// The indented tree that the reference's print(uop) gives: repeated parts are named x0, x1...
  std::string str() const;

private:
  [[noreturn]] void throwNoSource(size_t i) const;
  const Node* node_ = nullptr;
};
static_assert(sizeof(UOp) == sizeof(void*));

struct UOpHash {
  size_t operator()(UOp u) const { return u.node() ? u.node()->hash * 0x9E3779B97F4A7C15ull >> 16 : 0; }
};
template <typename T>
using UOpMap = std::unordered_map<UOp, T, UOpHash>;

/// A CONST, of one lane or many, or the CONST that every lane of a VECTORIZE repeats; null for any other node.
inline UOp laneConst(UOp u) {
  if (u.isConst()) return u;
  if (!u.is(Op::VECTORIZE) || u.srcCount() == 0 || !u.src(0).isConst()) return {};
  for (UOp s : u.src())
    if (s != u.src(0)) return {};
  return u.src(0);
}

// Arithmetic. Integers follow C (division truncates, MOD has the sign of x). Operands are not converted:
// their types must agree.
UOp operator+(UOp x, UOp y);
UOp operator-(UOp x, UOp y); ///< x + y*-1
UOp operator*(UOp x, UOp y);
UOp operator/(UOp x, UOp y); ///< IDIV of integers, x * 1/y of floats
UOp operator%(UOp x, UOp y);
UOp operator&(UOp x, UOp y);
UOp operator|(UOp x, UOp y);
UOp operator^(UOp x, UOp y);
UOp operator<(UOp x, UOp y);
UOp operator>=(UOp x, UOp y); ///< not (x < y)
UOp operator-(UOp x);
UOp operator+(UOp x, int64_t y);
UOp operator-(UOp x, int64_t y);
UOp operator*(UOp x, int64_t y);
UOp operator/(UOp x, int64_t y);
UOp operator%(UOp x, int64_t y);
UOp operator<(UOp x, int64_t y);
UOp operator>=(UOp x, int64_t y);
UOp ne(UOp x, UOp y);
UOp eq(UOp x, UOp y); ///< not (x != y)

/// Owns nodes. One thread at a time uses a pool; another thread may read nodes that were handed over to it.
class Pool {
public:
  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  UOp make(Op op, DType dtype, std::span<const UOp> src, Arg arg, Arg tag);
  /// Copies a graph of another pool into this one. `imported` maps nodes to their copies:
  /// a node that it has already is not copied, and each new copy is added to it.
  UOp import(UOp root, UOpMap<UOp>* imported = nullptr);

  /// The number of ids given so far: the next node gets this id.
  uint32_t nextId() const { return nextId_; }
  size_t liveNodes() const { return live_; }
  size_t bytes() const { return arena_.bytesReserved() + slots_.capacity() * sizeof(Slot); }
  uint32_t serial() const { return serial_; }
  Arena& arena() { return arena_; }
  FactStore& facts() { return *facts_; }

  /// Frees every node that no pinned node (UOpRef) reaches. No bare UOp of this pool may be in use. Returns
  /// the number of freed nodes. Slots and memory are reused, ids are not.
  size_t collect();
  /// Ids of all living nodes, unordered.
  std::vector<uint32_t> liveIds() const;
  /// The bit of Node::settled that stands for a set of rules (PatternMatcher::identity) in this pool; 0 once
  /// all bits are taken. A node with the bit set was rewritten to a fixed point with all its transitive
  /// sources.
  uint64_t settledBit(uint64_t ruleSet);
  /// Sets the hook called with every BUFFER and BUFFER_VIEW that dies, by collect() or with its pool. The
  /// hook releases the memory that is kept for the node outside of the pool. Null: no hook.
  static void whenBufferDies(void (*hook)(UOp));
  /// Sets the hook called with every pool that is about to die or to be collected, on the same thread. The
  /// Observer uses it: readers of the pool's nodes on other threads finish there. Null: no hook.
  static void whenRetired(void (*hook)(Pool&));

  static Pool& current();
  static bool hasCurrent();

private:
  friend class PoolScope;
  friend class FactStore;
  struct Slot {
    uint32_t hash = 0;
    const Node* node = nullptr;
  };
  void grow();
  void announceDeadBuffers(std::span<const Node* const> dead);

  Arena arena_;
  std::vector<Slot> slots_;
  size_t live_ = 0;
  uint32_t nextId_ = 0, nextSlot_ = 0;
  uint32_t serial_;
  bool madeBuffer_ = false;
  std::vector<std::vector<Node*>> freeBySrcCount_;
  std::vector<uint64_t> ruleSets_; ///< the position is the bit of Node::settled
  std::unique_ptr<FactStore> facts_;
};

/// Makes a pool the thread's current one for a block.
class PoolScope {
public:
  explicit PoolScope(Pool& pool);
  ~PoolScope();
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

private:
  Pool* before_;
};

/// A UOp that survives Pool::collect, with all its transitive sources. Tensors and Python objects hold these.
class UOpRef {
public:
  UOpRef() = default;
  UOpRef(UOp uop) : uop_(uop) {
    if (uop_) ++uop_.node()->pins;
  }
  UOpRef(const UOpRef& o) : UOpRef(o.uop_) {}
  UOpRef(UOpRef&& o) noexcept : uop_(o.uop_) { o.uop_ = {}; }
  UOpRef& operator=(UOpRef o) noexcept {
    std::swap(uop_, o.uop_);
    return *this;
  }
  ~UOpRef() {
    if (uop_) --uop_.node()->pins;
  }
  UOp get() const { return uop_; }
  operator UOp() const { return uop_; }
  const UOp* operator->() const { return &uop_; }

private:
  UOp uop_;
};

} // namespace uopscope

template <>
struct std::hash<uopscope::UOp> {
  size_t operator()(uopscope::UOp u) const { return uopscope::UOpHash()(u); }
};
