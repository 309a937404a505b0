// Writing and reading values the way Python prints them: shared by arguments, printing and parsing.
//
//   pyFloat(0.1) == "0.1", pyString("it's") == "\"it's\"";  TextCursor c("(1, 2)"); c.expect('(');
//   c.readInt() == 1
//
// Reading treats its text as hostile: every failure is Error(Value) with the position.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace uopscope {

/// Shortest text that reads back as the same double, always recognisable as a float: "1.0", "1e-05", "inf",
/// "nan".
std::string pyFloat(double v);
/// Quoted as Python's repr does; bytes that are no UTF-8 and control characters as \xNN.
std::string pyString(std::string_view s);

/// Reads text from the front.
class TextCursor {
public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  bool atEnd() const { return at_ == text_.size(); }
  size_t position() const { return at_; }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string_view rest() const { return text_.substr(at_); }
  void skip(size_t n) { at_ = at_ + n < text_.size() ? at_ + n : text_.size(); }
  void skipSpaces(bool newlines = false);

  bool take(std::string_view s);   ///< consumes s when it is next
  void expect(std::string_view s); ///< the same, an error when it is not
  std::string_view readName();     ///< letters, digits, '_'; at least one
  bool atNumber() const;
  int64_t readInt(); ///< 64 bits, signed; an error beyond
  /// An int or a float (with '.', exponent, inf or nan); returns true for a float.
  bool readNumber(int64_t& i, double& f);
  std::string readString(); ///< quoted with ' or "
  [[noreturn]] void fail(std::string_view what) const;

private:
  std::string_view text_;
  size_t at_ = 0;
};

} // namespace uopscope
