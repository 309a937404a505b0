// The one mixer of hashes: a product of 128 bits, its halves folded together, so that every bit of both
// operands reaches every bit of the result.
//
//   uint64_t h = 0x243F6A8885A308D3ull;
//   for (uint64_t word : words) h = mixHash(h, word);
#pragma once
#include <cstdint>

namespace uopscope {

inline uint64_t mixHash(uint64_t h, uint64_t v, uint64_t factor = 0x9E3779B97F4A7C15ull) {
  __uint128_t product = static_cast<__uint128_t>(h ^ v) * factor;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

} // namespace uopscope
