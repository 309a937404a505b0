// Emits LLVM IR instructions of scalar and vector arithmetic, conversions and constants into a growing text.
// Values are strings as IR writes them: "%alu3", "42", "<i32 1, i32 2>".
#pragma once
#include "engine/uop/uop.h"

#include <map>
#include <set>
#include <span>
#include <string>

namespace uopscope {

class LlvmText {
public:
  /// In registers: "float", "<4 x i32>", "i1" for bool. In memory bool is "i8".
  static std::string type(DType d);
  static std::string memoryType(DType d);
  static std::string constant(DType d, ConstValue v);

  /// `%prefixN = instruction`; the new value.
  std::string emit(const char* prefix, const std::string& instruction);
  void line(const std::string& text) { body += "  " + text + '\n'; }
  void label(const std::string& name) {
    body += name + ":\n";
    block = name;
  }
  /// `count` of a name so far, to make labels from.
  int number(const char* name) { return counters_[name]++; }

  /// ALU operation `u` on its operands' values.
  std::string alu(UOp u, std::span<const std::string> operands);
  std::string cast(DType to, DType from, const std::string& value);
  std::string bitcast(DType to, DType from, const std::string& value);
  /// Between the form in registers and in memory (bool).
  std::string toMemory(DType d, const std::string& value);
  std::string fromMemory(DType d, const std::string& value);

  std::string declarations() const;
  std::string body;
  std::string block = "entry"; ///< label of the block being written

private:
  std::string call(const char* prefix, DType result, const std::string& function, DType parameter,
                   std::span<const std::string> a);
  std::string lanewiseCall(DType result, const std::string& function, DType parameter,
                           const std::string& value);
  std::string plain(Op op, UOp u, DType result, DType from, std::span<const std::string> a);
  std::string divide(UOp divisorNode, DType d, const std::string& x, const std::string& y, bool wantQuotient);
  std::string shift(UOp u, DType d, std::span<const std::string> a);
  std::string integerPower(UOp u, DType d, std::span<const std::string> a);
  std::string boolean(Op op, DType d, std::span<const std::string> a);

  std::map<std::string, int> counters_;
  std::set<std::string> declared_;
};

/// "splat": the scalar literal as a vector constant of the type, or itself.
std::string llvmSplat(DType d, const std::string& scalar);

} // namespace uopscope
