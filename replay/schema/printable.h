// Text of a file that a stranger made, as a terminal may see it.
//
//   printable("r_16\x1b]0;owned\a") == "r_16\u241b]0;owned\u2407"
#pragma once
#include <string>
#include <string_view>

namespace uopscope {

/// The text with every control character but newline and tab as its picture (U+2400 and on), so that no
/// escape sequence reaches a terminal. Text without any is copied as it is.
std::string printable(std::string_view text);

} // namespace uopscope
