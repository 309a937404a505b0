// The limits are those of the table "Technical Specifications per Compute Capability" in NVIDIA's CUDA C++ Programming
// Guide.
#include "engine/render/cuda_architecture.h"

#include "engine/base/error.h"
#include "engine/render/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

namespace uopscope::cuda {

std::string wantedArchitecture() {
  const char* value = std::getenv("CUDA_ARCH");
  if (!value || !*value) return {};
  std::string text = value;
  if (!std::regex_match(text, std::regex("sm_[0-9]+[a-f]?")))
    throw Error(
        ErrorKind::Value,
        fmt::format("CUDA_ARCH is \"{}\": it names an architecture such as sm_80, sm_90a or sm_100", text));
  return text;
}

int numberOf(const std::string& architecture) {
  if (!architecture.starts_with("sm_")) return 0;
  return static_cast<int>(std::strtol(architecture.c_str() + 3, nullptr, 10));
}

int64_t sharedMaxOf(const std::string& architecture) {
  constexpr int64_t kKib = 1024;
  switch (numberOf(architecture)) {
  case 70:
  case 72: return 96 * kKib;
  case 75: return 64 * kKib;
  case 86:
  case 89:
  case 120:
  case 121: return 99 * kKib;
  case 90:
  case 100:
  case 101:
  case 103:
  case 110: return 227 * kKib;
  case 0:
  case 80:
  case 87: return 163 * kKib;
  default: return kStaticShared; // every GPU has that much
  }
}

int64_t productsOf(const std::string& architecture) {
  // 312 and 989 TFLOPS of NVIDIA's data sheets, by clock and processors: 1,024 and 2,048 a cycle. Published measurements
  // of an H100 give mma.sync 0.63 of its 2,048; the rest needs wgmma.
  return numberOf(architecture) == 90 ? 1290 : 1024;
}

std::string withOwnInstructions(const std::string& architecture) {
  return architecture == "sm_90" ? "sm_90a" : architecture;
}

BoxMap boxMapOf(const LoweredKernel& kernel, UOp buffer, const Box& box) {
  const std::vector<UOp> globals = signatureOf(kernel).globals;
  const auto at = std::find(globals.begin(), globals.end(), buffer);
  return {globalName(buffer),
          at - globals.begin(),
          buffer.dtype().base(),
          box.columns,
          box.lines,
          box.pitch,
          (buffer.dtype().size() + box.pitch - 1) / box.pitch};
}

std::vector<BoxMap> boxMapsOf(const LoweredKernel& kernel) {
  std::vector<BoxMap> maps;
  for (UOp u : kernel.uops) {
    if (!isBox(u)) continue;
    BoxMap map = boxMapOf(kernel, u.src(1).bufferOf(), boxOf(u));
    if (std::find(maps.begin(), maps.end(), map) == maps.end()) maps.push_back(std::move(map));
  }
  return maps;
}

SharedMemory::SharedMemory(const LoweredKernel& kernel) {
  constexpr int64_t kSwizzled = 1024, kVector = 16;
  for (UOp u : kernel.uops) {
    if (!u.is(Op::DEFINE_LOCAL)) continue;
    const int64_t bytes = u.dtype().size() * u.dtype().base().itemsize(),
                  unit = bytes >= kSwizzled ? kSwizzled : kVector;
    bytes_ = (bytes_ + unit - 1) / unit * unit;
    places_.push_back(bytes_);
    bytes_ += bytes;
  }
}

} // namespace uopscope::cuda
