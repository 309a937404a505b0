// Writes LLVM IR instructions for scalar and vector arithmetic, conversions and constants. Values are strings
// in the syntax of the IR: "%alu3", "42", "<i32 1, i32 2>".
//
//   std::string sum = text.emit("alu", "add i32 %a, %b");      // writes "%alu0 = add i32 %a, %b"
#pragma once
#include "engine/uop/uop.h"

#include <map>
#include <set>
#include <span>
#include <string>

namespace uopscope {

class LlvmText {
public:
  /// The type in registers: "float", "<4 x i32>", "i1" for bool. In memory a bool is "i8".
  static std::string type(DType d);
  static std::string memoryType(DType d);
  static std::string constant(DType d, ConstValue v);
  /// A vector of constants, one for each lane.
  static std::string constants(DType d, std::span<const ConstValue> lanes);

  /// Writes `%prefixN = instruction` and returns the new value.
  std::string emit(const char* prefix, const std::string& instruction);
  void line(const std::string& text) { body += "  " + text + '\n'; }
  void label(const std::string& name) {
    body += name + ":\n";
    block = name;
  }
  /// The next number for a name, for labels.
  int number(const char* name) { return counters_[name]++; }

  /// The ALU operation `u` on these operands.
  std::string alu(UOp u, std::span<const std::string> operands);
  /// Whether any lane of a vector of bools holds: an instruction or two, where halves of masks combined take many.
  std::string anyLane(DType d, const std::string& value);
  std::string cast(DType to, DType from, const std::string& value);
  std::string bitcast(DType to, DType from, const std::string& value);
  /// Conversion between the forms in registers and in memory, which differ for bool.
  std::string toMemory(DType d, const std::string& value);
  std::string fromMemory(DType d, const std::string& value);
  /// A vector in its form in memory: of each lane what is read where `mask` holds, else what `otherwise` has.
  std::string maskedLoad(DType d, const std::string& pointer, int64_t alignment, const std::string& mask,
                         const std::string& otherwise);

  /// A vector of two neighbours, each read alone.
  std::string pairOfLoads(DType d, const std::string& pointerType, const std::string& first, int alignment);
  /// Stores a vector, in its form in memory, past the caches where its address is aligned to its size, else as always.
  void streamedStore(DType d, const std::string& value, const std::string& pointer, int alignment);

  /// Adds a declaration of a function, with its end; one is written for all equal ones.
  void declare(const std::string& declaration) { declared_.insert(declaration); }
  std::string declarations() const;
  /// A float that LLVM does not look through, where code is made for a processor: it takes no instruction. Code of GPUs has
  /// no fences, and gets the value.
  std::string fenced(DType type, const std::string& value);
  bool isOfProcessor = true;
  std::string body;
  std::string block = "entry"; ///< label of the current block

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

/// A scalar literal as a vector constant ("splat"), or the literal itself for a scalar type.
std::string llvmSplat(DType d, const std::string& scalar);

} // namespace uopscope
