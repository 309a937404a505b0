// Two graphs that should mean the same, compared by running both: values, tensors, addresses, memory and
// effects, on corner assignments and random ones. docs/design/check.md says what is evaluated how.
//
//   RewriteChecker checker;
//   PoolScope scope(checker.pool());
//   ValueCheck c = checker.check(before, after, {});
//
// What both sides share is first an unknown function of its variables; only where that makes a difference is
// it opened, a layer at a time. A difference is claimed for graphs that were evaluated down to their leaves.
#pragma once
#include "replay/compare/graph_values.h"

#include <optional>
#include <string>

namespace uopscope {

struct ValueCheck {
  enum class Verdict : uint8_t { Same, Differs, Unknown } verdict = Verdict::Unknown;
  std::string why;                  ///< Unknown: what stands in the way
  std::string where, before, after; ///< Differs: the assignment and both values
  int samples = 0;                  ///< evaluated
};

struct CheckLimits {
  int samples = 32;
  int64_t perSample = 400'000; ///< nodes computed at most
  int64_t total = 1'200'000;   ///< of all samples of all layers
  int64_t inAll = 100'000;     ///< no further sample is begun after this many
  size_t writes = 1u << 18;    ///< elements whose addresses are listed
};

/// What a pass knows beside its graph.
struct PassMemory {
  UOpMap<UOp> renamed, renamedFrom; ///< buffers and loops that got another name: one to one
  UOpMap<TensorIndex> layouts;      ///< of stored values
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

/// Equal but for tags, the facts about a kernel at its SINK, and the names of loops.
bool sameStructure(UOp before, UOp after);

} // namespace uopscope
