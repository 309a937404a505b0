// Checks that two graphs mean the same by evaluating both: values, tensors, addresses, memory and effects, on
// corner assignments and random ones. docs/design/check.md states how each kind is evaluated.
//
//   RewriteChecker checker;
//   PoolScope scope(checker.pool());
//   ValueCheck c = checker.check(before, after, {});
//
// At first every part that both sides share is an unknown function of its variables. Only where this makes a
// difference, the shared part is opened, one layer at a time. A difference is claimed only for graphs that
// were evaluated down to their leaves.
#pragma once
#include "replay/compare/graph_values.h"

#include <optional>
#include <string>

namespace uopscope {

struct ValueCheck {
  enum class Verdict : uint8_t { Same, Differs, Unknown } verdict = Verdict::Unknown;
  std::string why;                  ///< Unknown: the obstacle
  std::string where, before, after; ///< Differs: the assignment and both values
  int samples = 0;                  ///< samples evaluated
};

struct CheckLimits {
  int samples = 32;
  int64_t perSample = 400'000; ///< most nodes computed in a sample
  int64_t total = 1'200'000;   ///< most nodes computed in all samples of all layers
  int64_t inAll = 30'000;      ///< no sample begins after this many nodes
  size_t writes = 1u << 18;    ///< most elements whose addresses are listed
};

/// The knowledge of a pass that its graph does not hold.
struct PassMemory {
  UOpMap<UOp> renamed, renamedFrom; ///< renamed buffers and loops, one to one
  UOpMap<TensorIndex> layouts;      ///< layouts of stored values
  UOpMap<std::vector<UOp>> indices; ///< tensor -> the loops it is computed in
};

class RewriteChecker {
public:
  RewriteChecker() : scope_(pool_) {}
  Pool& pool() { return pool_; }
  Variables& variables() { return variables_; }
  ValueCheck check(UOp before, UOp after, const CheckLimits& limits, PassMemory* pass = nullptr);
  /// Whether `after` is the sum over the sources of `before` of derivative times tangent; NOOP is tangent zero.
  ValueCheck checkTangent(UOp before, UOp after, const UOpMap<UOp>& tangents, const CheckLimits& limits);

private:
  Pool pool_;
  PoolScope scope_;
  Variables variables_;
};

/// Whether two graphs are equal except for tags, the facts about a kernel at its SINK, and the names of
/// loops.
bool sameStructure(UOp before, UOp after);

} // namespace uopscope
