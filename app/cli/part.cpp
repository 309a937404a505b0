#include "app/cli/part.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <charconv>

namespace uopscope::cli {

Part partOf(const std::string& text) {
  if (text.empty()) return {};
  size_t i = 0, n = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, i);
  const bool divided = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
  const auto second = divided ? std::from_chars(first.ptr + 1, end, n) : first;
  if (!divided || second.ec != std::errc() || second.ptr != end || i < 1 || i > n)
    throw Error(ErrorKind::Value, fmt::format("--part {}: give I/N with 1 <= I <= N, such as 2/4", text));
  return {i - 1, n};
}

} // namespace uopscope::cli
