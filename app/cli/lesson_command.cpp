// uopscope lesson [FILE]: leads a student through a lesson. With --answers it runs alone, as the test of a
// lesson does: it runs each command and marks each stored answer.
#include "app/cli/output.h"
#include "app/cli/replay_command.h"
#include "app/cli/teach_command.h"
#include "replay/schema/quantity_text.h"
#include "replay/teach/lesson.h"
#include "replay/teach/marking.h"
#include "replay/teach/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace uopscope::cli {

namespace {

namespace fs = std::filesystem;

std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(ErrorKind::File, fmt::format("{}: {}; give a lesson's Markdown file", path, strerror(errno)));
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Lessons of docs/lessons here, of the source tree beside this build, or of an installed package.
std::vector<std::string> lessonFiles() {
  for (const fs::path& folder :
       {fs::path("docs/lessons"), fs::path(selfPath()).parent_path() / "../../docs/lessons",
        fs::path(selfPath()).parent_path() / "../share/doc/uopscope/lessons"}) {
    std::vector<std::string> out;
    std::error_code ignored;
    for (const auto& e : fs::directory_iterator(folder, ignored))
      if (e.path().extension() == ".md") out.push_back(e.path().lexically_normal().string());
    std::sort(out.begin(), out.end());
    if (!out.empty()) return out;
  }
  return {};
}

/// Finds a lesson by its path, or by the number that its name begins with.
std::string lessonFile(const std::string& given) {
  if (!given.empty() && given.find_first_not_of("0123456789") == std::string::npos)
    for (const std::string& file : lessonFiles())
      if (fs::path(file).filename().string().starts_with(given + "-")) return file;
  return given;
}

int listLessons() {
  const auto files = lessonFiles();
  if (files.empty())
    throw Error(ErrorKind::Value, "there is no folder docs/lessons here; give a lesson's file");
  Table table({"lesson", "minutes", "questions", "done", "file"});
  for (const std::string& file : files) {
    const Lesson lesson = parseLesson(readFile(file));
    const LessonProgress p = LessonProgress::load(fs::path(file).stem().string());
    table.add({lesson.title, lesson.minutes, fmt::format("{}", lesson.questions()),
               p.done    ? "yes"
               : p.block ? fmt::format("{} %", 100 * p.block / std::max<size_t>(lesson.blocks.size(), 1))
                         : "",
               file});
  }
  table.print();
  return kFine;
}

/// Prints Markdown on a terminal: headings bold, all other text unchanged.
void printText(const std::string& markdown) {
  std::istringstream in(markdown);
  for (std::string line; std::getline(in, line);)
    fmt::print("{}\n",
               line.starts_with('#')
                   ? paint(Paint::Bold, line.substr(std::min(line.find_first_not_of("# "), line.size())))
                   : line);
}

/// Runs the commands of a lesson in its folder.
class LessonShell {
public:
  explicit LessonShell(std::string folder) : folder_(std::move(folder)) {}
  struct Output {
    int code = 0;
    std::string text;
  };
  Output run(const std::vector<std::string>& words) {
    std::vector<std::string> command{selfPath()};
    command.insert(command.end(), words.begin(), words.end());
    TemporaryFile log(".log");
    Output out;
    out.code = runProgram(command, folder_, log.path());
    out.text = readFile(log.path());
    note(words);
    return out;
  }
  void note(const std::vector<std::string>& words) {
    if (words[0] != "record") return;
    for (size_t i = 1; i + 1 < words.size(); ++i)
      if (words[i] == "-o") trace_ = words[i + 1];
  }
  void write(const LessonBlock& b, bool again) {
    const fs::path path = fs::path(folder_) / b.file;
    std::error_code ignored;
    if (!again && fs::exists(path, ignored)) return; // the student may have changed it
    std::ofstream(path, std::ios::binary) << b.text;
  }
  std::string traceOf(const Question& q) const {
    const std::string& name = q.trace.empty() ? trace_ : q.trace;
    return name.empty() ? "" : (fs::path(folder_) / name).string();
  }
  const std::string& folder() const { return folder_; }

private:
  std::string folder_, trace_;
};

std::string commandText(const std::vector<std::string>& words) {
  std::string out = "uopscope";
  for (const std::string& w : words)
    out += w.find_first_of(" &*()<>'") == std::string::npos ? " " + w : fmt::format(" \"{}\"", w);
  return out;
}

void printFirst(const std::string& text, size_t most) {
  std::istringstream in(text);
  size_t n = 0, left = 0;
  for (std::string line; std::getline(in, line);) ++n <= most ? fmt::print("  {}\n", line) : void(++left);
  if (left) fmt::print("  ... {} more lines\n", left);
}

// --- without a student, as a test does ---

class Examiner {
public:
  explicit Examiner(LessonShell& shell) : shell_(shell) {}
  int result(const Lesson& lesson) {
    for (const LessonBlock& b : lesson.blocks) take(b);
    fmt::print("{}: {} commands, {} expectations, {} answers; {}\n", lesson.title, commands_, expected_,
               answers_, failures_ ? fmt::format("{} not as written", failures_) : "all as written");
    return failures_ ? kFailed : kFine;
  }

private:
  void fail(const LessonBlock& b, const std::string& what) {
    ++failures_;
    fmt::print("line {}: {}\n", b.line, what);
  }
  void take(const LessonBlock& b) {
    using Kind = LessonBlock::Kind;
    if (b.kind == Kind::File) shell_.write(b, true);
    if (b.kind == Kind::Run)
      for (const auto& words : b.commands) {
        const auto out = shell_.run(words);
        ++commands_;
        said_ += fmt::format("$ {}\n{}exit code {}\n", commandText(words), out.text, out.code);
        if (out.code == kUsage || out.code >= 126)
          fail(b, fmt::format("{} ends with {}: {}", commandText(words), out.code, out.text));
      }
    if (b.kind == Kind::Expect) {
      for (const std::string& line : b.lines) {
        ++expected_;
        if (said_.find(line) == std::string::npos) fail(b, fmt::format("\"{}\" is not in:\n{}", line, said_));
      }
      said_.clear();
    }
    if (b.kind == Kind::Question) question(b);
  }
  void question(const LessonBlock& b) {
    const Question& q = b.question;
    auto check = [&](const std::string& answer, bool right) {
      ++answers_;
      try {
        const AnswerMark m = markAnswer(q, answer, shell_.traceOf(q));
        if (m.right != right)
          fail(b, fmt::format("\"{}\" is marked as {}; expected is \"{}\" ({})", answer,
                              m.right ? "right" : "wrong", m.expected, q.ask));
      } catch (const Error& e) {
        fail(b, fmt::format("cannot be marked: {} ({})", e.what(), q.ask));
      }
    };
    for (const std::string& a : q.answers) check(a, true);
    for (const std::string& a : q.wrong) check(a, false);
  }

  LessonShell& shell_;
  std::string said_;
  size_t commands_ = 0, expected_ = 0, answers_ = 0, failures_ = 0;
};

// --- with a student ---

class Tutor {
public:
  Tutor(const Lesson& lesson, LessonProgress progress, bool again)
      : lesson_(lesson), progress_(std::move(progress)), shell_(progress_.workFolder()), again_(again) {}

  int teach() {
    fmt::print(
        "{}{}\nFiles are in {}. At a prompt: Enter goes on, q stops (the place is kept), h gives a hint.\n\n",
        paint(Paint::Bold, lesson_.title),
        lesson_.minutes.empty() ? "" : fmt::format(" ({} minutes)", lesson_.minutes), shell_.folder());
    if (progress_.block) fmt::print("Going on where you stopped; --restart begins anew.\n\n");
    for (size_t i = 0; i < lesson_.blocks.size(); ++i) {
      const LessonBlock& b = lesson_.blocks[i];
      if (b.kind == LessonBlock::Kind::File) shell_.write(b, again_);
      if (b.kind == LessonBlock::Kind::Run)
        for (const auto& words : b.commands) shell_.note(words);
      if (i < progress_.block) continue;
      if (!take(b)) {
        fmt::print("\nThe place is kept: the same command goes on here.\n");
        return kFine;
      }
      progress_.block = i + 1;
      progress_.save();
    }
    progress_.done = true;
    progress_.block = 0;
    progress_.save();
    fmt::print("\nDone: {} of {} questions right, {} at the first try, {}.\n", progress_.right,
               lesson_.questions(), progress_.firstTry,
               countedText(static_cast<int64_t>(progress_.hints), "hint"));
    return kFine;
  }

private:
  /// Reads a line from the student; none at the end of the input.
  std::optional<std::string> read(const char* prompt) {
    fmt::print("{}", prompt);
    std::fflush(stdout);
    std::string line;
    if (!std::getline(std::cin, line)) return {};
    return line;
  }
  bool take(const LessonBlock& b) {
    using Kind = LessonBlock::Kind;
    if (b.kind == Kind::Text) printText(b.text);
    if (b.kind == Kind::File) {
      fmt::print("{}\n", paint(Paint::Bold, b.file));
      printFirst(b.text, 60);
    }
    if (b.kind == Kind::Run)
      for (const auto& words : b.commands) {
        const auto answer =
            read(fmt::format("\n$ {}   [Enter runs it, s skips it] ", commandText(words)).c_str());
        if (!answer || *answer == "q") return false;
        if (*answer == "s") continue;
        printFirst(shell_.run(words).text, b.shown);
      }
    return b.kind != Kind::Question || ask(b.question);
  }
  bool ask(const Question& q) {
    fmt::print("\n{} {}\n", paint(Paint::Bold, "?"), q.ask);
    size_t hint = 0, tries = 0;
    for (;;) {
      const auto line = read("> ");
      if (!line || *line == "q") return false;
      if (line->empty()) continue;
      if (*line == "h") {
        ++progress_.hints;
        fmt::print("{}\n", hint < q.hints.size() ? q.hints[hint++]
                                                 : "There is no other hint; \"answer\" shows the answer.");
        continue;
      }
      ++tries;
      const bool shown = *line == "answer";
      const AnswerMark m = markAnswer(q, *line, shell_.traceOf(q));
      if (m.right || shown) {
        progress_.right += m.right, progress_.firstTry += m.right && tries == 1;
        fmt::print("{}{}{}\n", m.right ? paint(Paint::Added, "Right.") : fmt::format("It is {}.", m.expected),
                   q.because.empty() ? "" : " ", q.because);
        return true;
      }
      fmt::print("{} {}\n", paint(Paint::Removed, m.message), "(h: a hint, answer: the answer)");
    }
  }

  const Lesson& lesson_;
  LessonProgress progress_;
  LessonShell shell_;
  bool again_;
};

int showTeacher(const Lesson& lesson) {
  printText("# " + lesson.title + "\n\n" + lesson.teacher);
  fmt::print("\n{}\n", paint(Paint::Bold, "Answers"));
  for (const LessonBlock& b : lesson.blocks)
    if (b.kind == LessonBlock::Kind::Question)
      fmt::print("- {}\n  {}{}{}\n", b.question.ask, b.question.answers.front(),
                 b.question.because.empty() ? "" : ": ", b.question.because);
  return kFine;
}

} // namespace

int takeLesson(const LessonArguments& o) {
  if (o.file.empty()) return listLessons();
  const std::string file = lessonFile(o.file);
  const Lesson lesson = parseLesson(readFile(file));
  if (o.teacher) return showTeacher(lesson);
  const std::string name = fs::path(file).stem().string();
  if (o.answers) {
    TemporaryFile place("");
    fs::create_directories(place.path());
    LessonShell shell(place.path());
    const int code = Examiner(shell).result(lesson);
    std::error_code ignored;
    fs::remove_all(place.path(), ignored);
    return code;
  }
  LessonProgress progress = LessonProgress::load(name);
  if (o.restart || progress.block >= lesson.blocks.size()) progress = LessonProgress{name};
  return Tutor(lesson, std::move(progress), o.restart).teach();
}

} // namespace uopscope::cli
