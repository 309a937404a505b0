// uopscope replay bisect and reproduce: find the commit or the rewrite behind a change, and write a kernel as
// a separate program.
#include "app/cli/replay_command.h"
#include "app/cli/sandbox.h"
#include "engine/base/error.h"
#include "replay/compare/bisect.h"
#include "replay/compare/replay.h"
#include "replay/compare/report.h"
#include "replay/compare/reproducer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace uopscope::cli {

namespace fs = std::filesystem;

namespace {

/// Results of one input by the builds of commits; each build replays it once.
class ResultsOfCommits {
public:
  ResultsOfCommits(const CommitBuilds& builds, const Corpus& corpus, const CorpusEntry& entry, int timeout)
      : builds_(builds), timeout_(timeout) {
    Corpus one = Corpus::create(input_.path());
    one.add(corpus.load(entry));
    one.finish();
  }
  const std::string& of(const std::string& commit) {
    std::unique_ptr<TemporaryFile>& file = results_[commit];
    if (file) return file->path();
    std::string program = builds_.build(commit);
    file = std::make_unique<TemporaryFile>(".uopcorpus");
    TemporaryFile log(".log");
    runProgram({program, "replay", "run", input_.path(), "-o", file->path(), "-q", "--timeout",
                std::to_string(timeout_)},
               {}, log.path());
    if (std::error_code ignored; !fs::exists(file->path(), ignored))
      throw Error(ErrorKind::Runtime,
                  fmt::format("the build of {} does not replay; bisect between commits that do",
                              builds_.subject(commit)));
    return file->path();
  }
  /// Compares the results of two commits.
  CorpusDiff between(const std::string& from, const std::string& to) {
    return diffCorpora(Corpus::open(of(from)), Corpus::open(of(to)), {});
  }

private:
  const CommitBuilds& builds_;
  int timeout_;
  TemporaryFile input_{".uopcorpus"};
  std::map<std::string, std::unique_ptr<TemporaryFile>> results_;
};

int bisectCommits(const ReplayArguments& o, const Corpus& corpus, const CorpusEntry& entry) {
  CommitBuilds builds(o.repository, o.build, o.program);
  std::string from = builds.resolve(o.commits[0]), to = builds.resolve(o.commits[1]);
  std::vector<std::string> commits = builds.between(from, to);
  ResultsOfCommits results(builds, corpus, entry, o.timeout);
  if (!results.between(from, to).anyChange()) {
    fmt::print("{} is the same at {} and at {}\n", entry.name, builds.subject(from), builds.subject(to));
    return kFine;
  }
  // Finds the first commit whose result differs from that of `from`.
  size_t low = 0, high = commits.size() - 1;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (results.between(from, commits[middle]).anyChange())
      high = middle;
    else
      low = middle + 1;
  }
  const std::string& culprit = commits[low];
  std::string parent = low == 0 ? from : commits[low - 1];
  CorpusDiff d = results.between(parent, culprit);
  fmt::print("{} changed with {}\n", entry.name, builds.subject(culprit));
  for (const Change& c : d.changes) {
    if (c.cause.empty()) continue;
    fmt::print("  {}\n", c.divergence.found() ? c.divergence.sentence() : c.cause);
    for (const std::string& fact :
         changeFacts(c, Corpus::open(results.of(parent)), Corpus::open(results.of(culprit))))
      fmt::print("  {}\n", fact);
  }
  fmt::print("see it: uopscope replay diff --commits {} {} {} --only '{}' --diffs\n", parent.substr(0, 12),
             culprit.substr(0, 12), o.corpus, entry.name);
  fmt::print("alone:  uopscope replay reproduce {} {} -o {}.py\n", o.corpus, entry.id, entry.name);
  return kFailed;
}

} // namespace

int replayBisect(const ReplayArguments& o) {
  StoredCompilations stored = openStored(o.corpus);
  Corpus corpus = Corpus::open(stored.path());
  CorpusEntry entry = findEntry(corpus, o.name);
  if (o.rewrites == !o.commits.empty())
    throw Error(ErrorKind::Value,
                "give --commits A B to search commits, or --rewrites to search the rewrites of this build");
  if (!o.commits.empty()) return bisectCommits(o, corpus, entry);
  if (!o.trust) continueInSandbox("--rewrites", {o.corpus}, entry.name, "");
  Compilation kernel = corpus.load(entry);
  RewriteCulprit c = bisectRewrites(kernel, o.check == "slow" ? BisectFor::Slow : BisectFor::Wrong,
                                    {.timeoutSeconds = o.timeout});
  fmt::print("{}\n", c.sentence);
  if (c.found)
    fmt::print("alone:  uopscope replay reproduce {} {} -o {}.py\n", o.corpus, entry.id, entry.name);
  return c.found ? kFailed : kFine;
}

int replayReproduce(const ReplayArguments& o) {
  StoredCompilations stored = openStored(o.corpus);
  Corpus corpus = Corpus::open(stored.path());
  CorpusEntry entry = findEntry(corpus, o.name);
  std::string end = fs::path(o.output).extension().string();
  if (end != ".py" && end != ".cpp")
    throw Error(ErrorKind::Value, fmt::format("{}: a reproducer is a .py or a .cpp file", o.output));
  std::string from = fmt::format("number {} of {}", entry.id, fs::path(o.corpus).filename().string());
  Compilation kernel = corpus.load(entry);
  std::ofstream out(o.output, std::ios::binary);
  if (!(out << (end == ".py" ? reproducerPython(kernel, from) : reproducerCpp(kernel, from))).flush())
    throw Error(ErrorKind::File, fmt::format("{}: cannot be written", o.output));
  fmt::print("{}\n", o.output);
  return kFine;
}

} // namespace uopscope::cli
