// Amounts as people read them: the command line, reports and the window write a duration, a size and a count the same way.
//
//   durationText(12'345) == "12.3 µs";  sizeText(93'184) == "93.2 kB";  countText(1'234'567) == "1,234,567"
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace uopscope {

/// Three digits and the unit they are read best in: "59 ns", "3.40 µs", "122 µs", "24.1 ms", "1.13 s".
std::string durationText(int64_t ns);
/// The same of bytes: "12 B", "93.2 kB", "4.07 MB".
std::string sizeText(int64_t bytes);
/// A comma every three digits.
std::string countText(int64_t number);
std::string countText(std::unsigned_integral auto number) {
  return countText(static_cast<int64_t>(number));
}
/// With what is counted: "1 kernel", "1,024 kernels".
std::string countedText(int64_t number, std::string_view what);
std::string countedText(std::unsigned_integral auto number, std::string_view what) {
  return countedText(static_cast<int64_t>(number), what);
}

} // namespace uopscope
