#include "replay/read/lane_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

namespace uopscope {

std::string evenSteps(std::span<const std::string> texts) {
  constexpr size_t kFew = 4;
  if (texts.size() <= kFew) return {};
  std::vector<int64_t> numbers;
  for (const std::string& text : texts) {
    int64_t n = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (bad != std::errc() || end != text.data() + text.size()) return {};
    numbers.push_back(n);
  }
  for (size_t i = 2; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] != numbers[1] - numbers[0]) return {};
  return fmt::format("{}, {} … {}", numbers[0], numbers[1], numbers.back());
}

std::string runsOf(std::span<const std::string> texts) {
  const bool many = texts.size() > kFewLanes;
  if (many && texts.front() != texts.back())
    if (std::string steps = evenSteps(texts); !steps.empty()) return steps;
  std::string out;
  for (size_t k = 0; k < texts.size();) {
    size_t same = 1;
    while (many && k + same < texts.size() && texts[k + same] == texts[k]) ++same;
    out += (out.empty() ? "" : ", ") + texts[k] + (same > 1 ? fmt::format(" ×{}", same) : "");
    k += same;
  }
  return out;
}

std::string runsOfTuple(std::string text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')' ||
      text.find_first_of("([", 1) != std::string::npos)
    return text;
  std::vector<std::string> items;
  for (size_t at = 1; at + 1 < text.size();) {
    const size_t end = std::min(text.find(", ", at), text.size() - 1);
    items.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return items.size() > kFewLanes ? "(" + runsOf(items) + ")" : text;
}

} // namespace uopscope
