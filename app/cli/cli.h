// The command line. Each verb is a function over parsed options; main.cpp passes the arguments to run().
//
// Exit codes: 0 fine, 1 a difference or a failure was found, 2 wrong usage or input, 130 interrupted.
#pragma once
#include "replay/read/cursor.h"
#include "replay/record/event_source.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace uopscope::cli {

constexpr int kFine = 0, kFailed = 1, kUsage = 2, kInterrupted = 130;
using Json = nlohmann::ordered_json;

/// Runs the whole command line.
int run(int argc, char** argv);

struct RecordOptions {
  std::string script, output, tier = "full", device;
  std::vector<std::string> arguments, breakpoints;
  /// The interpreter's `-m MODULE ARGS` or `-c CODE ARGS`, in place of a script.
  std::vector<std::string> interpreter;
  bool json = false, quiet = false, pause = false;
  int64_t flip = 0;               ///< number of a choice of the schedule that is made the other way; 0: none
  bool check = false;             ///< check every rewrite after the recording
  std::vector<std::string> rules; ///< files of rules that take part
  std::string rulesAfter;         ///< the pass that they follow; empty: the files name it
};
int record(const RecordOptions& options);
int runScriptPlain(const std::string& script, const std::vector<std::string>& arguments);
int runPython(const std::vector<std::string>& arguments);

struct LookOptions {
  std::string trace, kernel, pass, what, by = "rule", sql, rule, line, other;
  int64_t step = -1;
  int64_t node = 0, limit = 0;
  std::string kind, name, sort, find; ///< filters and order of lists
  bool json = false, csv = false, errors = false;
  bool predicted = false; ///< ls: measured and predicted times of kernels
  std::string script;     ///< check: path of a script that shows the first difference
  bool whole = false;     ///< check: compare whole passes and kernels too
  bool registers = false; ///< ls: what kernels do with registers
};
int list(const LookOptions& options);
/// ls --registers: the kernels, or the curve along the linear program of one.
int listRegisters(Trace& trace, const LookOptions& options);
int show(const LookOptions& options);
int showProvenance(Trace& trace, ScopeId scope, const LookOptions& options);
/// Lists the passes of LLVM that changed the kernel; with `step`, prints the difference that this pass made.
int showLlvm(Trace& trace, ScopeId scope, const LookOptions& options);
int stats(const LookOptions& options);
int phaseStats(const LookOptions& options);
int reasonStats(const LookOptions& options);
int launchStats(const LookOptions& options);
int statsDiff(const LookOptions& options, MatchGroup group);
int diff(const LookOptions& options);
int why(const LookOptions& options);
int sqlQuery(const LookOptions& options);

struct CompareOptions {
  std::string trace, from, to, other, what = "graph"; ///< from, to: links
  bool json = false;
};
int compareStates(const CompareOptions& options);
/// Checks that one rewrite keeps the value of the rewritten node; without a kernel, every rewrite of the
/// trace.
int checkValues(const LookOptions& options);

struct ProveArguments {
  std::string rule, table, rules; ///< rules: a Python file; its rules are proved instead of the engine's
  int64_t milliseconds = 0;       ///< time for one question to Z3; 0: the default
  bool json = false, markdown = false, full = false; ///< markdown implies full
};
int proveCommand(const ProveArguments& arguments);

struct ExportOptions : LookOptions {
  std::string output;
  bool difference = false;
  int timeout = 30;     ///< seconds for Graphviz
  std::string lesson;   ///< a Markdown file, for a session
  size_t megabytes = 4; ///< approximate size of a session
};
int exportFile(const ExportOptions& options);

struct ImportOptions {
  std::string file, output;
  bool json = false;
};
int importFile(const ImportOptions& options);

/// Prints the completion script of `shell` ("bash", "zsh", "fish") for the verbs of `app`.
int completion(const std::string& shell, CLI::App& app);

struct OpenOptions {
  std::string file, screenshot, theme;
  std::vector<std::string> links;   ///< the state to show, then moves of a film (app/gui/film.h)
  std::vector<std::string> compare; ///< two corpora or traces in place of a file
  bool ignoreNames = false;
  int width = 0, height = 0;
  int steps = 20;     ///< of a film
  double seconds = 0; ///< of a film; 0: by its frames
};
/// Shows the window in the program uopscope-window and returns its exit code. `takesOver`: this process becomes the
/// window, so its number stays, and nothing after the call happens.
int open(const OpenOptions& options, bool takesOver = false);

} // namespace uopscope::cli
