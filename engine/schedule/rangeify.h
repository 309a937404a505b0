// Assignment of loops: the ranges over which each value of the tensor graph is computed.
//
// The walk goes from the outputs backwards, so the indices at which all readers want a value are known when
// the value is visited. Readers with equal indices share the computation. If their indices differ, or if they
// would compute an element more than once, the value becomes a candidate for memory of its own (a
// StoredValue) with new loops. A movement operation is no value: each reader looks through it to the value
// below and transforms its indices accordingly.
//
// With PCONTIG a value that one kernel reads in several places (1), or more often than it has elements (2), is stored by
// that kernel for itself: the outer loops of the kernel stay, the other axes get loops and memory of their own. By
// default this is done on a processor for the rows of a large tensor (rows.cpp).
//
// A value that gets memory is stored inside the kernel of a reader that wants exactly its elements in its
// order, where that makes no kernel wait for itself; outputs that share work share their loops
// (output_groups.h).
//
//   out = sum(a * b, axis 1)    sum at (r0), a and b at (r0, r1), r1 a REDUCE range
#pragma once
#include "engine/base/context_var.h"
#include "engine/base/id_map.h"
#include "engine/schedule/kernel_order.h"
#include "engine/schedule/output_groups.h"
#include "engine/schedule/passes.h"

#include <map>
#include <memory>
#include <optional>

namespace uopscope::sched {

/// The index expressions of an access, one per axis. Equal lists are one object.
using Indices = std::vector<UOp>;

class RangeAssignment {
public:
  /// `refused`: stored values whose kernels keep no rows.
  RangeAssignment(ScheduleState& state, const UOpMap<bool>& realize, const UOpMap<bool>& refused)
      : state_(state), realize_(realize), refused_(refused) {}

  void run(UOp sink);
  /// Adds the stored values to `refused` whose kernels keep rows and have sums inside that need a kernel of their own.
  /// Returns whether there are any: the ranges have to be assigned again.
  bool refuseRows(UOpMap<bool>& refused);

  /// The indices at which a computed value reads its sources; null for a node that is not computed.
  const Indices* sourceIndices(UOp u) {
    Ranges* r = ranges_.find(u.slot());
    return r ? r->in : nullptr;
  }
  /// The node that a reader at these indices uses for `source`: the value itself, or an INDEX into memory. A
  /// reader in the loops that store the value uses the value itself.
  UOp read(UOp source, const Indices* at, int kernel);
  /// The kernel that computes a value.
  int kernelOf(UOp u) { return ranges_.find(u.slot())->kernel; }
  /// The memory of a stored value as INDEX takes it: a BUFFER, a BUFFERIZE, or either AFTER a kernel given by
  /// hand.
  UOp memoryOf(UOp u);
  /// The BUFFERIZE of a stored value.
  UOp bufferize(int number);
  /// The number of the node's StoredValue; -1 if it has none.
  int storedNumber(UOp u) {
    int* n = numberOf_.find(u.slot());
    return n ? *n : -1;
  }

private:
  struct Ranges {
    const Indices* out = nullptr;
    const Indices* in = nullptr;
    int kernel = -1;  ///< the kernel that computes it, as the number of its first stored value
    double evals = 0; ///< number of its evaluations
    double runs =
        0; ///< iterations of its loops: evaluations, and those in the margins of a PAD, which nobody needs
  };
  struct Use {
    const Indices* at;
    int kernel;
    double evals, most; ///< computations it asks for; those of the reader
    double runs;        ///< iterations of the reader's loops
  };

  const Indices* intern(Indices list);
  const Indices* through(UOp movement, const Indices* at);
  const Indices* freshRanges(const Shape& shape, std::span<const int64_t> reduceAxes, const Indices* outer);
  void assign(UOp u);
  const Indices* merge(const std::vector<Use>& uses);
  void addUses(UOp reader, const Ranges& ranges);
  int store(UOp u, bool removable);
  const Indices* alongLoops(const Indices& list, const Shape& shape);
  /// The target of the first in a chain of assignments; the node itself if it is no assignment.
  UOp belowAssigns(UOp u);
  const Use* hostFor(UOp u, const std::vector<Use>& uses);
  static double runsOf(const std::vector<Use>& uses);
  std::optional<OwnKernel> ownKernelFor(UOp u, const std::vector<Use>& uses, double demand) {
    if (vars::plain) return {};
    std::optional<OwnKernel> found = dearInMargins(u, uses, demand);
    if (!found) found = untiledProduct(u, uses);
    if (!found) found = besideProduct(u, uses);
    if (!found) found = productApart(u, uses);
    if (!found) found = rowsForThreads(u, uses);
    return found ? found : carriedInCompany(u, uses);
  }
  static std::optional<OwnKernel> dearInMargins(UOp u, const std::vector<Use>& uses, double demand);
  int writesOf(const std::vector<Use>& uses);
  UOp productBelow(UOp u);
  std::optional<OwnKernel> untiledProduct(UOp u, const std::vector<Use>& uses);
  std::optional<OwnKernel> besideProduct(UOp u, const std::vector<Use>& uses);
  static double tiledIterations(UOp reduction);
  std::optional<OwnKernel> productApart(UOp u, const std::vector<Use>& uses);
  double iterationsBelow(UOp u);
  std::optional<OwnKernel> rowsForThreads(UOp u, const std::vector<Use>& uses);
  std::optional<OwnKernel> carriedInCompany(UOp u, const std::vector<Use>& uses);
  /// Whether a loop of a reduction reads it.
  static bool isInReduction(const Use& use);
  /// Where a value lies that its readers' kernel stores for itself.
  struct Inside {
    Indices index;                  ///< null for the axes that it is stored along
    std::vector<size_t> axes;       ///< these axes
    double elements = 1, steps = 1; ///< elements stored at a time; how many times
  };
  std::optional<Inside> placeInside(UOp u, const std::vector<Use>& uses);
  const Indices* insideKernel(UOp u, const std::vector<Use>& uses, bool agreed);
  bool staysInRow(UOp u, const std::vector<Use>& uses, const Inside& place);
  bool reducesRow(UOp u, const Inside& place);
  bool needsLargerSum(UOp value, double rows);
  int readersOf(UOp value);
  void print(UOp u, const Ranges& r);

  ScheduleState& state_;
  const UOpMap<bool>& realize_;
  const UOpMap<bool>& refused_;
  std::vector<UOp> order_;      ///< of the graph, sources first
  std::map<int, double> rows_;  ///< kernels that keep rows -> how many
  KernelOrder kernelOrder_;     ///< of the kernels so far, those of each level for themselves
  std::map<int, int> storesOf_; ///< kernels -> how many values they store
  std::map<int, bool> carries_; ///< kernels with a carried sum, which store nothing else
  std::map<int, double>
      sums_; ///< kernels with a reduction -> iterations of the largest product with tiles among them
  IdMap<int> readers_; ///< how many values read a value
  size_t counted_ = 0; ///< values whose reads are counted
  std::map<std::vector<uint32_t>, std::unique_ptr<Indices>> lists_;
  std::map<std::pair<uint32_t, const Indices*>, const Indices*> throughMemo_;
  IdMap<Ranges> ranges_;
  IdMap<int> numberOf_, slotOf_;
  UOpMap<std::vector<size_t>>
      inner_; ///< values that a kernel stores for itself -> axes that they are stored along
  IdMap<const Node*> belowAssigns_;
  std::vector<std::vector<Use>> uses_;
  std::optional<OutputGroups> groups_;
  std::map<int, Ranges> groupRanges_;
};

/// Whether kernels of a device have few threads, and caches near them.
bool isProcessor(std::string_view device);
/// Whether a loop can carry a reduction from result to result: a running sum, or one that scatters its terms.
bool isCarried(UOp u);
/// For each axis of a reduction's source, whether its terms are 0 but for one place, which a number says: reading a table by
/// number. Such an axis becomes a read, whatever its length.
std::vector<bool> axesLookedUp(UOp u);

/// The indices that vary, in order.
Indices loopsOf(const Indices& indices);
/// The simplified index expressions; the rewrite is recorded as a nested pass of that name.
Indices simplified(Indices indices, std::string_view pass);

} // namespace uopscope::sched
