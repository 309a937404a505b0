// How soon the window answers a key while a script is recorded that compiles new shapes without end: the time from
// the moment the event is posted to the moment the next frame is shown, inside the process. A picture of the screen
// taken from outside would measure itself.
//
//   build/bench/live_bench build/bin/uopscope [SECONDS]     600 by default; kernels, keys, median, p99 and the longest
//
// The window is drawn by software without a screen, at 1440x900. Keys change the step, the pass and the kernel by turns.
// "turn" is the longest single turn of the event loop: no key waits longer than that for its answer to begin.
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
#include <thread>

static void loadQmlResources() {
  Q_INIT_RESOURCE(qmake_uopscope);
}

using namespace uopscope;

namespace {

constexpr const char* kScript = "from tinygrad import Tensor\n"
                                "for k in range(20000):\n"
                                "  Tensor.empty(2 + k % 30, 2 + k // 30 % 30, 2 + k // 900,"
                                " device='NULL').permute(2, 1, 0).contiguous().realize()\n";
constexpr double kKeyEvery = 400, kNoFrame = 350, kReportEvery = 30'000; // milliseconds

double now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void report(const char* when, std::vector<double> ms, double turn, Session& session) {
  if (ms.empty()) return;
  std::sort(ms.begin(), ms.end());
  fmt::print("{}: {} scopes, {} keys, median {:.1f} ms, p99 {:.1f}, longest {:.1f}; longest turn {:.1f}\n",
             when, session.trace() ? session.trace()->scopes().size() : 0, ms.size(), ms[ms.size() / 2],
             ms[ms.size() * 99 / 100], ms.back(), turn);
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

  double posted = 0, worst = 0;
  int unanswered = 0;
  std::vector<double> answered, all;
  QObject::connect(window, &QQuickWindow::frameSwapped, window, [&] {
    if (posted > 0) answered.push_back(now() - std::exchange(posted, 0));
  });
  const Qt::Key keys[] = {Qt::Key_Right,        Qt::Key_Right, Qt::Key_Down,
                          Qt::Key_BracketRight, Qt::Key_Left,  Qt::Key_Home};
  const double began = now();
  double pressed = began, reported = began;
  int key = 0;
  while (now() - began < most && session.state() != "error") {
    const double turn = now();
    if (session.state() == "ready" && posted == 0 && turn - pressed > kKeyEvery) {
      const Qt::Key k = keys[static_cast<size_t>(key++) % std::size(keys)];
      const QString text = k == Qt::Key_BracketRight ? QStringLiteral("]") : QString();
      posted = pressed = turn;
      QCoreApplication::postEvent(window, new QKeyEvent(QEvent::KeyPress, k, Qt::NoModifier, text));
      QCoreApplication::postEvent(window, new QKeyEvent(QEvent::KeyRelease, k, Qt::NoModifier, text));
    }
    // A key that changes nothing asks for no frame; the window is then as it should be.
    if (posted > 0 && turn - posted > kNoFrame) posted = 0, ++unanswered;
    QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
    worst = std::max(worst, now() - turn);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (now() - reported > kReportEvery) {
      report("half a minute", answered, std::exchange(worst, 0), session);
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
