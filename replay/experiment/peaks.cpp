// Each measurement runs on all threads at once and counts the slowest; of several rounds the best is kept. The
// loops use the widest vectors that this processor has: other code of this program is built for any processor.
#include "replay/experiment/peaks.h"

#include "engine/base/error.h"
#include "replay/experiment/measuring.h"
#include "replay/experiment/rates.h"
#include "replay/record/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace uopscope {

namespace {

constexpr int kRounds = 12;
/// Multiply-adds in `kVectors` registers, `steps` times over all of them; returns their sum so that nothing is left out.
/// Sets `flops` to the number of operations computed. More vectors than latency times the additions begun in a cycle keep the units busy.
template <size_t kLanes, size_t kVectors>
[[gnu::always_inline]] inline float arithmeticOf(int64_t steps, double& flops) {
  using Vector = FloatVector<kLanes>::Vector;
  Vector a[kVectors]; // registers, once every loop over it is written out
  static const std::array<float, kVectors> begin = {1};
  const float* from = begin.data();
  asm volatile("" : "+r"(from)); // a compiler that knew that many are equal would compute them once
#pragma GCC unroll 16
  for (size_t k = 0; k < kVectors; ++k) a[k] = Vector{} + from[k];
  const volatile float factor = 0.999F, summand = 0.001F; // a compiler that knew them would compute nothing
  const Vector m = Vector{} + factor, c = Vector{} + summand;
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 16
    for (auto& x : a) x = x * m + c;
  }
  Vector sum = {};
#pragma GCC unroll 16
  for (const auto& x : a) sum += x;
  flops = 2.0 * kLanes * kVectors * static_cast<double>(steps);
  return sum[0];
}
#if defined(__x86_64__)
[[gnu::target("avx512f")]] float arithmetic512(int64_t steps, double& flops) {
  return arithmeticOf<16, 16>(steps, flops);
}
[[gnu::target("avx512f")]] float reads512(const float* data, size_t count) {
  return readsOf<16>(data, count);
}
[[gnu::target("avx2,fma")]] float arithmetic256(int64_t steps, double& flops) {
  return arithmeticOf<8, 12>(steps, flops); // of 16 registers
}
#endif

float arithmetic(int64_t steps, double& flops) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return arithmetic512(steps, flops);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return arithmetic256(steps, flops);
#endif
  return arithmeticOf<4, 8>(steps, flops);
}
std::filesystem::path fileOfPeaks() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base =
      cache && *cache ? cache : std::filesystem::path(home ? home : "/tmp") / ".cache";
  return base / "uopscope" / "peaks.json";
}

} // namespace

float reads(const float* data, size_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return reads512(data, count);
#endif
  return readsOf<4>(data, count);
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
  peaks.rates = measureRates(threads);
  return peaks;
}

Peaks knownPeaks(int threads, bool again) {
  const std::filesystem::path file = fileOfPeaks();
  const std::string key = fmt::format("{}, {} threads", machineText(), threads);
  nlohmann::json all = nlohmann::json::object();
  if (std::ifstream in(file); in) all = nlohmann::json::parse(in, nullptr, false);
  if (!all.is_object()) all = nlohmann::json::object();
  if (const auto at = all.find(key); !again && at != all.end() && at->is_object()) {
    Peaks p{at->value("gflops", 0.0),
            at->value("gb_per_s", 0.0),
            at->value("cache_gb_per_s", 0.0),
            at->value("cache_bytes", int64_t{0}),
            machineText(),
            ratesFrom(at->value("rates", nlohmann::json()))};
    if (p.known() && p.rates.known()) return p;
  }
  const Peaks p = measurePeaks(threads);
  all[key] = {{"gflops", p.gflops},
              {"gb_per_s", p.gbPerSecond},
              {"cache_gb_per_s", p.cacheGbPerSecond},
              {"cache_bytes", p.cacheBytes},
              {"rates", ratesJson(p.rates)}};
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  std::ofstream(file) << all.dump(1) << '\n';
  return p;
}

} // namespace uopscope
