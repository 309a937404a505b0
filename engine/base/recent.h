// Eviction from a bounded table. A full table drops the half of its entries that was used longest ago:
// dropping half at once means that a full table is not searched for every new entry.
//
//   auto middle = middleTime(entries, [](const auto& known) { return known.second.used; });
//   std::erase_if(entries, [&](const auto& known) { return known.second.used < middle; });
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace uopscope {

/// The median of the times of a map's elements. The map must not be empty.
template <typename Map, typename TimeOf>
auto middleTime(const Map& map, TimeOf timeOf) {
  std::vector<decltype(timeOf(*map.begin()))> times;
  for (const auto& known : map) times.push_back(timeOf(known));
  auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

} // namespace uopscope
