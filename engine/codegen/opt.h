// The optimiser of a kernel: ranges change their type and split, by Opts (UPCAST, UNROLL, LOCAL, GROUP,
// GROUPTOP, THREAD, PADTO, SWAP, NOLOCALS, TC).
//
//   KernelOptimizer s(ast, target);
//   s.apply({OptOp::UPCAST, 0, {4}});         // range 0 of s.ranges() gets an inner part of 4 lanes
//   UOp done = s.optimized();                 // named after its ranges, opts recorded in KernelInfo
//
// An Opt that does not fit throws Error(Compile) that says why, and leaves the kernel as it was.
#pragma once
#include "engine/codegen/target.h"
#include "engine/rewrite/observer.h"

#include <string>
#include <vector>

namespace uopscope {

/// Second argument of an UPCAST whose amount does not divide the range: the last tile begins earlier and computes
/// some results a second time, so that every tile is whole. For kernels that do not read what they write.
constexpr int64_t kOverlap = 1;

class KernelOptimizer {
public:
  KernelOptimizer(UOp ast, const Target& target);

  UOp ast() const { return ast_; }
  const Target& target() const { return *target_; }
  const std::vector<Opt>& applied() const { return applied_; }
  /// Loops in order of their type (outer ones first), then of their ids. Axes of Opts count in this list.
  const std::vector<UOp>& ranges() const { return ranges_; }
  /// Extent of a range; -1 where it is symbolic.
  int64_t extent(size_t axis) const;
  std::vector<size_t> axesOf(std::initializer_list<AxisType> types) const;
  const std::vector<UOp>& reduces() const { return reduces_; }
  /// INDEX nodes in topological order.
  const std::vector<UOp>& accesses() const { return accesses_; }
  /// Loops that hold output, in every store of the kernel: those that may run side by side.
  std::vector<UOp> parallelRanges() const;
  /// Whether several steps of the range can be taken at once: not where memory of the kernel's own holds but one.
  bool mayBecomeLanes(UOp range) const;
  /// Whether results along the range may be computed twice.
  bool mayOverlap(UOp range) const;
  /// Product of the extents of UPCAST and UNROLL ranges.
  int64_t expandedSize() const;

  /// Changes the kernel by one Opt, as a pass named after it; `why` says in words why it was chosen. False
  /// where an observer forbids it.
  bool apply(const Opt& opt, const Decision& why = {});
  /// LOOPs that may run side by side become GLOBAL, where the target has work groups.
  void loopsToGlobal();
  /// "r_16_16_4": r with a reduction, E without, then extents of the ranges.
  std::string name() const;
  UOp optimized() const;

private:
  void refresh();
  /// One step of the Opt being applied: nodes replaced under the name of a rule.
  void replace(const UOpMap<UOp>& nodes, const PatternMatcher& rules);
  size_t axisOf(const Opt& opt) const;
  void split(const Opt& opt, size_t axis);
  void padTo(size_t axis, int64_t multiple);
  void swapAxes(size_t axis, size_t other);
  void useTensorCore(const Opt& opt);
  /// The products a tensor core takes, once row, column and term of the chosen one are whole tiles.
  std::vector<struct TensorCoreProduct> paddedToTiles(const Opt& opt, const TensorCore& core, size_t choice,
                                                      bool mayPad);
  [[noreturn]] void refuse(const Opt& opt, const std::string& why) const;
  void require(bool ok, const Opt& opt, const char* why) const {
    if (!ok) refuse(opt, why);
  }

  UOp ast_;
  std::string pass_; ///< of the Opt being applied
  Decision why_;     ///< it is applied, until an observer was told
  const Target* target_;
  bool dontUseLocals_ = false;
  int64_t nextId_ = 0;
  std::vector<Opt> applied_;
  std::vector<UOp> ranges_, reduces_, accesses_;
};

/// Opts chosen by looking at the kernel; applied to it.
void chooseOpts(KernelOptimizer& s);
/// Applies the Opts that KernelInfo asks for (optsToApply), else those of chooseOpts; none with NOOPT=1.
UOp optimizeKernel(UOp ast, const Target& target);

} // namespace uopscope
