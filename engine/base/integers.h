// Integer division that rounds down or up, for any integer type including __int128.
//
//   floorDiv(-7, 2) is -4     ceilDiv(7, 2) is 4     floorMod(-7, 2) is 1     roundUp(7, 4) is 8     divisorUpTo(12, 5) is 4
#pragma once
#include <cstdint>

namespace uopscope {

template <typename A, typename B>
constexpr auto floorDiv(A a, B b) {
  auto q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
template <typename A, typename B>
constexpr auto ceilDiv(A a, B b) {
  auto q = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? q + 1 : q;
}
template <typename A, typename B>
constexpr auto floorMod(A a, B b) {
  return a - floorDiv(a, b) * b;
}
/// The least multiple of `b` that is not below `a`.
template <typename A, typename B>
constexpr auto roundUp(A a, B b) {
  return ceilDiv(a, b) * b;
}

/// The largest divisor of a positive `n` that is not above `most`.
constexpr int64_t divisorUpTo(int64_t n, int64_t most) {
  for (int64_t d = n < most ? n : most; d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

/// False for 0 and below.
constexpr bool isPowerOfTwo(int64_t v) {
  return v > 0 && (v & (v - 1)) == 0;
}

} // namespace uopscope
