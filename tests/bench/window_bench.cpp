// The times that decide whether the window feels fast, one line each: name, median, p99, goal, and whether it
// is met. It measures layouts of 1,000 and 10,000 nodes. It measures generated passes of 100,000 rewrites
// with graphs of 1,000 and 10,000 nodes, and one pass of index arithmetic as deep as real ones: opening, a
// step, a jump (picture and report, as the worker makes them), searches, frames drawn in software, and frames
// of the canvas during pan and zoom. Times are processor time of the working thread, so a busy machine counts
// little; figures marked "wall" are wall time.
//
//   build/bench/window_bench [TRACE ...]       with traces (trace_bench makes one of a gigabyte): the same
//   for
//                                              their longest pass, a search among all nodes, and the window
//                                              as a separate process until its picture is saved
//   build/bench/window_bench opening TRACE ...  only: a session opens the trace while keys are pressed
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "replay/record/recorder.h"
#include "viz/layout/layered.h"
#ifdef UOPSCOPE_HAVE_WINDOW_MODELS
#include "replay/read/node_search.h"
#include "viz/models/graph/node_query.h"
#include "viz/models/session/session.h"
#include "viz/models/work/reports.h"
#include "viz/scene/graph_canvas.h"

#include <sys/wait.h>

#include <QGuiApplication>
#include <QImage>
#include <QQuickWindow>
#endif

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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
/// The goal of a figure: for its p99 where every single time counts, else for its median.
struct Goal {
  double ms = 0;
  bool p99 = false;
};
int missed = 0;

void line(const std::string& what, const std::vector<double>& t, Goal goal = {}) {
  const double median = share(t, 0.5), worst = share(t, 0.99);
  fmt::print("{:<56} {:>9.2f} ms  p99 {:>9.2f} ms", what, median, worst);
  if (goal.ms > 0) {
    const bool met = (goal.p99 ? worst : median) <= goal.ms;
    missed += !met;
    fmt::print("  goal {:>6.0f} ms{}  {}", goal.ms, goal.p99 ? " p99" : "    ", met ? "met" : "NOT MET");
  }
  fmt::print("\n");
  std::fflush(stdout);
}
void memoryLine(const std::string& what, int64_t megabytes) {
  const bool met = megabytes <= 1000;
  missed += !met;
  fmt::print("{:<56} {:>9} MB{:>19}goal   1000 MB      {}\n", what, megabytes, "", met ? "met" : "NOT MET");
}

/// A typical graph of a kernel: layers of arithmetic over a few hubs.
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
         times(7, [&] { layoutLayered(nodes, edges); }), {size == 1000 ? 100.0 : 1000.0});
  }
}

#ifdef UOPSCOPE_HAVE_WINDOW_MODELS
// The rules rewrite every sum of a graph `rounds` times.
constexpr int kRewrites = 100'000;
int rounds = 0;
const PatternMatcher& countingUp() {
  static constexpr PatVar x{"x"}, c{"c", PatVar::Const};
  static constexpr RuleDef rules[] = {
      RULE("count-up", x + c,
           [](Match& m) {
             const int64_t n = m[c].arg().i();
             return n > rounds ? UOp() : m[x] + UOp::index(n + 1);
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

/// Index arithmetic like that of real passes: deep, shared, with a rewrite at every fifth node.
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
  rounds = kRewrites / (nodes / 2);
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

/// Wall time of the whole program from its start until its window is saved as a picture, and its memory.
void wholeProcess(const std::string& path) {
  const auto program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin/uopscope";
  if (!std::filesystem::exists(program)) return;
  const std::string picture = (std::filesystem::temp_directory_path() / "window-bench.png").string();
  std::vector<double> t;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
      execl(program.c_str(), "uopscope", "open", path.c_str(), "--screenshot", picture.c_str(), nullptr);
      _exit(127);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return;
    t.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(t.begin(), t.end());
  line("  window as a process, to its picture saved, wall", t, {1000});
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  memoryLine("  memory of that process", usage.ru_maxrss / 1024);
  std::filesystem::remove(picture);
}

/// A frame of the window during pan or zoom: the canvas's work on the GUI thread, and the software renderer's
/// work and copy of the window.
void canvasFrames(const PicturePtr& picture) {
  QQuickWindow window;
  window.resize(1400, 800);
  Theme theme;
  theme.setAnimated(false);
  GraphSource source;
  auto* canvas = new GraphCanvas(window.contentItem()); // the window owns it
  canvas->setSize(QSizeF(1400, 800));
  canvas->setTheme(&theme);
  canvas->setSource(&source);
  window.show();
  source.setPicture(picture);
  auto settle = [&] {
    for (int i = 0; i < 2000 && (i < 5 || !canvas->settled()); ++i) {
      QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
      window.grabWindow();
    }
  };
  for (const bool whole : {true, false}) {
    if (whole)
      canvas->fit();
    else
      canvas->resetZoom();
    settle();
    const char* where = whole ? "everything" : "actual size";
    int k = 0;
    line(fmt::format("  a frame while panning, {}", where),
         times(100,
               [&] {
                 canvas->panBy(++k % 100 < 50 ? 7 : -7, 3);
                 QCoreApplication::processEvents();
                 window.grabWindow();
               }),
         {50, true});
    line(fmt::format("  a frame while zooming, {}", where),
         times(100,
               [&] {
                 canvas->zoomBy(++k % 20 < 10 ? 1.03 : 1 / 1.03);
                 QCoreApplication::processEvents();
                 window.grabWindow();
               }),
         {50, true});
    settle();
  }
  source.setPicture(nullptr);
}

/// A session that opens the trace while a person presses keys: wall time to the first picture, and the longest that a key
/// and a turn of the event loop took until everything asked for was there.
void sessionOpens(const std::string& path) {
  constexpr int kKeyEvery = 20; // milliseconds
  std::vector<double> first, longest;
  auto now = [] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  for (int round = 0; round < 5; ++round) {
    Session session;
    session.preferences()->setPersistent(false);
    session.setGraphPane(1200, 800);
    const double began = now();
    double pictured = 0, worst = 0, pressed = began;
    const char* const keys[] = {"next-step", "next-pass", "next-kernel", "step-in", "previous-step"};
    int key = 0;
    session.open(QString::fromStdString(path));
    while (!session.settled() || pictured == 0) {
      const double turn = now();
      if (turn - pressed > kKeyEvery) {
        session.trigger(QLatin1String(keys[key++ % std::size(keys)]));
        pressed = turn;
      }
      QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
      worst = std::max(worst, now() - turn);
      if (pictured == 0 && session.graph()->picture()) pictured = now();
      if (pictured > 0 && now() - pictured > 3000) break; // keys go on: there is always more to do
      if (now() - began > 60'000) break;
    }
    first.push_back(pictured - began);
    longest.push_back(worst);
  }
  std::sort(first.begin(), first.end());
  std::sort(longest.begin(), longest.end());
  line("  opened in a session, to its first picture, wall", first, {1000});
  line("  the longest turn of the window's thread meanwhile, a key every 20 ms", longest, {50, true});
}

void trace(const std::string& path, const std::string& what) {
  fmt::print("{} ({:.1f} MB)\n", what, static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  const bool own = what != path;
  line("  opened, its scopes known", times(5, [&] { Trace t(path); }), {own ? 0.0 : 1000.0});
  Trace t(path);
  PassInfo largest;
  for (const ScopeInfo& s : t.scopes())
    if (s.steps > largest.steps)
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
       {1000});
  auto step = [&](int64_t k) {
    picture = view->at(k);
    stepReport(t, *view, k);
  };
  // Starts in the middle, since the first steps of a pass are its easiest.
  int64_t k = view->steps() / 3;
  step(k);
  const auto steps = times(static_cast<int>(std::min<int64_t>(view->steps() - k, 300)), [&] { step(++k); });
  line(fmt::format("  a step, {} nodes", picture->nodes.size()), steps,
       {picture->nodes.size() > 3000 ? 0.0 : 16, true});
  std::mt19937 random(5);
  line("  a jump",
       times(100, [&] { step(1 + static_cast<int64_t>(random() % static_cast<uint64_t>(view->steps()))); }),
       {50, true});
  const NodeQuery query = NodeQuery::parse(QStringLiteral("op:ADD arg:*r1*"));
  line("  search in the picture",
       times(9,
             [&] {
               size_t n = 0;
               for (const PictureNode& node : picture->nodes) n += query.matches(node, nullptr);
               if (n > picture->nodes.size()) std::abort();
             }),
       {100});
  if (const size_t all = t.nodes().count(); all > 100'000)
    line(fmt::format("  search among {} nodes", all), times(5, [&] { findNodes(t, "r1", 1000); }),
         {100 * std::max(1.0, static_cast<double>(all) / 1e6)});
  for (const bool whole : {true, false}) {
    // The densest part: around the node in the middle of the list.
    const PictureNode& middle = picture->nodes[picture->nodes.size() / 2];
    const QRectF all = boundsOf(*picture),
                 area = whole ? all : QRectF(QPointF(middle.x - 700, middle.y - 400), QSizeF(1400, 800));
    const double fit = whole ? std::min(1400 / all.width(), 800 / all.height()) : 1;
    QImage image(1400, 800, QImage::Format_RGB32);
    line(fmt::format("  drawing a frame, {}", whole ? "everything" : "actual size"),
         times(15,
               [&] {
                 QPainter painter(&image);
                 painter.scale(fit, fit);
                 painter.translate(-area.topLeft());
                 paintPicture(painter, *picture, {palette(true), area, fit, nullptr});
               }),
         {50});
  }
  canvasFrames(picture);
  if (!own) sessionOpens(path);
  if (!own) wholeProcess(path);
}
#endif

} // namespace

int main(int argc, char** argv) {
#ifdef UOPSCOPE_HAVE_WINDOW_MODELS
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QQuickWindow::setGraphicsApi(QSGRendererInterface::Software);
  QGuiApplication app(argc, argv);
  if (argc > 2 && std::string_view(argv[1]) == "opening") {
    for (int i = 2; i < argc; ++i) sessionOpens(argv[i]);
    return 0;
  }
  layouts();
  for (const bool many : {true, false})
    for (const int nodes : {1000, 10'000}) {
      const std::string path = generated(nodes, many);
      trace(path,
            fmt::format("generated: {}, {} nodes", many ? "100,000 rewrites" : "index arithmetic", nodes));
      std::filesystem::remove(path);
    }
  memoryLine("memory of all this at most", megabytesUsed());
  for (int i = 1; i < argc; ++i) trace(argv[i], argv[i]);
#else
  (void)argc, (void)argv;
  layouts();
#endif
  fmt::print("{} missed\n", missed);
}
