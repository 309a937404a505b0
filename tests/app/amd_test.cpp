// Programs for GPUs of AMD from the command line: samples compile for three generations, are linked and loaded by a double
// of HIP, and machine code leads to the line of the script. tests/devices/amd does this with all samples.
#ifdef UOPSCOPE_HAVE_PYTHON
#include "engine/base/child_process.h"
#include "engine/runtime/llvm_gpu.h"
#include "tests/app/cli/support.h"

#include <fmt/format.h>

#include <sstream>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// The number of the first line with this word, from 1; 0 if there is none.
size_t lineWith(const std::string& text, const std::string& word) {
  std::istringstream in(text);
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find(word) != std::string::npos) return number;
  }
  return 0;
}

size_t count(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

} // namespace

TEST_CASE("AMD: samples compile for three generations of GPUs, and a double of HIP loads them") {
  if (llvmVersion().empty()) return;
  Folder folder;
  for (const char* architecture : {"gfx90a", "gfx942", "gfx1100"})
    for (const char* sample : {"matmul", "transformer_block"}) {
      CAPTURE(architecture);
      CAPTURE(sample);
      const std::string script = fmt::format("{}/samples/{}.py", UOPSCOPE_SOURCE_DIR, sample);
      // Assertions of samples are about values, which nothing computes here.
      Result r = call(folder, {"run", script},
                      fmt::format("DEV=NULL:AMD AMD_ARCH={} DEBUG=7 PYTHONOPTIMIZE=1", architecture));
      CHECK_MESSAGE(r.code == 0, r.err);
      CHECK(count(r.out, " registers spilled, ") >= 5);
      CHECK(count(r.out, "\ts_endpgm") == count(r.out, " registers spilled, "));
      if (findProgram("ld.lld-19", "/usr/lib/llvm-19/bin").empty() && findProgram("ld.lld").empty()) continue;
      r = call(folder, {"run", script},
               fmt::format("DEV=AMD ROCM_PATH={}/rocm HIP_DOUBLE_ARCH={} PYTHONOPTIMIZE=1",
                           UOPSCOPE_BINARY_DIR, architecture));
      CHECK_MESSAGE(r.code == 0, r.err);
    }
}

TEST_CASE("AMD: a line of machine code in a trace leads to the line of the script") {
  if (llvmVersion().empty()) return;
  Folder folder;
  const std::string script = folder.file("sum.py", "from tinygrad import Tensor\na = Tensor.empty(65536)\n"
                                                   "(a * a + 3).realize()\n"),
                    trace = folder.file("sum.uoptrace");
  Result r = call(folder, {"record", script, "-o", trace, "--device", "NULL:AMD"}, "AMD_ARCH=gfx942");
  CHECK_MESSAGE(r.code == 0, r.err);
  const std::string listing = call(folder, {"show", trace, "E_64_256_4", "--what", "asm"}).out;
  CAPTURE(listing);
  for (const char* instruction : {"global_load_dwordx4", "v_mul_f32", "global_store_dwordx4"}) {
    const size_t line = lineWith(listing, instruction);
    REQUIRE(line > 0);
    r = call(folder,
             {"show", trace, "E_64_256_4", "--what", "provenance", "--line", fmt::format("asm:{}", line)});
    CAPTURE(r.out);
    CHECK(r.out.find("sum.py:3") != std::string::npos);
    CHECK(r.out.find("define amdgpu_kernel") == std::string::npos);
  }
}
#endif
