// What a kernel's function takes, read off its linear program, so that every renderer and every loader agree:
//
//   void name(T* data0, T* data1, ..., int var0, ..., int core_id)
//
// Pointers stand in order of DEFINE_GLOBAL's position, variables in order of name. core_id is the number of
// the CPU thread; it is there where the program reads a DEFINE_VAR or SPECIAL of that name (or gidx0, on a
// CPU).
#pragma once
#include "engine/codegen/codegen.h"

namespace uopscope {

struct KernelSignature {
  std::vector<UOp> globals;  ///< DEFINE_GLOBALs by position
  std::vector<UOp> vars;     ///< DEFINE_VARs by name, without core_id
  std::vector<int> varSlots; ///< where each of vars stands among LoweredKernel::vars
  std::vector<UOp> coreIds;  ///< nodes that are the thread's number; empty: the kernel runs on one thread
  bool hasCoreId() const { return !coreIds.empty(); }
};

KernelSignature signatureOf(const LoweredKernel& kernel);

/// "data0_256": position, and size where it is known.
std::string globalName(UOp defineGlobal);
/// "ridx0", "gidx0_1": letter of the axis and ids of a RANGE; a negative id reads "m1".
std::string rangeName(UOp range);
/// Fills the {} and {0} of a CUSTOM's text, as Python's str.format does; "{{" and "}}" are braces.
/// Throws Error(Compile) where the text asks for a source that is not there.
std::string formatCustom(std::string_view text, std::span<const std::string> arguments);
/// `name` with '_' in the place of letters that no identifier may hold.
std::string identifier(std::string_view name);

/// Float types that no CPU computes with: stored as integers, computed as float32.
constexpr bool isEmulatedFloat(DType d) {
  return d.kind() == Scalar::BFloat16 || d.kind() == Scalar::Fp8E4M3 || d.kind() == Scalar::Fp8E5M2;
}

/// Throws Error(Compile) naming the kernel where a RANGE or IF is left open, or an END or ENDIF closes
/// another one than the innermost.
void checkNesting(const LoweredKernel& kernel);
/// Throws Error(Compile) where a SPECIAL is not the one launch dimension of a CPU kernel, core_id or gidx0.
void checkCpuIndex(const LoweredKernel& kernel, UOp special);

/// LOAD and STORE in either form: INDEX may stand behind a CAST of the pointer, and the gate at INDEX or at
/// the access.
struct Access {
  UOp pointer; ///< what INDEX indexes, AFTERs and CASTs taken off: DEFINE_GLOBAL, DEFINE_LOCAL or DEFINE_REG
  UOp index;   ///< INDEX node
  UOp gate;    ///< null: always
  UOp alternative; ///< of a gated LOAD; null: zero
  DType type;      ///< of the value
};
Access accessOf(UOp loadOrStore);
/// AFTER, GROUP-free NOOP and such taken off.
UOp throughAfter(UOp u);

} // namespace uopscope
