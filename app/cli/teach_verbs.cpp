// Declares the options of story, whatif, bisect, values, roofline and lesson, with an example each.
#include "app/cli/teach_command.h"

#include <CLI/CLI.hpp>

namespace uopscope::cli {

namespace {

void addValues(CLI::App& app, ValuesArguments& o, int& code) {
  CLI::App* verb =
      app.add_subcommand("values", "the number of every node at chosen iterations, before and after a "
                                   "rewrite, and through a whole kernel");
  verb->add_option("TRACE", o.trace, "a .uoptrace file")->required();
  verb->add_option("KERNEL", o.kernel, "kernel or schedule, by number or name")->required();
  verb->add_option(
      "--pass", o.pass,
      "pass by name, name#2, or number: its nodes; without it, what the kernel stores, pass by pass");
  verb->add_option("--step", o.step, "this step of the pass (default: the whole pass)")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--at", o.at,
                   "iterations of loops, \"r0=3,gidx0=1\" (default: the first of each), or an element "
                   "of the tensors of a schedule, \"2,5\"")
      ->expected(1)
      ->take_all();
  verb->add_option(
          "--input", o.inputs,
          "contents of a parameter: data1=0.5, data1=1,2,3 (repeated) or data1=count (default: made up)")
      ->expected(1)
      ->take_all();
  verb->add_option("--seed", o.seed, "of made-up inputs (1)")->check(CLI::NonNegativeNumber);
  verb->add_option("--node", o.node, "only this node and its sources")
      ->check(CLI::Range(int64_t{1}, int64_t{UINT32_MAX}));
  verb->add_option("--limit", o.limit, "at most this many nodes (0: all)");
  verb->add_flag("--json", o.json, "JSON instead of text");
  verb->footer(
      "Nothing runs: graphs are interpreted. Exit code 1 if a number differs between both sides, or from "
      "the kernel's first graph.\n"
      "Example: uopscope values matmul.uoptrace r_8_8_32_48 --pass expander --step 3 --at r0=2,r1=5");
  verb->callback([&] { code = showValues(o); });
}

void addRule(CLI::App& app, RuleArguments& o, int& code) {
  CLI::App* verb =
      app.add_subcommand("rule", "a rule of your own on a trace: where it matches, what it makes, whether "
                                 "it is right, and what the kernels gain");
  verb->add_option("FILE", o.file, "a Python file that leaves PatternMatchers in its names; it is run")
      ->required();
  verb->add_option("TRACE", o.trace, "a .uoptrace file")->required();
  verb->add_option("--kernel", o.kernel, "one kernel or schedule, by number or name; without it, all");
  verb->add_option("--after", o.after, "the pass that the rules follow, whatever the file names");
  verb->add_flag("--times", o.times, "also run the kernels that change, and time them");
  verb->add_option("--repeats", o.repeats, "timed runs of each kernel (25)")->check(CLI::Range(1, 100000));
  verb->add_option("--timeout", o.timeout, "seconds for everything (120)")->check(CLI::Range(1, 86400));
  verb->add_option(
      "--keep", o.keep,
      "PREFIX: with --kernel, also writes the kernel without and with the rules: PREFIX-0.uopcorpus, "
      "PREFIX-1.uopcorpus");
  verb->add_flag("--json", o.json, "JSON instead of text");
  verb->add_flag("--trust", o.trust,
                 "with --times: run kernels of the trace without asking and without a sandbox");
  verb->footer(
      "Exit code 1 if a rewrite changes a value, a rule is refuted or fails, or a kernel does not compile.\n"
      "Example: uopscope rule mine.py matmul.uoptrace");
  verb->callback([&] { code = tryRules(o); });
}

void addStory(CLI::App& app, StoryArguments& o, int& code) {
  CLI::App* verb = app.add_subcommand("story", "a kernel's compilation told in chapters, a sentence a pass");
  verb->add_option("TRACE", o.trace, "a .uoptrace file")->required();
  verb->add_option("KERNEL", o.kernel, "kernel or schedule, by number or name; without one, every kernel");
  verb->add_option("-o,--output", o.output, "write it to this file: .html or .txt");
  verb->add_flag("--json", o.json, "JSON instead of text");
  verb->footer("Example: uopscope story softmax.uoptrace r_16_25_4 -o story.html");
  verb->callback([&] { code = tellStory(o); });
}

void addWhatIf(CLI::App& app, WhatIfArguments& o, int& code) {
  CLI::App* verb =
      app.add_subcommand("whatif", "kernels compiled again without a rule, or with other Opts: code, "
                                   "instructions and times side by side");
  verb->add_option("SCRIPT", o.input, "a script (it is run), a .uoptrace or a .uopcorpus file")->required();
  verb->add_option("--without", o.without, "a rule, or several with commas; each --without is a variant")
      ->expected(1)
      ->take_all();
  verb->add_option("--opts", o.opts,
                   "Opts in place of those chosen: \"UPCAST 0 4; UNROLL 0 8\", a list as show --what opts "
                   "prints it, or none; each --opts is a variant")
      ->expected(1)
      ->allow_extra_args(false) // else a value in brackets would be several values
      ->take_all();
  verb->add_option("--without-step", o.withoutSteps,
                   "of a trace: the rewrite, or the Opt, of this step is not made; each is a variant")
      ->expected(1)
      ->take_all();
  verb->add_option(
          "--alternative", o.alternatives,
          "STEP:N of a trace: the Nth alternative of the decision at the step (show --step lists them); "
          "each is a variant")
      ->expected(1)
      ->take_all();
  verb->add_option(
          "--by-hand", o.byHand,
          "PLACE:RULE,RULE of a trace: from the graph at PLACE (a step's number, or a link) these "
          "rules are applied, one after the other (RULE#2: to the second node that it matches), then "
          "the compiler goes on; each is a variant. PLACE alone lists what matches there")
      ->expected(1)
      ->take_all();
  verb->add_option("--variant", o.kept, "a variant that was kept beside the trace under this name")
      ->expected(1)
      ->take_all();
  verb->add_option("--name", o.name,
                   "keeps the variant under this name, beside the trace: --variant, the window, and links "
                   "(variant=NAME) find it");
  verb->add_flag("--variants", o.listKept, "lists the variants that are kept beside the trace");
  verb->add_option("--forget", o.forget, "a variant that is kept no longer");
  verb->add_flag("--matches", o.matches, "with --by-hand: lists what matches after its choices");
  verb->add_option("--kernel", o.kernel, "one kernel, by name or number; without one, all that change");
  verb->add_option("--repeats", o.repeats, "timed runs of each variant (25)")->check(CLI::Range(1, 100000));
  verb->add_option("--timeout", o.timeout, "seconds for one variant (60)")->check(CLI::Range(1, 86400));
  verb->add_flag("--no-times", o.noTimes, "compile only");
  verb->add_flag("--diffs", o.diffs, "the whole difference of the code");
  verb->add_option(
      "--keep", o.keep,
      "PREFIX: also writes PREFIX-0.uopcorpus (as it is), PREFIX-1.uopcorpus (the first variant) ... to "
      "step through together: open --compare");
  verb->add_flag("--json", o.json, "JSON instead of text");
  verb->add_flag("--trust", o.trust,
                 "run kernels of a trace or a corpus without asking and without a sandbox");
  verb->add_option("ARGS", o.arguments, "of the script, after --");
  verb->footer(
      "Exit code 1 if a variant does not compile or gives other results.\n"
      "Example: uopscope whatif samples/matmul.py --kernel r_2_16_4_16_48 --opts none --opts \"UPCAST 0 4\" "
      "--without cut-arithmetic\n"
      "         uopscope whatif matmul.uoptrace --alternative 826:1 --without-step 831\n"
      "         uopscope whatif matmul.uoptrace --by-hand \"kernel=3&pass=devectorize&step=12\"");
  verb->callback([&] { code = compareVariants(o); });
}

void addBisect(CLI::App& app, BisectArguments& o, int& code) {
  CLI::App* verb = app.add_subcommand(
      "bisect", "which rewrite makes a script fail, or a kernel wrong or slow, or made a line of its code: "
                "it is compiled with fewer and fewer rewrites");
  verb->add_option("SCRIPT", o.script,
                   "a script that ends with another exit code than 0 where its numbers are wrong; or a "
                   ".uoptrace file")
      ->required();
  verb->add_option("--kernel", o.kernel, "of a trace: the kernel, by number or name");
  verb->add_option("--for", o.what,
                   "with --kernel: wrong (results, against the reference interpreter; the default) or slow "
                   "(slower than without optional rewrites)")
      ->check(CLI::IsMember({"wrong", "slow"}));
  verb->add_option("--line", o.line, "with --kernel: a line of its code (show --what source)");
  verb->add_option("--trace", o.trace, "of a script: a trace of it, in which the step is looked for");
  verb->add_option("--timeout", o.timeout, "seconds for one run of a kernel (60)")
      ->check(CLI::Range(1, 86400));
  verb->add_flag("--trust", o.trust, "run the kernel of the trace without asking and without a sandbox");
  verb->add_flag("--progress", o.progress, "a line on stderr for each run");
  verb->add_flag("--json", o.json, "JSON instead of text");
  verb->add_option("ARGS", o.arguments, "of the script, after --");
  verb->footer(
      "Any rule is found that states an equation, the script's own included. Exit code 1 if one was found.\n"
      "Example: uopscope bisect wrong.py\n"
      "         uopscope bisect matmul.uoptrace --kernel r_2_16_4_16_48 --for slow");
  verb->callback([&] { code = bisect(o); });
}

void addRoofline(CLI::App& app, RooflineArguments& o, int& code) {
  CLI::App* verb = app.add_subcommand(
      "roofline",
      "each kernel's measured time beside the predicted one and the least that the machine's peaks allow");
  verb->add_option("TRACE", o.trace, "a .uoptrace file of a script whose kernels ran")->required();
  verb->add_option("KERNEL", o.kernel, "one kernel, by number or name: with the parts of its prediction");
  verb->add_option("--device", o.device, "the device that the peaks are of (CPU)");
  verb->add_option("--peak-gflops", o.gflops, "peak of arithmetic, float32; without it, measured")
      ->check(CLI::PositiveNumber);
  verb->add_option("--peak-gbs", o.gbPerSecond, "peak of memory, GB/s; without it, measured")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--measure", o.measure, "measures the peaks again (they are kept in ~/.cache/uopscope)");
  verb->add_flag("--json", o.json, "JSON instead of text");
  verb->footer("The least time is the longer one of arithmetic at its peak and bytes at theirs.\n"
               "Example: uopscope roofline matmul.uoptrace");
  verb->callback([&] { code = showRoofline(o); });
}

void addLesson(CLI::App& app, LessonArguments& o, int& code) {
  CLI::App* verb =
      app.add_subcommand("lesson", "a lesson with commands and questions; without FILE, lists lessons");
  verb->add_option("FILE", o.file,
                   "a Markdown file, such as docs/lessons/1-a-plus-b.md, or a lesson's number");
  verb->add_flag("--answers", o.answers, "goes through it alone with the answers in it, checking each");
  verb->add_flag("--restart", o.restart, "from the beginning, whatever was done before");
  verb->add_flag("--teacher", o.teacher, "the teacher's notes and the answers");
  verb->footer("Progress is kept in ~/.local/share/uopscope/lessons (XDG_DATA_HOME).\n"
               "Example: uopscope lesson docs/lessons/1-a-plus-b.md");
  verb->callback([&] { code = takeLesson(o); });
}

} // namespace

void addTeachVerbs(CLI::App& app, TeachArguments& a, int& code) {
  addStory(app, a.story, code);
  addWhatIf(app, a.whatIf, code);
  addBisect(app, a.bisect, code);
  addValues(app, a.values, code);
  addRule(app, a.rule, code);
  addRoofline(app, a.roofline, code);
  addLesson(app, a.lesson, code);
}

} // namespace uopscope::cli
