// The processor that CPU kernels are compiled for: this machine's own, or a level of x86-64 chosen by
// CPU_TARGET. Code for a level runs on all machines of that level, so one machine can show the results of the
// others: SSE (2), AVX2 with FMA (3), AVX-512 (4).
//
// Invariant: there is one object per level. It is made at first use and never changes.
//
//   ContextScope avx2({{"CPU_TARGET", 3}});
//   processor().lanes == 8
#pragma once
#include <cstdint>
#include <string>

namespace uopscope {

struct Processor {
  std::string name;          ///< its name for LLVM and clang's -march; this machine's name for CPU_TARGET=0
  std::string march;         ///< for clang: "native" or the name of the level
  std::string features;      ///< "+avx2,-sse4a", for LLVM; empty if the name implies all features
  int lanes = 4;             ///< 32-bit values in a vector register
  bool computesHalf = false; ///< has arithmetic on halves, not conversions alone
  bool hasFma = false;       ///< rounds x*y+z once at the cost of one operation
  /// Adds products of two bfloat16s to each lane (dot_products.h), and in less time than two products of float32s take.
  bool dotsBFloat16 = false;
  bool dotsBytes = false; ///< adds products of four bytes to each lane
  /// Bytes of this machine's last cache, which stores can go past; 0: unknown, or no such stores.
  int64_t lastCacheBytes = 0;
  int64_t secondCacheBytes = 0; ///< of this machine; 0: unknown
  /// Multiplies tiles of these types (tile_cores.h), and the system lets this process do so.
  bool tilesBFloat16 = false, tilesHalf = false, tilesBytes = false;
};

/// The processor of the current CPU_TARGET. Throws Error(Value) for a level that does not exist or that this
/// machine cannot run. Any thread may call it.
const Processor& processor();

/// Bytes of this machine's cache of data at a level from 1; `otherwise` where the system does not tell.
int64_t cacheBytes(int level, int64_t otherwise);

} // namespace uopscope
