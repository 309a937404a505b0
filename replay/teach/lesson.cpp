// A lesson is an untrusted file, so the verbs that it may use are listed. A listed verb writes outside the
// lesson's folder only where a path says so, and such a path is refused.
#include "replay/teach/lesson.h"

#include "engine/base/error.h"
#include "replay/teach/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace uopscope {

namespace {

constexpr std::string_view kVerbs[] = {"record", "run",    "ls",   "show",     "stats", "why",   "query",
                                       "export", "replay", "diff", "compare",  "check", "story", "whatif",
                                       "bisect", "values", "rule", "roofline", "prove"};

[[noreturn]] void fail(int line, const std::string& what) {
  throw Error(ErrorKind::Value, fmt::format("line {} of the lesson: {}", line, what));
}

/// Whether a name has no folders: files of a lesson stay in its folder.
bool plainName(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
}

Question questionOf(const std::vector<std::string>& lines, int first) {
  Question q;
  std::string* last = nullptr;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string text = trimmed(lines[i]);
    if (text.empty()) continue;
    if (lines[i].starts_with(' ') && last) { // continues the line before
      *last += " " + text;
      continue;
    }
    const size_t colon = text.find(':');
    const std::string key = text.substr(0, colon),
                      value = colon == std::string::npos ? "" : trimmed(text.substr(colon + 1));
    auto into = [&](std::string& field) { field = value, last = &field; };
    auto onto = [&](std::vector<std::string>& list) { list.push_back(value), last = &list.back(); };
    if (key == "ask")
      into(q.ask);
    else if (key == "because")
      into(q.because);
    else if (key == "answer")
      onto(q.answers);
    else if (key == "wrong")
      onto(q.wrong);
    else if (key == "hint")
      onto(q.hints);
    else if (key == "rule")
      into(q.rule);
    else if (key == "on")
      into(q.on);
    else if (key == "dtype")
      into(q.dtype);
    else if (key == "step")
      into(q.step);
    else if (key == "query")
      into(q.query);
    else if (key == "trace")
      into(q.trace);
    else
      fail(first + static_cast<int>(i),
           fmt::format("a question has no \"{}\"; it has ask, answer, wrong, hint, because, "
                       "rule, on, dtype, step, query and trace",
                       key));
  }
  if (q.ask.empty()) fail(first, "a question must ask something (ask: ...)");
  if (q.answers.empty())
    fail(first, "a question needs an answer (answer: ...), for its test where the engine marks it");
  if (!q.rule.empty() != !q.on.empty()) fail(first, "rule: and on: go together");
  if (!q.trace.empty() && !plainName(q.trace)) fail(first, "trace: is a file in the lesson's folder");
  return q;
}

LessonBlock runOf(const std::vector<std::string>& lines, const std::string& more, int first) {
  LessonBlock b;
  b.kind = LessonBlock::Kind::Run;
  if (!more.empty()) b.shown = std::strtoul(more.c_str(), nullptr, 10);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (trimmed(lines[i]).empty()) continue;
    std::vector<std::string> words = commandWords(lines[i]);
    const int line = first + static_cast<int>(i);
    if (words.size() < 2 || words[0] != "uopscope" ||
        std::find(std::begin(kVerbs), std::end(kVerbs), words[1]) == std::end(kVerbs))
      fail(line, fmt::format("a run is uopscope with one of its verbs ({}), not \"{}\"",
                             fmt::join(kVerbs, ", "), lines[i]));
    for (size_t k = 2; k < words.size(); ++k)
      if (words[k].starts_with('/') || words[k].starts_with("../") ||
          words[k].find("/../") != std::string::npos)
        fail(line, fmt::format("\"{}\" is outside of the lesson's folder", words[k]));
    words.erase(words.begin());
    b.commands.push_back(std::move(words));
  }
  return b;
}

} // namespace

std::vector<std::string> commandWords(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  bool open = false;
  char quote = 0;
  for (char c : line) {
    if (quote) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c, open = true;
    } else if (c == ' ' || c == '\t') {
      if (open) out.push_back(std::exchange(word, {}));
      open = false;
    } else {
      word += c, open = true;
    }
  }
  if (open) out.push_back(word);
  return out;
}

size_t Lesson::questions() const {
  return static_cast<size_t>(std::ranges::count_if(
      blocks, [](const LessonBlock& b) { return b.kind == LessonBlock::Kind::Question; }));
}

Lesson parseLesson(std::string_view markdown) {
  Lesson lesson;
  std::vector<std::string> inside;
  std::string fence, text;
  int line = 0, fenceLine = 0;
  bool teacher = false;
  auto settleText = [&] {
    if (!trimmed(text).empty() && text.find_first_not_of("\n \t") != std::string::npos) {
      LessonBlock b;
      b.text = text;
      lesson.blocks.push_back(std::move(b));
    }
    text.clear();
  };
  auto settleFence = [&] {
    const std::string word = fence.substr(0, fence.find(' '));
    const std::string more =
        word.size() < fence.size() ? trimmed(std::string_view(fence).substr(word.size())) : "";
    LessonBlock b;
    if (word == "file") {
      b.kind = LessonBlock::Kind::File, b.file = more;
      if (!plainName(more))
        fail(fenceLine, fmt::format("```file needs a name without folders, not \"{}\"", more));
      for (const std::string& l : inside) b.text += l + "\n";
    } else if (word == "run") {
      b = runOf(inside, more, fenceLine + 1);
    } else if (word == "expect") {
      b.kind = LessonBlock::Kind::Expect;
      for (const std::string& l : inside)
        if (!trimmed(l).empty()) b.lines.push_back(trimmed(l));
    } else {
      b.kind = LessonBlock::Kind::Question, b.question = questionOf(inside, fenceLine + 1);
    }
    b.line = fenceLine;
    lesson.blocks.push_back(std::move(b));
  };
  bool step = false, plain = false; // inside a block of the lesson's kinds, or inside any other block
  for (size_t at = 0; at < markdown.size();) {
    const size_t end = std::min(markdown.find('\n', at), markdown.size());
    std::string l(markdown.substr(at, end - at));
    if (l.ends_with('\r')) l.pop_back();
    at = end + 1, ++line;
    if (teacher) {
      lesson.teacher += l + "\n";
      continue;
    }
    if (step) {
      if (l.starts_with("```"))
        settleFence(), inside.clear(), step = false;
      else
        inside.push_back(l);
      continue;
    }
    if (!plain && l == "## For the teacher") {
      teacher = true;
      continue;
    }
    if (!plain && l.starts_with("```")) {
      fence = trimmed(std::string_view(l).substr(3));
      const std::string word = fence.substr(0, fence.find(' '));
      if (word == "file" || word == "run" || word == "expect" || word == "question") {
        settleText();
        step = true, fenceLine = line;
        continue;
      }
    }
    if (l.starts_with("```")) plain = !plain;
    if (lesson.title.empty() && l.starts_with("# ")) lesson.title = l.substr(2);
    if (lesson.minutes.empty() && l.starts_with("Time: ")) lesson.minutes = l.substr(6, l.find(' ', 6) - 6);
    text += l + "\n";
  }
  if (step) fail(fenceLine, "this block does not end (```)");
  settleText();
  if (lesson.title.empty()) fail(1, "a lesson begins with its title: # ...");
  return lesson;
}

} // namespace uopscope
