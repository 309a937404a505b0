// Process replay at scale: captures, replays and compares a corpus of thousands of different kernels. Beside
// these times it prints the engine's own time for the same inputs, from the same process.
//
//   build/bench/replay_bench [KERNELS]      10,000 by default; prints as it goes
#include "engine/base/clock.h"
#include "engine/base/context_var.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/kernel_report.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/tensor.h"
#include "replay/compare/difference.h"
#include "replay/compare/recompile.h"
#include "replay/compare/replay.h"
#include "replay/compare/report.h"
#include "replay/compare/stored_compilations.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

using namespace uopscope;

namespace {

double seconds(int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}
/// Processor time of this process and of ended workers; other programs on a busy machine do not count.
int64_t cpuNs() {
  int64_t ns = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& t : {used.ru_utime, used.ru_stime}) ns += t.tv_sec * 1'000'000'000 + t.tv_usec * 1000;
  }
  return ns;
}

/// A typical layer of a model, of random kind and size: two or three kernels, most of them new.
void layer(std::mt19937& random) {
  TensorOptions on{.device = "NULL"};
  auto size = [&](int most) { return static_cast<int64_t>(2 + random() % static_cast<unsigned>(most)); };
  int64_t n = size(96), m = size(96), k = size(96);
  Tensor x = Tensor::empty({n, m}, on), w = Tensor::empty({m, k}, on);
  switch (random() % 6) {
  case 0: (x.matmul(w)).relu().realize(); break;
  case 1: x.softmax().realize(); break;
  case 2: (x * 2.0 + Tensor::empty({m}, on)).exp().sum(std::vector<int64_t>{1}).realize(); break;
  case 3: x.transpose().contiguous().realize(); break;
  case 4: (x - x.mean(std::vector<int64_t>{1}, true)).square().mean(std::vector<int64_t>{1}).realize(); break;
  default: x.pad({{1, 1}, {2, 0}}).maximum(0.5).sigmoid().realize(); break;
  }
}

} // namespace

int main(int argc, char** argv) {
  auto wanted = static_cast<size_t>(argc > 1 ? std::atoll(argv[1]) : 10'000);
  setenv("CCACHE", "0", 1);
  TemporaryFile input(".uopcorpus"), result(".uopcorpus"), changed(".uopcorpus");
  std::mt19937 random(7);
  size_t kernels = 0;
  {
    Corpus corpus = Corpus::create(input.path());
    CaptureObserver capture([&](const Compilation& c) {
      kernels += c.kind == ScopeKind::Kernel;
      corpus.add(c);
    });
    ObserverScope scope(&capture);
    while (kernels < wanted) {
      layer(random);
      clearKernelCache();
      clearScheduleCache();
    }
    corpus.addCounts(capture.tally().counts());
    corpus.finish();
    corpus.pack();
  }
  Corpus corpus = Corpus::open(input.path());
  std::vector<CorpusEntry> entries = corpus.entries();
  std::erase_if(entries, [](const CorpusEntry& e) { return !e.isKernel(); });
  auto bytes = std::filesystem::file_size(input.path());
  fmt::print("corpus      {} different kernels of {} compiled, {:.2f} kB a kernel, {:.1f} MB\n",
             entries.size(), kernels, static_cast<double>(bytes) / 1e3 / static_cast<double>(entries.size()),
             static_cast<double>(bytes) / 1e6);

  int64_t began = cpuNs();
  for (const CorpusEntry& e : entries) {
    Compilation c = corpus.load(e, false, false);
    ContextScope settings(settingsOf(c));
    Pool pool;
    PoolScope scope(pool);
    std::string report;
    lowerAndRender(inputGraph(c), Device::get(c.device), report);
  }
  int64_t alone = cpuNs() - began;
  fmt::print("engine      {:.2f} s of processor time, reading included: {:.3f} ms a kernel\n", seconds(alone),
             seconds(alone) * 1e3 / static_cast<double>(entries.size()));

  began = cpuNs();
  for (const CorpusEntry& e : entries) recompile(corpus.load(e), {});
  int64_t observed = cpuNs() - began;
  fmt::print("observed    {:.2f} s: every rewrite and match followed, {:.2f} times the engine alone\n",
             seconds(observed), static_cast<double>(observed) / static_cast<double>(alone));
  for (bool codeOnly : {true, false}) {
    std::filesystem::remove(result.path());
    began = cpuNs();
    ReplaySummary s = replayCorpus(input.path(), result.path(), {.kernelsOnly = true, .codeOnly = codeOnly});
    int64_t took = cpuNs() - began;
    fmt::print(
        "replay      {}: {:.2f} s ({:.2f} s of processor time), {} ok, {} of them as stored, {} failed; "
        "{:.2f} times the engine's\n",
        codeOnly ? "code only" : "with statistics", seconds(s.wallNs), seconds(took), s.ok, s.same,
        s.failed + s.crashed + s.timedOut, static_cast<double>(took) / static_cast<double>(alone));
  }
  replayCorpus(input.path(), changed.path(), {.jobs = 2, .kernelsOnly = true, .without = {"mul-one"}});
  for (auto [path, what] : {std::pair{result.path(), "the same"}, {changed.path(), "a rule off"}}) {
    began = nowNs();
    Corpus a = Corpus::open(result.path()), b = Corpus::open(path);
    CorpusDiff d = diffCorpora(a, b, {});
    fmt::print("diff        {:.2f} s, {}: {}\n", seconds(nowNs() - began), what, headline(d));
  }
}
