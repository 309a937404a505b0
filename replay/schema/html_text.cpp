// Walks over the bytes once. A character of several bytes is copied whole or replaced whole.
#include "replay/schema/html_text.h"

namespace uopscope {

std::string htmlText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // Handles bytes that begin no character of UTF-8 or lack their following bytes.
    const size_t more = c < 0x80 ? 0 : c >= 0xf0 && c < 0xf5 ? 3 : c >= 0xe0 ? 2 : c >= 0xc2 ? 1 : 9;
    bool whole = more != 9 && i + more < text.size() + (more == 0) && c < 0xf5;
    for (size_t k = 1; whole && k <= more; ++k)
      whole = i + k < text.size() && (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    if (!whole) {
      out += "\xef\xbf\xbd";
      continue;
    }
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else if (c < 0x20 && c != '\n' && c != '\t')
      out += ' ';
    else
      out += text.substr(i, more + 1);
    i += more;
  }
  return out;
}

} // namespace uopscope
