// Pictures of the views that features_test.cpp leaves out, in both themes. Views of measured times show a
// stored trace, so that they are the same every time.
#include "tests/viz/window_support.h"

#include <QFile>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

void inBothThemes(Window& w, const char* name) {
  for (const char* theme : {"dark", "light"}) {
    w.theme.setName(theme);
    w.settle();
    QTest::qWait(60);
    checkGolden(*w.window, QLatin1String(name) + QLatin1Char('-') + QLatin1String(theme));
  }
}

} // namespace

TEST_CASE("golden: two states as a graph and as texts, and why a rule did not fire") {
  Window w(expressionTrace());
  w.window->resize(1200, 760);
  w.tools.compare()->comparePass();
  w.session.setTab("compare");
  REQUIRE(waitFor([&] { return !w.tools.compare()->summary().isEmpty(); }));
  w.settle();
  inBothThemes(w, "compare");
  w.click(w.item("compareWhat-tree"));
  inBothThemes(w, "compare-text");
  w.session.setTab("graph");
  w.session.setNode(w.session.graph()->picture()->nodes.back().id);
  w.settle();
  w.key(Qt::Key_W);
  REQUIRE(waitFor([&] { return w.tools.why()->count() > 0; }));
  inBothThemes(w, "why");
}

TEST_CASE("golden: profile, timeline, links and texts of a kept trace") {
  const KeptTrace kept(3);
  Window w(kept.path);
  w.window->resize(1200, 760);
  for (const char* tab : {"links", "script", "uops", "asm", "timeline", "profile"}) {
    w.session.setTab(QLatin1String(tab));
    w.settle();
    if (QLatin1String(tab) == QLatin1String("timeline"))
      REQUIRE(waitFor([&] { return w.tools.timeline()->ready(); }));
    if (QLatin1String(tab) == QLatin1String("profile"))
      REQUIRE(waitFor([&] { return w.tools.profile()->ready(); }));
    inBothThemes(w, tab);
  }
  w.tools.profile()->setWhat("rewrites");
  w.click(w.item("profileMode-treemap"));
  inBothThemes(w, "treemap");
}

TEST_CASE("golden: code of LLVM, variants, numbers, rules, story, findings and roofline of a kept trace") {
  const KeptTrace kept(6);
  Window w(kept.path);
  w.window->resize(1200, 760);
  w.session.setStepAlone(true);
  for (const char* tab : {"ir", "whatif", "values", "rule", "story"}) {
    w.session.setTab(QLatin1String(tab));
    w.settle();
    inBothThemes(w, tab);
  }
  w.session.setTab("profile");
  REQUIRE(waitFor([&] { return w.tools.profile()->ready(); }));
  for (const char* mode : {"findings", "roofline"}) {
    w.click(w.item(QStringLiteral("profileMode-") + QLatin1String(mode)));
    inBothThemes(w, mode);
  }
}

TEST_CASE("golden: panes, a popup and the projector at every size") {
  const KeptTrace kept(3);
  Window w(kept.path);
  w.session.setStepAlone(true);
  for (const QSize size : {QSize(900, 600), QSize(1440, 900), QSize(2560, 1440), QSize(3840, 2160)}) {
    w.window->resize(size);
    REQUIRE(waitFor([&] { return w.window->size() == size; }));
    const QString wide = QStringLiteral("-%1").arg(size.width());
    const auto look = [&](const char* name) {
      w.settle();
      inBothThemes(w, (QLatin1String(name) + wide).toUtf8().constData());
    };
    for (const char* tab : {"links", "compare", "stats"}) {
      w.session.setTab(QLatin1String(tab));
      look(tab);
    }
    w.session.setTab("graph");
    w.session.trigger("keys");
    look("keys");
    w.key(Qt::Key_Escape);
    w.theme.setPresenting(true);
    look("presenter");
    w.theme.setPresenting(false);
  }
}

TEST_CASE("golden: the first page") {
  QTemporaryDir samples;
  for (const char* name : {"matmul.py", "softmax.py"}) {
    QFile file(samples.filePath(QLatin1String(name)));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write("# What is to be seen in this one.\n");
  }
  qputenv("UOPSCOPE_SAMPLES", samples.path().toUtf8());
  {
    Window w;
    w.window->resize(1200, 760);
    inBothThemes(w, "welcome");
  }
  qunsetenv("UOPSCOPE_SAMPLES");
}

TEST_CASE("golden: a script while it is recorded, and the page after an error") {
  QTemporaryDir folder;
  const auto write = [&](const char* name, const char* text) {
    QFile file(folder.filePath(QLatin1String(name)));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write(text);
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return file.fileName();
  };
  Window w;
  w.window->resize(1200, 760);
  w.session.setRecorderProgram(write("recorder", "#!/bin/sh\nseq 30\nexec sleep 60\n"));
  w.session.open(write("model.py", "pass\n"));
  REQUIRE(waitFor([&] { return w.session.recorder()->output().contains("30"); }));
  inBothThemes(w, "recording");
  w.session.recorder()->cancel();
  REQUIRE(waitFor([&] { return w.session.state() == "error"; }));
  inBothThemes(w, "error");
}
