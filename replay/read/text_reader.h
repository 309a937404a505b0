// Puts the texts and linear programs of a trace together from their lines and runs, as the views `artifact`, `text_line` and
// `instruction` do in SQL. replay/record/text_writer.h describes the form. Bytes of a file are taken as they are: a text ends
// where they stop making sense, and is never longer than a value of the file may be.
//
//   TextReader texts(db);
//   texts.text(3);        // row 3 of `text`: "void r_4() {}", none if there is no such row
//   texts.lines(3);       // {{line 1, instruction 0}}
#pragma once
#include "replay/schema/database.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace uopscope {

class TextReader {
public:
  struct Line {
    int64_t line = 0, instruction = 0;
  };
  explicit TextReader(const Database& db);
  std::optional<std::string> text(int64_t id);
  /// In order of lines; empty where they are not known.
  std::vector<Line> lines(int64_t id);
  /// Ids of nodes in order; they may be any numbers.
  std::vector<int64_t> program(int64_t kernel);

private:
  struct Repeat {
    int64_t form = 0;
    std::vector<int64_t> numbers;
  };
  const std::vector<std::string>& form(int64_t id);
  const Repeat& repeat(int64_t id);
  Statement selectText_, selectLines_, selectForm_, selectRepeat_, selectProgram_;
  std::unordered_map<int64_t, std::vector<std::string>> forms_;
  std::unordered_map<int64_t, Repeat> repeats_;
  size_t kept_ = 0; ///< bytes in both
};

} // namespace uopscope
