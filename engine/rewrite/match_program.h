// A pattern compiled to straight lines. Alternatives (operands in either order, `oneOf`) are multiplied out
// into variants, so that running one needs no backtracking: load a source, test it, bind it, or fail.
#pragma once
#include "engine/rewrite/rule.h"

#include <array>
#include <vector>

namespace uopscope {

struct MatchStep {
  enum class Kind : uint8_t {
    Load, ///< reg = src[index] of reg `from`
    Ops,  ///< operation in the set a, b; `index`: place among the root's first sources from 1, 0 elsewhere
    SrcCount,   ///< exactly `index` sources
    SrcAtLeast, ///< at least `index` sources
    DTypes,     ///< scalar kind in the mask a
    ExactDType, ///< dtype bits equal a
    ArgEqual,   ///< argument of kind `index`, bits a
    ArgNumber,  ///< number equal to the double with bits a
    Bind,       ///< reg becomes variable `index`
    Same,       ///< reg must be variable `index`; binds it if it is not bound yet
    Repeat      ///< every source of `from` passes the next `a` steps, loaded to reg
  };
  Kind kind;
  uint8_t reg = 0, from = 0;
  uint32_t index = 0;
  uint64_t a = 0, b = 0;
};

struct MatchVariant {
  OpSet root; ///< operations the root may have; all for none
  static constexpr size_t kSources = 3;
  std::array<OpSet, kSources> sources{OpSet::all(), OpSet::all(),
                                      OpSet::all()}; ///< those its first ones may have
  DTypeMask dtypes = 0;                              ///< scalar kinds the root may have; 0: any
  uint32_t atLeast = 0, atMost = ~0u;                ///< number of its sources
  std::vector<MatchStep> steps;

  /// Whether the members above say all that this step asks.
  bool implied(const MatchStep& step) const;
};

constexpr int kMatchRegisters = 48;

/// Every way the rule's pattern can match, in the order they are tried; compiled once for a rule of a table.
/// Throws Error(Rewrite) for more than 512.
std::shared_ptr<const std::vector<MatchVariant>> variantsOf(const Rule& rule);

/// Runs the steps; `binds` holds the variables (null before). Returns the number of steps passed: all of them
/// is a match.
size_t runSteps(std::span<const MatchStep> steps, UOp* registers, UOp* binds);

/// Every way the rule's pattern matches the node: for each the nodes of the rule's variables, null for one that
/// an alternative leaves out.
std::vector<std::vector<UOp>> matchesOf(const Rule& rule, UOp node);

} // namespace uopscope
