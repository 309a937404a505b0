// Equality of two expressions as functions. Both become Z3 terms, and Z3 searches for values on which they
// differ.
//
//   Solver z3(2000);
//   Answer a = z3.compare((x * 3) / 3, x);       // x an int32
//   a.verdict == Verdict::Differs; a.values      // x = 1431655766: the product wraps
//
// Integers are bit-vectors of their width, and bool is bool. Lanes are compared one by one. An index is an
// unbounded integer within the bounds of its variables; if a graph converts between index and integers, or
// uses the bits of an index, it is a bit-vector of 64 bits that may not overflow. Operations on floats are
// unknown functions: equal operands give equal results, and nothing else is known. Memory is an array.
//
// Invalid and division by zero have no value. Where the first expression has no value, the second may have
// any. An index must be Invalid for the same values on both sides, since that decides about an access.
#pragma once
#include "engine/uop/uop.h"

#include <memory>
#include <utility>
#include <vector>

namespace uopscope::prove {

enum class Verdict : uint8_t { Equal, Differs, Undecided };

struct Answer {
  Verdict verdict = Verdict::Undecided;
  std::string why;                                ///< the reason, if Undecided
  std::vector<std::pair<UOp, ConstValue>> values; ///< values of the leaves, if Differs
};

enum class Numbers : uint8_t;

class Solver {
public:
  /// Spends about `milliseconds` on a question, measured in steps of Z3.
  explicit Solver(unsigned milliseconds) : milliseconds_(milliseconds) {}

  Answer compare(UOp before, UOp after);
  /// Whether the program was built with Z3; and the version of Z3.
  static bool available();
  static std::string version();

private:
  static Answer compareApart(UOp before, UOp after, Numbers numbers, unsigned milliseconds);
  static Answer compareAs(UOp before, UOp after, Numbers numbers, unsigned milliseconds);
  unsigned milliseconds_;
};

/// Whether the values are indices, which have no width.
inline bool isIndex(UOp u) {
  return u.dtype().kind() == Scalar::Index && !u.dtype().isPtr();
}

/// What a graph takes as given.
inline constexpr OpSet kLeaves{Op::DEFINE_VAR, Op::RANGE, Op::SPECIAL};
/// The variables, loops and hardware indices of both graphs, in order of first appearance.
std::vector<UOp> leavesOf(UOp before, UOp after);

} // namespace uopscope::prove
