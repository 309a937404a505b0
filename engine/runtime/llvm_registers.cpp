// Spills are counted as LLVM's own comments in assembly name them: by the places on the stack that its register allocator
// made, not by the text of an instruction.
#ifdef UOPSCOPE_HAVE_LLVM
#include "engine/runtime/llvm_registers.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>

#include <algorithm>
#include <set>

namespace uopscope {

namespace {

int64_t bytesOf(const llvm::LocationSize& size) {
  return size.hasValue() && !size.isScalable() ? static_cast<int64_t>(size.getValue().getFixedValue()) : 0;
}

class RegisterCounter : public llvm::MachineFunctionPass {
public:
  static char id;
  explicit RegisterCounter(RegisterUse& used) : MachineFunctionPass(id), used_(used) {}
  llvm::StringRef getPassName() const override { return "uopscope's count of registers"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    const llvm::TargetInstrInfo* instructions = function.getSubtarget().getInstrInfo();
    const llvm::TargetRegisterInfo& registers = *function.getSubtarget().getRegisterInfo();
    llvm::BitVector named(registers.getNumRegs());
    for (const llvm::MachineBasicBlock& block : function)
      for (const llvm::MachineInstr& instruction : block) {
        countMoves(instruction, instructions);
        for (const llvm::MachineOperand& operand : instruction.operands())
          if (operand.isReg() && operand.getReg().isPhysical()) named.set(operand.getReg());
      }
    countRegisters(named, registers);
    const llvm::MachineFrameInfo& frame = function.getFrameInfo();
    for (int i = 0; i < frame.getObjectIndexEnd(); ++i)
      if (frame.isSpillSlotObjectIndex(i) && !frame.isDeadObjectIndex(i))
        used_.stackBytes += frame.getObjectSize(i);
    return false;
  }

private:
  void countMoves(const llvm::MachineInstr& instruction, const llvm::TargetInstrInfo* instructions) {
    if (instruction.memoperands_empty()) return;
    auto spilled = instruction.getSpillSize(instructions);
    if (!spilled) spilled = instruction.getFoldedSpillSize(instructions);
    auto reloaded = instruction.getRestoreSize(instructions);
    if (!reloaded) reloaded = instruction.getFoldedRestoreSize(instructions);
    if (spilled) ++used_.spills, used_.spilledBytes += bytesOf(*spilled);
    if (reloaded) ++used_.reloads, used_.reloadedBytes += bytesOf(*reloaded);
  }

  /// Registers of different widths that overlap, such as xmm1 and zmm1, have one number.
  void countRegisters(const llvm::BitVector& named, const llvm::TargetRegisterInfo& registers) {
    constexpr unsigned kVectorBits = 128;
    std::set<uint16_t> numbers;
    for (const unsigned r : named.set_bits())
      for (const llvm::TargetRegisterClass* of : registers.regclasses())
        if (of->isAllocatable() && registers.getRegSizeInBits(*of) >= kVectorBits && of->contains(r)) {
          numbers.insert(registers.getEncodingValue(r));
          break;
        }
    used_.registers = std::max(used_.registers, static_cast<int64_t>(numbers.size()));
  }

  RegisterUse& used_;
};
char RegisterCounter::id = 0;

} // namespace

std::unique_ptr<llvm::Pass> registerCounter(RegisterUse& used) {
  return std::make_unique<RegisterCounter>(used);
}

} // namespace uopscope
#endif
