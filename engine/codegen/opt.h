// The optimiser of a kernel: ranges change their type and split, by Opts (UPCAST, UNROLL, LOCAL, GROUP,
// GROUPTOP, THREAD, PADTO, SWAP, NOLOCALS, TC).
//
//   KernelOptimizer s(ast, target);
//   s.apply({OptOp::UPCAST, 0, {4}});         // range 0 of s.ranges() gets an inner part of 4 lanes
//   UOp done = s.optimized();                 // named after its ranges, opts recorded in KernelInfo
//
// An Opt that does not fit throws Error(Compile) with the reason and leaves the kernel unchanged.
#pragma once
#include "engine/codegen/target.h"
#include "engine/rewrite/observer.h"

#include <string>
#include <vector>

namespace uopscope {

/// Second argument of an UPCAST or THREAD whose amount does not divide the range. The last tile, or thread, then begins
/// earlier and computes some results a second time, so every tile is whole, and every thread has as many steps. Only for
/// kernels that do not read the memory they write. Of an UNROLL it peels: the terms that are left over are lanes behind the
/// loop, combined with what the loop gives.
constexpr int64_t kOverlap = 1;

class KernelOptimizer {
public:
  KernelOptimizer(UOp ast, const Target& target);

  UOp ast() const { return ast_; }
  const Target& target() const { return *target_; }
  const std::vector<Opt>& applied() const { return applied_; }
  /// Ranges sorted by type (outer ones first), then by id. The axes of Opts are positions in this list.
  const std::vector<UOp>& ranges() const { return ranges_; }
  /// The extent of a range; -1 if it is symbolic.
  int64_t extent(size_t axis) const;
  std::vector<size_t> axesOf(std::initializer_list<AxisType> types) const;
  const std::vector<UOp>& reduces() const { return reduces_; }
  /// All INDEX nodes in topological order.
  const std::vector<UOp>& accesses() const { return accesses_; }
  /// All STOREs into buffers.
  const std::vector<UOp>& stores() const { return stores_; }
  /// Loops over results that are around every store of the kernel: these may run in parallel.
  std::vector<UOp> parallelRanges() const;
  /// Whether steps of the range may run at once. False if a register of the kernel holds the value of a
  /// single step.
  bool mayBecomeLanes(UOp range) const;
  /// Whether a step of the range may read or overwrite memory that a different step stores: then the steps run
  /// in their order. Kernels of the scheduler have no such range.
  bool stepsShareMemory(UOp range) const;
  /// Whether each step reads and stores in a slab of its own of every buffer that it stores to, in whatever order (same_place.h): its
  /// steps may run on several threads, though not in lanes.
  bool stepsKeepToSlabs(UOp range) const;
  /// Whether results along the range may be computed twice.
  bool mayOverlap(UOp range) const;
  /// Whether terms along the range can be peeled off: nothing that is reduced below it, or copied for it, would be repeated.
  bool mayPeel(UOp range) const;
  /// The product of the extents of all UPCAST and UNROLL ranges.
  int64_t expandedSize() const;

  /// Changes the kernel by one Opt, as a pass named after it; `why` is the reason in words. Returns false if
  /// an observer forbids the change.
  bool apply(const Opt& opt, const Decision& why = {});
  /// LOOPs that may run in parallel become GLOBAL, on targets with work groups.
  void loopsToGlobal();
  /// "r_16_16_4": r for a kernel with a reduction, E for one without, then the extents of the ranges.
  std::string name() const;
  UOp optimized() const;

private:
  void refresh();
  /// One step of the current Opt: replaces nodes under the name of a rule.
  void replace(const UOpMap<UOp>& nodes, const PatternMatcher& rules);
  size_t axisOf(const Opt& opt) const;
  void split(const Opt& opt, size_t axis);
  void peel(UOp range, int64_t n, int64_t amount);
  void padTo(size_t axis, int64_t multiple);
  void swapAxes(size_t axis, size_t other);
  void useTensorCore(const Opt& opt);
  void useDotProducts(const Opt& opt, int64_t select, size_t choice);
  /// The products that fit a tensor core. The ranges of the chosen one are padded to whole tiles first.
  std::vector<struct TensorCoreProduct> paddedToTiles(const Opt& opt, const TensorCore& core, size_t choice,
                                                      bool mayPad);
  [[noreturn]] void refuse(const Opt& opt, const std::string& why) const;
  void require(bool ok, const Opt& opt, const char* why) const {
    if (!ok) refuse(opt, why);
  }

  UOp ast_;
  std::string pass_; ///< named after the current Opt
  Decision why_;     ///< its reason, until an observer was told
  const Target* target_;
  bool dontUseLocals_ = false;
  int64_t nextId_ = 0;
  std::vector<Opt> applied_;
  std::vector<UOp> ranges_, reduces_, accesses_;
  std::vector<UOp> stores_; ///< into buffers, not into registers
};

/// Chooses Opts by looking at the kernel, and applies them.
void chooseOpts(KernelOptimizer& s);
/// Applies the Opts of KernelInfo (optsToApply) if it has any, else those of chooseOpts; none with NOOPT=1.
UOp optimizeKernel(UOp ast, const Target& target);

} // namespace uopscope
