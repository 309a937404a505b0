// The signature of a kernel's function, read off its linear program, so that every renderer and every loader
// agree:
//
//   void name(T* data0, T* data1, ..., int var0, ..., int core_id)
//
// Pointers are in order of the position of DEFINE_GLOBAL, variables in order of name. core_id is the number
// of the CPU thread. It is a parameter if the program reads a DEFINE_VAR or SPECIAL of that name (or gidx0,
// on a CPU).
#pragma once
#include "engine/codegen/codegen.h"

namespace uopscope {

struct KernelSignature {
  std::vector<UOp> globals;  ///< DEFINE_GLOBALs by position
  std::vector<UOp> vars;     ///< DEFINE_VARs by name, without core_id
  std::vector<int> varSlots; ///< position of each variable in LoweredKernel::vars
  std::vector<UOp> coreIds;  ///< nodes for the number of the thread; empty: it runs on one thread
  bool hasCoreId() const { return !coreIds.empty(); }
};

KernelSignature signatureOf(const LoweredKernel& kernel);

/// "data0_256": the position, and the size if it is known.
std::string globalName(UOp defineGlobal);
/// "ridx0", "gidx0_1": the letter of the axis and the ids of a RANGE; a negative id is written "m1".
std::string rangeName(UOp range);
/// Fills the {} and {0} in the text of a CUSTOM, as Python's str.format does; "{{" and "}}" are braces.
/// Throws Error(Compile) if the text asks for a source that does not exist.
std::string formatCustom(std::string_view text, std::span<const std::string> arguments);
/// `name` with '_' in place of each letter that identifiers do not allow.
std::string identifier(std::string_view name);

/// Float types that no CPU computes with: stored as integers, computed as float32.
constexpr bool isEmulatedFloat(DType d) {
  return d.kind() == Scalar::BFloat16 || d.kind() == Scalar::Fp8E4M3 || d.kind() == Scalar::Fp8E5M2;
}

/// Throws Error(Compile) naming the kernel if a RANGE or IF stays open, or if an END or ENDIF does not close
/// the innermost open one.
void checkNesting(const LoweredKernel& kernel);
/// Throws Error(Compile) unless the SPECIAL is the launch dimension of a CPU kernel, core_id or gidx0.
void checkCpuIndex(const LoweredKernel& kernel, UOp special);

/// The parts of a LOAD or STORE. The INDEX may be behind a CAST of the pointer, and the gate may be a source
/// of the INDEX or of the access.
struct Access {
  UOp pointer;     ///< indexed memory without AFTERs and CASTs: DEFINE_GLOBAL, DEFINE_LOCAL or DEFINE_REG
  UOp index;       ///< the INDEX node
  UOp gate;        ///< null: always accessed
  UOp alternative; ///< of a gated LOAD; null: zero
  DType type;      ///< of the loaded or stored value
};
Access accessOf(UOp loadOrStore);
/// The node below AFTER, NOOP and nodes like them.
UOp throughAfter(UOp u);

} // namespace uopscope
