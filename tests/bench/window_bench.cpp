// The numbers the window lives by, without a screen: layouts of 1,000 and 10,000 nodes, opening a trace, a
// step and a jump (picture and report, as the worker makes them), search, and a frame of the canvas drawn in
// software. Medians of the processor time of this thread, so a busy machine counts little; p99 where steps
// are meant.
//
//   build/bench/window_bench [TRACE ...]       with traces (trace_bench makes one of a gigabyte): opening
//   them to the first picture, stepping through their largest pass, search among all nodes, memory
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "replay/record/recorder.h"
#include "viz/layout/layered.h"
#ifdef UOPSCOPE_HAVE_WINDOW_MODELS
#include "replay/read/node_search.h"
#include "viz/models/node_query.h"
#include "viz/models/reports.h"
#include "viz/scene/picture_painter.h"

#include <QGuiApplication>
#include <QImage>
#endif

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <random>

using namespace uopscope;

namespace {

double cpuMs() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

template <typename F>
std::vector<double> times(int rounds, F run) {
  std::vector<double> out;
  for (int i = 0; i < rounds; ++i) {
    const double before = cpuMs();
    run();
    out.push_back(cpuMs() - before);
  }
  std::sort(out.begin(), out.end());
  return out;
}
double share(const std::vector<double>& sorted, double at) {
  return sorted.empty() ? 0
                        : sorted[std::min(sorted.size() - 1,
                                          static_cast<size_t>(at * static_cast<double>(sorted.size())))];
}
void line(const std::string& what, const std::vector<double>& t, const std::string& goal) {
  fmt::print("{:<52} {:>9.2f} ms   p99 {:>9.2f} ms   goal {}\n", what, share(t, 0.5), share(t, 0.99), goal);
  std::fflush(stdout);
}

/// A graph as kernels have it: layers of arithmetic over a few hubs.
void graph(uint32_t size, std::vector<LayoutNode>& nodes, std::vector<LayoutEdge>& edges) {
  std::mt19937 random(7);
  for (uint32_t i = 0; i < size; ++i) {
    nodes.push_back({100 + static_cast<float>(random() % 80), 52});
    for (uint32_t port = 0; i > 4 && port < 2; ++port) {
      const uint32_t back = 1 + random() % std::min<uint32_t>(i, 60);
      edges.push_back({random() % 20 == 0 ? static_cast<uint32_t>(random() % 4) : i - back, i, port});
    }
  }
}

void layouts() {
  for (const uint32_t size : {1000u, 10'000u}) {
    std::vector<LayoutNode> nodes;
    std::vector<LayoutEdge> edges;
    graph(size, nodes, edges);
    line(fmt::format("layout of {} nodes, {} edges", size, edges.size()),
         times(7, [&] { layoutLayered(nodes, edges); }), size == 1000 ? "100 ms" : "1,000 ms");
  }
}

#ifdef UOPSCOPE_HAVE_WINDOW_MODELS
constexpr int kRounds = 201;
// Every sum of a chain is rewritten kRounds times, so a graph of 1,000 nodes has 100,000 rewrites.
const PatternMatcher& countingUp() {
  static constexpr PatVar x{"x"}, c{"c", PatVar::Const};
  static constexpr RuleDef rules[] = {
      RULE("count-up", x + c,
           [](Match& m) {
             const int64_t n = m[c].arg().i();
             return n >= kRounds ? UOp() : m[x] + UOp::index(n + 1);
           }),
  };
  static const PatternMatcher matcher({rules});
  return matcher;
}

/// Sums over a few ranges, wide rather than deep, joined in a tree.
UOp sums(int nodes) {
  std::vector<UOp> level;
  for (int k = 0; k < nodes / 2; ++k) level.push_back(UOp::range(2 + k, k) + UOp::index(1));
  return UOp::sink(level);
}

/// Index arithmetic as real passes have it: deep, shared, a rewrite at every fifth node.
UOp arithmetic(int nodes) {
  std::mt19937 random(3);
  std::vector<UOp> all;
  for (int k = 0; k < 8; ++k) all.push_back(UOp::range(2 << (k % 5), k));
  while (static_cast<int>(all.size()) < nodes) {
    const UOp a = all[all.size() - 1 - random() % 8], b = all[random() % all.size()];
    const auto n = static_cast<int64_t>(random() % 12);
    all.push_back(random() % 3 == 0 ? (a + n) + 0
                  : random() % 2    ? a * (n + 1) + b
                                    : (a < UOp::index(n)).where(a, b));
  }
  return UOp::sink(std::vector<UOp>(all.end() - 8, all.end()));
}

std::string generated(int nodes, bool many) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("window-bench-{}-{}.uoptrace", getpid(), nodes))
          .string();
  Recorder recorder({.path = path});
  {
    ObserverScope observe(&recorder);
    Pool pool;
    PoolScope in(pool);
    ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "generated", .script = {}, .root = {}});
    graphRewrite(many ? sums(nodes) : arithmetic(nodes), many ? countingUp() : symbolicSimple(),
                 {.name = "generated"});
    recorder.poolRetired(pool);
  }
  recorder.finish();
  return path;
}

int64_t megabytesUsed() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void trace(const std::string& path, bool own) {
  fmt::print("{} ({:.1f} MB)\n", own ? "generated" : path,
             static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  line("  open to the first picture",
       times(5,
             [&] {
               Trace t(path);
               for (const ScopeInfo& s : t.scopes())
                 for (const PassInfo& p : t.passes(s.id))
                   if (p.steps > 0) {
                     PassView first(t, p.id, ViewOptions{});
                     first.prepare();
                     first.at(1);
                     return;
                   }
             }),
       "1,000 ms");
  Trace t(path);
  PassInfo largest;
  for (const ScopeInfo& s : t.scopes())
    for (const PassInfo& p : t.passes(s.id))
      if (p.steps > largest.steps) largest = p;
  if (!largest.id) return;
  PicturePtr picture;
  std::unique_ptr<PassView> view;
  line(fmt::format("  first picture of a pass of {} steps", largest.steps),
       times(3,
             [&] {
               view = std::make_unique<PassView>(t, largest.id, ViewOptions{});
               view->prepare();
               picture = view->at(0);
             }),
       "-");
  std::vector<double> steps;
  for (int64_t k = 1; k <= std::min<int64_t>(view->steps(), 200); ++k) {
    const double before = cpuMs();
    picture = view->at(k);
    stepReport(t, *view, k);
    steps.push_back(cpuMs() - before);
  }
  std::sort(steps.begin(), steps.end());
  line(fmt::format("  a step at {} nodes", picture->nodes.size()), steps, "16 ms");
  std::mt19937 random(5);
  line("  a jump",
       times(30,
             [&] {
               picture = view->at(static_cast<int64_t>(random() % static_cast<uint64_t>(view->steps() + 1)));
             }),
       "50 ms");
  const NodeQuery query = NodeQuery::parse(QStringLiteral("op:ADD arg:*r1*"));
  line("  search in the picture",
       times(9,
             [&] {
               size_t n = 0;
               for (const PictureNode& node : picture->nodes) n += query.matches(node, nullptr);
               if (n > picture->nodes.size()) std::abort();
             }),
       "100 ms");
  if (const size_t all = t.nodes().count(); all > 100'000)
    line(fmt::format("  search among {} nodes", all), times(5, [&] { findNodes(t, "r1", 1000); }),
         "100 ms for 1,000,000");
  for (const double scale : {0.1, 1.0}) {
    const QRectF all = boundsOf(*picture),
                 area = scale < 1 ? all : QRectF(all.center() - QPointF(700, 400), QSizeF(1400, 800));
    const double fit = scale < 1 ? std::min(1400 / all.width(), 800 / all.height()) : 1;
    QImage image(1400, 800, QImage::Format_RGB32);
    line(fmt::format("  a frame in software, {}", scale < 1 ? "everything" : "actual size"),
         times(9,
               [&] {
                 QPainter painter(&image);
                 painter.scale(fit, fit);
                 painter.translate(-area.topLeft());
                 paintPicture(painter, *picture, {palette(true), area, fit, nullptr});
               }),
         "50 ms (20 a second)");
  }
  fmt::print("  memory at most so far {} MB, goal 1,000 MB\n", megabytesUsed());
}
#endif

} // namespace

int main(int argc, char** argv) {
  layouts();
#ifdef UOPSCOPE_HAVE_WINDOW_MODELS
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QGuiApplication app(argc, argv);
  for (const bool many : {false, true})
    for (const int nodes : {1000, 10'000}) {
      if (many && nodes > 1000) continue; // a million steps tell nothing new
      const std::string path = generated(nodes, many);
      trace(path, true);
      std::filesystem::remove(path);
    }
  for (int i = 1; i < argc; ++i) trace(argv[i], false);
#else
  (void)argc, (void)argv;
#endif
}
