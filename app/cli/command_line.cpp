// Verbs and their options. What is not a verb is a file to open.
#include "app/cli/bench_command.h"
#include "app/cli/output.h"
#include "app/cli/replay_command.h"
#include "app/cli/teach_command.h"
#include "replay/schema/printable.h"
#include "replay/schema/schema.h"
#ifdef UOPSCOPE_HAVE_WINDOW
#include "app/gui/gui.h"
#endif

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

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

const std::vector<std::string> kVerbs = {"open",    "record", "run",    "python", "ls",     "show",
                                         "stats",   "why",    "query",  "export", "replay", "diff",
                                         "compare", "check",  "prove",  "import", "bench",  "completion",
                                         "story",   "whatif", "bisect", "lesson"};

void addLook(CLI::App* verb, LookOptions& o) {
  verb->add_option("TRACE", o.trace, "a .uoptrace file")->required();
  verb->add_flag("--json", o.json, "JSON instead of text");
}

void addPlace(CLI::App* verb, LookOptions& o) {
  verb->add_option("--pass", o.pass, "pass by name, name#2, or number");
  verb->add_option("--step", o.step, "after this many steps of the pass (default: all)")
      ->check(CLI::NonNegativeNumber);
}

/// `run` and `python` hand everything after the script to it, dashes and all.
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

/// What is not a verb is a file to open; what is neither is said to be so.
void checkFileOrVerb(const std::string& word) {
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) return;
  auto distance = [&](const std::string& verb) { // edits between the two
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
  // Options may stand before the verb: it is the first word, if a verb.
  const auto word = std::find_if(arguments.begin() + 1, arguments.end(),
                                 [](const std::string& a) { return !a.starts_with("-"); });
  if (word != arguments.end() && std::find(kVerbs.begin(), kVerbs.end(), *word) != kVerbs.end() &&
      *word != "run" && *word != "python")
    std::rotate(arguments.begin() + 1, word, word + 1);
  bool verbGiven = argc > 1 && std::find(kVerbs.begin(), kVerbs.end(), arguments[1]) != kVerbs.end();
  bool general = argc > 1 && (arguments[1] == "-h" || arguments[1] == "--help" ||
                              arguments[1] == "--version" || arguments[1] == "help");
  if (verbGiven && (arguments[1] == "run" || arguments[1] == "python"))
    return passThrough(arguments[1], argc, argv);
  if (argc > 1 && !verbGiven && !general && !arguments[1].starts_with("-")) checkFileOrVerb(arguments[1]);
  if (general && arguments[1] == "help") arguments[1] = "--help";
  if (!verbGiven && !general) arguments.insert(arguments.begin() + 1, "open");

  // What follows -m or -c of `record` is the module's or the code's own, dashes and all.
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
  int code = kFine;

  OpenOptions openOptions;
  CLI::App* openVerb =
      app.add_subcommand("open", "open a script, a trace or nothing in the window (the default)");
  openVerb->add_option("FILE", openOptions.file, "a script or a .uoptrace file");
  openVerb->add_option("--at", openOptions.link,
                       "where to go: kernel=3&pass=devectorize&step=12&node=456&tab=source");
  openVerb->add_option("--screenshot", openOptions.screenshot, "write a PNG and end; needs no display");
  openVerb->add_option("--theme", openOptions.theme, "dark, light, contrast, contrast-light or system")
      ->check(CLI::IsMember({"dark", "light", "contrast", "contrast-light", "system"}));
  openVerb->add_option("--width", openOptions.width, "of the window");
  openVerb->add_option("--height", openOptions.height, "of the window");

  RecordOptions recordOptions;
  CLI::App* recordVerb = app.add_subcommand("record", "run a script and record its compilation");
  recordVerb->add_option("SCRIPT", recordOptions.script,
                         "a Python script, or a program that makes a RecordingSession");
  recordVerb->add_option("-o,--output", recordOptions.output,
                         "the trace (default: SCRIPT's name with .uoptrace, here)");
  recordVerb->add_option("--tier", recordOptions.tier, "full: every rewrite; stats: counts only; off")
      ->check(CLI::IsMember({"full", "stats", "off"}));
  recordVerb->add_option("--device", recordOptions.device, "default device, such as CPU or REF");
  recordVerb->add_flag("--json", recordOptions.json, "summary as JSON");
  recordVerb->add_flag("-q,--quiet", recordOptions.quiet, "no progress, no summary");
  recordVerb
      ->add_option(
          "--break", recordOptions.breakpoints,
          "stop before rewrites such as \"rule=add-* op=ADD\" (also into=, pass=, kernel=) and ask what "
          "to do; may be given several times")
      ->expected(1)
      ->take_all();
  recordVerb->add_flag("--check", recordOptions.check,
                       "afterwards, whether each rewrite keeps the value of what it rewrites (see check)");
  recordVerb->add_flag("--pause", recordOptions.pause, "stop before the first rewrite");
  recordVerb->add_option("ARGS", recordOptions.arguments, "of the script, after --");
  recordVerb->footer(
      "uopscope record train.py -o train.uoptrace --tier stats -- --epochs 1\n"
      "uopscope record -o tests.uoptrace -m pytest -q tests   a module, with all that follows\n"
      "uopscope record -o sum.uoptrace -c 'from tinygrad import Tensor; Tensor.ones(9).sum().item()'");

  app.add_subcommand("run", "run a script without recording: uopscope run SCRIPT [ARGS]");
  app.add_subcommand("python", "the Python interpreter with uopscope built in");

  LookOptions look;
  CLI::App* listVerb = app.add_subcommand("ls", "kernels and schedules; passes of one; steps of one");
  addLook(listVerb, look);
  listVerb->add_option("KERNEL", look.kernel, "kernel or schedule, by number or name");
  listVerb->add_option("PASS", look.pass, "pass by name, name#2, or number");
  listVerb->add_option("--limit", look.limit, "at most this many rows (0: all)");
  listVerb->add_option("--kind", look.kind, "only kernels or only schedules")
      ->check(CLI::IsMember({"kernel", "schedule", "script", "other"}));
  listVerb->add_option("--name", look.name, "only what has this in its name (steps: in the rule's)");
  listVerb->add_option("--node", look.node, "only steps that rewrote or made this node")
      ->check(CLI::PositiveNumber);
  listVerb->add_option("--find", look.find,
                       "nodes of the trace with these words in operation, type or argument");
  listVerb->add_flag("--errors", look.errors, "only what failed");
  listVerb->add_option("--sort", look.sort, "most first; default: in order of time")
      ->check(CLI::IsMember({"steps", "time", "name"}));

  CLI::App* showVerb =
      app.add_subcommand("show", "a graph, a rewrite, a kernel's texts, where a node came from");
  addLook(showVerb, look);
  showVerb->add_option("KERNEL", look.kernel,
                       "kernel or schedule, by number or name; only a line of the script needs none");
  addPlace(showVerb, look);
  showVerb
      ->add_option(
          "--what", look.what,
          "graph, diff, source, ir, asm, uops, opts, launch (sizes), candidates (of BEAM) or provenance")
      ->check(CLI::IsMember(
          {"graph", "diff", "source", "ir", "asm", "uops", "opts", "launch", "candidates", "provenance"}));
  showVerb->add_option("--node", look.node, "for provenance: a node's id")
      ->check(CLI::Range(int64_t{1}, int64_t{kFirstViewNode - 1}));
  showVerb->add_option(
      "--line", look.line,
      "for provenance: source:12, ir:3 or asm:40 of the kernel, or model.py:6 of the script");
  showVerb->add_option("--limit", look.limit, "at most this many lines of a graph (0: all)");
  showVerb->footer(
      "Example: uopscope show t.uoptrace r_16_16 --pass \"initial symbolic\" --step 3 --what diff");

  CLI::App* statsVerb = app.add_subcommand("stats", "match statistics: attempts by outcome, with time");
  addLook(statsVerb, look);
  statsVerb
      ->add_option("--by", look.by,
                   "rule, pass, op or kernel; phase: where the time went; launch: what kernels achieved")
      ->check(CLI::IsMember({"rule", "pass", "op", "kernel", "reason", "phase", "launch"}));
  statsVerb->add_option("--kernel", look.kernel, "of this kernel or schedule only");
  statsVerb->add_option("--pass", look.pass, "of this pass only");
  statsVerb->add_option("--limit", look.limit, "at most this many rows (0: all)");
  statsVerb->add_flag("--csv", look.csv, "comma-separated values");

  statsVerb->add_option("--name", look.name, "only what has this in its name");
  statsVerb->add_option("--sort", look.sort, "most first (default: time)")
      ->check(CLI::IsMember({"time", "matches", "attempts", "rate", "unchanged", "name"}));
  statsVerb->add_option("--diff", look.other, "another trace to compare with: biggest differences first");

  CLI::App* diffVerb =
      app.add_subcommand("diff", "whether two traces tell the same story, and where they first part");
  addLook(diffVerb, look);
  diffVerb->add_option("OTHER", look.other, "another .uoptrace file")->required();
  diffVerb->add_option("--limit", look.limit, "at most this many kernels (0: all)");

  CompareOptions compared;
  CLI::App* compareVerb =
      app.add_subcommand("compare", "two states side by side: steps, passes, kernels, traces");
  compareVerb->add_option("TRACE", compared.trace, "a .uoptrace file")->required();
  compareVerb->add_option("FROM", compared.from, "a link: kernel=3&pass=devectorize&step=12")->required();
  compareVerb->add_option("TO", compared.to,
                          "another link (default: the end of FROM's pass, or FROM in --other)");
  compareVerb->add_option("--other", compared.other, "another trace, which TO is in");
  compareVerb->add_option("--what", compared.what, "graph, source, ir, asm or uops")
      ->check(CLI::IsMember({"graph", "source", "ir", "asm", "uops"}));
  compareVerb->add_flag("--json", compared.json, "JSON instead of text");
  compareVerb->footer("Exit code 1 if they differ.\n"
                      "Example: uopscope compare t.uoptrace \"kernel=3&pass=devectorize&step=0\"");
  CLI::App* checkVerb = app.add_subcommand("check", "whether rewrites keep the value of what they rewrite");
  addLook(checkVerb, look);
  checkVerb->add_option("KERNEL", look.kernel, "kernel or schedule; without one, every rewrite is checked");
  addPlace(checkVerb, look);
  checkVerb->add_option("--limit", look.limit, "list this many that differ (default: 20)");
  checkVerb->add_flag("--blind", look.errors, "list what cannot be evaluated, by rule and reason");
  checkVerb->add_option("--script", look.script, "write a Python script that shows the first difference");
  checkVerb->add_flag("--whole", look.whole, "whole passes and kernels too: what each began and ended with");
  checkVerb->footer("Both sides are evaluated on corner values and random ones within the bounds of their "
                    "variables. TRACE may be a script: it is recorded first. Exit code 1 if they differ.\n"
                    "Example: uopscope check t.uoptrace r_16_16 --pass \"initial symbolic\" --step 3");

  ProveArguments proofs;
  CLI::App* proveVerb = app.add_subcommand("prove", "the status of each rule: proved, exhaustive, checked, "
                                                    "changes-rounding, assumed or refuted");
  proveVerb->add_option("RULE", proofs.rule, "only rules of this name; * stands for any letters");
  proveVerb->add_option("--table", proofs.table, "only rules of source files with this in their path");
  proveVerb->add_option("--rules", proofs.rules,
                        "a Python file: its PatternMatchers instead of the engine's");
  proveVerb
      ->add_option("--timeout", proofs.milliseconds, "milliseconds for one question to Z3 (default: 1500)")
      ->check(CLI::Range(1, 3600000));
  proveVerb->add_flag("--json", proofs.json, "JSON instead of text");
  proveVerb->add_flag("--markdown", proofs.markdown, "docs/design/rules.md");
  proveVerb->add_flag("--full", proofs.full, "more graphs, and programs: minutes instead of half of one");
  proveVerb->footer("Exit code 1 if a rule is refuted or has no status.\n"
                    "Example: uopscope prove fold-divmod");

  CLI::App* whyVerb = app.add_subcommand("why", "why a rule did not fire on a node");
  addLook(whyVerb, look);
  whyVerb->add_option("KERNEL", look.kernel, "kernel or schedule")->required();
  whyVerb->add_option("PASS", look.pass, "pass")->required();
  whyVerb->add_option("NODE", look.node, "a node's id, as ls and show print it")
      ->required()
      ->check(CLI::Range(int64_t{1}, int64_t{kFirstViewNode - 1}));
  whyVerb->add_option("RULE", look.rule, "a rule's name; without one, the rules that came nearest");
  whyVerb->add_option("--limit", look.limit, "at most this many rules (0: all)");

  CLI::App* queryVerb = app.add_subcommand("query", "SQL over a trace (reading only)");
  addLook(queryVerb, look);
  queryVerb->add_option("SQL", look.sql, "one SELECT")->required();
  queryVerb->add_option("--limit", look.limit, "at most this many rows (0: all)");
  queryVerb->add_flag("--csv", look.csv, "comma-separated values");
  queryVerb->footer("The tables are described in docs/guide/trace-format.md; expr(node), label(node) and "
                    "sources(node) are added.\n"
                    "Example: uopscope query t.uoptrace \"SELECT name, count(*) FROM step JOIN rule ON "
                    "rule.id = rule GROUP BY 1 ORDER BY 2 DESC\"");

  ExportOptions exports;
  CLI::App* exportVerb = app.add_subcommand(
      "export", "a graph, steps or statistics as SVG, PNG, DOT, JSON, HTML or CSV; a whole trace as "
                "JSON lines (.jsonl) or for Perfetto and Chrome (.trace.json)");
  addLook(exportVerb, exports);
  exportVerb->add_option("KERNEL,--kernel", exports.kernel, "kernel or schedule, by number or name");
  addPlace(exportVerb, exports);
  exportVerb->add_option("-o,--output", exports.output, "the file; its ending decides the form")->required();
  exportVerb->add_flag("--diff", exports.difference, "mark what the step (or the whole pass) changed");
  exportVerb->add_option("--timeout", exports.timeout, "seconds Graphviz may take")
      ->check(CLI::Range(1, 3600));
  exportVerb
      ->add_option("--what", exports.what,
                   "session: one .html file in which the compilation is stepped through, without a network "
                   "and without uopscope")
      ->check(CLI::IsMember({"session"}));
  exportVerb->add_option("--lesson", exports.lesson, "of a session: a Markdown file that is shown beside it");
  exportVerb
      ->add_option("--megabytes", exports.megabytes,
                   "of a session, about (4); what does not fit is listed in it")
      ->check(CLI::Range(1, 500));
  exportVerb->footer(
      "Examples:\n  uopscope export t.uoptrace r_16_16 --pass devectorize --diff -o change.svg\n"
      "  uopscope export t.uoptrace --what session --lesson docs/lessons/1-a-plus-b.md -o s.html");

  ReplayArguments replayArguments;
  addReplayVerb(app, replayArguments, code);
  TeachArguments teachArguments;
  addTeachVerbs(app, teachArguments, code);

  BenchArguments benchArguments;
  addBenchVerb(app, benchArguments, code);

  openVerb->callback([&] { code = open(openOptions, argc, argv); });
  recordVerb->callback([&] {
    recordOptions.interpreter = interpreter;
    code = record(recordOptions);
  });
  listVerb->callback([&] { code = list(look); });
  showVerb->callback([&] { code = show(look); });
  statsVerb->callback([&] { code = stats(look); });
  proveVerb->callback([&] { code = proveCommand(proofs); });
  ImportOptions imports;
  CLI::App* importVerb =
      app.add_subcommand("import", "a graph in DOT, a timeline, JSON lines or CSV as a trace");
  importVerb
      ->add_option(
          "FILE", imports.file,
          ".dot or .gv: a graph; .jsonl: a trace that was exported; .json: a timeline of Chrome or Perfetto; "
          ".csv: steps, match statistics, or rows with name, begin_ns and took_ns")
      ->required();
  importVerb->add_option("-o,--output", imports.output,
                         "the trace (default: FILE's name with .uoptrace, here)");
  importVerb->add_flag("--json", imports.json, "summary as JSON");
  importVerb->callback([&] { code = importFile(imports); });

  std::string shell;
  CLI::App* completionVerb = app.add_subcommand(
      "completion", "prints what a shell needs to complete verbs and options, or the manual page");
  completionVerb->add_option("SHELL", shell, "bash, zsh, fish or man")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  completionVerb->footer("Example: uopscope completion bash >> ~/.bashrc");
  completionVerb->callback([&] { code = completion(shell, app); });

  compareVerb->callback([&] { code = compareStates(compared); });
  checkVerb->callback([&] { code = checkValues(look); });
  diffVerb->callback([&] { code = diff(look); });
  whyVerb->callback([&] { code = why(look); });
  queryVerb->callback([&] { code = sqlQuery(look); });
  exportVerb->callback([&] { code = exportFile(exports); });

  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend() - 1);
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kFine : kUsage;
  }
  return code;
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

int open(const OpenOptions& o, int argc, char** argv) {
#ifdef UOPSCOPE_HAVE_WINDOW
  WindowOptions window;
  window.file = o.file;
  window.link = o.link;
  window.compare = o.compare;
  window.ignoreNames = o.ignoreNames;
  window.screenshot = o.screenshot;
  window.theme = o.theme;
  if (o.width > 0) window.width = o.width;
  if (o.height > 0) window.height = o.height;
  return runWindow(window, argc, argv);
#else
  (void)o, (void)argc, (void)argv;
  throw Error(ErrorKind::Unsupported,
              "this uopscope was built without the window; uopscope --help lists what the command line does");
#endif
}

int run(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const Error& e) {
    std::fflush(stdout);
    fmt::print(stderr, "uopscope: {}\n", printable(e.what()));
    return codeOf(e);
  } catch (const std::exception& e) {
    std::fflush(stdout);
    fmt::print(stderr, "uopscope: {}\n", printable(e.what()));
    return kFailed;
  }
}

} // namespace uopscope::cli
