// Measures the processor in the units of the cost model of tiles (engine/codegen/tiling.cpp): cycles of one
// core and float32 elements. A cycle is the time of one integer addition in a chain of dependent ones.
//
//   build/bench/processor_bench          a line per quantity: measured, and the constant made from it
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

namespace {

constexpr int kRounds = 9;

/// As wide as a register of the processor that this is compiled for: an `asm` takes no wider one.
#if defined(__AVX512F__)
using Vector = float __attribute__((vector_size(64)));
#elif defined(__AVX__)
using Vector = float __attribute__((vector_size(32)));
#else
using Vector = float __attribute__((vector_size(16)));
#endif
constexpr size_t kVector = sizeof(Vector) / sizeof(float);

/// Nanoseconds of the fastest of so many calls.
double fastestOf(int rounds, const std::function<void()>& f) {
  double best = 1e18;
  for (int i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

double fastest(const std::function<void()>& f) {
  return fastestOf(kRounds, f);
}

/// Nanoseconds of a cycle.
double cycle() {
  constexpr int64_t kSteps = 20'000'000;
  return fastest([] {
           int64_t x = 1;
           for (int64_t i = 0; i < kSteps; ++i) asm volatile("add $1, %0" : "+r"(x));
         }) /
         static_cast<double>(kSteps);
}

/// Nanoseconds until a fused multiply-add may read the result of the one before.
double accumulate() {
  constexpr int64_t kSteps = 4'000'000;
  return fastest([] {
           float x = 1;
           for (int64_t i = 0; i < kSteps; ++i) {
             x = __builtin_fmaf(x, 0.5F, 1.F);
             asm volatile("" : "+x"(x));
           }
         }) /
         static_cast<double>(kSteps);
}

/// Elements per nanosecond of a sum over `elements` that lie in order, read again and again.
double readInOrder(size_t elements) {
  std::vector<float> memory(elements + 16, 1.F);
  auto* from =
      reinterpret_cast<const Vector*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~uintptr_t{63});
  const size_t vectors = elements / kVector, times = std::max<size_t>(1, (size_t{8} << 20) / elements);
  const double took = fastest([&] {
    Vector a{}, b{}, c{}, d{};
    for (size_t t = 0; t < times; ++t)
      for (size_t i = 0; i + 4 <= vectors; i += 4) {
        a += from[i], b += from[i + 1], c += from[i + 2], d += from[i + 3];
        asm volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d));
      }
  });
  return static_cast<double>(vectors * kVector * times) / took;
}

/// Nanoseconds to read one element, `apart` elements from the one before, in memory that no cache holds.
double readApart(size_t apart) {
  constexpr size_t kElements = size_t{64} << 20;
  static const std::vector<float> memory(kElements, 1.F);
  const double took = fastest([&] {
    float sum = 0;
    for (size_t i = 0; i < kElements; i += apart) sum += memory[i];
    asm volatile("" : "+x"(sum));
  });
  return took / (static_cast<double>(kElements) / static_cast<double>(apart));
}

/// Multiply-adds a nanosecond of a tile of kRows by kVectors registers: single values of rows 4 kB apart times vectors in order from
/// the second cache. The median of many rounds and the slowest twentieth, in which another tenant may work on the core.
template <size_t kRows, size_t kVectors>
void tileRate() {
  constexpr size_t kTerms = 1024, kTurns = 1500;
  static std::vector<float> left(kRows * kTerms, 0.5F);
  static std::vector<Vector> right(kTerms * kVectors, Vector{} + 0.25F);
  std::vector<double> rates;
  for (size_t turn = 0; turn < kTurns; ++turn) {
    const double took = fastestOf(1, [] {
      Vector sums[kRows][kVectors] = {};
      for (size_t k = 0; k < kTerms; ++k)
#pragma GCC unroll 16
        for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 16
          for (size_t v = 0; v < kVectors; ++v) sums[r][v] += left[r * kTerms + k] * right[k * kVectors + v];
      for (auto& row : sums)
        for (Vector& sum : row) asm volatile("" : "+x"(sum));
    });
    rates.push_back(static_cast<double>(kRows * kVectors * kVector * kTerms) / took);
  }
  std::ranges::sort(rates);
  char text[64];
  std::snprintf(text, sizeof text, "GFLOPS of a tile of %zu x %zu, median and slowest twentieth", kRows,
                kVectors * kVector);
  std::printf("%-62s %8.1f %8.1f   mostProductRegisters\n", text, 2 * rates[kTurns / 2],
              2 * rates[kTurns / 20]);
}

} // namespace

int main() {
  const double ns = cycle();
  std::printf("a cycle: %.3f ns\n", ns);
  std::printf("%-62s %8.1f   kLatency\n", "cycles until an accumulator may be added to again",
              accumulate() / ns);
  for (const auto& [kilobytes, constant] : {std::pair<size_t, const char*>{16, ""},
                                            {32, "kNear ends here"},
                                            {256, "kNextCache"},
                                            {512, "kCached ends here"},
                                            {1024, ""},
                                            {4096, "kLastCache"},
                                            {65536, "memory; kStream is the cycles of 16 elements"}}) {
    char text[64];
    std::snprintf(text, sizeof text, "elements a cycle, read in order, of %zu kB", kilobytes);
    std::printf("%-62s %8.1f   %s\n", text, readInOrder(kilobytes * 256) * ns, constant);
  }
  for (size_t apart : {1, 4, 8, 16, 32}) {
    char text[64];
    std::snprintf(text, sizeof text, "cycles a read, %zu elements apart, of memory", apart);
    std::printf("%-62s %8.1f   %s\n", text, readApart(apart) / ns,
                apart == 16 ? "kLine: farther apart costs no more lines" : "");
  }
  tileRate<8, 2>();
  tileRate<12, 2>();
  tileRate<8, 3>();
  tileRate<6, 4>();
}
