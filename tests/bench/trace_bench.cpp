// The cost of large traces: records many rewrites in bounded memory, and measures how fast a reader is on the
// result.
//
//   build/bench/trace_bench record 10000000            records so many rewrites: time, rate, memory, bytes
//   build/bench/trace_bench kernels 10000 FILE         a trace of so many kernels, kept
//   build/bench/trace_bench read FILE                  opening, paging, stepping, searching: wall times, with
//   our
//                                                      caches cold
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "replay/read/cursor.h"
#include "replay/read/node_search.h"
#include "replay/record/recorder.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

using namespace uopscope;

namespace {

double ms(int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}
int64_t megabytesUsed() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

/// Index arithmetic with many places to simplify.
UOp expressions(uint32_t seed, int count) {
  std::mt19937 random(seed);
  std::vector<UOp> nodes;
  for (int k = 0; k < 8; ++k) nodes.push_back(UOp::range(2 << (k % 5), k));
  for (int k = 0; k < count; ++k) {
    UOp a = nodes[random() % nodes.size()], b = nodes[random() % nodes.size()];
    auto n = static_cast<int64_t>(random() % 100000);
    switch (random() % 4) {
    case 0: nodes.push_back(a + b); break;
    case 1: nodes.push_back(a * (n % 12 + 1)); break;
    case 2: nodes.push_back((a + n) % 8); break;
    default: nodes.push_back(a + n + b * 0); break;
    }
  }
  return UOp::sink(std::span<const UOp>(nodes).last(std::min<size_t>(nodes.size(), 64)));
}

void compile(uint32_t seed, int size) {
  Pool pool;
  PoolScope scope(pool);
  UOp root = expressions(seed, size);
  ObservedScope kernel({ScopeKind::Kernel, "kernel " + std::to_string(seed), {"model.py", 1}, root});
  UOp low = graphRewrite(graphRewrite(root, symbolic(), {.name = "symbolic"}), sym(), {.name = "sym"});
  for (int k = 0; k < 25; ++k) low = graphRewrite(low, symbolic(), {.name = "pass " + std::to_string(k)});
  Observer::current()->onProgram(low.src());
  Observer::current()->onArtifact({"source", std::string(8000, '/')});
  Observer::current()->onLaunch({"kernel " + std::to_string(seed), "CPU", 1, 2, 3, 4});
}

void summarize(const std::string& path, int64_t took) {
  Trace trace(path);
  int64_t steps = std::atoll(trace.meta("steps").c_str()), nodes = std::atoll(trace.meta("nodes").c_str());
  auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
  fmt::print("{} steps, {} nodes, {:.1f} MB, {:.1f} bytes a step; {:.2f} s, {:.2f} M steps and nodes/s; {} "
             "MB of memory at most\n",
             steps, nodes, static_cast<double>(bytes) / 1e6,
             static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(steps, 1)), ms(took) / 1e3,
             static_cast<double>(steps + nodes) / static_cast<double>(took) * 1e3, megabytesUsed());
}

int recordMany(int64_t wanted) {
  std::string path =
      (std::filesystem::temp_directory_path() / ("trace-bench-" + std::to_string(getpid()) + ".uoptrace"))
          .string();
  int64_t began = nowNs();
  RecordingProgress progress;
  Recorder recorder({.path = path, .progress = &progress});
  {
    ObserverScope scope(&recorder);
    for (uint32_t seed = 0; static_cast<int64_t>(progress.steps) < wanted; ++seed) compile(seed, 400);
  }
  recorder.finish();
  summarize(path, nowNs() - began);
  std::filesystem::remove(path);
  return 0;
}

int recordKernels(uint32_t kernels, const std::string& path) {
  int64_t began = nowNs();
  Recorder recorder({.path = path});
  {
    ObserverScope scope(&recorder);
    for (uint32_t seed = 0; seed < kernels; ++seed) compile(seed, 120);
  }
  recorder.finish();
  summarize(path, nowNs() - began);
  return 0;
}

int read(const std::string& path) {
  int64_t began = nowNs();
  Trace trace(path);
  fmt::print("open {:.1f} ms: {} scopes, {} nodes, {:.0f} MB\n", ms(nowNs() - began), trace.scopes().size(),
             trace.nodes().count(), static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  std::mt19937 random(3);
  auto someScope = [&] { return trace.scopes()[random() % trace.scopes().size()].id; };
  std::vector<double> page, first, next, jump;
  for (int k = 0; k < 50; ++k) {
    ScopeId scope = someScope();
    began = nowNs();
    std::vector<PassInfo> passes = trace.passes(scope);
    page.push_back(ms(nowNs() - began));
    const PassInfo* longest = nullptr;
    for (const PassInfo& p : passes)
      if (p.root && (!longest || p.steps > longest->steps)) longest = &p;
    if (!longest || longest->steps < 2) continue;
    auto at = static_cast<int64_t>(random() % static_cast<uint64_t>(longest->steps));
    began = nowNs();
    Cursor cursor(trace, longest->id);
    cursor.graphAt(at);
    first.push_back(ms(nowNs() - began));
    began = nowNs();
    cursor.graphAt(at + 1);
    next.push_back(ms(nowNs() - began));
    began = nowNs();
    cursor.graphAt(static_cast<int64_t>(random() % static_cast<uint64_t>(longest->steps)));
    jump.push_back(ms(nowNs() - began));
  }
  auto show = [](const char* what, std::vector<double>& times) {
    if (times.empty()) return;
    std::ranges::sort(times);
    fmt::print("{:<28} median {:.2f} ms, most {:.2f} ms\n", what, times[times.size() / 2], times.back());
  };
  show("passes of a kernel", page);
  show("a graph at first", first);
  show("the next step", next);
  show("any other step", jump);
  for (const char* text : {"99999", "add", "range loop", "nothing like it"}) {
    began = nowNs();
    NodeHits hits = findNodes(trace, text, 100);
    fmt::print("search \"{}\": {} nodes in {:.1f} ms\n", text, hits.total, ms(nowNs() - began));
  }
  began = nowNs();
  auto totals = trace.matchTotals(MatchGroup::Rule);
  fmt::print("statistics by rule: {} in {:.1f} ms\n", totals.size(), ms(nowNs() - began));
  began = nowNs();
  totals = trace.matchTotals(MatchGroup::Pass);
  fmt::print("statistics by pass: {} in {:.1f} ms\n", totals.size(), ms(nowNs() - began));
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  std::string verb = argc > 1 ? argv[1] : "";
  try {
    if (verb == "record" && argc == 3) return recordMany(std::atoll(argv[2]));
    if (verb == "kernels" && argc == 4)
      return recordKernels(static_cast<uint32_t>(std::atoi(argv[2])), argv[3]);
    if (verb == "read" && argc == 3) return read(argv[2]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "trace_bench: {}\n", e.what());
    return 1;
  }
  fmt::print(stderr, "trace_bench record STEPS | kernels N FILE | read FILE\n");
  return 2;
}
