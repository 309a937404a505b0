// The real window without a screen, driven by keys and the mouse as a person would.
//
//   Window w(compiledTrace());  w.key(Qt::Key_Right);  w.click(w.item("nextStep"));
#pragma once
#include "tests/viz/support.h"
#include "viz/scene/graph_canvas.h"
#include "viz/scene/register.h"

#include <doctest/doctest.h>

#include <QDir>
#include <QFile>
#include <QImage>
#include <QQmlApplicationEngine>
#include <QTemporaryDir>
#include <QTest>

// A static library's resources must be initialized outside any namespace.
inline void loadQmlResources() {
  Q_INIT_RESOURCE(qmake_uopscope);
}

namespace uopscope::test {

inline constexpr auto kCtrl = Qt::ControlModifier, kShift = Qt::ShiftModifier;

inline QStringList warnings;
inline void collect(QtMsgType type, const QMessageLogContext&, const QString& text) {
  // A layout that asks for its size again and again (Qt says so without the file) ends in a crash sooner or later.
  const bool ours = text.contains(QLatin1String("qrc:")) || text.contains(QLatin1String("Polish loop")) ||
                    text.contains(QLatin1String("polish() loop"));
  if (type >= QtWarningMsg && type != QtInfoMsg && ours) warnings << text;
}

// A Repeater's items are children only on the screen, so findChild() does not find them.
inline QQuickItem* below(QQuickItem* root, const QString& name) {
  if (root->objectName() == name) return root;
  for (QQuickItem* child : root->childItems())
    if (QQuickItem* found = below(child, name)) return found;
  return nullptr;
}

/// A copy of a stored trace of that version of the format, in a folder of its own: it shows the same times every time.
///
///   const KeptTrace kept(6);  Window w(kept.path);
struct KeptTrace {
  explicit KeptTrace(int version) {
    REQUIRE(QFile::copy(QStringLiteral(UOPSCOPE_SOURCE_DIR "/tests/data/version-%1.uoptrace").arg(version),
                        path));
    QFile(path).setPermissions(QFile::ReadOwner | QFile::WriteOwner);
  }
  QTemporaryDir folder;
  QString path = folder.filePath("kept.uoptrace");
};

struct Window {
  QGuiApplication& app = application(); // before anything that asks for fonts
  Theme theme;
  Session session;
  Tools tools{session};
  QQmlApplicationEngine engine;
  QQuickWindow* window = nullptr;
  GraphCanvas* canvas = nullptr;

  /// With `kept`, settings are stored as in the program, but in a folder of the tests.
  explicit Window(const QString& file = {}, bool kept = false) {
    session.preferences()->setPersistent(kept);
    session.setStepAlone(
        false); // tests name nodes and places of the whole pass; tests of small pictures enable them
    keepLook(theme, session);
    loadQmlResources();
    warnings.clear();
    qInstallMessageHandler(collect);
    theme.setAnimated(false);
    setUpEngine(engine, theme, session, tools);
    engine.load(QUrl("qrc:/qt/qml/uopscope/Main.qml"));
    REQUIRE_MESSAGE(!engine.rootObjects().isEmpty(), warnings.join('\n').toStdString());
    window = qobject_cast<QQuickWindow*>(engine.rootObjects().constFirst());
    canvas = window->findChild<GraphCanvas*>("canvas");
    REQUIRE(canvas);
    window->requestActivate();
    REQUIRE(QTest::qWaitForWindowExposed(window));
    if (!file.isEmpty()) session.open(file);
    settle();
    if (session.state() == "ready") goToFullest(session);
    settle();
  }
  ~Window() {
    qInstallMessageHandler(nullptr);
    warnings.removeDuplicates();
    for (const QString& w : warnings) MESSAGE(w.toStdString());
    CHECK(warnings.isEmpty());
    for (const std::string& statement : DatabaseWatch::noted())
      MESSAGE("on the window's thread: ", statement);
    CHECK(DatabaseWatch::noted().empty());
    DatabaseWatch::noted().clear();
  }
  void settle() {
    REQUIRE(waitFor([&] { return session.settled() && canvas->settled(); }));
    {
      const DatabaseWatch watch;
      QTest::qWait(30);
    }
    REQUIRE(waitFor([&] { return session.settled() && canvas->settled(); }));
  }
  void key(Qt::Key k, Qt::KeyboardModifiers m = Qt::NoModifier) {
    {
      const DatabaseWatch watch;
      QTest::keyClick(window, k, m);
    }
    settle();
  }
  void type(const QString& text) {
    {
      const DatabaseWatch watch;
      for (const QChar c : text)
        if (c == QLatin1Char('\n'))
          QTest::keyClick(window, Qt::Key_Return);
        else
          QTest::keyClick(window, c.toLatin1());
    }
    settle();
  }
  QQuickItem* item(const QString& name) {
    QQuickItem* i = below(window->contentItem(), name);
    REQUIRE_MESSAGE(i, name.toStdString());
    return i;
  }
  QPoint centre(QQuickItem* i) { return i->mapToScene(QPointF(i->width() / 2, i->height() / 2)).toPoint(); }
  void click(QQuickItem* i) {
    {
      const DatabaseWatch watch;
      QTest::mouseClick(window, Qt::LeftButton, {}, centre(i));
    }
    settle();
  }
  void doubleClick(QPoint at) {
    {
      const DatabaseWatch watch;
      QTest::mouseDClick(window, Qt::LeftButton, {}, at);
    }
    settle();
  }
  /// Press, move and release, with points in between as a hand makes them.
  void drag(QPoint from, QPoint to, Qt::KeyboardModifiers m = {}) {
    {
      const DatabaseWatch watch;
      QTest::mousePress(window, Qt::LeftButton, m, from);
      for (int k = 1; k <= 4; ++k) {
        const QPoint at = from + (to - from) * k / 4;
        QMouseEvent move(QEvent::MouseMove, at, window->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, m);
        QCoreApplication::sendEvent(window, &move);
      }
      QTest::mouseRelease(window, Qt::LeftButton, m, to);
    }
    settle();
  }
  void wheel(QPoint at, int by) {
    QWheelEvent event(at, window->mapToGlobal(at), {}, {0, by}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    {
      const DatabaseWatch watch;
      QGuiApplication::sendEvent(window, &event);
    }
    settle();
  }
  bool popupOpen(const char* name) {
    QObject* popup = window->findChild<QObject*>(QLatin1String(name));
    REQUIRE(popup);
    return popup->property("visible").toBool();
  }
};

// Mean difference of two pictures after blurring both to an eighth. A different font moves texts a little; a
// missing pane or a wrong theme gives a much larger difference.
inline double difference(const QImage& a, const QImage& b) {
  const QSize small(a.width() / 8, a.height() / 8);
  const QImage x =
      a.scaled(small, Qt::IgnoreAspectRatio, Qt::SmoothTransformation).convertToFormat(QImage::Format_RGB32);
  const QImage y =
      b.scaled(small, Qt::IgnoreAspectRatio, Qt::SmoothTransformation).convertToFormat(QImage::Format_RGB32);
  double sum = 0;
  for (int j = 0; j < small.height(); ++j)
    for (int i = 0; i < small.width(); ++i) {
      const QColor p = x.pixelColor(i, j), q = y.pixelColor(i, j);
      sum += std::abs(p.red() - q.red()) + std::abs(p.green() - q.green()) + std::abs(p.blue() - q.blue());
    }
  return sum / (3.0 * small.width() * small.height());
}

/// Compares the window with tests/golden/window/NAME.png; UOPSCOPE_NEW_GOLDENS writes the picture instead.
inline void checkGolden(QQuickWindow& window, const QString& name) {
  const QString folder = QStringLiteral(UOPSCOPE_SOURCE_DIR "/tests/golden/window/");
  const QString file = folder + name + QStringLiteral(".png");
  const QImage now = window.grabWindow();
  if (qEnvironmentVariableIsSet("UOPSCOPE_NEW_GOLDENS")) {
    QDir().mkpath(folder);
    REQUIRE(now.scaled(now.size() / 4, Qt::IgnoreAspectRatio, Qt::SmoothTransformation).save(file));
    return;
  }
  const QImage golden(file);
  REQUIRE_MESSAGE(!golden.isNull(), file.toStdString());
  const double d =
      difference(golden, now.scaled(golden.size(), Qt::IgnoreAspectRatio, Qt::SmoothTransformation));
  CHECK_MESSAGE(d < 6, file.toStdString(), ": ", d);
}

} // namespace uopscope::test
