// Programs run as children: a compiler, a disassembler. Input goes in and both outputs come back through
// pipes, so that neither side waits for the other.
//
//   FinishedChild run = runProgram({findProgram("clang-19"), "-x", "c", "-S", "-o", "-", "-"}, source);
//   if (!run.succeeded()) fmt::print("{}", run.err);
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

struct FinishedChild {
  int status; ///< as waitpid returns it
  std::string out, err;
  bool succeeded() const { return status == 0; }
};

/// The path of a program in PATH, then in `further` (folders separated by ':'); empty if neither has it.
std::string findProgram(std::string_view name, std::string_view further = {});
/// Runs arguments[0] to its end, feeding it `input`. Throws Error(Compile) if it cannot be started.
FinishedChild runProgram(const std::vector<std::string>& arguments, const std::string& input = {});

} // namespace uopscope
