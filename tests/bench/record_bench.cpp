// The cost of recording: the same compilation without an observer, with tier stats and with tier full; bytes
// per step; and a reader's cost of going to a step. Times are processor times, so a busy machine does not
// count: the engine's thread while events queue ("queued"), and both threads until the file is closed
// ("written").
//
//   build/bench/record_bench [ROUNDS]
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "replay/read/cursor.h"
#include "replay/read/sql.h"
#include "replay/record/recorder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <variant>

using namespace uopscope;

namespace {

/// Index arithmetic as in kernels, for the symbolic rules to take apart.
UOp expressions(uint32_t seed, int count) {
  std::mt19937 random(seed);
  std::vector<UOp> nodes;
  for (int k = 0; k < 8; ++k) nodes.push_back(UOp::range(2 << (k % 5), k));
  for (int k = 0; k < count; ++k) {
    UOp a = nodes[random() % nodes.size()], b = nodes[random() % nodes.size()];
    auto n = static_cast<int64_t>(random() % 12);
    switch (random() % 6) {
    case 0: nodes.push_back(a + b); break;
    case 1: nodes.push_back(a * (n + 1)); break;
    case 2: nodes.push_back((a * 4 + b) / (n + 1)); break;
    case 3: nodes.push_back((a + n) % 8); break;
    case 4: nodes.push_back((a < UOp::index(n)).where(a, b)); break;
    default: nodes.push_back(a + n + b * 0); break;
    }
  }
  return UOp::sink(std::span<const UOp>(nodes).last(std::min<size_t>(nodes.size(), 64)));
}

/// Processor time of this thread; other programs and the writer thread do not count.
int64_t cpuNs(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}
int64_t threadNs() {
  return cpuNs(CLOCK_THREAD_CPUTIME_ID);
}

int64_t compile(int rounds) {
  int64_t begin = threadNs();
  for (int k = 0; k < rounds; ++k) {
    Pool pool;
    PoolScope scope(pool);
    UOp root = expressions(static_cast<uint32_t>(k), 400);
    ObservedScope kernel({ScopeKind::Kernel, "k" + std::to_string(k), {}, root});
    graphRewrite(graphRewrite(root, symbolic(), {.name = "symbolic"}), sym(), {.name = "sym"});
  }
  return threadNs() - begin;
}

/// Steps through the longest pass, then jumps about in it.
void lookBack(const std::string& path) {
  Trace trace(path);
  PassId longest = 0;
  int64_t most = 0;
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& p : trace.passes(scope.id))
      if (p.steps > most) {
        most = p.steps;
        longest = p.id;
      }
  int64_t begin = threadNs();
  Cursor cursor(trace, longest);
  fmt::print("cursor    opened in {:.2f} ms: {} steps, {} nodes at the begin\n",
             static_cast<double>(threadNs() - begin) / 1e6, cursor.steps(), cursor.graphAt(0).size());
  begin = threadNs();
  for (int64_t k = 1; k <= cursor.steps(); ++k) cursor.graphAt(k);
  fmt::print("          next step {:.3f} ms",
             static_cast<double>(threadNs() - begin) / 1e6 / static_cast<double>(most));
  begin = threadNs();
  for (int64_t k = 1; k <= cursor.steps(); ++k) cursor.diff(k - 1, k);
  fmt::print(", difference {:.3f} ms",
             static_cast<double>(threadNs() - begin) / 1e6 / static_cast<double>(most));
  begin = threadNs();
  std::mt19937 random(1);
  for (int k = 0; k < 50; ++k)
    cursor.graphAt(static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1)));
  fmt::print(", jump {:.3f} ms\n", static_cast<double>(threadNs() - begin) / 1e6 / 50);
}

} // namespace

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 60;
  std::string path =
      (std::filesystem::temp_directory_path() / ("record-bench-" + std::to_string(getpid()) + ".uoptrace"))
          .string();
  compile(rounds / 4 + 1);
  double without = 1e300;
  for (int k = 0; k < 3; ++k) without = std::min(without, static_cast<double>(compile(rounds)));
  fmt::print("without   {:9.1f} ms\n", without / 1e6);
  for (Tier tier : {Tier::Stats, Tier::Full}) {
    double queued = 1e300, written = 1e300;
    for (int k = 0; k < 3; ++k) {
      int64_t begin = cpuNs(CLOCK_PROCESS_CPUTIME_ID);
      Recorder recorder({.path = path, .tier = tier});
      {
        ObserverScope scope(&recorder);
        queued = std::min(queued, static_cast<double>(compile(rounds)));
      }
      recorder.finish();
      written = std::min(written, static_cast<double>(cpuNs(CLOCK_PROCESS_CPUTIME_ID) - begin));
    }
    fmt::print("{:<8}  {:9.1f} ms queued ({:.2f} times)  {:9.1f} ms written ({:.2f} times)\n", tierName(tier),
               queued / 1e6, queued / without, written / 1e6, written / without);
    Trace trace(path);
    auto count = [&](const char* sql) {
      Statement s = trace.database().prepare(sql);
      return s.step() ? s.integer(0) : 0;
    };
    int64_t bytes = static_cast<int64_t>(std::filesystem::file_size(path)),
            steps = count("SELECT count(*) FROM step"), nodes = trace.nodes().count(),
            counts = std::get<int64_t>(query(trace, "SELECT count(*) FROM match_count").rows[0][0]);
    fmt::print("          {} bytes, {} steps, {} nodes, {} match counts\n", bytes, steps, nodes, counts);
    for (Statement s = trace.database().prepare(
             "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 4");
         s.step();)
      fmt::print("            {:<14} {:>10} bytes{}\n", s.text(0), s.integer(1),
                 steps ? fmt::format("  {:.1f} a step",
                                     static_cast<double>(s.integer(1)) / static_cast<double>(steps))
                       : "");
    if (steps) {
      double rows = static_cast<double>(steps + nodes + counts);
      fmt::print("          {:.1f} bytes a step, match counts aside {:.1f}; {:.2f} M rows/s of the writer\n",
                 static_cast<double>(bytes) / static_cast<double>(steps),
                 static_cast<double>(
                     bytes - count("SELECT coalesce(sum(pgsize),0) FROM dbstat WHERE name = 'match_block'")) /
                     static_cast<double>(steps),
                 rows / (written - queued) * 1e3);
    }
  }
  lookBack(path);
  std::filesystem::remove(path);
}
