// The passes of a schedule and the state they share. Internal to engine/schedule.
//
// schedule_passes.h has their order.
//
// A value that gets memory of its own is a StoredValue; its number is the tag of its BUFFERIZE, and so
// survives every rewrite, whatever becomes of the nodes below it.
#pragma once
#include "engine/rewrite/driver.h"
#include "engine/uop/sint.h"

#include <algorithm>
#include <string>
#include <vector>

namespace uopscope::sched {

struct StoredValue {
  UOp node; ///< in the graph that ranges were assigned to
  std::string device;
  Shape shape;
  double elements = 1;     ///< how many it has (symbolic dimensions at their largest)
  double demand = 0;       ///< how often an element is asked for, all readers together
  int kernel = -1;         ///< number of the first value of the kernel that stores it
  int level = 0;           ///< see output_groups.h
  bool hosted = false;     ///< stored by a kernel that computes it anyway
  bool removable = true;   ///< may be computed again by its readers instead
  bool exactShape = false; ///< somebody outside wants it, so its buffer must hold all of it
  std::vector<int> users;  ///< stored values whose computation reads it
  std::vector<UOp> parts;  ///< nodes computed together with it
  UOp buffer;              ///< once it is stored
};

/// State that the passes share.
struct ScheduleState {
  std::vector<StoredValue> stored;
  std::vector<UOp> outputs;     ///< bases of the sources of the SINK that get stored, in order
  std::vector<UOp> customSinks; ///< kernels given by hand
  UOpMap<bool> held;            ///< values that Tensors hold
  int64_t nextRange = 0, nextBuffer = 0;
  /// Reductions without loops of their own are stored instead of computed where they are read, so that an
  /// assignment does not read its target at other elements than it writes.
  bool storeScalars = false;
  /// Buffers whose old contents are read after, or beside, an assignment to them: the graph is to be
  /// scheduled again with these reads served from a copy.
  std::vector<UOp> needCopies;
  int failing = -1; ///< stored value that an error is about
  void wantCopy(UOp buffer) {
    if (std::find(needCopies.begin(), needCopies.end(), buffer) == needCopies.end())
      needCopies.push_back(buffer);
  }
};

/// One kernel, or a transfer.
struct KernelEntry {
  UOp kernel; ///< KERNEL node
  UOp ast;
  std::vector<UOp> buffers; ///< BUFFERs, outputs first
};

UOp earliestRewrites(UOp sink, UOpMap<UOp>* map);
/// Reads of these contents (BUFFERs, ASSIGNs) read a copy; assignments still go to the buffers themselves.
UOp readFromCopies(UOp sink, std::span<const UOp> versions, UOpMap<UOp>* map);
/// "get realize" and "apply rangeify".
UOp rangeify(UOp sink, ScheduleState& state);
/// "symbolic+reduce_collapse+debuf"
UOp removeCheapBuffers(UOp sink, ScheduleState& state);
/// "group outputs": stores over the same loops become one effect.
UOp groupStores(UOp sink, ScheduleState& state);
/// "limit buffers"
UOp limitBuffers(UOp sink, ScheduleState& state);
/// "bufferize to store"
UOp bufferizeToStore(UOp sink, ScheduleState& state);
/// "split kernels". May ask for copies.
UOp splitKernels(UOp sink, ScheduleState& state);
/// "fix_assign": kernels in an order that keeps every reader before the next
/// writer. May ask for copies.
UOp fixAssign(UOp sink, ScheduleState& state, std::vector<KernelEntry>& order);

/// The rules of these passes.
const PatternMatcher& copyRules();
const PatternMatcher& earliestMatcher();
const PatternMatcher& applyRangesMatcher();
const PatternMatcher& inlineMatcher();
const PatternMatcher& limitMatcher();
const PatternMatcher& storeMatcher();
const PatternMatcher& groupMatcher();
const PatternMatcher& splitMatcher();
const PatternMatcher& fixAssignMatcher();

/// "remove all tags"
UOp removeTags(UOp sink);

/// Base of a movement chain.
inline UOp baseOf(UOp u) {
  while (u.in(group::kMovement)) u = u.src(0);
  return u;
}
/// Whether a BUFFERIZE is a StoredValue; else its kernel stores it for itself.
inline bool hasMemory(UOp bufferize) {
  return bufferize.arg().as<BufferizeOpts>().addrspace == AddrSpace::Global;
}
/// The BUFFER that an assignment through this node writes; null if it is no view of a buffer.
UOp assignedBuffer(UOp target);
/// Number of elements, symbolic dimensions at their largest.
double elementCount(std::span<const Sint> shape);

} // namespace uopscope::sched
