// Loops over registers, compiled for each width of vectors, for the fastest of which this processor has the instructions. Empty
// assembly statements keep the compiler from computing less.
#include "replay/experiment/measuring.h"

namespace uopscope {

namespace {

constexpr int kSteps = 20'000, kAtOnce = 12;
constexpr size_t kFloats = kAtOnce * 16; ///< in the first cache
alignas(64) float memory[kFloats];

/// kAtOnce independent operations on vectors, `kSteps` times.
template <size_t kLanes, VectorLoop kind>
[[gnu::always_inline]] inline float operations() {
  using Vector = Lanes<kLanes>::Vector;
  const volatile float factor = 0.999F, summand = 0.001F;
  const Vector m = Vector{} + factor, c = Vector{} + summand;
  typename Lanes<kLanes>::Integers order;
  for (size_t l = 0; l < kLanes; ++l) order[l] = static_cast<int>(l ^ 1);
  Vector a[kAtOnce]; // registers, once every loop over it is written out
#pragma GCC unroll 12
  for (auto& x : a) x = Vector{} + 1.0F;
  for (int i = 0; i < kSteps; ++i) {
    float* place = memory;
    asm volatile("" : "+r"(place)); // the compiler does not know that it is the same each time
#pragma GCC unroll 12
    for (size_t k = 0; k < kAtOnce; ++k) {
      Vector& x = a[k];
      auto* at = reinterpret_cast<Vector*>(place + k * kLanes);
      if constexpr (kind == VectorLoop::MultiplyAdd) x = x * m + c;
      if constexpr (kind == VectorLoop::Add) x = x + c;
      if constexpr (kind == VectorLoop::Mixed) x = k % 2 ? x * m : x + c;
      if constexpr (kind == VectorLoop::Divide) x = m / x;
      if constexpr (kind == VectorLoop::Shuffle) x = __builtin_shuffle(x, order);
      if constexpr (kind == VectorLoop::Load) {
        const Vector read = *at;
        asm volatile("" ::"x"(read));
      }
      if constexpr (kind == VectorLoop::Store) *at = x;
      if constexpr (kind == VectorLoop::Store)
        asm volatile("" ::: "memory");
      else if constexpr (kind != VectorLoop::Load)
        asm volatile("" : "+x"(x));
    }
  }
  return a[0][0];
}
template <size_t kLanes>
[[gnu::always_inline]] inline float operationsOf(VectorLoop kind) {
  switch (kind) {
  case VectorLoop::MultiplyAdd: return operations<kLanes, VectorLoop::MultiplyAdd>();
  case VectorLoop::Add: return operations<kLanes, VectorLoop::Add>();
  case VectorLoop::Mixed: return operations<kLanes, VectorLoop::Mixed>();
  case VectorLoop::Divide: return operations<kLanes, VectorLoop::Divide>();
  case VectorLoop::Shuffle: return operations<kLanes, VectorLoop::Shuffle>();
  case VectorLoop::Load: return operations<kLanes, VectorLoop::Load>();
  case VectorLoop::Store: break;
  }
  return operations<kLanes, VectorLoop::Store>();
}
#if defined(__x86_64__)
[[gnu::target("avx512f,avx512dq")]] float wideOperations(VectorLoop kind) {
  return operationsOf<16>(kind);
}
[[gnu::target("avx2,fma")]] float middleOperations(VectorLoop kind) {
  return operationsOf<8>(kind);
}
#endif
template <size_t kLanes>
[[gnu::always_inline]] inline void writesOf(float* data, size_t count, float value) {
  using Vector = Lanes<kLanes>::Vector;
  const Vector v = Vector{} + value;
  for (size_t i = 0; i + kLanes <= count; i += kLanes) {
    std::memcpy(data + i, &v, sizeof v);
    asm volatile("" ::: "memory");
  }
}
#if defined(__x86_64__)
[[gnu::target("avx512f")]] void wideWrites(float* data, size_t count, float value) {
  writesOf<16>(data, count, value);
}
[[gnu::target("avx2")]] void middleWrites(float* data, size_t count, float value) {
  writesOf<8>(data, count, value);
}
#endif
} // namespace

int widestLanes() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return 16;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 8;
#endif
  return 4;
}

/// Operations on vectors of this processor's width, a cycle.
double vectorRate(VectorLoop kind, int lanes, double cycle) {
  const double ns = fastestNs([&] {
#if defined(__x86_64__)
    if (lanes == 16) return wideOperations(kind);
    if (lanes == 8) return middleOperations(kind);
#endif
    return operationsOf<4>(kind);
  });
  return static_cast<double>(kAtOnce) * kSteps * cycle / ns;
}

void writes(float* data, size_t count, float value) {
#if defined(__x86_64__)
  if (widestLanes() == 16) return wideWrites(data, count, value);
  if (widestLanes() == 8) return middleWrites(data, count, value);
#endif
  writesOf<4>(data, count, value);
}
} // namespace uopscope
