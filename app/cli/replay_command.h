// uopscope replay ...: capture, run, diff, ls, show, bisect and reproduce over corpora.
#pragma once
#include "app/cli/cli.h"
#include "replay/compare/stored_compilations.h"

#include <CLI/CLI.hpp>

namespace uopscope::cli {

struct ReplayArguments {
  std::vector<std::string> inputs; ///< scripts, or corpora
  std::string corpus, output, name, what = "source", only, repository, build, program, check, commit,
                                    part; ///< "2/4"
  std::vector<std::string> commits, without;
  int jobs = 0, timeout = 60, memory = 4096;
  bool json = false, results = false, assembly = false, ignoreNames = false, assertSame = false, all = false,
       diffs = false, quiet = false;
  bool markdown = false, rewrites = false, runKernels = false, open = false, codeOnly = false,
       trust = false; ///< allow code from a file to run outside a sandbox
  std::string screenshot;
};

/// Adds the verb with its sub-verbs; `code` receives the exit code of the sub-verb that ran.
void addReplayVerb(CLI::App& app, ReplayArguments& arguments, int& code);

int replayCapture(const ReplayArguments& o);
int replayRun(const ReplayArguments& o);
int replayMerge(const ReplayArguments& o);
int replayDiff(const ReplayArguments& o);
int replayList(const ReplayArguments& o);
int replayShow(const ReplayArguments& o);
int replayBisect(const ReplayArguments& o);
int replayReproduce(const ReplayArguments& o);

/// Runs a program and waits; its output goes to `log` where one is named. Returns its exit code, or 128 +
/// signal.
int runProgram(const std::vector<std::string>& command, const std::string& folder, const std::string& log,
               const std::vector<std::pair<std::string, std::string>>& environment = {});
/// The last line of a program's output that is not empty.
std::string lastLine(const std::string& path);
/// The path of this program.
std::string selfPath();
/// Opens a corpus or a trace that a person names; warnings about it go to stderr.
StoredCompilations openStored(const std::string& path);

/// Builds commits in work trees under the user's cache folder, so that each commit is built once.
class CommitBuilds {
public:
  CommitBuilds(std::string repository, std::string buildCommand, std::string program);
  /// The full hash; Error(Value) for a name that git does not know.
  std::string resolve(const std::string& commit) const;
  /// Commits after `from` up to `to`, oldest first, following first parents.
  std::vector<std::string> between(const std::string& from, const std::string& to) const;
  /// Path of the built program. Throws Error(Runtime) with the end of the log where the build fails.
  std::string build(const std::string& commit) const;
  std::string subject(const std::string& commit) const;
  /// Whether the repository's own work tree differs from its commit.
  bool dirty() const;

private:
  std::string git(const std::vector<std::string>& arguments, bool mustSucceed = true) const;
  std::string repository_, command_, program_;
};

} // namespace uopscope::cli
