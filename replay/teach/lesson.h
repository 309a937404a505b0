// A lesson: Markdown whose fenced blocks may be steps. It reads well as a page; `uopscope lesson` leads a
// student through its steps.
//
//   ```file ab.py          the text is written to ab.py in the lesson's folder
//   ```run                 lines of uopscope's own verbs, run one after the other; "run 30" shows 30 lines
//                          of each
//   ```expect              lines that the runs before it must have printed; only the test reads them
//   ```question            the question (ask:) and the method of marking; see Question
//
// Only teachers see the part from "## For the teacher" on. A fault in the file throws Error(Value) with its
// line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

/// A question and the method of marking. The engine marks where it can: rule with on: (the result of a rule
/// on an expression), step: (the result of a step of the trace), query: (a number or word from the trace).
/// Otherwise the listed answers decide.
struct Question {
  std::string ask, because;         ///< because: the explanation after the answer
  std::vector<std::string> answers; ///< right answers; for the engine's questions: the test's one
  std::vector<std::string> wrong;   ///< answers that the test expects to be marked wrong
  std::vector<std::string> hints;
  std::string rule, on, dtype, step, query;
  std::string trace; ///< file in the lesson's folder; empty: the trace recorded last
  bool engineMarks() const { return !rule.empty() || !step.empty() || !query.empty(); }
};

struct LessonBlock {
  enum class Kind : uint8_t { Text, File, Run, Expect, Question } kind = Kind::Text;
  std::string text;                               ///< Text: Markdown; File: content
  std::string file;                               ///< File: its name
  std::vector<std::vector<std::string>> commands; ///< Run: words of each command, without "uopscope"
  std::vector<std::string> lines;                 ///< Expect: the expected lines
  size_t shown = 40;                              ///< Run: lines of output to show
  Question question;
  int line = 0; ///< line in the file, from 1
};

struct Lesson {
  std::string title, minutes; ///< minutes: "25"
  std::vector<LessonBlock> blocks;
  std::string teacher; ///< Markdown
  size_t questions() const;
};

Lesson parseLesson(std::string_view markdown);
/// Splits a command line into words; quotes '...' and "..." keep blanks inside a word.
std::vector<std::string> commandWords(std::string_view line);

} // namespace uopscope
