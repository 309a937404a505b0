// Two expressions computed side by side on chosen values of their leaves, as engine/uop/eval.h computes.
//
//   Evaluator both(before, after);                     // ready() is false where something has no value
//   Difference d = both.exhaustively(65536);           // every value of every leaf, or none if there are
//   more
//
// Where the first expression is Invalid or divides by zero the second may be anything; an index must be
// Invalid on both sides or on none. Two NaN are the same.
#pragma once
#include "engine/uop/uop.h"

#include <optional>
#include <vector>

namespace uopscope::prove {

/// How two values of a float differ, least first.
enum class FloatGap : uint8_t { None, SignOfZero, Rounding, Special };

struct Difference {
  bool complete = false; ///< every value was tried
  uint64_t tried = 0;
  bool differs = false;          ///< of integers and booleans, or by more than the sign of a zero
  FloatGap gap = FloatGap::None; ///< the largest there was
  std::vector<ConstValue> at;    ///< values of the leaves where the largest was
  ConstValue before, after;
};

class Evaluator {
public:
  Evaluator(UOp before, UOp after);
  /// Whether both sides have a value that can be computed.
  bool ready() const { return ready_; }
  const std::vector<UOp>& leaves() const { return leaves_; }
  /// How many assignments there are; more than `most` reads as `most` + 1.
  uint64_t domain(uint64_t most) const;

  Difference exhaustively(uint64_t most);
  /// Special values of each leaf in every combination, as far as they are few, then random ones.
  Difference sampled(uint64_t count, uint64_t seed);
  /// On one assignment, in order of leaves().
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

/// Every value of a type of at most 16 bits; `count` values of a larger one, special ones first.
std::vector<ConstValue> valuesOf(UOp leaf, size_t count, uint64_t seed);

} // namespace uopscope::prove
