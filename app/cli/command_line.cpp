// Dispatches the arguments to verbs. An argument that is no verb is a file to open.
#include "app/cli/bench_command.h"
#include "app/cli/output.h"
#include "app/cli/replay_command.h"
#include "app/cli/safe_output.h"
#include "app/cli/search_command.h"
#include "app/cli/teach_command.h"
#include "app/cli/verbs.h"
#include "replay/schema/schema.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace uopscope::cli {

namespace {

constexpr const char* kExamples = R"(
Examples:
  uopscope samples/matmul.py                     record the script and step through it in a window
  uopscope record model.py -o model.uoptrace     record without a window
  uopscope ls model.uoptrace                     kernels, schedules and their steps
  uopscope ls model.uoptrace r_16_16             passes of a kernel
  uopscope show model.uoptrace r_16_16           its source
  uopscope show model.uoptrace r_16_16 --pass "initial symbolic" --step 3
  uopscope stats model.uoptrace --by rule        match rates and times
  uopscope query model.uoptrace "SELECT count(*) FROM step"
  uopscope compare model.uoptrace "kernel=3&pass=2"  a pass as it began and as it ended
  uopscope check model.uoptrace                  rewrites that change a value
  uopscope diff before.uoptrace after.uoptrace   where two traces first part

Exit codes: 0 fine, 1 a difference or a failure, 2 wrong usage or input, 130 interrupted.
)";

const std::vector<std::string> kVerbs = {
    "open",   "record", "run",    "python",  "ls",    "show",     "stats",  "why",      "query",
    "export", "replay", "diff",   "compare", "check", "prove",    "import", "bench",    "completion",
    "story",  "whatif", "bisect", "values",  "rule",  "roofline", "lesson", "campaign", "search"};

/// Verbs whose arguments are read by a script.
const std::set<std::string> kPassedOn = {"run", "python", "campaign"};

/// Passes everything after such a verb to the script, options included.
int passThrough(const std::string& verb, int argc, char** argv) {
  std::vector<std::string> rest(argv + 2, argv + argc);
  bool help = !rest.empty() && (rest[0] == "--help" || rest[0] == "-h");
  if (verb == "python") {
    if (help)
      fmt::print("uopscope python [ARGS]\n  The Python interpreter with uopscope, and tinygrad's names, "
                 "built in.\n  uopscope python -c \"from tinygrad import "
                 "Tensor; print((Tensor([1,2])+1).tolist())\"\n");
    return help ? kFine : runPython(rest);
  }
  if (verb == "campaign") {
    setenv("UOPSCOPE_PROGRAM", selfPath().c_str(), 1); // the workers' program, unless --program names one
    rest.insert(rest.begin(), {"-m", "uopscope.campaign"});
    return runPython(rest);
  }
  if (help || rest.empty()) {
    fmt::print(
        help ? stdout : stderr,
        "uopscope run SCRIPT [ARGS]\n  Runs a script or program without recording. VIZ=1 records it and "
        "opens the window at its "
        "end;\n  TRACK_MATCH_STATS=1 prints match statistics.\n  DEBUG=2 uopscope run samples/matmul.py\n");
    return help ? kFine : kUsage;
  }
  return runScriptPlain(rest[0], {rest.begin() + 1, rest.end()});
}

/// Accepts a file to open. A word that is neither a verb nor a file throws an error that suggests a verb.
void checkFileOrVerb(const std::string& word) {
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) return;
  auto distance = [&](const std::string& verb) { // edit distance between the two words
    std::vector<size_t> row(verb.size() + 1);
    for (size_t k = 0; k <= verb.size(); ++k) row[k] = k;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t corner = row[0]++;
      for (size_t k = 1; k <= verb.size(); ++k) {
        size_t replaced = corner + (word[i - 1] != verb[k - 1]);
        corner = row[k];
        row[k] = std::min({row[k] + 1, row[k - 1] + 1, replaced});
      }
    }
    return row.back();
  };
  std::string near;
  for (const std::string& verb : kVerbs)
    if (distance(verb) <= 2) near = verb;
  throw Error(ErrorKind::Value,
              fmt::format("\"{}\" is neither a file nor a verb; {}", word,
                          near.empty() ? fmt::format("verbs are {}", fmt::join(kVerbs, ", "))
                                       : fmt::format("did you mean {}?", near)));
}

int dispatch(int argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  // Options may stand before the verb, so the first word without a dash is moved to the front if it is a
  // verb.
  const auto word = std::find_if(arguments.begin() + 1, arguments.end(),
                                 [](const std::string& a) { return !a.starts_with('-'); });
  if (word != arguments.end() && std::find(kVerbs.begin(), kVerbs.end(), *word) != kVerbs.end() &&
      !kPassedOn.contains(*word))
    std::rotate(arguments.begin() + 1, word, word + 1);
  bool verbGiven = argc > 1 && std::find(kVerbs.begin(), kVerbs.end(), arguments[1]) != kVerbs.end();
  bool general = argc > 1 && (arguments[1] == "-h" || arguments[1] == "--help" ||
                              arguments[1] == "--version" || arguments[1] == "help");
  if (verbGiven && kPassedOn.contains(arguments[1])) return passThrough(arguments[1], argc, argv);
  if (argc > 1 && !verbGiven && !general && !arguments[1].starts_with('-')) checkFileOrVerb(arguments[1]);
  if (general && arguments[1] == "help") arguments[1] = "--help";
  if (!verbGiven && !general) arguments.insert(arguments.begin() + 1, "open");

  // The output of a recorded script is not guarded. All other output may contain text from a file.
  if (arguments[1] != "record") guardOutput();
  // Arguments after -m or -c of `record` belong to the module or the code, options included.
  std::vector<std::string> interpreter;
  if (verbGiven && arguments[1] == "record") {
    const auto at = std::find_if(arguments.begin() + 2, arguments.end(),
                                 [](const std::string& a) { return a == "-m" || a == "-c" || a == "--"; });
    if (at != arguments.end() && *at != "--") {
      interpreter.assign(at, arguments.end());
      arguments.erase(at, arguments.end());
    }
  }

  CLI::App app("A tensor compiler under a recorder, and a debugger over the recording.", "uopscope");
  app.footer(kExamples);
  app.set_version_flag("--version", "uopscope " + std::string(kProgramVersion));
  app.require_subcommand(1);

  VerbArguments o;
  o.record.interpreter = std::move(interpreter);
  addTraceVerbs(app, o);
  ReplayArguments replayArguments;
  addReplayVerb(app, replayArguments, o.code);
  TeachArguments teachArguments;
  addTeachVerbs(app, teachArguments, o.code);
  BenchArguments benchArguments;
  addBenchVerb(app, benchArguments, o.code);
  SearchArguments searchArguments;
  addSearchVerb(app, searchArguments, o.code);
  app.add_subcommand("campaign",
                     "work for several machines: replays, experiments, searches and fuzzing in parts");
  addOtherVerbs(app, o);

  if (arguments[1] == "bench") nameRun(arguments);

  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend() - 1);
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kFine : kUsage;
  }
  return o.code;
}

int codeOf(const Error& e) {
  switch (e.kind()) {
  case ErrorKind::File:
  case ErrorKind::Value:
  case ErrorKind::Key:
  case ErrorKind::Index:
  case ErrorKind::Device:
  case ErrorKind::Unsupported: return kUsage;
  default: return kFailed;
  }
}

} // namespace

int run(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const Error& e) {
    std::fflush(stdout);
    fmt::print(stderr, "uopscope: {}\n", e.what());
    return codeOf(e);
  } catch (const std::exception& e) {
    std::fflush(stdout);
    fmt::print(stderr, "uopscope: {}\n", e.what());
    return kFailed;
  }
}

} // namespace uopscope::cli
