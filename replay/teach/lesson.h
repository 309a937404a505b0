// A lesson: Markdown whose fenced blocks may be steps. Read alone it is a page; `uopscope lesson` takes a
// student through.
//
//   ```file ab.py          the text is written to ab.py in the lesson's folder
//   ```run                 lines of uopscope's own verbs, run one after the other; "run 30" shows 30 lines of
//   each
//   ```expect              what the runs before it must have printed, a line each: for the test, not for the
//   student
//   ```question            ask: and how it is marked; see Question
//
// The part from "## For the teacher" on is shown to teachers only. Anything wrong in the file is Error(Value)
// with its line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

/// How an answer is marked: by the engine (rule with on: what does the rule make of it; step: what does this
/// step of the trace make; query: a number or word out of the trace), else by the answers that are written
/// down.
struct Question {
  std::string ask, because; ///< because: said when it is answered
  std::vector<std::string>
      answers;                    ///< right ones; of a question that the engine marks, the one the test gives
  std::vector<std::string> wrong; ///< answers that the test wants to see marked as wrong
  std::vector<std::string> hints;
  std::string rule, on, dtype, step, query;
  std::string trace; ///< file in the lesson's folder; empty: the last one that was recorded
  bool engineMarks() const { return !rule.empty() || !step.empty() || !query.empty(); }
};

struct LessonBlock {
  enum class Kind : uint8_t { Text, File, Run, Expect, Question } kind = Kind::Text;
  std::string text;                               ///< Text: Markdown; File: content
  std::string file;                               ///< File: its name
  std::vector<std::vector<std::string>> commands; ///< Run: words of each, "uopscope" left out
  std::vector<std::string> lines;                 ///< Expect
  size_t shown = 40;                              ///< Run: lines of output
  Question question;
  int line = 0; ///< in the file, from 1
};

struct Lesson {
  std::string title, minutes; ///< minutes: "25"
  std::vector<LessonBlock> blocks;
  std::string teacher; ///< Markdown
  size_t questions() const;
};

Lesson parseLesson(std::string_view markdown);
/// Words of a command line: quotes '...' and "..." keep blanks together.
std::vector<std::string> commandWords(std::string_view line);

} // namespace uopscope
