// The window in German: every text has a translation with the same placeholders, and the window shows it.
#include "tests/viz/window_support.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/dictionary.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Texts of the sources that pass qsTr or tr.
QStringList textsOfSources() {
  static const QRegularExpression call(
      QStringLiteral(R"re((?:qsTr|\btr|\bQT_TR_NOOP)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+))re"));
  static const QRegularExpression part(QStringLiteral(R"re("((?:[^"\\]|\\.)*)")re"));
  QStringList out;
  QDirIterator files(QStringLiteral(UOPSCOPE_SOURCE_DIR "/viz"), {"*.qml", "*.cpp"}, QDir::Files,
                     QDirIterator::Subdirectories);
  while (files.hasNext()) {
    QFile file(files.next());
    REQUIRE(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    for (auto calls = call.globalMatch(text); calls.hasNext();) {
      QString joined;
      for (auto parts = part.globalMatch(calls.next().captured(1)); parts.hasNext();)
        joined += parts.next().captured(1);
      out << joined.replace(QLatin1String("\\n"), QLatin1String("\n"))
                 .replace(QLatin1String("\\\""), QLatin1String("\""));
    }
  }
  for (const Action& a : actionTable()) out << QLatin1String(a.text) << QLatin1String(a.group);
  for (int family = 0; family < kOpFamilyCount; ++family)
    out << QString::fromStdString(std::string(opFamilyName(static_cast<OpFamily>(family))));
  out.removeDuplicates();
  return out;
}

QStringList places(const QString& text) {
  static const QRegularExpression place(QStringLiteral("%\\d"));
  QStringList out;
  for (auto all = place.globalMatch(text); all.hasNext();) out << all.next().captured();
  out.sort();
  return out;
}

} // namespace

TEST_CASE("dictionary: every text of the window has a German one with the same places") {
  loadQmlResources();
  Dictionary german;
  REQUIRE(german.choose({"de-AT", "en"}));
  const QStringList texts = textsOfSources();
  CHECK(texts.size() > 500);
  for (const QString& text : texts) {
    CAPTURE(text.toStdString());
    REQUIRE(german.texts().contains(text));
    CHECK(places(german.texts()[text]) == places(text));
    CHECK(text.endsWith(' ') == german.texts()[text].endsWith(' '));
  }
  Dictionary other;
  CHECK_FALSE(other.choose({"en-GB", "de"})); // English comes first
  CHECK_FALSE(other.choose({"xx"}));
  CHECK(other.isEmpty());
}

TEST_CASE("dictionary: the window speaks German, its commands are found in German, and nothing warns") {
  application();
  loadQmlResources();
  Dictionary german;
  REQUIRE(german.read("de"));
  QCoreApplication::installTranslator(&german);
  {
    Window w(decidedTrace());
    REQUIRE(w.session.follow("kernel=r_4&pass=tile&step=1"));
    w.settle();
    bool seen = false, english = false;
    std::function<void(QQuickItem*)> look = [&](QQuickItem* item) {
      const QString text = item->property("text").toString();
      seen |= item->isVisible() && text == "Schritt 1 von 2";
      english |= item->isVisible() && (text == "Steps" || text == "Graph before");
      for (QQuickItem* child : item->childItems()) look(child);
    };
    look(w.window->contentItem());
    CHECK(seen);
    CHECK_FALSE(english);
    w.key(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    w.type("dunkel");
    const QString before = w.theme.name();
    w.key(Qt::Key_Return);
    CHECK(w.theme.name() != before);
  }
  QCoreApplication::removeTranslator(&german);
}
