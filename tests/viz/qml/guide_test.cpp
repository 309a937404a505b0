// The walks of docs/guide against the window: what they name exists, and in German nothing stays English.
#include "tests/viz/window_support.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/dictionary.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>

using namespace uopscope;
using namespace uopscope::test;

namespace {

QString textOf(const QString& path) {
  QFile file(path);
  REQUIRE_MESSAGE(file.open(QIODevice::ReadOnly), path.toStdString());
  return QString::fromUtf8(file.readAll());
}

QStringList walks() {
  const QDir guide(QStringLiteral(UOPSCOPE_SOURCE_DIR "/docs/guide"));
  QStringList out;
  for (const QString& name : guide.entryList({"walk-*.md", "window.md"})) out << guide.filePath(name);
  return out;
}

QStringList found(const QString& text, const QRegularExpression& what) {
  QStringList out;
  for (auto all = what.globalMatch(text); all.hasNext();) out << all.next().captured(1);
  out.removeDuplicates();
  return out;
}

/// Texts of visible items that the dictionary translates to something else.
QStringList english(QQuickItem* item, const QMap<QString, QString>& texts) {
  QStringList out;
  if (!item->isVisible() || item->width() < 1) return out;
  // A script's own words and names of passes may be English: only texts of labels and buttons are looked at.
  for (const char* property : {"text", "hint", "label", "placeholderText"}) {
    const QString text = item->property(property).toString();
    if (text.size() > 3 && texts.contains(text) && texts[text] != text) out << text;
  }
  for (QQuickItem* child : item->childItems()) out << english(child, texts);
  return out;
}

} // namespace

TEST_CASE("guide: every label and every key that a walk names is in the window") {
  loadQmlResources();
  Dictionary german;
  REQUIRE(german.read("de"));
  QStringList labels = german.texts().keys();
  QSet<QString> keys;
  for (const QVariant& a : actionList())
    for (const QVariant& cap : a.toMap()["caps"].toList()) keys << cap.toString();
  // Keys of one pane: SQL and the rule bench, by hand.
  const QSet<QString> ofPanes{QStringLiteral("Ctrl Enter"), QStringLiteral("Ctrl Z")};
  static const QRegularExpression emphasis(QStringLiteral(R"re((?<![*\w`])\*([A-Z][^*\n`]*)\*(?!\*))re"));
  static const QRegularExpression key(
      QStringLiteral("`((?:Ctrl |Shift |Alt )*(?:F\\d+|[A-Z]|Space|Enter|[→←↑↓+\\]\\[]))`"));
  REQUIRE(walks().size() == 6);
  for (const QString& path : walks()) {
    const QString text = textOf(path);
    CAPTURE(path.toStdString());
    for (const QString& names : found(text, emphasis))
      for (const QString& name : names.split(QStringLiteral(" › "))) {
        CAPTURE(name.toStdString());
        static const QRegularExpression number(QStringLiteral("\\d+"));
        QString pattern = name;
        pattern.replace(number, QStringLiteral("%1"));
        CHECK(std::ranges::any_of(labels, [&](const QString& label) {
          return label == pattern || label.startsWith(name + QStringLiteral(" %1"));
        }));
      }
    for (const QString& cap : found(text, key)) {
      CAPTURE(cap.toStdString());
      CHECK((keys.contains(cap) || ofPanes.contains(cap)));
    }
  }
}

TEST_CASE("guide: the walks in German show no English text of the window") {
  application();
  loadQmlResources();
  Dictionary german;
  REQUIRE(german.read("de"));
  QCoreApplication::installTranslator(&german);
  {
    QMap<QString, QString> texts;
    for (auto it = german.texts().cbegin(); it != german.texts().cend(); ++it) texts[it.key()] = it.value();
    Window w(decidedTrace());
    REQUIRE(w.session.follow("kernel=r_4&pass=tile&step=1"));
    w.settle();
    auto look = [&](const QString& where) {
      QStringList seen = english(w.window->contentItem(), texts);
      seen.removeDuplicates();
      if (where == "sql") // tables of the trace
        for (const char* table : {"kernel", "launch"}) seen.removeAll(table);
      CHECK_MESSAGE(seen.isEmpty(), where.toStdString(), ": ", seen.join(" | ").toStdString());
    };
    for (const char* tab : {"graph", "source", "ir", "asm", "uops", "links", "script", "compare", "whatif",
                            "stats", "profile", "timeline", "sql"}) {
      w.session.setTab(tab);
      w.settle();
      look(tab);
    }
    for (const char* mode : {"treemap", "findings", "compare", "roofline"}) {
      w.session.setTab("profile");
      w.item("profilePane")->setProperty("mode", mode);
      w.settle();
      look(QStringLiteral("profile, ") + mode);
    }
    w.session.setTab("graph");
    for (const char* action : {"why", "check", "condition", "bookmark", "step-alone", "group", "keys"}) {
      w.session.trigger(action);
      w.settle();
      look(action);
    }
    w.key(Qt::Key_Escape);
    w.session.trigger("present");
    w.settle();
    look("present");
    w.session.trigger("close");
    w.settle();
    look("first page");
  }
  QCoreApplication::removeTranslator(&german);
}
