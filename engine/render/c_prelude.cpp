// The text of each helper function of rendered C kernels, and the helper functions it calls.
#include "engine/render/c_prelude.h"

#include <span>
#include <string_view>
#include <vector>

namespace uopscope {

namespace {

struct Helper {
  std::string_view name;
  std::vector<std::string_view> needs;
  std::string_view text;
};

std::span<const Helper> helpers() {
  static const std::vector<Helper> table = {
      {"STREAM",
       {},
       R"(#define STREAM(type, address, ...) do { \
  type* to = (type*)(address); \
  type written = __VA_ARGS__; \
  if ((unsigned long long)to % sizeof(type)) *to = written; \
  else __builtin_nontemporal_store(written, (type __attribute__((aligned(sizeof(type))))*)to); \
} while (0)
)"},
      {"bf16_to_float", {}, R"(static inline float bf16_to_float(bf16 x) {
  return __builtin_bit_cast(float, (unsigned int)x << 16);
}
)"},
      {"float_to_bf16",
       {},
       R"(static inline bf16 float_to_bf16(float x) { // to nearest, ties to even; NaN stays NaN
  unsigned int u = __builtin_bit_cast(unsigned int, x);
  return x != x ? (u >> 16) | 64 : (u + 0x7fff + ((u >> 16) & 1)) >> 16;
}
)"},
      {"odd_float",
       {},
       R"(static inline float odd_float(double x) { // rounds to odd, so that rounding again is exact
  float f = (float)x;
  unsigned int u = __builtin_bit_cast(unsigned int, f);
  if (x != x || (double)f == x) return f;
  if ((double)__builtin_fabsf(f) > __builtin_fabs(x)) u -= 1;
  return __builtin_bit_cast(float, u | 1);
}
)"},
      {"small_to_float", {}, R"(static inline float small_to_float(unsigned char v, int mantissa, int bias) {
  int exponent = (v & 127) >> mantissa, fraction = v & ((1 << mantissa) - 1);
  float f = exponent ? __builtin_ldexpf(1 + __builtin_ldexpf((float)fraction, -mantissa), exponent - bias)
                     : __builtin_ldexpf((float)fraction, 1 - bias - mantissa);
  return v & 128 ? -f : f;
}
)"},
      {"float_to_small",
       {},
       R"(static inline unsigned char float_to_small(float x, int mantissa, int bias, int largest) { // finite x; beyond the largest: the largest
  unsigned char sign = __builtin_signbit(x) ? 128 : 0;
  float a = __builtin_fabsf(x);
  int exponent = a > 0 ? __builtin_ilogbf(a) : -126;
  if (exponent < 1 - bias) exponent = 1 - bias;
  int units = (int)__builtin_rintf(__builtin_ldexpf(a > 1e6f ? 1e6f : a, mantissa - (a > 1e6f ? 19 : exponent)));
  int code = (((a > 1e6f ? 19 : exponent) + bias - 1) << mantissa) + units;
  return sign | (code > largest ? largest : code);
}
)"},
      {"fp8e4m3_to_float", {"small_to_float"}, R"(static inline float fp8e4m3_to_float(fp8e4m3 x) {
  return (x & 127) == 127 ? __builtin_nanf("") : small_to_float(x, 3, 7);
}
)"},
      {"float_to_fp8e4m3", {"float_to_small"}, R"(static inline fp8e4m3 float_to_fp8e4m3(float x) {
  return x - x != 0 ? 127 | (__builtin_signbit(x) ? 128 : 0) : float_to_small(x, 3, 7, 126); // no infinity: NaN
}
)"},
      {"fp8e5m2_to_float", {"small_to_float"}, R"(static inline float fp8e5m2_to_float(fp8e5m2 x) {
  float magnitude = (x & 127) < 124 ? small_to_float(x & 127, 2, 15) : (x & 127) == 124 ? __builtin_inff() : __builtin_nanf("");
  return x & 128 ? -magnitude : magnitude;
}
)"},
      {"float_to_fp8e5m2", {"float_to_small"}, R"(static inline fp8e5m2 float_to_fp8e5m2(float x) {
  return x - x != 0 ? (x != x ? 126 : 124) | (__builtin_signbit(x) ? 128 : 0) : float_to_small(x, 2, 15, 123);
}
)"},
      {"threefry",
       {},
       R"(static inline unsigned long long threefry(unsigned long long counter, unsigned long long key) { // Threefry-2x32, 20 rounds
  static const int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  unsigned int k[3] = {(unsigned int)key, (unsigned int)(key >> 32), 0};
  k[2] = k[0] ^ k[1] ^ 0x1BD11BDA;
  unsigned int x = (unsigned int)counter + k[0], y = (unsigned int)(counter >> 32) + k[1];
  for (int i = 0; i < 20; i++) {
    int r = rotations[i % 8];
    x += y;
    y = ((y << r) | (y >> (32 - r))) ^ x;
    if (i % 4 == 3) x += k[(i / 4 + 1) % 3], y += k[(i / 4 + 2) % 3] + i / 4 + 1;
  }
  return (unsigned long long)y << 32 | x;
}
)"},
      {"integer_power",
       {},
       R"(static inline unsigned long long integer_power(unsigned long long x, unsigned long long y, int is_unsigned) {
  if (!is_unsigned && (long long)y < 0) return x == 1 ? 1 : x == -1ull ? (y & 1 ? x : 1) : 0;
  unsigned long long result = 1;
  for (; y; y >>= 1, x *= x)
    if (y & 1) result *= x;
  return result;
}
)"},
  };
  return table;
}

} // namespace

std::string cPrelude(const std::set<std::string>& names) {
  std::set<std::string> wanted = names;
  for (const Helper& h : helpers())
    if (wanted.contains(std::string(h.name)))
      for (std::string_view need : h.needs) wanted.insert(std::string(need));
  std::string out;
  for (const Helper& h : helpers())
    if (wanted.contains(std::string(h.name))) out += h.text;
  return out;
}

} // namespace uopscope
