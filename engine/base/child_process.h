// Programs run as children: a compiler, a disassembler. Input goes in and both outputs come back through
// pipes, so that neither side waits for the other.
//
//   FinishedChild run = runProgram({findProgram("clang-19"), "-x", "c", "-S", "-o", "-", "-"}, source);
//   if (!run.succeeded()) fmt::print("{}", run.err);
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

struct FinishedChild {
  enum class End { Itself, TooLong, TooMuch, Stopped }; ///< otherwise than by itself: it was killed
  int status;                                           ///< as waitpid returns it
  std::string out, err;
  End end = End::Itself;
  bool succeeded() const { return status == 0; }
};

/// When to kill a child. 0 and null: never.
struct ChildLimits {
  int seconds = 0;
  size_t bytes = 0; ///< of its output
  const std::atomic<bool>* stop = nullptr;
};

/// The path of a program in PATH, then in `further` (folders separated by ':'); empty if neither has it.
std::string findProgram(std::string_view name, std::string_view further = {});
/// The path of a program that belongs to this one: beside it, where the build and an installation put it, else in PATH.
/// Throws Error(Runtime) if it is missing.
std::string companionProgram(std::string_view name);
/// Runs arguments[0] to its end, feeding it `input`. Throws Error(Compile) if it cannot be started.
FinishedChild runProgram(const std::vector<std::string>& arguments, const std::string& input = {},
                         const ChildLimits& limits = {});

/// A file in the temporary folder, for a program that reads no pipe. The destructor removes it. Its path is empty if it
/// cannot be written.
class InputFile {
public:
  explicit InputFile(std::string_view content);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

/// Limits the addresses of this process to so many bytes. Sanitizers reserve terabytes of them: with one this does
/// nothing.
void limitMemory(uint64_t bytes);

} // namespace uopscope
