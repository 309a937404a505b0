// The verb `bench`: experiments with a script. docs/design/experiments.md describes them.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace uopscope::cli {

struct BenchArguments {
  std::string script, file, other, output, part, html;
  std::vector<std::string> sets, devices, beams, programs, arguments, files;
  int repeat = 10, warmup = 1;
  unsigned seed = 0;
  double timeout = 0;
  bool json = false, quiet = false, overwrite = false;
};

/// Adds the verb and its sub-verbs (run, show, compare, merge); `code` receives the exit code of the sub-verb
/// that runs.
void addBenchVerb(CLI::App& app, BenchArguments& arguments, int& code);

} // namespace uopscope::cli
