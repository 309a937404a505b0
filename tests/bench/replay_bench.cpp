// Process replay at scale: captures, replays and compares a corpus of thousands of different kernels, and prints the
// engine's own time for the same inputs. Each part runs in a process of its own, forked from this one before it
// compiled anything: a heap that earlier parts had broken into pieces would make later ones slower.
//
//   build/bench/replay_bench [KERNELS]      10,000 by default; five rounds in turn, medians
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
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <random>

using namespace uopscope;

namespace {

constexpr int kRounds = 5;

double seconds(int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}
/// Does the work in a new process and returns its processor time, that of its own workers included.
template <typename Work>
int64_t inProcess(Work work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::fflush(nullptr);
    _exit(0);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
    fmt::print(stderr, "a part of the benchmark failed\n");
    std::exit(1);
  }
  int64_t ns = 0;
  for (const timeval& t : {used.ru_utime, used.ru_stime}) ns += t.tv_sec * 1'000'000'000 + t.tv_usec * 1000;
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

void capture(const std::string& path, size_t wanted) {
  std::mt19937 random(7);
  size_t kernels = 0;
  Corpus corpus = Corpus::create(path);
  {
    CaptureObserver capture([&](const Compilation& c) {
      kernels += c.kind == ScopeKind::Kernel;
      return corpus.add(c);
    });
    ObserverScope scope(&capture);
    while (kernels < wanted) {
      layer(random);
      clearKernelCache();
      clearScheduleCache();
    }
    corpus.addCounts(capture.tally().counts());
  }
  corpus.finish();
  corpus.pack();
}

std::vector<CorpusEntry> kernelsOf(const Corpus& corpus) {
  std::vector<CorpusEntry> entries = corpus.entries();
  std::erase_if(entries, [](const CorpusEntry& e) { return !e.isKernel(); });
  return entries;
}

void compileAll(const std::string& path) {
  const Corpus corpus = Corpus::open(path);
  for (const CorpusEntry& e : kernelsOf(corpus)) {
    const Compilation c = corpus.load(e, false, false);
    const StoredSettings stored = settingsOf(c);
    ContextScope settings(stored);
    Pool pool;
    PoolScope scope(pool);
    std::string report;
    lowerAndRender(inputGraph(c, stored), Device::get(c.device), report);
  }
}

void recompileAll(const std::string& path) {
  const Corpus corpus = Corpus::open(path);
  for (const CorpusEntry& e : kernelsOf(corpus)) recompile(corpus.load(e), {});
}

void replay(const std::string& path, const std::string& result, bool codeOnly) {
  const ReplaySummary s = replayCorpus(path, result, {.kernelsOnly = true, .codeOnly = codeOnly});
  fmt::print("{:<34}{:.2f} s by the clock, {} ok, {} of them as stored, {} failed\n",
             codeOnly ? "replayed, code only" : "replayed, with statistics", seconds(s.wallNs), s.ok, s.same,
             s.failed + s.crashed + s.timedOut);
}

int64_t median(std::vector<int64_t> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void compare(const std::string& before, const std::string& after, const char* what) {
  const int64_t began = nowNs();
  const Corpus a = Corpus::open(before), b = Corpus::open(after);
  const CorpusDiff d = diffCorpora(a, b, {});
  fmt::print("compared in {:.2f} s, {}: {}\n", seconds(nowNs() - began), what, headline(d));
}

} // namespace

int main(int argc, char** argv) {
  const size_t wanted = argc > 1 ? static_cast<size_t>(std::atoll(argv[1])) : 10'000;
  setenv("CCACHE", "0", 1);
  TemporaryFile input(".uopcorpus"), result(".uopcorpus"), changed(".uopcorpus");
  inProcess([&] { capture(input.path(), wanted); });
  size_t different = 0;
  {
    const Corpus corpus = Corpus::open(input.path());
    different = kernelsOf(corpus).size();
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(input.path()));
  fmt::print("corpus: {} different kernels of {} compiled, {:.2f} kB a kernel, {:.1f} MB\n", different,
             wanted, bytes / 1e3 / static_cast<double>(different), bytes / 1e6);

  enum Part { kEngine, kObserved, kCodeOnly, kStatistics, kParts };
  std::array<std::vector<int64_t>, kParts> took;
  for (int round = 0; round < kRounds; ++round) {
    took[kEngine].push_back(inProcess([&] { compileAll(input.path()); }));
    if (round == 0) took[kObserved].push_back(inProcess([&] { recompileAll(input.path()); }));
    for (bool codeOnly : {true, false}) {
      std::filesystem::remove(result.path());
      took[codeOnly ? kCodeOnly : kStatistics].push_back(
          inProcess([&] { replay(input.path(), result.path(), codeOnly); }));
    }
  }
  const int64_t alone = median(took[kEngine]);
  const std::array names{"engine, reading included", "every rewrite and match followed",
                         "replayed, code only", "replayed, with statistics"};
  for (int part = 0; part < kParts; ++part)
    fmt::print("{:<34}{:.3f} ms of processor time a kernel, {:.2f} times the engine's\n", names[part],
               seconds(median(took[part])) * 1e3 / static_cast<double>(different),
               static_cast<double>(median(took[part])) / static_cast<double>(alone));
  inProcess([&] {
    replayCorpus(input.path(), changed.path(),
                 {.jobs = 2, .kernelsOnly = true, .without = {"multiply-by-shift"}});
  });
  compare(result.path(), result.path(), "the same");
  compare(result.path(), changed.path(), "a rule off");
}
