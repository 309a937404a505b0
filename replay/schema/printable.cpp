// Replaces control characters by visible ones.
#include "replay/schema/printable.h"

namespace uopscope {

namespace {
bool isControl(unsigned char c) {
  return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}
} // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    bool c1 = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1) { // U+0080 to U+009F in UTF-8
      out += "\xef\xbf\xbd";
      ++i;
    } else if (isControl(c)) {
      out += "\xe2\x90";
      out += static_cast<char>(c == 0x7f ? 0xa1 : 0x80 + c);
    } else {
      out += text[i];
    }
  }
  return out;
}

} // namespace uopscope
