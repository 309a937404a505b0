// A code object as a driver of AMD loads it: segments at their addresses, the descriptor of a kernel, and the layout of
// its arguments from the metadata. It refuses what a driver refuses, so that the code objects made here are checked
// where no GPU is.
//
//   CodeObject code(image, "gfx942");       // throws std::runtime_error that says what is wrong
//   Kernel k = code.kernel("E_4");
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hip_double {

struct Kernel {
  std::string name;
  const void* code = nullptr; ///< its first instruction
  size_t codeBytes = 0;       ///< to the end of its section
  uint32_t resources2 = 0;    ///< COMPUTE_PGM_RSRC2
  uint32_t sharedBytes = 0, argumentBytes = 0;
  uint64_t maxThreads = 0;
  struct Argument {
    size_t offset, bytes;
  };
  std::vector<Argument> arguments;
};

class CodeObject {
public:
  CodeObject(const void* image, const std::string& architecture);
  Kernel kernel(const std::string& name) const;

private:
  uint64_t word(uint64_t address, size_t bytes) const;
  void readSymbols(uint64_t dynamic, uint64_t bytes);

  struct Symbol {
    std::string name;
    uint64_t address, bytes;
  };
  std::vector<std::byte> memory_; ///< from address 0
  std::vector<Symbol> symbols_;
  std::string metadata_;
  uint64_t codeEnd_ = 0;
};

/// Throws unless the objects's metadata describes the kernel.
void readMetadata(const std::string& messagePack, Kernel& kernel);

} // namespace hip_double
