// A pattern compiled to straight lines. Alternatives (operands in either order, `oneOf`) are multiplied out
// into variants, so that running one needs no backtracking: load a source, test it, bind it, or fail.
#pragma once
#include "engine/rewrite/rule.h"

#include <vector>

namespace uopscope {

struct MatchStep {
  enum class Kind : uint8_t {
    Load,       ///< reg = src[index] of reg `from`
    Ops,        ///< operation in the set
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
  OpSet root;           ///< operations the root may have; all for none
  OpSet required;       ///< operations that must be among the root's sources
  OpSet anyOf;          ///< one of these must be among them; empty: not asked
  DTypeMask dtypes = 0; ///< scalar kinds the root may have; 0: any
  std::vector<MatchStep> steps;
};

constexpr int kMatchRegisters = 48;

/// Every way the pattern can match, in the order they are tried. Throws Error(Rewrite) for more than 512.
std::vector<MatchVariant> compilePattern(const Rule& rule);

/// Runs the steps; `binds` holds the variables (null before). Returns the number of steps passed: all of them
/// is a match.
size_t runSteps(std::span<const MatchStep> steps, UOp* registers, UOp* binds);

} // namespace uopscope
