// Python's spelling of floats and strings, and the cursor that reads them back.
#include "engine/uop/text.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace uopscope {

namespace {

bool isNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

int hexValue(char c) {
  if (isDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The length of the valid UTF-8 sequence at the front; 0 if there is none.
size_t utf8Length(std::string_view s) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  unsigned char lead = byte(0);
  size_t n = lead < 0x80                   ? 1
             : lead >= 0xC2 && lead < 0xE0 ? 2
             : lead >= 0xE0 && lead < 0xF0 ? 3
             : lead >= 0xF0 && lead < 0xF5 ? 4
                                           : 0;
  if (n == 0 || n > s.size()) return 0;
  for (size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (n == 3 && ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) >= 0xA0))) return 0;
  if (n == 4 && ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90))) return 0;
  return n;
}

} // namespace

std::string pyFloat(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  size_t e = text.find('e');
  int exponent = 0;
  std::string_view exponentText = text.substr(e + 1);
  if (exponentText.starts_with('+')) exponentText.remove_prefix(1);
  std::from_chars(exponentText.data(), exponentText.data() + exponentText.size(), exponent);
  std::string sign = text[0] == '-' ? "-" : "";
  std::string digits;
  for (char c : text.substr(0, e))
    if (isDigit(c)) digits += c;
  if (exponent < -4 || exponent >= 16) {
    std::string mantissa = digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "");
    return fmt::format("{}{}e{}{:02}", sign, mantissa, exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string pyString(std::string_view s) {
  char quote = s.find('\'') != s.npos && s.find('"') == s.npos ? '"' : '\'';
  std::string out(1, quote);
  for (size_t i = 0; i < s.size();) {
    char c = s[i];
    size_t n = utf8Length(s.substr(i));
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (n == 0 || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      n = 1;
    } else {
      out.append(s.substr(i, n));
    }
    i += n;
  }
  return out + quote;
}

void TextCursor::fail(std::string_view what) const {
  std::string near = pyString(text_.substr(at_, 24));
  throw Error(ErrorKind::Value, fmt::format("{} at position {}, before {}", what, at_, near));
}

void TextCursor::skipSpaces(bool newlines) {
  while (peek() == ' ' || peek() == '\t' || (newlines && (peek() == '\n' || peek() == '\r')))
    if (at_ < text_.size()) ++at_;
}

bool TextCursor::take(std::string_view s) {
  if (!rest().starts_with(s)) return false;
  at_ += s.size();
  return true;
}

void TextCursor::expect(std::string_view s) {
  if (!take(s)) fail(fmt::format("'{}' expected", s));
}

std::string_view TextCursor::readName() {
  size_t start = at_;
  while (at_ < text_.size() && isNameChar(text_[at_])) ++at_;
  if (at_ == start) fail("a name expected");
  return text_.substr(start, at_ - start);
}

bool TextCursor::atNumber() const {
  std::string_view r = rest();
  if (r.starts_with('-')) r.remove_prefix(1);
  if (r.empty()) return false;
  if (isDigit(r[0])) return true;
  bool word = r.starts_with("inf") || r.starts_with("nan");
  return word && (r.size() == 3 || !isNameChar(r[3]));
}

int64_t TextCursor::readInt() {
  int64_t v = 0;
  auto [end, ec] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
  if (ec == std::errc::result_out_of_range) fail("a number within 64 bits expected");
  if (ec != std::errc{}) fail("a whole number expected");
  at_ = static_cast<size_t>(end - text_.data());
  return v;
}

bool TextCursor::readNumber(int64_t& i, double& f) {
  size_t end = at_;
  if (end < text_.size() && text_[end] == '-') ++end;
  bool isFloat = end < text_.size() && !isDigit(text_[end]);
  for (; end < text_.size(); ++end) {
    char c = text_[end];
    if (isDigit(c)) continue;
    bool afterE = end > at_ && (text_[end - 1] == 'e' || text_[end - 1] == 'E') && end >= 2 &&
                  isDigit(text_[at_] == '-' ? text_[at_ + 1] : text_[at_]);
    if (c == '.' || ((c == 'e' || c == 'E') && isDigit(text_[end - 1])) ||
        ((c == '+' || c == '-') && afterE)) {
      isFloat = true;
      continue;
    }
    break;
  }
  if (!isFloat) {
    i = readInt();
    return false;
  }
  std::string_view r = rest();
  bool negative = r.starts_with('-');
  if (negative) r.remove_prefix(1);
  double v = 0;
  if (r.starts_with("inf")) {
    v = std::numeric_limits<double>::infinity();
    skip(3 + negative);
  } else if (r.starts_with("nan")) {
    v = std::numeric_limits<double>::quiet_NaN();
    skip(3 + negative);
  } else {
    auto [stop, ec] = std::from_chars(r.data(), r.data() + r.size(), v);
    if (ec != std::errc{}) fail("a number expected");
    at_ = static_cast<size_t>(stop - text_.data());
  }
  f = negative ? -v : v;
  return true;
}

std::string TextCursor::readString() {
  char quote = peek();
  if (quote != '\'' && quote != '"') fail("a string expected");
  skip(1);
  std::string out;
  while (true) {
    if (atEnd()) fail("the string does not end");
    char c = peek();
    skip(1);
    if (c == quote) return out;
    if (c != '\\') {
      out += c;
      continue;
    }
    char e = peek();
    if (atEnd()) fail("the string does not end");
    skip(1);
    switch (e) {
    case 'n': out += '\n'; break;
    case 't': out += '\t'; break;
    case 'r': out += '\r'; break;
    case 'x': {
      int high = hexValue(peek()), low = hexValue(peek(1));
      if (high < 0 || low < 0) fail("two hexadecimal digits expected");
      out += static_cast<char>(high * 16 + low);
      skip(2);
      break;
    }
    case '\\':
    case '\'':
    case '"': out += e; break;
    default: fail("an escape that is not known");
    }
  }
}

} // namespace uopscope
