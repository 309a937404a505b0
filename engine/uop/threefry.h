// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011),
// written once for every kind of 32-bit word: nodes of a kernel, and tensors of a device without 64-bit
// integers.
//
//   auto [low, high] = threefryRounds(ops, counterLow, counterHigh, keyLow, keyHigh);
//
// Ops has add(v, v), exclusiveOr(v, v), plus(v, number), exclusiveOr(v, number) and rotate(v, bits to the
// left).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace uopscope {

template <typename Ops, typename V>
std::pair<V, V> threefryRounds(const Ops& ops, V a, V b, const V& k0, const V& k1) {
  constexpr int64_t kParity = 0x1BD11BDA;
  constexpr std::array<std::array<int, 4>, 2> kRotations{{{13, 15, 26, 6}, {17, 29, 16, 24}}};
  const std::array<V, 3> schedule{k0, k1, ops.exclusiveOr(ops.exclusiveOr(k0, k1), kParity)};
  a = ops.add(a, schedule[0]);
  b = ops.add(b, schedule[1]);
  for (size_t block = 0; block < 5; ++block) {
    for (int by : kRotations[block % 2]) {
      a = ops.add(a, b);
      b = ops.exclusiveOr(ops.rotate(b, by), a);
    }
    a = ops.add(a, schedule[(block + 1) % 3]);
    b = ops.plus(ops.add(b, schedule[(block + 2) % 3]), static_cast<int64_t>(block) + 1);
  }
  return {a, b};
}

} // namespace uopscope
