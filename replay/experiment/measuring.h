// What peaks.cpp, rates.cpp and vector_loops.cpp share: the widest vectors that this processor has, and the best of several rounds on
// several threads at once.
//
//   const double gb = best(2, [&](int) { return bytesRead(); });      // thousand millions of whatever `work` counts, a second
#pragma once
#include "engine/base/clock.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>

namespace uopscope {

/// A vector of float numbers, by the compilers' extension: one loop is compiled for each width.
template <size_t kLanes>
struct FloatVector {
  typedef float Vector
      __attribute__((vector_size(kLanes * sizeof(float)))); // NOLINT(modernize-use-using): g++ drops it there
  typedef int Integers
      __attribute__((vector_size(kLanes * sizeof(int)))); // NOLINT(modernize-use-using): the same
};

/// The best rate, in thousand millions a second, of `work` on all threads at once; `work` returns how much it did.
double best(int threads, const std::function<double(int thread)>& work);

/// The sum of `count` numbers, read by four loads a turn.
template <size_t kLanes>
[[gnu::always_inline]] inline float readsOf(const float* data, size_t count) {
  using Vector = FloatVector<kLanes>::Vector;
  Vector sums[4] = {};
  for (size_t i = 0; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; ++k) {
      Vector read;
      std::memcpy(&read, data + i + k * kLanes, sizeof read);
      sums[k] += read;
    }
  }
  const Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float total = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) total += sum[lane];
  return total;
}
/// The sum of `count` numbers with the widest vectors.
float reads(const float* data, size_t count);
/// Stores `value` everywhere, by the widest vectors.
void writes(float* data, size_t count, float value);

/// Numbers of 32 bits in the widest vectors that this processor computes with.
int widestLanes();
/// What each turn of a loop does to many independent vectors.
enum class VectorLoop { MultiplyAdd, Add, Mixed, Divide, Shuffle, Load, Store };
/// Operations on vectors of `lanes` numbers a cycle of so many nanoseconds.
double vectorRate(VectorLoop kind, int lanes, double cycle);

/// Nanoseconds of the fastest round.
template <typename F>
double fastestNs(F&& f, int rounds = 15) {
  double least = 1e18;
  for (int i = 0; i < rounds; ++i) {
    const int64_t from = nowNs();
    f();
    least = std::min(least, static_cast<double>(nowNs() - from));
  }
  return least;
}

} // namespace uopscope
