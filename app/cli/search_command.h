// The verb `search`: BEAM over the kernels of a corpus or trace, in parts for several machines.
// docs/design/experiments.md describes it.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace uopscope::cli {

struct SearchArguments {
  std::string corpus, output, part;
  std::vector<std::string> files;
  int width = 2, timeout = 600;
  bool json = false, quiet = false, trust = false;
};

/// Adds the verb and its sub-verbs (run, merge, show, use); `code` receives the exit code of the sub-verb that
/// runs.
void addSearchVerb(CLI::App& app, SearchArguments& arguments, int& code);

} // namespace uopscope::cli
