// Writing and reading values the way Python prints them. Arguments, printing and parsing share it.
//
//   pyFloat(0.1) == "0.1", pyString("it's") == "\"it's\"";
//   TextCursor c("(1, 2)"); c.expect('('); c.readInt() == 1
//
// Reading treats its text as hostile: every failure is Error(Value) with the position.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace uopscope {

/// The shortest text that reads back as the same double and is recognisable as a float: "1.0", "1e-05",
/// "inf".
std::string pyFloat(double v);
/// The string quoted as Python's repr does; control characters and invalid UTF-8 become \xNN.
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

  bool take(std::string_view s);   ///< consumes s if the text goes on with it
  void expect(std::string_view s); ///< consumes s; anything else there is an error
  std::string_view readName();     ///< letters, digits, '_'; at least one
  bool atNumber() const;
  int64_t readInt(); ///< a signed 64-bit number; a larger one is an error
  /// An int or a float (with '.', exponent, inf or nan); returns true for a float.
  bool readNumber(int64_t& i, double& f);
  std::string readString(); ///< quoted with ' or "
  [[noreturn]] void fail(std::string_view what) const;

private:
  std::string_view text_;
  size_t at_ = 0;
};

} // namespace uopscope
