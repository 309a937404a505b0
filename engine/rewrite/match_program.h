// A pattern compiled to straight-line code. Alternatives (operands in either order, `oneOf`) are multiplied
// out into variants, so a variant runs without backtracking: it loads a source, tests it, binds it, or fails.
//
//   x + 0    ->    Load r1 = src[0]; Bind r1 x; Load r2 = src[1]; Ops r2 CONST; ArgNumber r2 0
//                  and a second variant with src[0] and src[1] exchanged
#pragma once
#include "engine/rewrite/rule.h"

#include <array>
#include <vector>

namespace uopscope {

struct MatchStep {
  enum class Kind : uint8_t {
    Load,     ///< reg = src[index] of reg `from`
    Ops,      ///< operation in the set a, b; `index`: position among the root's first sources from 1, else 0
    SrcCount, ///< exactly `index` sources
    SrcAtLeast, ///< at least `index` sources
    DTypes,     ///< scalar kind in the mask a
    ExactDType, ///< dtype bits equal a
    ArgEqual,   ///< argument of kind `index`, bits a
    ArgNumber,  ///< number equal to the double with bits a
    Bind,       ///< reg becomes variable `index`
    Same,       ///< reg must be variable `index`; binds it if it is unbound
    Repeat      ///< every source of `from` passes the next `a` steps, loaded to reg
  };
  Kind kind;
  uint8_t reg = 0, from = 0;
  uint32_t index = 0;
  uint64_t a = 0, b = 0;
};

struct MatchVariant {
  OpSet root; ///< operations that the root may have; all for none
  static constexpr size_t kSources = 3;
  std::array<OpSet, kSources> sources{OpSet::all(), OpSet::all(),
                                      OpSet::all()}; ///< operations that its first sources may have
  DTypeMask dtypes = 0;                              ///< scalar kinds the root may have; 0: any
  uint32_t atLeast = 0, atMost = ~0u;                ///< number of sources of the root
  std::vector<MatchStep> steps;

  /// Whether the members above already imply this step.
  bool implied(const MatchStep& step) const;
};

constexpr int kMatchRegisters = 48;

/// All variants of a rule's pattern in the order they are tried. They are compiled once for a rule of a
/// table. Throws Error(Rewrite) for more than 512.
std::shared_ptr<const std::vector<MatchVariant>> variantsOf(const Rule& rule);

/// Runs the steps. `binds` holds the variables and must be null before. Returns the number of steps passed;
/// the pattern matches if that is all of them.
size_t runSteps(std::span<const MatchStep> steps, UOp* registers, UOp* binds);

/// All matches of the rule's pattern on the node. Each gives the nodes of the rule's variables; a variable
/// that the chosen alternative does not contain is null.
std::vector<std::vector<UOp>> matchesOf(const Rule& rule, UOp node);

} // namespace uopscope
