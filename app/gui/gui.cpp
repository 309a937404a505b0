// The same window takes a screenshot, with Qt's offscreen platform and software renderer. It waits until
// nothing is outstanding: worker idle, canvas drawn, list views laid out.
#include "app/gui/gui.h"

#include "app/gui/film.h"
#include "viz/models/session/dictionary.h"
#include "viz/models/work/program_of_verbs.h"
#include "viz/scene/register.h"

#include <QFileInfo>
#include <QGuiApplication>
#include <QLocale>
#include <QQmlApplicationEngine>
#include <QQuickStyle>
#include <QQuickWindow>

// A static library's resources must be initialized outside any namespace.
static void loadQmlResources() {
  Q_INIT_RESOURCE(qmake_uopscope);
}

namespace uopscope {
namespace {

constexpr int kWrong = 2; ///< the exit code for a bad file, link, move or path

bool hasDisplay() {
  return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
}

/// Makes the moves where there is no film of them, and writes the picture.
int takeScreenshot(FilmStage stage, const WindowOptions& options) {
  Session& session = stage.session;
  ReplayModel& replay = *stage.tools.replay();
  if (!waitUntilDrawn(stage, QString::fromStdString(options.link))) return kWrong;
  const QString out = QString::fromStdString(options.screenshot);
  const bool film = out.endsWith(QLatin1String(".gif")) || out.endsWith(QLatin1String(".mp4")),
             slides = out.endsWith(QLatin1String(".html"));
  QStringList moves;
  for (const std::string& move : options.moves) moves << QString::fromStdString(move);
  const bool open = session.state() == QLatin1String("ready") || replay.state() == QLatin1String("ready");
  QString problem;
  if (film && open) {
    problem = takeFilm(stage, out, moves, options.steps, options.seconds);
  } else if (slides && open) {
    problem = takeSlides(stage, out);
  } else {
    for (const QString& move : moves) {
      if (!problem.isEmpty() || !open) break;
      problem = makeMove(stage, move);
      waitUntilDrawn(stage);
    }
    const QImage image = problem.isEmpty() ? stage.window.grabWindow() : QImage();
    if (problem.isEmpty() && (image.isNull() || film || slides || !image.save(out)))
      problem =
          session.state() == QLatin1String("error")
              ? session.errorText()
              : QStringLiteral(
                    "%1 cannot be written: check that its folder exists and that it ends in .png, .gif, "
                    ".mp4 or .html")
                    .arg(out);
  }
  for (const auto& [state, text] :
       {std::pair(session.state(), session.errorText()), std::pair(replay.state(), replay.errorText()),
        std::pair(stage.tools.experiment()->state(), stage.tools.experiment()->errorText())})
    if (problem.isEmpty() && state == QLatin1String("error")) problem = text;
  if (problem.isEmpty()) return 0;
  say(problem);
  return kWrong;
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
  setProgramOfVerbs(QString::fromStdString(options.program));
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
  if (screenshot) return takeScreenshot({*window, session, tools}, options);
  return QGuiApplication::exec();
}

} // namespace uopscope
