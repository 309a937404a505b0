// Spelling of types, constants and scalar operations in C; remembers which types and helper functions were
// used.
#pragma once
#include "engine/uop/uop.h"

#include <map>
#include <set>
#include <span>
#include <string>

namespace uopscope {

/// What has to be known of a divisor: whether it can be 0 or -1, where x86 division traps.
struct DivisorFacts {
  bool mayBeZero, mayBeMinusOne;
};
DivisorFacts divisorFacts(UOp divisor);
/// Whether a float may be a NaN: only a constant is known not to be.
bool mayBeNan(UOp value);

class CText {
public:
  /// "float", "unsigned int", "float4" (declared above the kernel), "bf16".
  std::string name(DType type);
  /// A scalar operation (or one that C has for vectors) on operands of type `from`.
  std::string alu(UOp u, DType type, DType from, std::span<const std::string> operands);
  /// Conversion of a scalar, as C converts.
  std::string cast(DType to, DType from, const std::string& value);
  std::string bitcast(DType to, DType from, const std::string& value);

  /// typedefs of the types that name() gave.
  std::string declarations() const;
  const std::set<std::string>& helpers() const { return helpers_; }

private:
  std::string toFloat(DType from, const std::string& value);
  std::string fromFloat(DType to, const std::string& value);
  std::string quotient(DType type, DivisorFacts facts, std::string_view op, const std::string& x,
                       const std::string& y);
  std::string shift(Op op, UOp u, DType type, std::span<const std::string> a);
  std::string boolean(Op op, std::span<const std::string> a);
  std::string plain(Op op, UOp u, DType type, std::span<const std::string> a);

  std::map<std::string, std::string> typedefs_;
  std::set<std::string> helpers_;
};

/// A value as C writes a constant of the type.
std::string constantText(DType type, ConstValue value);
/// Without the parentheses around the whole.
std::string bare(const std::string& expression);

/// Whether a shift by `distance` may be by the width of `type` or more, which C and LLVM leave open.
bool mayShiftOut(DType type, UOp distance);

} // namespace uopscope
