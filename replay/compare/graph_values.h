// Evaluates graphs of every stage of the compiler under one assignment: tensors, loops, lanes, memory,
// registers. It evaluates a graph as it stands, before and after any pass, so that two graphs can be compared
// by value.
//
//   GraphValues v(variables, seed);
//   v.set(key of a range, 3);
//   v.value(index expression)         lanes of constants
//   v.valueAt(tensor, {0, 2})         an element
//   v.pointers(address)               the elements that a LOAD or STORE accesses
//   v.choose(key of a loop, 3)        as in its fourth iteration of a run: node_values.h
//
// Memory without a store in the graph is an unknown function of buffer and address. A node declared opaque is
// an unknown function of its variables; so is an operation without values here (text of targets). Both
// functions are hashes, so equal reads give equal values on both sides of a rewrite. An Error tells why a
// part cannot be computed: Index for a graph that is too large, Unsupported for all else.
#pragma once
#include "engine/base/hash.h"
#include "replay/compare/graph_variables.h"
#include "replay/compare/value_memo.h"

#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace uopscope {

using TensorIndex = std::vector<int64_t>;

struct Pointer {
  UOp memory; ///< a buffer, or an AFTER of one
  int64_t index = 0;
  bool valid = true;
  int width = 1; ///< consecutive elements read or written through it
};

/// The iteration of a store, and the lane, that writes an element.
struct Writer {
  UOp store;
  std::vector<std::pair<uint32_t, int64_t>> at;
  size_t lane = 0;
};
using WriteMap = std::unordered_map<int64_t, Writer>; ///< by address
/// By effect, the values of its variables, and the memory.
using WriteMaps = std::map<std::tuple<uint32_t, uint64_t, uint64_t>, WriteMap>;

/// State that both sides of a comparison share.
struct ValueContext {
  explicit ValueContext(Variables& v) : variables(v) {}
  Variables& variables;
  uint64_t seed = 0;
  std::unordered_set<uint32_t> opaque;             ///< slots of nodes that are taken as unknown functions
  std::unordered_map<uint64_t, DType> memoryTypes; ///< type of each memory at its first read
  UOpMap<TensorIndex> layouts;                     ///< of stored values that several indices still read
  UOpMap<UOp> launched;                            ///< KERNEL -> launchedWith()
  WriteMaps writes;     ///< of effects whose addresses are the same in every sample
  UOpMap<bool> plain;   ///< whether the effect is one of these
  int64_t budget = 0;   ///< nodes that may still be computed
  double roundoff = 0;  ///< possible difference of sums in different orders
  int coarsest = 0;     ///< coarsest float type met: 0 none, 1 double ... 5 fp8
  bool guessed = false; ///< an operation without values took part: equal values count, unequal ones do not
  /// Contents of memory that no store in the graph wrote. With it, values are those of one run: an unknown
  /// function is then an Error, and so is memory that was not written.
  std::function<ConstValue(UOp memory, int64_t address, DType type)> contents = {};
  /// Asked now and then; true ends the work with Error(Runtime).
  std::function<bool()> stop = {};

  /// The effect of a KERNEL, with the buffers that it is launched with in place of its parameters. Each kernel counts
  /// its loops from 0, so they get numbers that no other kernel has.
  UOp launchedWith(UOp kernel);
};

/// The bits of a number in memory as a type of the same size; Error(Unsupported) for a different size.
ConstValue readAs(const ConstValue& v, DType from, DType to);

class GraphValues {
public:
  explicit GraphValues(ValueContext& context) : ctx_(context) {}

  void set(uint32_t key, int64_t value);
  std::optional<int64_t> get(uint32_t key) const {
    return key < values_.size() && bindings_[key] ? std::optional(values_[key]) : std::nullopt;
  }
  void unset(uint32_t key);
  /// Binds a loop to one of its iterations: memory then holds the stores of the iterations before it.
  void choose(uint32_t key, int64_t iteration);
  /// After an Error: nothing is being computed; values that were computed stay known.
  void recover();
  /// The effects of the whole graph, which tell what earlier iterations of a chosen loop write.
  void setProgram(UOp root);
  /// Indices of tensors that a graph with loops still reads without an INDEX.
  void setAtHand(const UOpMap<std::vector<UOp>>* atHand) { atHand_ = atHand; }

  Lanes value(UOp u);
  Lanes valueAt(UOp tensor, TensorIndex index);
  std::vector<Pointer> pointers(UOp u);
  ConstValue read(UOp memory, int64_t address, DType type);
  /// Runs effects in order; later effects read their writes.
  void run(UOp effect);
  /// The writes of run(), by memory and address.
  const std::map<std::pair<uint64_t, int64_t>, ConstValue>& written() const { return written_; }

  /// Calls f with every combination of the variables; the first variable changes slowest.
  void forEach(const VariableList& loops, const std::function<void()>& f);
  int64_t extentOf(const Variable& v);
  /// Throws what spend() throws if running the loops takes more than may still be computed. `u`: a value or an address that
  /// is computed in them, once for each combination of the loops it depends on.
  void expectToSpend(const VariableList& loops, UOp u);
  TensorIndex shapeOf(UOp tensor);
  /// The place of a movement operation's element in its source; false: the element is a zero of a PAD.
  bool throughMovement(UOp u, TensorIndex& at);
  /// A number of the memory; all names of one memory share it.
  uint64_t memoryKey(UOp memory);
  /// Hash of the values of the variables that a node depends on.
  uint64_t environment(UOp u);

  /// Takes n nodes off what a sample may compute; throws Error(Index) when nothing is left.
  void spend(int64_t n = 1);

private:
  Lanes compute(UOp u);
  Lanes computeVariable(UOp u);
  Lanes opaqueValue(UOp u);
  Lanes computeReduce(UOp u);
  Lanes computeReduceAxis(UOp u);
  Lanes computeUnroll(UOp u);
  Lanes computeLanes(UOp gep);
  Lanes computeLoad(UOp u);
  Lanes computeIndex(UOp u);
  Lanes computeBuffer(UOp u);
  Lanes computeTiles(UOp wmma);
  Lanes computeDot(UOp wmma);
  Lanes uninterpreted(UOp u);
  Lanes bufferizedAt(UOp bufferize, const TensorIndex& index);
  std::vector<Pointer> indexPointers(UOp u);
  TensorIndex numbers(UOp shape);
  ConstValue unknownAt(uint64_t memory, int64_t address, DType type);
  ConstValue readStored(UOp after, int64_t address, DType type);
  const WriteMap& writesOf(UOp effect, uint64_t memory);
  bool hasPlainAddresses(UOp effect);
  void collectWrites(UOp effect, uint64_t memory, WriteMap& out);
  void ensureRan(UOp effect);
  void runStore(UOp store);
  const std::vector<UOp>& effectsBefore(UOp store);
  using Past = std::map<std::pair<uint64_t, int64_t>, ConstValue>;
  const Past* pastOf(UOp after);
  void runUntil(UOp after, const std::set<uint32_t>& around);
  bool dependsOnIndex(UOp u) const;

  ValueContext& ctx_;
  std::vector<int64_t> values_;                ///< by key
  std::vector<uint64_t> bindings_;             ///< by key: a hash of key and value; 0: not bound
  std::unordered_set<uint32_t> running_;       ///< keys of the loops that run() or a reduction goes through
  std::unordered_set<uint32_t> chosen_;        ///< of these, the loops that stand at a chosen iteration
  std::map<uint32_t, int64_t> wanted_;         ///< what choose() was asked for
  std::map<uint64_t, std::vector<UOp>> loops_; ///< memory -> the ENDs of loops that write it
  std::map<std::pair<uint32_t, uint64_t>, Past> pasts_; ///< memory at chosen iterations: of an AFTER
  int deep_ = 0;                                        ///< effects that are being run
  const UOpMap<std::vector<UOp>>* atHand_ = nullptr;
  TensorIndex index_;
  bool hasIndex_ = false;
  int depth_ = 0;
  ValueMemo memo_;
  std::map<std::pair<uint64_t, int64_t>, ConstValue> written_;
  std::unordered_map<uint32_t, uint64_t> ran_;            ///< effect -> environment of its last run
  std::unordered_map<uint32_t, std::vector<UOp>> before_; ///< store -> effectsBefore()
  WriteMaps writes_;
};

/// The buffer that an address, or an AFTER of a buffer, leads to; null for a value.
UOp memoryBase(UOp u);
/// Memory that the schedule knows; a kernel has parameters for it.
constexpr OpSet kScheduleMemory{Op::BUFFER, Op::BUFFER_VIEW};

/// Throws Error(Unsupported): the interpreter has no answer here, for this reason.
[[noreturn]] void cannotEvaluate(const std::string& why);

uint64_t hashOf(const ConstValue& v);
/// A value of the type made from a hash; an integer lies within the bounds.
ConstValue valueOfHash(DType type, uint64_t hash, int64_t low = INT64_MIN, int64_t high = INT64_MAX);
/// Whether two values agree: exactly for integers, up to rounding for floats.
bool alike(const ConstValue& before, const ConstValue& after, const ValueContext& context);
std::string showLanes(const Lanes& lanes);

} // namespace uopscope
