// Chooses unit and digits after rounding, so that 999.7 µs is "1.00 ms" and never "1000 µs".
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace uopscope {

namespace {

using Units = std::array<const char*, 4>;

std::string threeDigits(int64_t amount, const Units& units) {
  const double most = 999.5;
  double value = std::abs(static_cast<double>(amount));
  size_t unit = 0;
  for (; value >= most && unit + 1 < units.size(); ++unit) value /= 1000;
  const char* sign = amount < 0 ? "-" : "";
  if (value >= most) return sign + countText(std::llround(value)) + ' ' + units[unit];
  const int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{}{:.{}f} {}", sign, value, digits, units[unit]);
}

} // namespace

std::string durationText(int64_t ns) {
  return threeDigits(ns, {"ns", "µs", "ms", "s"});
}

std::string sizeText(int64_t bytes) {
  return threeDigits(bytes, {"B", "kB", "MB", "GB"});
}

std::string countedText(int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", countText(number), what, number == 1 ? "" : "s");
}

std::string countText(int64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string out;
  for (size_t k = 0; k < digits.size(); ++k) {
    if (k > (number < 0) && (digits.size() - k) % 3 == 0) out += ',';
    out += digits[k];
  }
  return out;
}

} // namespace uopscope
