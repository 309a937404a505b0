// The verbs that read and make traces. One function per verb declares its options and names its command.
#include "app/cli/verbs.h"

#include "app/cli/output.h"

#include <CLI/CLI.hpp>

namespace uopscope::cli {

namespace {

void addLook(CLI::App* verb, LookOptions& o) {
  verb->add_option("TRACE", o.trace, "a .uoptrace file")->required();
  verb->add_flag("--json", o.json, "JSON instead of text");
}

void addPlace(CLI::App* verb, LookOptions& o) {
  verb->add_option("--pass", o.pass, "pass by name, name#2, or number");
  verb->add_option("--step", o.step, "after this many steps of the pass (default: all)")
      ->check(CLI::NonNegativeNumber);
}

void addOpen(CLI::App& app, VerbArguments& o) {
  CLI::App* verb =
      app.add_subcommand("open", "open a script, a trace or nothing in the window (the default)");
  verb->add_option("FILE", o.open.file, "a script or a .uoptrace file");
  verb->add_option(
          "--at", o.open.links,
          "where to go: kernel=3&pass=devectorize&step=12&node=456&tab=source; several are the moves of a "
          "film: links, do=ACTION, click=TEXT, double=TEXT, type=TEXT, wait")
      ->expected(1)
      ->take_all();
  verb->add_option(
      "--screenshot", o.open.screenshot,
      "write a picture and end; needs no display: .png, .gif or .mp4 (a film of the steps from there on), "
      ".html (the bookmarks as slides)");
  verb->add_option("--steps", o.open.steps, "of a film: the number of steps (20)")->check(CLI::Range(1, 500));
  verb->add_option("--seconds", o.open.seconds, "of a film: its length (a second a step, two a move)")
      ->check(CLI::Range(1, 600));
  verb->add_option("--compare", o.open.compare, "two traces or corpora side by side, in place of FILE")
      ->expected(2);
  verb->add_option("--theme", o.open.theme, "dark, light, contrast, contrast-light or system")
      ->check(CLI::IsMember({"dark", "light", "contrast", "contrast-light", "system"}));
  verb->add_option("--width", o.open.width, "of the window");
  verb->add_option("--height", o.open.height, "of the window");
  verb->callback([&o] { o.code = open(o.open, true); });
}

/// Also adds `run` and `python`: dispatch() handles them, and they are declared here only for the help.
void addRecord(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand("record", "run a script and record its compilation");
  verb->add_option("SCRIPT", o.record.script, "a Python script, or a program that makes a RecordingSession");
  verb->add_option("-o,--output", o.record.output, "the trace (default: SCRIPT's name with .uoptrace, here)");
  verb->add_option(
          "--tier", o.record.tier,
          "full: every rewrite; stats: counts, times and sources, neither steps nor IR and assembly; off")
      ->check(CLI::IsMember({"full", "stats", "off"}));
  verb->add_option("--device", o.record.device, "default device, such as CPU or REF");
  verb->add_flag("--json", o.record.json, "summary as JSON");
  verb->add_flag("-q,--quiet", o.record.quiet, "no progress, no summary");
  verb->add_option(
          "--break", o.record.breakpoints,
          "stop before rewrites such as \"rule=add-* op=ADD\" (also into=, pass=, kernel=) and ask for "
          "an order; may be given several times")
      ->expected(1)
      ->take_all();
  verb->add_option("--rules", o.record.rules,
                   "a Python file whose PatternMatchers take part, after the pass that it names (see rule)")
      ->expected(1)
      ->take_all();
  verb->add_option("--after", o.record.rulesAfter,
                   "the pass that these rules follow, whatever the file names");
  verb->add_option(
          "--flip", o.record.flip,
          "the number of a choice between storing a value and computing it again, made the other way")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}));
  verb->add_flag("--check", o.record.check,
                 "afterwards, check that each rewrite keeps the value of its node (see check)");
  verb->add_flag("--pause", o.record.pause, "stop before the first rewrite");
  verb->add_option("ARGS", o.record.arguments, "of the script, after --");
  verb->footer(
      "uopscope record train.py -o train.uoptrace --tier stats -- --epochs 1\n"
      "uopscope record -o tests.uoptrace -m pytest -q tests   a module, with all that follows\n"
      "uopscope record -o sum.uoptrace -c 'from tinygrad import Tensor; Tensor.ones(9).sum().item()'");

  app.add_subcommand("run", "run a script without recording: uopscope run SCRIPT [ARGS]");
  app.add_subcommand("python", "the Python interpreter with uopscope built in");
  verb->callback([&o] { o.code = record(o.record); });
}

void addList(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand("ls", "kernels and schedules; passes of one; steps of one");
  addLook(verb, o.look);
  verb->add_option("KERNEL", o.look.kernel, "kernel or schedule, by number or name");
  verb->add_option("PASS", o.look.pass, "pass by name, name#2, or number");
  verb->add_option("--limit", o.look.limit, "at most this many rows (0: all)");
  verb->add_option("--kind", o.look.kind, "only kernels or only schedules")
      ->check(CLI::IsMember({"kernel", "schedule", "script", "other"}));
  verb->add_option("--name", o.look.name,
                   "only entries with this in their name (steps: in the name of the rule)");
  verb->add_option("--node", o.look.node, "only steps that rewrote or made this node")
      ->check(CLI::PositiveNumber);
  verb->add_option("--find", o.look.find,
                   "nodes of the trace with these words in operation, type or argument");
  verb->add_flag("--errors", o.look.errors, "only failures");
  verb->add_flag("--registers", o.look.registers,
                 "registers alive at once and bytes that the compiler spilled, those with most first; with "
                 "KERNEL the count behind each instruction of its linear program");
  verb->add_flag(
      "--predicted", o.look.predicted,
      "kernels: the fastest launch, the time that the model of its program predicts, and the ratio");
  verb->add_option("--sort", o.look.sort,
                   "most first; default: in order of time. measured, predicted and ratio (farthest from 1 "
                   "first) imply --predicted")
      ->check(CLI::IsMember({"steps", "time", "name", "measured", "predicted", "ratio"}));
  verb->callback([&o] { o.code = list(o.look); });
}

void addShow(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand("show", "a graph, a rewrite, a kernel's texts, where a node came from");
  addLook(verb, o.look);
  verb->add_option("KERNEL", o.look.kernel,
                   "kernel or schedule, by number or name; only a line of the script needs none");
  addPlace(verb, o.look);
  verb->add_option("--what", o.look.what,
                   "graph, diff, source, ir, asm, uops, opts, launch (sizes), candidates (of BEAM), "
                   "provenance, or llvm: the passes of LLVM that changed a kernel, with --step the "
                   "difference that one pass made")
      ->check(CLI::IsMember({"graph", "diff", "source", "ir", "asm", "uops", "opts", "launch", "candidates",
                             "provenance", "llvm"}));
  verb->add_option("--node", o.look.node, "for provenance: a node's id")
      ->check(CLI::Range(int64_t{1}, int64_t{kFirstViewNode - 1}));
  verb->add_option("--line", o.look.line,
                   "for provenance: source:12, ir:3 or asm:40 of the kernel, or model.py:6 of the script");
  verb->add_option("--limit", o.look.limit, "at most this many lines of a graph (0: all)");
  verb->footer("Example: uopscope show t.uoptrace r_16_16 --pass \"initial symbolic\" --step 3 --what diff");
  verb->callback([&o] { o.code = show(o.look); });
}

void addStats(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand("stats", "match statistics: attempts by outcome, with time");
  addLook(verb, o.look);
  verb->add_option("--by", o.look.by,
                   "rule, pass, op or kernel; phase: time by kind of work; launch: speed of kernels")
      ->check(CLI::IsMember({"rule", "pass", "op", "kernel", "reason", "phase", "launch"}));
  verb->add_option("--kernel", o.look.kernel, "of this kernel or schedule only");
  verb->add_option("--pass", o.look.pass, "of this pass only");
  verb->add_option("--limit", o.look.limit, "at most this many rows (0: all)");
  verb->add_flag("--csv", o.look.csv, "comma-separated values");

  verb->add_option("--name", o.look.name, "only entries with this in their name");
  verb->add_option("--sort", o.look.sort, "most first (default: time)")
      ->check(CLI::IsMember({"time", "matches", "attempts", "rate", "unchanged", "name"}));
  verb->add_option("--diff", o.look.other, "another trace to compare with: biggest differences first");
  verb->callback([&o] { o.code = stats(o.look); });
}

void addDiff(CLI::App& app, VerbArguments& o) {
  CLI::App* verb =
      app.add_subcommand("diff", "whether two traces tell the same story, and where they first part");
  addLook(verb, o.look);
  verb->add_option("OTHER", o.look.other, "another .uoptrace file")->required();
  verb->add_option("--limit", o.look.limit, "at most this many kernels (0: all)");
  verb->callback([&o] { o.code = diff(o.look); });
}

void addCompare(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand("compare", "two states side by side: steps, passes, kernels, traces");
  verb->add_option("TRACE", o.compared.trace, "a .uoptrace file")->required();
  verb->add_option("FROM", o.compared.from, "a link: kernel=3&pass=devectorize&step=12")->required();
  verb->add_option("TO", o.compared.to, "another link (default: the end of FROM's pass, or FROM in --other)");
  verb->add_option("--other", o.compared.other, "another trace, which TO is in");
  verb->add_option("--what", o.compared.what, "graph, source, ir, asm or uops")
      ->check(CLI::IsMember({"graph", "source", "ir", "asm", "uops"}));
  verb->add_flag("--json", o.compared.json, "JSON instead of text");
  verb->footer("Exit code 1 if they differ.\n"
               "Example: uopscope compare t.uoptrace \"kernel=3&pass=devectorize&step=0\"");
  verb->callback([&o] { o.code = compareStates(o.compared); });
}

void addCheck(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand("check", "whether rewrites keep the values of their nodes");
  addLook(verb, o.look);
  verb->add_option("KERNEL", o.look.kernel, "kernel or schedule; without one, every rewrite is checked");
  addPlace(verb, o.look);
  verb->add_option("--limit", o.look.limit, "list this many that differ (default: 20)");
  verb->add_flag("--blind", o.look.errors, "list the rewrites that cannot be evaluated, by rule and reason");
  verb->add_option("--script", o.look.script, "write a Python script that shows the first difference");
  verb->add_flag("--whole", o.look.whole,
                 "whole passes and kernels too: their first graph against their last");
  verb->footer("Both sides are evaluated on corner values and random ones within the bounds of their "
               "variables. TRACE may be a script: it is recorded first. Exit code 1 if they differ.\n"
               "Example: uopscope check t.uoptrace r_16_16 --pass \"initial symbolic\" --step 3");
  verb->callback([&o] { o.code = checkValues(o.look); });
}

void addProve(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand("prove", "the status of each rule: proved, exhaustive, checked, "
                                               "changes-rounding, assumed or refuted");
  verb->add_option("RULE", o.proofs.rule, "only rules of this name; * stands for any letters");
  verb->add_option("--table", o.proofs.table, "only rules of source files with this in their path");
  verb->add_option("--rules", o.proofs.rules, "a Python file: its PatternMatchers instead of the engine's");
  verb->add_option("--timeout", o.proofs.milliseconds, "milliseconds for one question to Z3 (default: 1500)")
      ->check(CLI::Range(1, 3600000));
  verb->add_flag("--json", o.proofs.json, "JSON instead of text");
  verb->add_flag("--markdown", o.proofs.markdown, "docs/design/rules.md");
  verb->add_flag("--full", o.proofs.full, "more graphs: minutes instead of one");
  verb->footer("Exit code 1 if a rule is refuted or has no status.\n"
               "Example: uopscope prove fold-divmod");
  verb->callback([&o] { o.code = proveCommand(o.proofs); });
}

void addWhy(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand("why", "why a rule did not fire on a node");
  addLook(verb, o.look);
  verb->add_option("KERNEL", o.look.kernel, "kernel or schedule")->required();
  verb->add_option("PASS", o.look.pass, "pass")->required();
  verb->add_option("NODE", o.look.node, "a node's id, as ls and show print it")
      ->required()
      ->check(CLI::Range(int64_t{1}, int64_t{kFirstViewNode - 1}));
  verb->add_option("RULE", o.look.rule, "a rule's name; without one, the rules that came nearest");
  verb->add_option("--limit", o.look.limit, "at most this many rules (0: all)");
  verb->callback([&o] { o.code = why(o.look); });
}

void addQuery(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand("query", "SQL over a trace (reading only)");
  addLook(verb, o.look);
  verb->add_option("SQL", o.look.sql, "one SELECT")->required();
  verb->add_option("--limit", o.look.limit, "at most this many rows (0: all)");
  verb->add_flag("--csv", o.look.csv, "comma-separated values");
  verb->footer("The tables are described in docs/guide/trace-format.md; expr(node), label(node) and "
               "sources(node) are added.\n"
               "Example: uopscope query t.uoptrace \"SELECT name, count(*) FROM step JOIN rule ON "
               "rule.id = rule GROUP BY 1 ORDER BY 2 DESC\"");
  verb->callback([&o] { o.code = sqlQuery(o.look); });
}

void addExport(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand(
      "export", "a graph, steps or statistics as SVG, PNG, PDF, DOT, JSON, HTML or CSV; a whole trace as "
                "JSON lines (.jsonl) or for Perfetto and Chrome (.trace.json)");
  addLook(verb, o.exports);
  verb->add_option("KERNEL,--kernel", o.exports.kernel, "kernel or schedule, by number or name");
  addPlace(verb, o.exports);
  verb->add_option("-o,--output", o.exports.output, "the file; its ending decides the form")->required();
  verb->add_flag("--diff", o.exports.difference, "mark the changes of the step (or of the whole pass)");
  verb->add_option("--timeout", o.exports.timeout, "seconds Graphviz may take")->check(CLI::Range(1, 3600));
  verb->add_option("--what", o.exports.what,
                   "session: one .html file in which the compilation is stepped through, without a network "
                   "and without uopscope")
      ->check(CLI::IsMember({"session"}));
  verb->add_option("--lesson", o.exports.lesson, "of a session: a Markdown file that is shown beside it");
  verb->add_option("--megabytes", o.exports.megabytes,
                   "of a session, about (4); the page lists the parts left out")
      ->check(CLI::Range(1, 500));
  verb->footer("Examples:\n  uopscope export t.uoptrace r_16_16 --pass devectorize --diff -o change.svg\n"
               "  uopscope export t.uoptrace --what session --lesson docs/lessons/1-a-plus-b.md -o s.html");
  verb->callback([&o] { o.code = exportFile(o.exports); });
}

void addImport(CLI::App& app, VerbArguments& o) {
  CLI::App* verb = app.add_subcommand("import", "a graph in DOT, a timeline, JSON lines or CSV as a trace");
  verb->add_option(
          "FILE", o.imports.file,
          ".dot or .gv: a graph; .jsonl: a trace that was exported; .json: a timeline of Chrome or Perfetto; "
          ".pkl: a profile of tinygrad, with thread traces (SQTT) of AMD's GPUs; .csv: steps, match "
          "statistics, or rows with name, begin_ns and took_ns")
      ->required();
  verb->add_option("-o,--output", o.imports.output, "the trace (default: FILE's name with .uoptrace, here)");
  verb->add_flag("--json", o.imports.json, "summary as JSON");
  verb->callback([&o] { o.code = importFile(o.imports); });
}

void addCompletion(CLI::App& app, VerbArguments& o) {
  CLI::App* verb =
      app.add_subcommand("completion", "prints the completion script of a shell, or the manual page");
  verb->add_option("SHELL", o.shell, "bash, zsh, fish or man")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  verb->footer("Example: uopscope completion bash >> ~/.bashrc");
  verb->callback([&o, &app] { o.code = completion(o.shell, app); });
}

} // namespace

void addTraceVerbs(CLI::App& app, VerbArguments& o) {
  for (auto add : {addOpen, addRecord, addList, addShow, addStats, addDiff, addCompare, addCheck, addProve,
                   addWhy, addQuery, addExport})
    add(app, o);
}

void addOtherVerbs(CLI::App& app, VerbArguments& o) {
  addImport(app, o);
  addCompletion(app, o);
}

} // namespace uopscope::cli
