// What differs between LLVM IR for a processor and LLVM IR for a GPU: where memory lies, how a thread learns its
// number, barriers, tensor cores, and the text around the body of the function. `writeLlvm` walks the program and
// asks a dialect for these. This class is the dialect of processors.
//
//   std::string text = writeLlvm(kernel, LlvmDialect(), nullptr);
//
// Invariant: a dialect holds no state of a kernel, so several threads may use one.
#pragma once
#include "engine/render/llvm_text.h"
#include "engine/render/signature.h"

#include <span>
#include <string>
#include <vector>

namespace uopscope {

/// The parts of a kernel's text.
struct LlvmFunction {
  const LoweredKernel& kernel;
  std::string parameters; ///< "ptr noalias align 4 %data0_4, i32 %n"
  std::string body;       ///< with the label of its first block
  std::string outside;    ///< declarations of called functions
  std::string shared;     ///< memory of a work group
};

class LlvmDialect {
public:
  virtual ~LlvmDialect() = default;
  /// The type of a pointer to memory: "ptr", "ptr addrspace(3)".
  virtual std::string pointer(AddrSpace) const { return "ptr"; }
  /// The alignment in bytes that an access of this type may claim.
  virtual int alignment(DType accessed) const { return accessed.scalar().itemsize(); }
  /// The alignment in bytes of an array in registers or in memory of a group.
  virtual int arrayAlignment(DType element, int64_t size) const;
  /// Whether threads form groups that share memory, and learn their numbers by special(). Else a parameter core_id has
  /// the number, and an array of a group belongs to the thread.
  virtual bool hasGroups() const { return false; }
  /// The lines in front of the function, each with its end.
  virtual std::string head() const { return {}; }
  /// The whole text. It begins with head(), and the signature is the line after it.
  virtual std::string module(const LlvmFunction& f) const;
  /// The value of a SPECIAL.
  virtual std::string special(LlvmText& out, const LoweredKernel& kernel, UOp u) const;
  virtual void barrier(LlvmText&) const {} // a group has one thread here
  /// The value of a WMMA on fragments. Throws Error(Compile) where there is no tensor core.
  virtual std::string wmma(LlvmText& out, const LoweredKernel& kernel, UOp u,
                           std::span<const std::string> fragments) const;
};

/// What the GPUs of all makers share.
class LlvmGpuDialect : public LlvmDialect {
public:
  int alignment(DType accessed) const override;
  int arrayAlignment(DType element, int64_t size) const override;
  bool hasGroups() const override { return true; }
  std::string special(LlvmText& out, const LoweredKernel& kernel, UOp u) const override;

protected:
  /// The intrinsic that gives the number of a thread in its group, or of a group; the axis is 'x', 'y' or 'z'.
  virtual std::string numberOf(bool thread, char axis) const = 0;
};

/// The text of a kernel. `lines`, if given, receives the instructions that each line comes from.
std::string writeLlvm(const LoweredKernel& kernel, const LlvmDialect& dialect, std::vector<TextLine>* lines);

} // namespace uopscope
