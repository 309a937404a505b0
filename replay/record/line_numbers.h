// Splits a line into the numbers in it and the texts around them. Lines of kernels that resemble each other differ in their
// numbers, so the texts are stored once (text_writer.h, line_codec.h).
//
//   splitLine("  %7 = fadd %5", text, number)      // text("  %"), number(7), text(" = fadd %"), number(5), text("")
//
// Only numbers of up to eight digits without a leading zero leave a line: an address or a hash is a text.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace uopscope {

template <typename OnText, typename OnNumber>
void splitLine(std::string_view line, const OnText& onText, const OnNumber& onNumber) {
  constexpr size_t kMostDigits = 8;
  auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  size_t begin = 0; // of the text that is open
  for (size_t at = 0; at < line.size();) {
    if (!isDigit(line[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    int64_t number = 0;
    for (; end < line.size() && isDigit(line[end]); ++end)
      if (end - at < kMostDigits) number = number * 10 + (line[end] - '0');
    if (end - at <= kMostDigits && (line[at] != '0' || end - at == 1)) {
      onText(line.substr(begin, at - begin));
      onNumber(number);
      begin = end;
    }
    at = end;
  }
  onText(line.substr(begin));
}

} // namespace uopscope
