// The spelling of a C-like language: types, constants, operations and statements. It remembers the types and
// helper functions that were used. c_writer.h walks a kernel and asks this class for every piece of text.
//
//   struct Metal : CText { std::string barrier() override { return "threadgroup_barrier(...);"; } };
#pragma once
#include "engine/codegen/async_boxes.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/machine_functions.h"
#include "engine/render/signature.h"

#include <map>
#include <set>
#include <span>
#include <string>

namespace uopscope {

/// Facts about a divisor: whether it can be 0 or -1, for which x86 division traps.
struct DivisorFacts {
  bool mayBeZero, mayBeMinusOne;
};
DivisorFacts divisorFacts(UOp divisor);
/// Whether a float may be NaN. Only a constant certainly is not.
bool mayBeNan(UOp value);

/// Memory at an index, as text.
struct CPlace {
  std::string pointer, index;
  DType element; ///< the type of an element of the memory
  DType type;    ///< the type of the access: an element or a vector of elements
  AddrSpace space = AddrSpace::Global;
  bool isLongIndex = false; ///< the index has 64 bits
  bool indexIsSum = false;  ///< `index` is a sum in parentheses, which the address does not need
  /// The address as a sum: "data0 + 4 + i". A shift binds weaker than a sum and keeps its parentheses.
  std::string address() const;
};
/// The parts of a function's text.
struct CFunction {
  const LoweredKernel& kernel;
  const KernelSignature& signature;
  std::string name, body;
  std::set<uint32_t> stored; ///< ids of the buffers that the kernel writes
};

/// The language. This class writes C for clang; subclasses override the words that their language spells
/// differently.
class CText {
public:
  virtual ~CText() = default;

  /// Called before a kernel is written.
  virtual void begin(const LoweredKernel& /*kernel*/) {}

  // --- types and values ---
  /// The name of a type: "float", "unsigned int", "float4" (declared above the kernel), "bf16".
  virtual std::string name(DType type);
  virtual std::string constant(DType type, ConstValue value);
  /// A scalar operation, or one that C has for vectors, on operands of type `from`.
  virtual std::string alu(UOp u, DType type, DType from, std::span<const std::string> operands);
  /// The conversion of a scalar, with the semantics of C.
  virtual std::string cast(DType to, DType from, const std::string& value);
  virtual std::string bitcast(DType to, DType from, const std::string& value);
  virtual std::string select(const std::string& condition, const std::string& yes, const std::string& no);
  /// A vector of lanes, and a lane of a vector.
  virtual std::string vectorOf(DType type, std::span<const std::string> lanes);
  virtual std::string lane(const std::string& vector, int i);
  /// Whether the cast of a scalar to a vector type repeats it in every lane.
  virtual bool hasSplat() { return true; }
  /// Whether a single expression computes the operation on whole vectors.
  virtual bool hasVector(UOp u);

  // --- statements ---
  virtual std::string declare(DType type, const std::string& name, const std::string& value);
  /// The definition of memory of a group or a thread; called in the order of the program.
  virtual std::string array(DType element, const std::string& name, int64_t size, AddrSpace space);
  virtual std::string loop(DType type, const std::string& name, const std::string& extent);
  virtual std::string when(const std::string& condition, const std::string& statement);
  virtual std::string barrier() { return {}; } ///< empty: a group has one thread here
  /// Whether a load and an asynchronous store (async_copy.h) are written as one statement.
  virtual bool hasAsyncCopies() { return false; }
  virtual std::string copyAsync(const CPlace& /*to*/, const CPlace& /*from*/) { return {}; }
  /// Ends a group of a thread's copies (async_copy.h).
  virtual std::string closeCopies() { return {}; }
  /// Each thread first waits until at most `left` groups of its copies are under way; with `forUnits`, cores that read shared
  /// memory themselves then see what it holds.
  virtual std::string barrierForCopies(int64_t /*left*/, bool /*forUnits*/) { return barrier(); }
  /// Boxes (async_boxes.h). Empty: the language has none.
  virtual std::string copyBox(const CPlace& /*to*/, const CPlace& /*from*/, const Box& /*box*/) { return {}; }
  virtual std::string prepareBoxes(const CPlace& /*barriers*/, BoxBarriers /*count*/) { return {}; }
  virtual std::string waitForBoxes(const CPlace& /*barrier*/, const std::string& /*phase*/) { return {}; }
  /// Of cores that go on while their threads do (async_products.h). Empty: the language has none.
  /// `sums`: the registers that products add to.
  virtual std::string beginProducts(const std::vector<std::string>& /*sums*/) { return {}; }
  virtual std::string waitForProducts(int64_t /*left*/) { return {}; }
  virtual std::string waitForAllProducts(const std::vector<std::string>& /*sums*/) { return {}; }
  /// The address of shared memory as a number.
  virtual std::string sharedAddress(const std::string& /*pointer*/) { return {}; }
  virtual std::string load(const CPlace& place);
  virtual std::string store(const CPlace& place, const std::string& value);
  /// A store of a vector past the caches where its address is aligned to its size, else as always.
  std::string streamedStore(const CPlace& place, const std::string& value);
  /// The expression for the SPECIAL `u`.
  virtual std::string special(const LoweredKernel& kernel, UOp u);
  /// A WMMA on fragments; also declares its helpers.
  virtual std::string wmma(UOp u, std::span<const std::string> operands);
  /// A call of a function of the machine (machine_functions.h), in words of clang for AVX-512.
  std::string machineCall(MachineFunction f, DType type, std::span<const std::string> operands);
  /// The name of its C function, which is defined in front of the kernel.
  std::string machineFunction(MachineFunction f, DType type);
  /// The whole text of the kernel.
  virtual std::string function(const CFunction& f);

protected:
  /// Whether the type is stored as an integer and computed as float with helper functions.
  virtual bool isComputedAsFloat(DType d) { return isEmulatedFloat(d); }
  /// A function call on a scalar: sqrt, exp2 ...
  virtual std::string call(Op op, DType type, std::span<const std::string> a);
  /// A value cast to the type with a C cast.
  virtual std::string forced(DType type, const std::string& value);
  virtual std::string shift(Op op, UOp u, DType type, std::span<const std::string> a);
  std::string quotient(DType type, DivisorFacts facts, std::string_view op, const std::string& x,
                       const std::string& y);
  std::string boolean(Op op, std::span<const std::string> a);
  std::string plain(Op op, UOp u, DType type, std::span<const std::string> a);
  /// The typedefs and helper functions that were used.
  std::string declarations() const;
  /// The text of the functions in helpers_.
  virtual std::string prelude() const;

  std::map<std::string, std::string> typedefs_;
  std::set<std::string> helpers_;

private:
  std::string tileProduct(UOp u, std::span<const std::string> operands);
  std::string toFloat(DType from, const std::string& value);
  std::string fromFloat(DType to, const std::string& value);
};

/// A value as a C constant of the type.
std::string constantText(DType type, ConstValue value);
/// The function name that most languages share: "sqrt", "fmod" ...
const char* functionName(Op op);
/// The expression without parentheses around the whole.
std::string bare(const std::string& expression);

/// Whether a shift by `distance` may reach the width of `type`, which is undefined in C and LLVM.
bool mayShiftOut(DType type, UOp distance);

} // namespace uopscope
