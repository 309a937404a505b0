// How a language of C's kind spells types, constants, operations and statements; remembers which types and
// helper functions were used. c_writer.h walks a kernel and asks this for every piece of text.
//
//   struct Metal : CText { std::string barrier() override { return "threadgroup_barrier(...);"; } };
#pragma once
#include "engine/codegen/codegen.h"
#include "engine/render/signature.h"

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

/// Memory at an index, as text.
struct CPlace {
  std::string pointer, index;
  DType element; ///< of the memory
  DType type;    ///< of the access: the element or a vector of it
  AddrSpace space = AddrSpace::Global;
  bool indexIsSum = false; ///< `index` is a sum in parentheses, which pointer arithmetic does not need
  /// "data0 + 4 + i": a shift binds less than the sum and keeps its parentheses.
  std::string address() const;
};
/// What a function is put together from.
struct CFunction {
  const LoweredKernel& kernel;
  const KernelSignature& signature;
  std::string name, body;
  std::set<uint32_t> stored; ///< ids of the buffers that are written
};

/// The language. This class is C as clang takes it; other languages override the words they spell differently.
class CText {
public:
  virtual ~CText() = default;

  // --- types and values ---
  /// "float", "unsigned int", "float4" (declared above the kernel), "bf16".
  virtual std::string name(DType type);
  virtual std::string constant(DType type, ConstValue value);
  /// A scalar operation (or one that C has for vectors) on operands of type `from`.
  virtual std::string alu(UOp u, DType type, DType from, std::span<const std::string> operands);
  /// Conversion of a scalar, as C converts.
  virtual std::string cast(DType to, DType from, const std::string& value);
  virtual std::string bitcast(DType to, DType from, const std::string& value);
  virtual std::string select(const std::string& condition, const std::string& yes, const std::string& no);
  /// Vector from lanes, and back.
  virtual std::string vectorOf(DType type, std::span<const std::string> lanes);
  virtual std::string lane(const std::string& vector, int i);
  /// Whether a conversion of a scalar to a vector type repeats it in every lane.
  virtual bool hasSplat() { return true; }
  /// Whether one expression computes the operation on whole vectors.
  virtual bool hasVector(UOp u);

  // --- statements ---
  virtual std::string declare(DType type, const std::string& name, const std::string& value);
  virtual std::string array(DType element, const std::string& name, int64_t size, AddrSpace space);
  virtual std::string loop(DType type, const std::string& name, const std::string& extent);
  virtual std::string when(const std::string& condition, const std::string& statement);
  virtual std::string barrier() { return {}; } ///< one thread is a whole group here
  virtual std::string load(const CPlace& place);
  virtual std::string store(const CPlace& place, const std::string& value);
  /// The expression that SPECIAL `u` stands for.
  virtual std::string special(const LoweredKernel& kernel, UOp u);
  /// Tensor cores: the operation on fragments; declares its helpers.
  virtual std::string wmma(UOp u, std::span<const std::string> operands);
  /// The whole text.
  virtual std::string function(const CFunction& f);

protected:
  /// Whether the type is stored as an integer and computed as float by functions of ours.
  virtual bool isComputedAsFloat(DType d) { return isEmulatedFloat(d); }
  /// sqrt, exp2 ... of a scalar.
  virtual std::string call(Op op, DType type, std::span<const std::string> a);
  /// A value forced into the type, as a C cast does.
  virtual std::string forced(DType type, const std::string& value);
  virtual std::string shift(Op op, UOp u, DType type, std::span<const std::string> a);
  std::string quotient(DType type, DivisorFacts facts, std::string_view op, const std::string& x,
                       const std::string& y);
  std::string boolean(Op op, std::span<const std::string> a);
  std::string plain(Op op, UOp u, DType type, std::span<const std::string> a);
  /// typedefs and helper functions that were used.
  std::string declarations() const;
  /// The text of the functions in helpers_.
  virtual std::string prelude() const;

  std::map<std::string, std::string> typedefs_;
  std::set<std::string> helpers_;

private:
  std::string toFloat(DType from, const std::string& value);
  std::string fromFloat(DType to, const std::string& value);
};

/// A value as C writes a constant of the type.
std::string constantText(DType type, ConstValue value);
/// "sqrt", "fmod" ... as most languages call the operation.
const char* functionName(Op op);
/// Without the parentheses around the whole.
std::string bare(const std::string& expression);

/// Whether a shift by `distance` may be by the width of `type` or more, which C and LLVM leave open.
bool mayShiftOut(DType type, UOp distance);

} // namespace uopscope
