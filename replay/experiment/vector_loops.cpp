// Loops over registers, compiled for each width of vectors, for the fastest of which this processor has the instructions. Empty
// assembly statements keep the compiler from computing less.
#include "replay/experiment/measuring.h"

#include <utility>

namespace uopscope {

namespace {

constexpr int kVectorSteps = 20'000, kAtOnce = 12;
constexpr size_t kFloats = kAtOnce * 16; ///< in the first cache
alignas(64) float memory[kFloats] = {1};

template <typename Vector, size_t... kLane>
[[gnu::always_inline]] inline void swapNeighbours(Vector& x, std::index_sequence<kLane...> /*lanes*/) {
  x = __builtin_shufflevector(x, x, (kLane ^ 1)...);
}

/// kAtOnce independent operations on vectors, `kVectorSteps` times. Returns a sum so that nothing is left out.
template <size_t kLanes, VectorLoop kind>
[[gnu::always_inline]] inline float operations() {
  using Vector = FloatVector<kLanes>::Vector;
  using Integers = FloatVector<kLanes>::Integers;
  const volatile float factor = 0.999F, summand = 0.001F;
  const Vector m = Vector{} + factor, c = Vector{} + summand;
  float* place = memory;
  asm volatile("" : "+r"(place)); // a compiler that knew what is there would compute equal vectors once
  Vector a[kAtOnce];              // registers, once every loop over it is written out
  Integers loaded[kAtOnce];
#pragma GCC unroll 12
  for (size_t k = 0; k < kAtOnce; ++k) {
    std::memcpy(&a[k], place + k * kLanes, sizeof a[k]);
    loaded[k] = Integers{};
  }
  for (int i = 0; i < kVectorSteps; ++i) {
#pragma GCC unroll 12
    for (size_t k = 0; k < kAtOnce; ++k) {
      Vector& x = a[k];
      if constexpr (kind == VectorLoop::MultiplyAdd) x = x * m + c;
      if constexpr (kind == VectorLoop::Add) x = x + c;
      if constexpr (kind == VectorLoop::Mixed) x = k % 2 ? x * m : x + c;
      if constexpr (kind == VectorLoop::Divide) x = m / x;
      if constexpr (kind == VectorLoop::Shuffle) swapNeighbours(x, std::make_index_sequence<kLanes>());
      if constexpr (kind == VectorLoop::Load) {
        Integers read;
        std::memcpy(&read, place + k * kLanes, sizeof read);
        loaded[k] ^= read;
      }
      if constexpr (kind == VectorLoop::Store) std::memcpy(place + k * kLanes, &x, sizeof x);
    }
    if constexpr (kind == VectorLoop::Load || kind == VectorLoop::Store) asm volatile("" ::: "memory");
  }
  Vector sum = {};
  Integers bits = {};
#pragma GCC unroll 12
  for (size_t k = 0; k < kAtOnce; ++k) sum += a[k], bits ^= loaded[k];
  return sum[0] + static_cast<float>(bits[0]);
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
  using Vector = FloatVector<kLanes>::Vector;
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
  volatile float sink = 0;
  const auto run = [&] {
#if defined(__x86_64__)
    if (lanes == 16) return wideOperations(kind);
    if (lanes == 8) return middleOperations(kind);
#endif
    return operationsOf<4>(kind);
  };
  const double ns = fastestNs([&] { sink = run(); });
  return static_cast<double>(kAtOnce) * kVectorSteps * cycle / ns;
}

void writes(float* data, size_t count, float value) {
#if defined(__x86_64__)
  if (widestLanes() == 16) return wideWrites(data, count, value);
  if (widestLanes() == 8) return middleWrites(data, count, value);
#endif
  writesOf<4>(data, count, value);
}
} // namespace uopscope
