// The price of a step by the stages that take turns.
#include "engine/codegen/staging_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace uopscope {

namespace {

// Published for A100 and H100, and measured by nobody here (docs/design/costs.md).
constexpr double kCopyLatency =
    480; ///< cycles until a copy from global memory that waits for nothing has arrived
constexpr double kCopyRate = 32; ///< bytes a cycle that a processor gets from the cache that all share
constexpr double kBarrier = 40;  ///< cycles of a step that no product is begun in
constexpr int64_t kMostStages = 8;

} // namespace

double cyclesOfStep(const StagedStep& step, int64_t rate, int64_t stages) {
  const auto groups = static_cast<double>(step.groups);
  const double products = groups * static_cast<double>(step.products) / static_cast<double>(rate),
               arriving = groups * static_cast<double>(step.bytes) / kCopyRate,
               ahead = static_cast<double>(stages - 1 - step.computing);
  return std::max({products, arriving, (kCopyLatency + arriving) / ahead}) + groups * kBarrier;
}

Stages stagesOf(StagedStep step, int64_t rate, int64_t sharedBytes, int64_t steps) {
  std::vector<std::pair<double, int64_t>> prices;
  const int64_t fewest = 2 + step.computing;
  while (step.groups > 1 && fewest * step.bytes * step.groups > sharedBytes) --step.groups;
  for (int64_t n = fewest; n <= std::max(fewest, std::min(kMostStages, steps)); ++n)
    if (n * step.bytes * step.groups <= sharedBytes) prices.emplace_back(cyclesOfStep(step, rate, n), n);
  Stages chosen;
  chosen.count = 0;
  if (prices.empty()) return chosen;
  std::sort(prices.begin(), prices.end());
  chosen.cycles = prices[0].first;
  chosen.groups = step.groups;
  chosen.count = prices[0].second;
  for (auto [cycles, n] : std::span(prices).subspan(1))
    chosen.others.push_back({fmt::format("{} stages", n), cycles});
  return chosen;
}

} // namespace uopscope
