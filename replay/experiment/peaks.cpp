// Each measurement runs on all threads at once and counts the slowest; of several rounds the best is kept. The
// loops use the widest vectors that this processor has: other code of this program is built for any processor.
#include "replay/experiment/peaks.h"

#include "engine/base/error.h"
#include "replay/record/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace uopscope {

namespace {

constexpr int kRounds = 5;
constexpr int kAccumulators = 16; ///< more than latency times the additions begun in a cycle

/// Multiply-adds in registers, `steps` times over all accumulators; returns their sum so that nothing is left out.
/// Sets `flops` to what was computed.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) float lane(__m512 v) {
  float lanes[16];
  _mm512_storeu_ps(lanes, v);
  return lanes[0];
}
__attribute__((target("avx512f"))) float arithmetic512(int64_t steps, double& flops) {
  __m512 a[kAccumulators];
  for (auto& x : a) x = _mm512_set1_ps(1.0F);
  const __m512 m = _mm512_set1_ps(0.999F), c = _mm512_set1_ps(0.001F);
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 16
    for (auto& x : a) x = _mm512_fmadd_ps(x, m, c);
  }
  __m512 sum = a[0];
  for (const auto& x : a) sum = _mm512_add_ps(sum, x);
  flops = 32.0 * kAccumulators * static_cast<double>(steps);
  return lane(sum);
}
__attribute__((target("avx2,fma"))) float arithmetic256(int64_t steps, double& flops) {
  constexpr int kHere = 12; // of 16 registers
  __m256 a[kHere];
  for (auto& x : a) x = _mm256_set1_ps(1.0F);
  const __m256 m = _mm256_set1_ps(0.999F), c = _mm256_set1_ps(0.001F);
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 16
    for (auto& x : a) x = _mm256_fmadd_ps(x, m, c);
  }
  __m256 sum = a[0];
  for (const auto& x : a) sum = _mm256_add_ps(sum, x);
  float lanes[8];
  _mm256_storeu_ps(lanes, sum);
  flops = 16.0 * kHere * static_cast<double>(steps);
  return lanes[0];
}
__attribute__((target("avx512f"))) float reads512(const float* data, size_t count) {
  __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
  for (size_t i = 0; i + 64 <= count; i += 64) {
    a = _mm512_add_ps(a, _mm512_loadu_ps(data + i));
    b = _mm512_add_ps(b, _mm512_loadu_ps(data + i + 16));
    c = _mm512_add_ps(c, _mm512_loadu_ps(data + i + 32));
    d = _mm512_add_ps(d, _mm512_loadu_ps(data + i + 48));
  }
  return lane(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)));
}
#endif

using Four = float __attribute__((vector_size(16)));

float arithmetic128(int64_t steps, double& flops) {
  Four a[kAccumulators / 2];
  for (auto& x : a) x = Four{1, 1, 1, 1};
  const Four m = {0.999F, 0.999F, 0.999F, 0.999F}, c = {0.001F, 0.001F, 0.001F, 0.001F};
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 16
    for (auto& x : a) x = x * m + c;
  }
  Four sum = a[0];
  for (const auto& x : a) sum += x;
  flops = 8.0 * (kAccumulators / 2) * static_cast<double>(steps);
  return sum[0] + sum[1];
}
float reads128(const float* data, size_t count) {
  Four a = {}, b = {}, c = {}, d = {};
  for (size_t i = 0; i + 16 <= count; i += 16) {
    Four w, x, y, z;
    __builtin_memcpy(&w, data + i, 16), __builtin_memcpy(&x, data + i + 4, 16);
    __builtin_memcpy(&y, data + i + 8, 16), __builtin_memcpy(&z, data + i + 12, 16);
    a += w, b += x, c += y, d += z;
  }
  a += b + c + d;
  return a[0] + a[1] + a[2] + a[3];
}

float arithmetic(int64_t steps, double& flops) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return arithmetic512(steps, flops);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return arithmetic256(steps, flops);
#endif
  return arithmetic128(steps, flops);
}
float reads(const float* data, size_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return reads512(data, count);
#endif
  return reads128(data, count);
}

/// The best rate, in thousand millions a second, of `work` on all threads at once; `work` returns how much it did.
double best(int threads, const std::function<double(int thread)>& work) {
  using Clock = std::chrono::steady_clock;
  double rate = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::barrier together(threads);
    std::vector<double> amounts(static_cast<size_t>(threads)), seconds(static_cast<size_t>(threads));
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t)
      workers.emplace_back([&, t] {
        together.arrive_and_wait();
        const auto from = Clock::now();
        amounts[static_cast<size_t>(t)] = work(t);
        seconds[static_cast<size_t>(t)] = std::chrono::duration<double>(Clock::now() - from).count();
      });
    workers.clear();
    double all = 0;
    for (const double a : amounts) all += a;
    rate = std::max(rate, all / *std::ranges::max_element(seconds) / 1e9);
  }
  return rate;
}

std::filesystem::path fileOfPeaks() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base =
      cache && *cache ? cache : std::filesystem::path(home ? home : "/tmp") / ".cache";
  return base / "uopscope" / "peaks.json";
}

} // namespace

Peaks measurePeaks(int threads) {
  if (threads < 1)
    throw Error(ErrorKind::Value, fmt::format("peaks of {} threads cannot be measured", threads));
  Peaks peaks;
  peaks.machine = machineText();
  std::atomic<float> sink = 0; // nothing that is computed may be left out
  peaks.gflops = best(threads, [&](int) {
    double flops = 0;
    sink = arithmetic(2'000'000, flops);
    return flops;
  });
  const long second = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const auto own = static_cast<size_t>(std::clamp<long>(second, 256 << 10, 4 << 20));
  peaks.cacheBytes = static_cast<int64_t>(own) * threads;
  auto bandwidth = [&](size_t bytes, int times) {
    std::vector<std::vector<float>> data(static_cast<size_t>(threads), std::vector<float>(bytes / 4, 1.0F));
    return best(threads, [&](int t) {
      const auto& mine = data[static_cast<size_t>(t)];
      for (int i = 0; i < times; ++i) sink = reads(mine.data(), mine.size());
      return static_cast<double>(bytes) * times;
    });
  };
  peaks.cacheGbPerSecond = bandwidth(own / 2, 200);
  peaks.gbPerSecond = bandwidth(size_t{256 << 20} / static_cast<size_t>(threads), 1);
  return peaks;
}

Peaks knownPeaks(int threads, bool again) {
  const std::filesystem::path file = fileOfPeaks();
  const std::string key = fmt::format("{}, {} threads", machineText(), threads);
  nlohmann::json all = nlohmann::json::object();
  if (std::ifstream in(file); in) all = nlohmann::json::parse(in, nullptr, false);
  if (!all.is_object()) all = nlohmann::json::object();
  if (const auto at = all.find(key); !again && at != all.end() && at->is_object()) {
    Peaks p{at->value("gflops", 0.0), at->value("gb_per_s", 0.0), at->value("cache_gb_per_s", 0.0),
            at->value("cache_bytes", int64_t{0}), machineText()};
    if (p.known()) return p;
  }
  const Peaks p = measurePeaks(threads);
  all[key] = {{"gflops", p.gflops},
              {"gb_per_s", p.gbPerSecond},
              {"cache_gb_per_s", p.cacheGbPerSecond},
              {"cache_bytes", p.cacheBytes}};
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  std::ofstream(file) << all.dump(1) << '\n';
  return p;
}

} // namespace uopscope
