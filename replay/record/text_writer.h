// Stores the texts and linear programs of a trace so that plain SQL reads them. Kernels resemble each other: their lines
// differ in numbers. A line without its numbers is a form, stored once; a text lists its lines as forms and numbers,
// each number as the difference to the one in the same place of the form's last line. A line with the same differences as
// an earlier one is listed as a repetition. replay/read/text_reader.h and the view `artifact` put the texts together again.
//
//   TextWriter texts(db);
//   texts.add(id, scope, kind, "  %7 = fadd float %5, %6\n", {{1, 0}});   // ["  %"," = fadd float %",", %",""] 7 5 6
//   texts.addProgram(kernel, {5, 6, 9});
#pragma once
#include "engine/rewrite/observer.h"
#include "replay/schema/database.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace uopscope {

class TextWriter {
public:
  explicit TextWriter(const Database& db);
  /// `scope` 0: the text belongs to no scope; `kind` is a string.id; `lines` empty: they are not known.
  void add(int64_t id, int64_t scope, int64_t kind, std::string_view text, std::vector<TextLine> lines);
  /// `nodes` are ids of nodes, in the order of the program.
  void addProgram(int64_t kernel, std::span<const int64_t> nodes);

private:
  /// Splits a line into the form's parts (in parts_, each with an end of line) and its numbers (in numbers_).
  void split(std::string_view line);
  struct Form {
    int64_t id = 0;
    int64_t text = 0;          ///< the text that `last` belongs to
    std::vector<int64_t> last; ///< the numbers of the form's last line in that text
  };
  Form& form();
  void addLine(std::string_view line);
  Statement insertText_, insertForm_, insertRepeat_, insertProgram_;
  std::unordered_map<std::string, Form> forms_; ///< by its parts
  size_t formBytes_ = 0;
  std::unordered_map<std::string, int64_t>
      repeats_; ///< form and differences -> line_repeat.id, or minus the times it was written out
  std::string parts_, keyText_;
  std::vector<int64_t> numbers_;
  std::vector<uint64_t> group_;
  std::vector<uint8_t> content_, key_;
  int64_t nextForm_ = 1, nextRepeat_ = 1, text_ = 0; ///< text_: how many texts were begun
};

} // namespace uopscope
