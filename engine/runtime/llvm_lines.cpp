// Blocks and instructions of a parsed function are in the order of its text, so one walk counts the lines.
#ifdef UOPSCOPE_HAVE_LLVM
#include "engine/runtime/llvm_lines.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Module.h>

#include <sstream>
#include <vector>

namespace uopscope {

namespace {
/// The numbers of the lines that contain an instruction of the function.
std::vector<unsigned> instructionLines(const std::string& function, const std::string& text) {
  std::vector<unsigned> out;
  std::istringstream in(text);
  bool inside = false;
  unsigned number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("define ")) inside = line.find("@" + function + "(") != std::string::npos;
    if (line.starts_with('}')) inside = false;
    if (inside && line.starts_with("  ")) out.push_back(number);
  }
  return out;
}
} // namespace

void attachLines(llvm::Module& module, const std::string& function, const std::string& text) {
  llvm::Function* f = module.getFunction(function);
  std::vector<unsigned> lines = instructionLines(function, text);
  if (!f || lines.empty() || f->getInstructionCount() != lines.size()) return;
  llvm::DIBuilder builder(module);
  llvm::DIFile* file = builder.createFile("kernel.ll", ".");
  builder.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "uopscope", true, "", 0, "",
                            llvm::DICompileUnit::LineTablesOnly);
  llvm::DISubprogram* subprogram = builder.createFunction(
      file, function, function, file, lines[0],
      builder.createSubroutineType(builder.getOrCreateTypeArray({})), lines[0], llvm::DINode::FlagZero,
      llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  f->setSubprogram(subprogram);
  size_t at = 0;
  for (llvm::BasicBlock& block : *f)
    for (llvm::Instruction& instruction : block)
      instruction.setDebugLoc(llvm::DILocation::get(module.getContext(), lines[at++], 0, subprogram));
  builder.finalize();
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
}

} // namespace uopscope
#endif
