// What a bounded table gives up when it is full: the half of its entries that was used longest ago. Halves, so that a full
// table is not looked through for every new entry.
//
//   auto middle = middleTime(entries, [](const auto& known) { return known.second.used; });
//   std::erase_if(entries, [&](const auto& known) { return known.second.used < middle; });
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace uopscope {

/// The median of the times of a map's elements; there must be one.
template <typename Map, typename TimeOf>
auto middleTime(const Map& map, TimeOf timeOf) {
  std::vector<decltype(timeOf(*map.begin()))> times;
  for (const auto& known : map) times.push_back(timeOf(known));
  auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

} // namespace uopscope
