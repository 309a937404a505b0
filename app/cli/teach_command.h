// uopscope story, whatif, bisect, values, roofline and lesson: the verbs for experiments and lessons over
// replay/teach.
#pragma once
#include "app/cli/cli.h"

namespace uopscope::cli {

struct StoryArguments {
  std::string trace, kernel, output;
  bool json = false;
};
int tellStory(const StoryArguments& options);

struct WhatIfArguments {
  std::string input, kernel; ///< input: a script, a trace or a corpus
  std::vector<std::string> without, opts, arguments;
  std::vector<int64_t> withoutSteps;     ///< steps of a trace
  std::vector<std::string> alternatives; ///< "STEP:NUMBER"
  std::vector<std::string> byHand;       ///< "PLACE:RULE,RULE"
  std::vector<std::string> kept;         ///< names of variants that were kept beside the trace
  std::string name, forget;              ///< a name to keep the variant under; one that is kept no longer
  bool listKept = false;
  bool matches = false; ///< list what matches there, in place of compiling
  int repeats = 25, timeout = 60;
  bool json = false, diffs = false, noTimes = false;
  bool trust = false; ///< allow code of a trace or a corpus to run outside a sandbox
  std::string keep;   ///< prefix of corpora of the base and the variants
};
int compareVariants(const WhatIfArguments& options);

struct BisectArguments {
  std::string script; ///< or a trace
  std::string kernel; ///< of the trace
  std::string what;   ///< "wrong" or "slow"
  std::string line;   ///< of the kernel's code, in place of `what`
  std::string trace;  ///< of the script: the step is looked for in it
  std::vector<std::string> arguments;
  int timeout = 60;
  bool json = false, progress = false, trust = false;
};
int bisect(const BisectArguments& options);

struct RuleArguments {
  std::string file, trace, kernel, after;
  int timeout = 120, repeats = 25;
  bool json = false, times = false, trust = false;
  std::string keep;
};
int tryRules(const RuleArguments& options);

struct ValuesArguments {
  std::string trace, kernel, pass;
  int64_t step = -1, node = 0, limit = 0, seed = 1;
  std::vector<std::string> at, inputs; ///< "r0=3,r1=2"; "data1=0.5"
  bool json = false;
};
int showValues(const ValuesArguments& options);

struct RooflineArguments {
  std::string trace, kernel, device = "CPU";
  double gflops = 0, gbPerSecond = 0; ///< peaks given by hand; 0: measured
  bool json = false, measure = false;
};
int showRoofline(const RooflineArguments& options);

struct LessonArguments {
  std::string file; ///< empty: list the lessons
  bool answers = false, restart = false, teacher = false;
};
int takeLesson(const LessonArguments& options);

/// Adds these verbs; `code` receives the exit code of the verb that ran.
struct TeachArguments {
  StoryArguments story;
  WhatIfArguments whatIf;
  BisectArguments bisect;
  ValuesArguments values;
  RuleArguments rule;
  RooflineArguments roofline;
  LessonArguments lesson;
};
void addTeachVerbs(CLI::App& app, TeachArguments& arguments, int& code);

} // namespace uopscope::cli
