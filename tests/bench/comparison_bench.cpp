// Opens the comparison of two replays of 10,000 kernels in the window, without a screen. Measures the wall
// time a person waits: until the page appears, until the comparison (in the background) is done, until the
// list is painted, and until a chosen kernel is drawn.
//
//   build/bench/comparison_bench [BEFORE AFTER]       without files: made-up kernels, for some with a rule
//   off
#ifdef UOPSCOPE_HAVE_WINDOW_MODELS
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "replay/compare/recompile.h"
#include "viz/scene/graph_canvas.h"
#include "viz/scene/register.h"

#include <unistd.h>

#include <QGuiApplication>
#include <QQmlApplicationEngine>
#include <QQuickStyle>
#include <QQuickWindow>
#include <filesystem>

// A static library's resources must be initialized outside any namespace.
static void loadQmlResources() {
  Q_INIT_RESOURCE(qmake_uopscope);
}
#endif
#include <fmt/format.h>

#ifdef UOPSCOPE_HAVE_WINDOW_MODELS
using namespace uopscope;

namespace {

constexpr int kKernels = 10'000;

/// Index arithmetic of about a hundred nodes; "mul-one" applies in every third.
UOp inputOf(int i) {
  std::vector<UOp> ranges;
  for (int k = 0; k < 6; ++k) ranges.push_back(UOp::range(4 + (i + k) % 29, k));
  std::vector<UOp> sums;
  for (int k = 0; k < 12; ++k) {
    const UOp &a = ranges[static_cast<size_t>(k % 6)], &b = ranges[static_cast<size_t>((k * 5 + 1) % 6)];
    sums.push_back((a * (k + 2 + i % 11) + b + 0) % (i + 3) + (i % 3 ? a : a * 1));
  }
  return UOp::sink(sums);
}

std::string corpusWithout(const std::vector<std::string>& rules, const char* name) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            fmt::format("comparison-bench-{}-{}.uopcorpus", getpid(), name))
                               .string();
  Corpus corpus = Corpus::create(path);
  WithoutRules gate(rules);
  struct Gated : CaptureObserver {
    Gated(Sink sink, Observer& gate) : CaptureObserver(std::move(sink)), gate_(gate) {}
    Control onRewrite(const RewriteEvent& e) override {
      return gate_.onRewrite(e) == Control::Skip ? Control::Skip : CaptureObserver::onRewrite(e);
    }
    Observer& gate_;
  } capture([&](const Compilation& c) { return corpus.add(c); }, gate);
  ObserverScope observed(&capture);
  for (int i = 0; i < kKernels; ++i) {
    Pool pool;
    PoolScope scope(pool);
    UOp root = inputOf(i);
    ObservedScope kernel({ScopeKind::Kernel, fmt::format("r_{}", i), {"bench.py", i + 1}, root});
    root = graphRewrite(root, symbolicSimple(), {.name = "initial symbolic"});
    std::string source;
    for (int k = 0; k < 12; ++k) source += fmt::format("  out[{}] = {};\n", k, i + k);
    capture.onArtifact({"name", fmt::format("r_{}", i)});
    capture.onArtifact({"source", "void kernel(int* out) {\n" + source + "}\n"});
    capture.onArtifact({"launch", "{}"});
    capture.poolRetired(pool);
  }
  corpus.finish();
  return path;
}

bool drawn(const QQuickItem* item) {
  const auto* canvas = qobject_cast<const GraphCanvas*>(item);
  if (canvas && canvas->isVisible() && !canvas->settled()) return false;
  for (const QQuickItem* child : item->childItems())
    if (!drawn(child)) return false;
  return true;
}

template <typename Condition>
void wait(Condition condition) {
  while (!condition()) QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
}

void line(const char* what, int64_t ns, const char* goal) {
  fmt::print("{:<58} {:>9.1f} ms   goal {}\n", what, static_cast<double>(ns) / 1e6, goal);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QQuickWindow::setGraphicsApi(QSGRendererInterface::Software);
  QGuiApplication app(argc, argv);
  QQuickStyle::setStyle(QStringLiteral("Basic"));
  loadQmlResources();
  const bool own = argc < 3;
  const std::string before = own ? corpusWithout({}, "before") : argv[1];
  const std::string after = own ? corpusWithout({"mul-one"}, "after") : argv[2];
  {
    Theme theme;
    theme.setAnimated(false);
    Session session;
    Tools tools(session);
    ReplayModel& replay = *tools.replay();
    QQmlApplicationEngine engine;
    setUpEngine(engine, theme, session, tools);
    engine.load(QUrl(QStringLiteral("qrc:/qt/qml/uopscope/Main.qml")));
    auto* window = qobject_cast<QQuickWindow*>(engine.rootObjects().value(0));
    if (!window) return 1;
    window->grabWindow();

    int64_t compared = 0;
    QObject::connect(replay.list(), &ReplayList::diffChanged, [&] { compared = nowNs(); });
    const int64_t start = nowNs();
    replay.openFiles({QString::fromStdString(before), QString::fromStdString(after)});
    window->grabWindow();
    line("asked for, until the page with its progress is painted", nowNs() - start, "1,000 ms");
    int64_t worst = 0; // longest time between two turns of the event loop: the window does not respond
    for (int64_t turn = nowNs(); replay.state() == QLatin1String("working"); turn = nowNs()) {
      QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
      worst = std::max(worst, nowNs() - turn);
    }
    if (replay.state() != QLatin1String("ready")) {
      fmt::print("{}\n", replay.errorText().toStdString());
      return 1;
    }
    fmt::print("{} compilations: {}\n", replay.list()->total(), replay.headline().toStdString());
    line("compared, aside", compared - start, "5,000 ms");
    line("longest time the window did not answer", worst, "-");
    const int64_t list = nowNs();
    window->grabWindow();
    line("compared, until the list is painted", nowNs() - list + worst, "1,000 ms");
    wait([&] { return replay.settled() && drawn(window->contentItem()); });
    window->grabWindow();
    line("and its first kernel is drawn on both sides", nowNs() - list + worst, "-");
    std::vector<int64_t> kernels, rows, searches;
    for (int i = 0; i < 15; ++i) {
      const int64_t from = nowNs();
      replay.trigger(QStringLiteral("next-kernel"));
      wait([&] { return replay.settled() && drawn(window->contentItem()); });
      window->grabWindow();
      kernels.push_back(nowNs() - from);
    }
    for (int i = 0; i < 15; ++i) {
      const int64_t from = nowNs();
      replay.trigger(i % 2 ? QStringLiteral("next-step") : QStringLiteral("previous-step"));
      wait([&] { return replay.settled() && drawn(window->contentItem()); });
      window->grabWindow();
      rows.push_back(nowNs() - from);
    }
    for (const char* text : {"r", "r_", "r_9", "r_99", "bench.py:12", "mul", ""}) {
      const int64_t from = nowNs();
      replay.list()->setSearch(QLatin1String(text));
      window->grabWindow();
      searches.push_back(nowNs() - from);
    }
    for (auto* all : {&kernels, &rows, &searches}) std::sort(all->begin(), all->end());
    line("another kernel, both sides drawn (median)", kernels[kernels.size() / 2], "-");
    line("a rewrite on, both sides drawn (median)", rows[rows.size() / 2], "50 ms");
    line("a letter of the search (worst)", searches.back(), "100 ms");
  }
  if (own)
    for (const std::string& path : {before, after}) std::filesystem::remove(path);
}
#else
int main() {
  fmt::print("this build has no window\n");
}
#endif
