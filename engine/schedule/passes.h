// The passes of a schedule and the state they share, internal to engine/schedule. The table in
// schedule_passes.h has their order.
//
// A value that gets memory of its own is a StoredValue. Its number is the tag of its BUFFERIZE, which
// rewrites of the nodes below keep:
//
//   BUFFERIZE(v, r0, r1) tagged 3      // computes state.stored[3]
#pragma once
#include "engine/rewrite/driver.h"
#include "engine/uop/sint.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace uopscope::sched {

/// The choice whether a value is stored or computed again by its readers.
struct StoreChoice {
  int64_t number = 0;           ///< FLIP=number makes it the other way
  double again = 0, stored = 0; ///< prices, in quarters of a vector operation
};

/// Why a value has a kernel of its own that the loops of its reader could compute as well.
struct OwnKernel {
  const char* reason = "";
  double stored = 0, inReader = 0; ///< prices of what differs, in quarters of a vector operation
  bool isApart = false;            ///< it comes into no other value's loops, not even to be stored there
};

struct StoredValue {
  UOp node; ///< the value in the graph that ranges were assigned to
  std::string device;
  Shape shape;
  double elements = 1;     ///< number of its elements, with symbolic dimensions at their largest
  double demand = 0;       ///< number of elements that all readers together ask for
  int kernel = -1;         ///< the kernel that stores it, as the number of that kernel's first value
  int level = 0;           ///< see output_groups.h
  bool hosted = false;     ///< the kernel of a reader stores it along with its own output
  bool removable = true;   ///< its readers may compute it themselves instead
  bool exactShape = false; ///< it is used outside of the schedule, so the buffer must hold all of it
  std::vector<int> users;  ///< stored values computed from it
  std::vector<UOp> parts;  ///< nodes computed in the same loops
  UOp buffer;              ///< set once it is stored
  std::optional<StoreChoice> choice =
      {}; ///< none where there is no choice; known while rewrites are observed
  std::optional<OwnKernel> ownKernel = {};
};

/// State that the passes share.
struct ScheduleState {
  std::vector<StoredValue> stored;
  std::vector<UOp> outputs;     ///< bases of those sources of the SINK that get stored, in order
  std::vector<UOp> customSinks; ///< kernels given by hand
  std::vector<UOp>
      givenByHand;   ///< the buffers of those that became kernels of the schedule, once for each kernel
  UOpMap<bool> held; ///< values that Tensors hold
  int64_t nextRange = 0, nextBuffer = 0;
  /// Reductions to a single element are stored instead of being computed by their readers. An assignment then
  /// does not read its target at elements other than the one it writes.
  bool storeScalars = false;
  /// Values of buffers that are read after, or in the same kernel as, an assignment to the buffer. The graph
  /// is then scheduled again with copies for these reads.
  std::vector<UOp> needCopies;
  int failing = -1; ///< the stored value that an error is about
  void wantCopy(UOp buffer) {
    if (std::find(needCopies.begin(), needCopies.end(), buffer) == needCopies.end())
      needCopies.push_back(buffer);
  }
};

/// One kernel or one transfer.
struct KernelEntry {
  UOp kernel; ///< the KERNEL node
  UOp ast;
  std::vector<UOp> buffers; ///< BUFFERs, outputs first
};

UOp earliestRewrites(UOp sink, UOpMap<UOp>* map);
/// The REDUCE_AXIS of a product with an operand stored side by side first that it reads in steps; null where it has none, or where
/// that costs more than it saves.
UOp withStoredOperand(UOp reduce);
/// The rule "split-reduce": sums of sums over pieces, instead of one long sum.
UOp splitSum(Match& m);
/// Reads of these values (BUFFERs, ASSIGNs) read a copy instead. Assignments still write the buffers
/// themselves.
UOp readFromCopies(UOp sink, std::span<const UOp> versions, UOpMap<UOp>* map);
/// The passes "get realize" and "apply rangeify".
UOp rangeify(UOp sink, ScheduleState& state);
/// The pass "symbolic+reduce_collapse+debuf".
UOp removeCheapBuffers(UOp sink, ScheduleState& state);
/// The pass "stream softmax": sums that a softmax weights need no scores in memory.
UOp streamSoftmaxes(UOp sink, ScheduleState& state);
/// The pass "recompute from stored": values that readers compute from others of the same kernel have no memory.
UOp recomputeValues(UOp sink, ScheduleState& state);
/// The pass "group outputs": stores over the same loops become one effect.
UOp groupStores(UOp sink, ScheduleState& state);
/// The pass "limit buffers".
UOp limitBuffers(UOp sink, ScheduleState& state);
/// The pass "bufferize to store".
UOp bufferizeToStore(UOp sink, ScheduleState& state);
/// The pass "split kernels". It may ask for copies (needCopies).
UOp splitKernels(UOp sink, ScheduleState& state);
/// The pass "fix_assign": orders kernels so that every reader of a value runs before the next writer of its
/// buffer. It may ask for copies (needCopies).
UOp fixAssign(UOp sink, ScheduleState& state, std::vector<KernelEntry>& order);

/// The rules of these passes.
const PatternMatcher& copyRules();
const PatternMatcher& earliestMatcher();
const PatternMatcher& applyRangesMatcher();
const PatternMatcher& inlineMatcher();
const PatternMatcher& streamMatcher();
const PatternMatcher& recomputeMatcher();
const PatternMatcher& limitMatcher();
const PatternMatcher& storeMatcher();
const PatternMatcher& groupMatcher();
const PatternMatcher& splitMatcher();
const PatternMatcher& fixAssignMatcher();

/// The pass "remove all tags".
UOp removeTags(UOp sink);

/// The node below a chain of movement operations.
inline UOp baseOf(UOp u) {
  while (u.in(group::kMovement)) u = u.src(0);
  return u;
}
/// The node below movement operations and casts: what is read in the end.
inline UOp sourceOf(UOp u) {
  while (u.is(Op::CAST) || u.in(group::kMovement)) u = u.src(0);
  return u;
}
/// Whether a BUFFERIZE is a StoredValue; else its kernel stores it for itself.
inline bool hasMemory(UOp bufferize) {
  return bufferize.arg().as<BufferizeOpts>().addrspace == AddrSpace::Global;
}
/// The BUFFER that an assignment through this node writes; null if it is no view of a buffer.
UOp assignedBuffer(UOp target);
/// The number of elements, with symbolic dimensions at their largest.
double elementCount(std::span<const Sint> shape);

} // namespace uopscope::sched
