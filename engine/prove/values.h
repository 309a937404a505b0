// Two expressions evaluated side by side on chosen values of their leaves, with the semantics of
// engine/uop/eval.h.
//
//   Evaluator both(before, after);                     // ready() is false if a node has no value
//   Difference d = both.exhaustively(65536);           // tries all assignments, or none if there are more
//
// Where the first expression is Invalid or divides by zero, the second may have any value. An index must be
// Invalid on both sides or on neither. Two NaNs are equal.
#pragma once
#include "engine/uop/uop.h"

#include <optional>
#include <vector>

namespace uopscope::prove {

/// The kind of difference between two float values, smallest first.
enum class FloatGap : uint8_t { None, SignOfZero, Rounding, Special };

struct Difference {
  bool complete = false; ///< every assignment was tried
  uint64_t tried = 0;
  bool differs = false;          ///< for integers and booleans, or by more than the sign of zero
  FloatGap gap = FloatGap::None; ///< the largest difference found
  std::vector<ConstValue> at;    ///< values of the leaves at the largest difference
  ConstValue before, after;
};

class Evaluator {
public:
  Evaluator(UOp before, UOp after);
  /// Whether both sides can be evaluated.
  bool ready() const { return ready_; }
  const std::vector<UOp>& leaves() const { return leaves_; }
  /// The number of assignments; `most` + 1 if there are more than `most`.
  uint64_t domain(uint64_t most) const;

  Difference exhaustively(uint64_t most);
  /// Tries special values of the leaves in every combination, as long as these are few, then random values.
  Difference sampled(uint64_t count, uint64_t seed);
  /// Evaluates one assignment, in order of leaves().
  Difference at(const std::vector<ConstValue>& values);

private:
  struct Step {
    UOp node;
    std::vector<size_t> from; ///< first slot of each source
    std::vector<size_t> lanes;
    size_t to = 0, count = 1;
    DType operand;
  };
  size_t place(UOp u);
  void run();
  void compare(Difference& d, const std::vector<ConstValue>& values) const;
  void set(const std::vector<ConstValue>& values);

  std::vector<UOp> leaves_;
  std::vector<Step> steps_;
  std::vector<ConstValue> slots_;
  UOpMap<size_t> at_;
  UOp before_, after_;
  bool ready_ = true, divides_ = false;
};

/// All values of a type of at most 16 bits; for a larger type `count` values, special ones first.
std::vector<ConstValue> valuesOf(UOp leaf, size_t count, uint64_t seed);

} // namespace uopscope::prove
