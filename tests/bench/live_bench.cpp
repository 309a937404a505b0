// How soon the window answers a key while a script is recorded that compiles new shapes without end: the time from
// the moment the event is posted to the moment the frame that shows the new place is shown, inside the process. A picture of the screen
// taken from outside would measure itself.
//
//   build/bench/live_bench build/bin/uopscope [SECONDS]     600 by default; kernels, keys, median, p99 and the longest
//
// The window is drawn by software without a screen, at 1440x900. Keys change the step, the pass and the kernel by turns.
// "turn" is the longest single turn of the event loop: no key waits longer than that for its answer to begin. Both are wall
// times; beside each stands the processor time of the window's thread in it, which is what the window itself takes. The rest
// is waiting: for a reader's thread, or for a processor, since recorder and readers keep two of them busy.
#ifdef UOPSCOPE_HAVE_WINDOW_MODELS
#include "viz/scene/graph_canvas.h"
#include "viz/scene/register.h"

#include <fmt/format.h>

#include <QFile>
#include <QFileInfo>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QQmlApplicationEngine>
#include <QQuickStyle>
#include <QQuickWindow>
#include <QTemporaryDir>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <thread>
#include <tuple>

static void loadQmlResources() {
  Q_INIT_RESOURCE(qmake_uopscope);
}

using namespace uopscope;

namespace {

constexpr const char* kScript = "from tinygrad import Tensor\n"
                                "for k in range(20000):\n"
                                "  Tensor.empty(2 + k % 30, 2 + k // 30 % 30, 2 + k // 900,"
                                " device='NULL').permute(2, 1, 0).contiguous().realize()\n";
constexpr double kKeyEvery = 400, kNoFrame = 2500, kReportEvery = 30'000; // milliseconds

double now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Processor time of this thread.
double work() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

/// A span of time, in milliseconds by the clock and of this thread's processor.
struct Span {
  double wall = 0, work = 0;
  const char* of = "";
};
Span since(const Span& begin) {
  return {now() - begin.wall, work() - begin.work, begin.of};
}

/// The longest turn of the event loop, and the one with most work in it.
struct Turns {
  Span longest, hardest;
};

void report(const char* when, std::vector<Span> keys, const Turns& turns, Session& session) {
  if (keys.empty()) return;
  std::ranges::sort(keys, {}, &Span::wall);
  const double most = std::ranges::max(keys, {}, &Span::work).work;
  std::map<std::string_view, std::vector<double>> each;
  for (const Span& k : keys) each[k.of].push_back(k.wall);
  const Span& last = keys.back();
  fmt::print("{}: {} scopes, {} keys, median {:.1f} ms, p99 {:.1f}, longest {:.1f} (key {}, {:.1f} of it "
             "work; most work "
             "of any {:.1f}); longest turn {:.1f} ({:.1f} work), most work in a turn {:.1f}\n",
             when, session.trace() ? session.trace()->scopes().size() : 0, keys.size(),
             keys[keys.size() / 2].wall, keys[keys.size() * 99 / 100].wall, last.wall, last.of, last.work,
             most, turns.longest.wall, turns.longest.work, turns.hardest.work);
  for (const auto& [key, times] : each)
    fmt::print("  {}: {} times, median {:.1f} ms, longest {:.1f}\n", key, times.size(),
               times[times.size() / 2], times.back());
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fmt::print("usage: live_bench PROGRAM [SECONDS]\n"), 2;
  const double most = argc > 2 ? std::stod(argv[2]) * 1000 : 600'000;
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QQuickWindow::setGraphicsApi(QSGRendererInterface::Software);
  QQuickStyle::setStyle(QStringLiteral("Basic"));
  QGuiApplication app(argc, argv);
  loadQmlResources();
  Theme theme;
  Session session;
  Tools tools(session);
  session.preferences()->setPersistent(false);
  QQmlApplicationEngine engine;
  setUpEngine(engine, theme, session, tools);
  engine.load(QUrl("qrc:/qt/qml/uopscope/Main.qml"));
  if (engine.rootObjects().isEmpty()) return 2;
  auto* window = qobject_cast<QQuickWindow*>(engine.rootObjects().constFirst());
  window->resize(1440, 900);
  window->requestActivate();

  const QTemporaryDir folder;
  QFile script(folder.filePath("shapes.py"));
  if (!script.open(QIODevice::WriteOnly)) return 2;
  script.write(kScript);
  script.close();
  session.setRecorderProgram(QFileInfo(QString::fromLocal8Bit(argv[1])).absoluteFilePath());
  session.open(script.fileName());

  Span posted;
  Turns worst;
  int unanswered = 0;
  std::vector<Span> answered, all;
  const auto place = [&] { return std::tuple(session.scope(), session.pass(), session.step()); };
  auto from = place();
  // The frame that shows another place. A recording repaints its seconds too, which answers no key.
  QObject::connect(window, &QQuickWindow::frameSwapped, window, [&] {
    if (posted.wall > 0 && place() != from) answered.push_back(since(std::exchange(posted, {})));
  });
  const std::pair<Qt::Key, const char*> keys[] = {{Qt::Key_Right, "right"}, {Qt::Key_Right, "right"},
                                                  {Qt::Key_Down, "down"},   {Qt::Key_BracketRight, "]"},
                                                  {Qt::Key_Left, "left"},   {Qt::Key_Home, "home"}};
  const double began = now();
  double pressed = began, reported = began;
  int key = 0;
  while (now() - began < most && session.state() != "error") {
    const Span turn{now(), work(), ""};
    if (session.state() == "ready" && posted.wall == 0 && turn.wall - pressed > kKeyEvery) {
      const auto& [k, name] = keys[static_cast<size_t>(key++) % std::size(keys)];
      const QString text = k == Qt::Key_BracketRight ? QStringLiteral("]") : QString();
      posted = {turn.wall, turn.work, name};
      from = place();
      pressed = turn.wall;
      QCoreApplication::postEvent(window, new QKeyEvent(QEvent::KeyPress, k, Qt::NoModifier, text));
      QCoreApplication::postEvent(window, new QKeyEvent(QEvent::KeyRelease, k, Qt::NoModifier, text));
    }
    // A key that leads nowhere (to the first step, at the first step) changes nothing.
    if (posted.wall > 0 && turn.wall - posted.wall > kNoFrame) posted = {}, ++unanswered;
    QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
    const Span took = since(turn);
    if (took.wall > worst.longest.wall) worst.longest = took;
    if (took.work > worst.hardest.work) worst.hardest = took;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (now() - reported > kReportEvery) {
      report("half a minute", answered, std::exchange(worst, {}), session);
      all.insert(all.end(), answered.begin(), answered.end());
      answered.clear();
      reported = now();
    }
    if (session.state() == "ready" && !session.recorder()->running() && !session.growing()) break;
  }
  all.insert(all.end(), answered.begin(), answered.end());
  if (session.state() == "error") fmt::print("not recorded: {}\n", session.errorText().toStdString());
  report("in all", all, worst, session);
  fmt::print("{} keys changed nothing\n", unanswered);
  session.recorder()->cancel();
  return 0;
}
#else
int main() {
  return 0;
}
#endif
