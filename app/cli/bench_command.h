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
  bool json = false, quiet = false, overwrite = false, open = false;
  std::string screenshot, cell;
};

/// Adds the verb and its sub-verbs (run, show, compare, kernels, merge); `code` receives the exit code of the sub-verb
/// that runs.
void addBenchVerb(CLI::App& app, BenchArguments& arguments, int& code);

/// Puts `run` before a script or an option that follows `bench`, so that `bench SCRIPT.py` measures it.
void nameRun(std::vector<std::string>& arguments);

/// An experiment as table and plot, JSON, a page, or in the window.
int showBench(const BenchArguments& arguments);
/// Two experiments, or the cells of one, by the Mann-Whitney test.
int compareBench(const BenchArguments& arguments);

} // namespace uopscope::cli
