// The same window takes a screenshot, with Qt's offscreen platform and software renderer. It waits until
// nothing is outstanding: worker idle, canvas drawn, list views laid out.
#include "app/gui/gui.h"

#include "viz/models/session/dictionary.h"
#include "viz/scene/gif_file.h"
#include "viz/scene/graph_canvas.h"
#include "viz/scene/mp4_file.h"
#include "viz/scene/register.h"
#include "viz/scene/slides_file.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLocale>
#include <QQmlApplicationEngine>
#include <QQuickStyle>
#include <QQuickWindow>
#include <QTimer>
#include <algorithm>
#include <cstdio>

// A static library's resources must be initialized outside any namespace.
static void loadQmlResources() {
  Q_INIT_RESOURCE(qmake_uopscope);
}

namespace uopscope {
namespace {

// A script for a screenshot is recorded first, which may take long.
constexpr int kScreenshotPatienceMs = 120'000;
constexpr int kSettleMs = 150;

bool hasDisplay() {
  return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
}

void say(const QString& text) {
  std::fprintf(stderr, "uopscope: %s\n", qPrintable(text));
}

bool hasDrawn(const QQuickItem* item) {
  const auto* canvas = qobject_cast<const GraphCanvas*>(item);
  if (canvas && canvas->isVisible() && !canvas->settled()) return false;
  return std::ranges::all_of(item->childItems(), hasDrawn);
}

/// Whether nothing is outstanding and every visible canvas has drawn the current state.
bool isSettled(QQuickWindow& window, Session& session, Tools& tools) {
  return session.settled() && tools.replay()->settled() && tools.experiment()->settled() &&
         !tools.whatIf()->busy() && hasDrawn(window.contentItem());
}

/// Waits until the state that the options name is drawn. Returns 0, or 2 where the link leads nowhere.
int waitForPlace(QQuickWindow& window, Session& session, Tools& tools, const QString& link) {
  QElapsedTimer clock, calm;
  clock.start();
  calm.start();
  bool followed = link.isEmpty();
  while (clock.elapsed() < kScreenshotPatienceMs) {
    QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    const bool recording = session.recorder()->running() || session.state() == QLatin1String("recording");
    if (recording || !isSettled(window, session, tools)) calm.restart();
    if (!recording && !followed && session.settled()) {
      if (session.state() == QLatin1String("ready") && !session.follow(link)) {
        say(session.notice());
        return 2;
      }
      followed = true;
      calm.restart();
      continue; // the newest question has no answer yet, however long it took
    }
    if (calm.elapsed() > kSettleMs) break;
  }
  return 0;
}

/// A film of the present step and the `steps` after it, also over the ends of passes.
/// Or of the places that the options name, which stand longer.
QString takeFilm(QQuickWindow& window, Session& session, Tools& tools, const QString& path,
                 const WindowOptions& options) {
  constexpr int kFrameMs = 1100, kPlaceMs = 2200, kPauseMs = 1500;
  const bool tour = !options.places.empty();
  const int steps = tour ? 0 : options.steps;
  std::vector<FilmFrame> frames{{window.grabWindow(), tour ? kPlaceMs : kFrameMs}};
  for (const std::string& place : options.places) {
    if (!session.follow(QString::fromStdString(place))) return session.notice();
    waitForPlace(window, session, tools, {});
    frames.push_back({window.grabWindow(), kPlaceMs});
  }
  for (int k = 0; k < steps; ++k) {
    const QString before = session.link();
    session.trigger(QStringLiteral("next-step"));
    if (session.link() == before) break; // the end of the trace
    waitForPlace(window, session, tools, {});
    frames.push_back({window.grabWindow(), kFrameMs});
  }
  frames.back().ms += kPauseMs;
  if (path.endsWith(QLatin1String(".mp4"))) return saveMp4(path, frames);
  GifFilm film(path, kFrameMs);
  for (const FilmFrame& frame : frames) {
    film.add(frame.image);
    if (frame.ms > kFrameMs) film.hold(frame.ms - kFrameMs);
  }
  return film.save();
}

/// The bookmarks of the trace as slides.
QString takeSlides(QQuickWindow& window, Session& session, Tools& tools, const QString& path) {
  Bookmarks& marks = *tools.bookmarks();
  if (marks.count() == 0)
    return QStringLiteral("%1 has no bookmarks, so there is no slide: Ctrl D in the window makes them, in %2")
        .arg(session.path(), Bookmarks::fileFor(session.path()));
  std::vector<Slide> slides;
  for (int row = 0; row < marks.count(); ++row) {
    marks.goTo(row);
    waitForPlace(window, session, tools, {});
    auto text = [&](int role) { return marks.data(marks.index(row), role).toString(); };
    slides.push_back({window.grabWindow(), text(Bookmarks::NoteRole), text(Bookmarks::PlaceRole)});
  }
  return saveSlides(path, session.fileName(), slides);
}

int takeScreenshot(QQuickWindow& window, Session& session, Tools& tools, const WindowOptions& options) {
  if (const int code = waitForPlace(window, session, tools, QString::fromStdString(options.link)))
    return code;
  const QString out = QString::fromStdString(options.screenshot);
  const bool film = out.endsWith(QLatin1String(".gif")) || out.endsWith(QLatin1String(".mp4")),
             slides = out.endsWith(QLatin1String(".html"));
  if ((film || slides) && session.state() == QLatin1String("ready")) {
    const QString problem =
        film ? takeFilm(window, session, tools, out, options) : takeSlides(window, session, tools, out);
    if (!problem.isEmpty()) {
      say(problem);
      return 2;
    }
  } else if (const QImage image = window.grabWindow(); image.isNull() || film || slides || !image.save(out)) {
    if (session.state() != QLatin1String("error"))
      say(QStringLiteral("%1 cannot be written: check that its folder exists and that it ends in .png, .gif, "
                         ".mp4 or .html")
              .arg(out));
    else
      say(session.errorText());
    return 2;
  }
  for (const auto& [state, problem] :
       {std::pair(session.state(), session.errorText()),
        std::pair(tools.replay()->state(), tools.replay()->errorText()),
        std::pair(tools.experiment()->state(), tools.experiment()->errorText())})
    if (state == QLatin1String("error")) {
      say(problem);
      return 2;
    }
  return 0;
}

bool isExperiment(const std::string& file) {
  return file.ends_with(".uopbench");
}

/// The link "tab=compare" of a single experiment: the pairs of its cells.
void showExperiments(Tools& tools, const QStringList& files, const std::string& link) {
  ExperimentModel* page = tools.experiment();
  page->openFiles(files);
  if (link.find("tab=compare") == std::string::npos) return;
  auto waiting = std::make_shared<QMetaObject::Connection>();
  *waiting = QObject::connect(page, &ExperimentModel::changed, page, [page, waiting] {
    if (page->state() != QLatin1String("ready")) return;
    QObject::disconnect(*waiting);
    page->setComparing(true);
  });
}

} // namespace

int runWindow(const WindowOptions& options, int argc, char** argv) {
  const bool screenshot = !options.screenshot.empty();
  if (screenshot || (!hasDisplay() && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))) {
    if (!screenshot) {
      say(QStringLiteral(
          "there is no display. Use --screenshot OUT.png, or the text commands: uopscope ls, show, stats"));
      return 2;
    }
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qputenv("QT_SCALE_FACTOR", "1");
  }
  if (qEnvironmentVariable("QT_QPA_PLATFORM").startsWith(QLatin1String("offscreen")))
    QQuickWindow::setGraphicsApi(QSGRendererInterface::Software);
  QGuiApplication app(argc, argv);
  QGuiApplication::setApplicationName(QStringLiteral("uopscope"));
  QGuiApplication::setOrganizationName(QStringLiteral("uopscope"));
  QGuiApplication::setDesktopFileName(QStringLiteral("uopscope"));
  QQuickStyle::setStyle(QStringLiteral("Basic"));
  loadQmlResources();
  // A screenshot is in English on every machine.
  Dictionary dictionary;
  if (!screenshot && dictionary.choose(QLocale::system().uiLanguages()))
    QCoreApplication::installTranslator(&dictionary);

  Theme theme;
  Session session;
  Tools tools(session);
  session.preferences()->setPersistent(!screenshot);
  keepLook(theme, session);
  if (!options.theme.empty()) theme.setName(QString::fromStdString(options.theme));
  if (options.textScale > 0) theme.setTextScale(options.textScale);
  theme.setAnimated(!screenshot);

  QQmlApplicationEngine engine;
  setUpEngine(engine, theme, session, tools);
  // A folder of QML files in place of the built-in ones, to work on them without building.
  const QString folder = qEnvironmentVariable("UOPSCOPE_QML");
  engine.load(folder.isEmpty() ? QUrl(QStringLiteral("qrc:/qt/qml/uopscope/Main.qml"))
                               : QUrl::fromLocalFile(folder + QStringLiteral("/Main.qml")));
  if (engine.rootObjects().isEmpty()) {
    say(QStringLiteral("the window could not be built: are the QML modules of Qt Quick installed?"));
    return 2;
  }
  auto* window = qobject_cast<QQuickWindow*>(engine.rootObjects().constFirst());
  if (screenshot || options.width > 0 || options.height > 0)
    window->resize(options.width > 0 ? options.width : 1440, options.height > 0 ? options.height : 900);
  // A screenshot follows its link itself, so that it can report a wrong link.
  if (isExperiment(options.file))
    showExperiments(tools, {QString::fromStdString(options.file)}, options.link);
  else if (!options.file.empty())
    session.openAt(QString::fromStdString(options.file),
                   screenshot ? QString() : QString::fromStdString(options.link));
  if (!options.compare.empty()) {
    QStringList files;
    for (const std::string& file : options.compare) files << QString::fromStdString(file);
    if (isExperiment(options.compare.front())) {
      showExperiments(tools, files, options.link);
    } else {
      tools.replay()->setIgnoreNames(options.ignoreNames);
      tools.replay()->openFiles(files);
    }
  }
  if (screenshot) return takeScreenshot(*window, session, tools, options);
  return QGuiApplication::exec();
}

} // namespace uopscope
