// Makes text of an untrusted file safe for a terminal.
//
//   printable("r_16\x1b]0;owned\a") == "r_16\u241b]0;owned\u2407"
#pragma once
#include <string>
#include <string_view>

namespace uopscope {

/// The text with every control character except newline and tab replaced by its picture (U+2400 and on), so
/// that no escape sequence reaches a terminal. Text without control characters is copied unchanged.
std::string printable(std::string_view text);

} // namespace uopscope
