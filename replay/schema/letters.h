// Texts in UTF-8 by the letters that a person sees, not by their bytes.
//
//   letterCount("12 µs") == 5;  clipped("µs and more", 4) == "µs …"
#pragma once
#include <string>
#include <string_view>

namespace uopscope {

/// Whether the byte goes on with the letter of the bytes before it.
constexpr bool continuesLetter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}
size_t letterCount(std::string_view text);
/// The text, or where it is longer than `most` letters, its beginning and "…": `most` letters together.
std::string clipped(std::string text, size_t most);

} // namespace uopscope
