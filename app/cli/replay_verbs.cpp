// Declares the options and examples of uopscope replay.
#include "app/cli/replay_command.h"

namespace uopscope::cli {

namespace {

constexpr const char* kReplayExamples = R"(
Examples:
  uopscope replay capture samples/matmul.py -o before.uopcorpus     everything these scripts compile
  uopscope replay diff before.uopcorpus                             the same inputs through this build
  uopscope replay diff --commits main HEAD before.uopcorpus         builds both commits and compares them
  uopscope replay diff before.uopcorpus after.uopcorpus -o report.html
  uopscope replay diff before.uopcorpus after.uopcorpus --open      stepped through in the window
  uopscope replay bisect before.uopcorpus r_16_16 --commits v1 HEAD the commit that changed a kernel
  uopscope replay reproduce before.uopcorpus r_16_16 -o kernel.py   a script that compiles and runs it alone

Exit codes: 0 fine, 1 a change (with --assert-same) or a failure, 2 wrong usage or input, 130 interrupted.
)";

} // namespace

void addReplayVerb(CLI::App& app, ReplayArguments& o, int& code) {
  CLI::App* replay =
      app.add_subcommand("replay", "compilations kept in a corpus: capture, replay, compare, explain");
  replay->require_subcommand(1);
  replay->footer(kReplayExamples);
  auto verb = [&](const char* name, const char* what, int (*run)(const ReplayArguments&)) {
    CLI::App* v = replay->add_subcommand(name, what);
    v->callback([&o, &code, run] { code = run(o); });
    return v;
  };
  auto limits = [&](CLI::App* v) {
    v->add_option("-j,--jobs", o.jobs, "worker processes (default: one a core)")->check(CLI::Range(1, 1024));
    v->add_option("--timeout", o.timeout, "seconds for one compilation")->check(CLI::Range(1, 86400));
    v->add_option("--memory", o.memory, "MB for one worker (0: no limit)")->check(CLI::NonNegativeNumber);
    v->add_option("--without", o.without, "rules that are not to apply, by name")->delimiter(',');
    v->add_flag("--asm", o.assembly, "compile to machine code too");
    v->add_flag("--code-only", o.codeOnly,
                "faster: no match statistics, and kernels of the same code count as the same");
    v->add_flag("-q,--quiet", o.quiet, "no progress");
  };
  auto elsewhere = [&](CLI::App* v) {
    v->add_option("--repository", o.repository, "of the compiler (default: here)");
    v->add_option("--build", o.build, "shell command that builds a work tree (default: cmake and ninja)");
    v->add_option("--program", o.program, "the program that it builds (default: build/bin/uopscope)");
  };
  auto commits = [&](CLI::App* v) {
    v->add_option("--commits", o.commits, "two commits to build and compare")->expected(2);
    elsewhere(v);
  };

  CLI::App* capture = verb("capture", "run scripts or programs and keep every compilation", replayCapture);
  capture->add_option("SCRIPT", o.inputs, "scripts or programs")->required();
  capture->add_option("-o,--output", o.output, "the corpus; an existing one is added to")->required();
  capture->add_flag("-q,--quiet", o.quiet, "without the output of the scripts");

  CLI::App* run = verb("run", "compile every stored input with this build", replayRun);
  run->add_option("CORPUS", o.corpus, "a .uopcorpus file")->required();
  run->add_option("-o,--output", o.output, "the result, a corpus too")->required();
  run->add_option("--commit", o.commit, "compile with the build of this commit instead");
  run->add_flag("--json", o.json, "summary as JSON");
  run->add_option("--part", o.part,
                  "I/N: one of N shares of the inputs, for several machines; `replay merge` joins them");
  limits(run);
  elsewhere(run);

  CLI::App* merge = verb("merge", "the parts of a replay as one", replayMerge);
  merge->add_option("CORPUS", o.corpus, "the corpus that was replayed")->required();
  merge->add_option("PARTS", o.inputs, "results of `replay run --part`, all of them")->required();
  merge->add_option("-o,--output", o.output, "the whole, as one run makes it")->required();
  merge->add_flag("-q,--quiet", o.quiet, "no summary");

  CLI::App* diff = verb("diff", "the changes between two corpora, or a corpus and this build", replayDiff);
  diff->add_option("CORPUS", o.inputs,
                   "one or two corpora (with --commits: the inputs; default: the samples)")
      ->expected(0, 2);
  diff->add_flag("--open", o.open, "in the window, step by step; two traces too");
  diff->add_option("--screenshot", o.screenshot, "the page of --open as a PNG; needs no display");
  diff->add_option("-o,--output", o.output, "write the report: .html, .md, .json or .txt");
  diff->add_flag("--assert-same", o.assertSame, "exit code 1 on any change");
  diff->add_flag("--ignore-names", o.ignoreNames, "numbering of names in sources is no change");
  diff->add_flag("--all", o.all, "list every kernel");
  diff->add_flag("--diffs", o.diffs, "with texts of changed kernels");
  diff->add_option("--only", o.only, "kernels whose name, cause or script line contains this");
  diff->add_flag("--run", o.runKernels,
                 "run both kernels on the same data: outputs and times; in a sandbox (bubblewrap)");
  diff->add_flag("--trust", o.trust, "run code of these files without asking and without a sandbox");
  diff->add_flag("--json", o.json, "JSON instead of text");
  diff->add_flag("--markdown", o.markdown, "Markdown instead of text");
  limits(diff);
  commits(diff);

  CLI::App* list = verb("ls", "the content of a corpus", replayList);
  list->add_option("CORPUS", o.corpus, "a .uopcorpus file")->required();
  list->add_option("--only", o.only, "names, devices, states or script lines that contain this");
  list->add_flag("--json", o.json, "JSON instead of text");
  list->add_flag("--results", o.results,
                 "results and counts of rules without times, a line of JSON each: the same bytes for replays "
                 "that agree");

  CLI::App* show = verb("show", "a stored compilation", replayShow);
  show->add_option("CORPUS", o.corpus, "a .uopcorpus file")->required();
  show->add_option("KERNEL", o.name, "by name, number or hash of its input")->required();
  show->add_option("--what", o.what, "source, ir, asm, graph, story, launch, opts or settings")
      ->check(CLI::IsMember({"source", "ir", "asm", "graph", "story", "launch", "opts", "settings"}));

  CLI::App* bisect = verb("bisect", "the commit, or the rewrite, that changed a kernel", replayBisect);
  bisect->add_option("CORPUS", o.corpus, "a .uopcorpus file")->required();
  bisect->add_option("KERNEL", o.name, "by name, number or hash of its input")->required();
  bisect->add_flag("--rewrites", o.rewrites,
                   "over the rewrites of this build that are not needed to compile");
  bisect
      ->add_option("--check", o.check,
                   "with --rewrites: wrong (results, against the reference interpreter) or slow")
      ->check(CLI::IsMember({"wrong", "slow"}));
  bisect->add_flag("--trust", o.trust,
                   "with --rewrites: run the kernel without asking and without a sandbox");
  limits(bisect);
  commits(bisect);

  CLI::App* reproduce =
      verb("reproduce", "a kernel alone, as a script or a C++ test on made-up data", replayReproduce);
  reproduce->add_option("CORPUS", o.corpus, "a .uopcorpus file")->required();
  reproduce->add_option("KERNEL", o.name, "by name, number or hash of its input")->required();
  reproduce->add_option("-o,--output", o.output, "FILE.py or FILE.cpp")->required();
}

} // namespace uopscope::cli
