// The levels of x86-64, and the levels that this machine can run.
#include "engine/runtime/processor.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"

#ifdef UOPSCOPE_HAVE_LLVM
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/TargetParser/Host.h>
#endif

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>
#include <mutex>
#include <optional>

namespace uopscope {

namespace {

#if defined(__x86_64__)
constexpr bool kStreamsStores = true;
#else
constexpr bool kStreamsStores = false; // measured on no other processor
#endif

struct Abilities {
  bool avx2 = false, avx512 = false, fma = false, v2 = false, bf16 = false, vnni = false;
};

Abilities abilitiesOfHost() {
#if defined(__x86_64__)
  return {
      __builtin_cpu_supports("avx2") != 0,
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"),
      __builtin_cpu_supports("fma") != 0, __builtin_cpu_supports("sse4.2") != 0,
      // Intel's begin a vdpbf16ps every second cycle, and two vfmadd231ps in each: 32 products against 64.
      __builtin_cpu_supports("avx512bf16") && !__builtin_cpu_is("intel"),
      __builtin_cpu_supports("avx512vnni") != 0};
#elif defined(__aarch64__)
  return {.fma = true};
#else
  return {};
#endif
}

/// Whether the system gives this process the registers of tiles, which it does when it is asked.
bool mayUseTiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

Processor host() {
  Abilities can = abilitiesOfHost();
  Processor p;
  p.name = "generic";
  p.march = "native";
#ifdef UOPSCOPE_HAVE_LLVM
  p.name = llvm::sys::getHostCPUName().str();
  const auto features = llvm::sys::getHostCPUFeatures();
  for (const auto& f : features)
    p.features += fmt::format("{}{}{}", p.features.empty() ? "" : ",", f.second ? '+' : '-', f.first().str());
  if (features.lookup("amx-tile") && mayUseTiles()) {
    p.tilesBFloat16 = features.lookup("amx-bf16");
    p.tilesHalf = features.lookup("amx-fp16");
    p.tilesBytes = features.lookup("amx-int8");
  }
#if defined(__x86_64__)
  // LLVM 19 miscompiles selects and comparisons of halves with this feature; computed as floats they round
  // the same. It is disabled last, since other features imply it. So no processor of this kind computes halves.
  p.features += ",-avx512fp16";
#endif
#endif
  p.lanes = can.avx512 ? 16 : can.avx2 ? 8 : 4;
  p.hasFma = can.fma;
  if (kStreamsStores) p.lastCacheBytes = cacheBytes(3, 0);
  p.secondCacheBytes = cacheBytes(2, 0);
  p.dotsBFloat16 = can.avx512 && can.bf16;
  p.dotsBytes = can.avx512 && can.vnni;
#if defined(__aarch64__)
  p.computesHalf = true;
#endif
  return p;
}

Processor level(int64_t n) {
  Abilities can = abilitiesOfHost();
  bool runs = n == 2 ? can.v2 : n == 3 ? can.avx2 && can.fma : n == 4 && can.avx512;
  if (n < 2 || n > 4)
    throw Error(ErrorKind::Value,
                fmt::format("CPU_TARGET={}: it is 0 (this machine), 2, 3 or 4 (x86-64-v2 to v4)", n));
  if (!runs)
    throw Error(
        ErrorKind::Value,
        fmt::format("CPU_TARGET={0}: this machine cannot run code for x86-64-v{0}; set 0 for its own level",
                    n));
  std::string name = fmt::format("x86-64-v{}", n);
  Processor p{.name = name,
              .march = name,
              .features = {},
              .lanes = n == 4   ? 16
                       : n == 3 ? 8
                                : 4,
              .hasFma = n > 2};
  if (kStreamsStores) p.lastCacheBytes = cacheBytes(3, 0);
  p.secondCacheBytes = cacheBytes(2, 0);
  return p;
}

} // namespace

const Processor& processor() {
  static std::mutex mutex;
  static std::array<std::optional<Processor>, 5> known;
  int64_t wanted = vars::cpuTarget;
  size_t at = wanted >= 0 && wanted < 5 ? static_cast<size_t>(wanted) : 1;
  std::lock_guard lock(mutex);
  if (!known[at]) known[at] = wanted == 0 ? host() : level(wanted);
  return *known[at];
}

int64_t cacheBytes(int level, int64_t otherwise) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    std::string kind, size;
    int found = 0;
    std::ifstream(folder + "level") >> found;
    std::ifstream(folder + "type") >> kind;
    std::ifstream(folder + "size") >> size; // "48K"
    if (found != level || kind == "Instruction" || size.empty()) continue;
    const int64_t unit = size.back() == 'K' ? 1 << 10 : size.back() == 'M' ? 1 << 20 : 1;
    int64_t n = 0;
    std::from_chars(size.data(), size.data() + size.size(), n);
    if (n > 0) return n * unit;
  }
  return otherwise;
}

} // namespace uopscope
