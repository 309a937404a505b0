#include "engine/runtime/llvm_passes.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

struct Meaning {
  std::string_view pass, text;
};
/// Those that change kernels, in alphabetical order; the words are ours.
constexpr Meaning kMeanings[] = {
    {"correlated-propagation", "uses what branches before have decided about values"},
    {"div-rem-pairs", "computes a quotient and its remainder together"},
    {"early-cse", "computes equal expressions of a block once"},
    {"gvn", "computes equal expressions once, loads included"},
    {"indvars", "puts loop counters into one form"},
    {"instcombine", "simplifies instructions next to each other"},
    {"instsimplify", "replaces instructions whose result is there already"},
    {"jump-threading", "skips branches whose way is known"},
    {"lcssa", "names each value that leaves a loop"},
    {"licm", "moves instructions that do not change out of the loop"},
    {"loop-deletion", "removes loops without effect"},
    {"loop-idiom", "recognises loops that fill or copy memory"},
    {"loop-instsimplify", "simplifies within loops"},
    {"loop-rotate", "moves the test of a loop to its end"},
    {"loop-simplify", "gives each loop one way in and one way back"},
    {"loop-simplifycfg", "simplifies the blocks of loops"},
    {"loop-sink", "moves instructions to where they are seldom run"},
    {"loop-unroll", "writes turns of short loops one after the other"},
    {"loop-unroll-full", "writes out loops of a known number of turns"},
    {"loop-vectorize", "computes several turns of a loop in lanes"},
    {"reassociate", "orders sums and products so that more of them are constant or equal"},
    {"simple-loop-unswitch", "moves a branch that does not change out of the loop"},
    {"simplifycfg", "joins and removes blocks and branches"},
    {"sroa", "splits memory of a function's own into values"},
    {"tailcallelim", "turns calls at the end into jumps, and notes calls that may be"},
    {"vector-combine", "simplifies operations on lanes"},
};

} // namespace

std::string_view llvmPassMeaning(std::string_view pass) {
  const auto* found = std::ranges::lower_bound(kMeanings, pass, {}, &Meaning::pass);
  return found != std::end(kMeanings) && found->pass == pass ? found->text : std::string_view();
}

} // namespace uopscope

#ifndef UOPSCOPE_HAVE_LLVM

namespace uopscope {
std::vector<LlvmPass> llvmPasses(const std::string& /*text*/) {
  throw Error(ErrorKind::Unsupported,
              "this uopscope was built without LLVM: install llvm-19-dev and build again");
}
} // namespace uopscope

#else

#include "engine/runtime/llvm_pipeline.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace uopscope {

namespace {

/// The kernel: the first function with a body.
llvm::Function& kernelOf(llvm::Module& module) {
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) return f;
  throw Error(ErrorKind::Unsupported, "the text has no function");
}

/// A caller with arguments that nothing is known of, as the compiler gives the kernel one: without it the kernel,
/// which is internal, would be removed.
void addCaller(llvm::Module& module, llvm::Function& kernel) {
  llvm::LLVMContext& context = module.getContext();
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::get(context, 0)}, false);
  auto* caller = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "uopscope_entry", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", caller));
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& a : kernel.args()) {
    llvm::Value* place =
        builder.CreateConstGEP1_64(builder.getInt64Ty(), caller->getArg(0), arguments.size());
    arguments.push_back(builder.CreateLoad(a.getType(), place));
  }
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
}

std::string printed(const llvm::Module& module, const std::string& function) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (const llvm::Function* f = module.getFunction(function)) f->print(out);
  return text;
}

} // namespace

std::vector<LlvmPass> llvmPasses(const std::string& text) {
  if (text.find("define ") == std::string::npos)
    throw Error(ErrorKind::Unsupported,
                "the kernel was not rendered for LLVM: its passes are those of kernels on the "
                "CPU with CPU_LLVM=1");
  llvm::LLVMContext context;
  auto module = parseKernel(context, "", text);
  llvm::Function& kernel = kernelOf(*module);
  const std::string name = kernel.getName().str();
  addCaller(*module, kernel);
  const Processor& cpu = processor();
  auto machine = llvmMachine(cpu);
  std::vector<LlvmPass> out;
  optimise(*module, *machine, cpu, name, [&](const std::string& pass, const llvm::Module& now) {
    std::string after = printed(now, name);
    if (out.empty() || after != out.back().text) out.push_back({pass, std::move(after)});
  });
  return out;
}

} // namespace uopscope

#endif
