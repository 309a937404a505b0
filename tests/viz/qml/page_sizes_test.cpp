// The pages that take the whole window, at every size: nothing is cut on the first page, while a script is recorded, after
// an error, in a comparison of compilations and in an experiment.
#include "tests/replay/compare/history.h"
#include "tests/replay/experiment/made_experiment.h"
#include "tests/viz/whole.h"

#include <QFile>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

void writeExecutable(const QString& path, const QByteArray& text) {
  QFile file(path);
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(text);
  file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

QString pathOf(const std::string& path) {
  return QString::fromStdString(path);
}

/// Samples as the program brings them, for windows made while it lives.
struct Samples {
  QTemporaryDir folder;
  Samples() {
    for (const char* name : {"matmul.py", "softmax.py", "transformer_block.py"})
      writeExecutable(
          folder.filePath(QLatin1String(name)),
          "# One sentence about what can be seen in this sample, as long as those of the samples are.\n");
    qputenv("UOPSCOPE_SAMPLES", folder.path().toUtf8());
  }
  ~Samples() { qunsetenv("UOPSCOPE_SAMPLES"); }
};

void settleReplay(Window& w) {
  ReplayModel& replay = *w.tools.replay();
  REQUIRE(waitFor([&] { return replay.settled(); }));
  w.settle();
}

} // namespace

TEST_CASE("sizes: nothing is cut on the first page") {
  const Samples samples;
  Window w;
  w.session.preferences()->addRecent(
      "/home/somebody/traces/a-recording-whose-name-is-as-long-as-a-window-is-wide-20261123-101500.uoptrace");
  w.settle();
  REQUIRE(w.item("try0")->isVisible());
  atEverySize(w, [&](const QString& size) { expectWhole(w, "first page" + size); });
}

TEST_CASE("sizes: nothing is cut while a script is recorded, or where it cannot be") {
  QTemporaryDir folder;
  const QString script = folder.filePath("a_model_with_a_long_name_that_takes_all_the_room_there_is.py");
  const QString recorder = folder.filePath("recorder");
  writeExecutable(script, "pass\n");
  writeExecutable(recorder, "#!/bin/sh\nseq 400\nexec sleep 60\n");
  Window w;
  w.session.setRecorderProgram(recorder);
  w.session.open(script);
  REQUIRE(waitFor([&] { return w.session.recorder()->output().contains("400"); }));
  w.settle();
  atEverySize(w, [&](const QString& size) { expectWhole(w, "recording" + size); });
  w.session.recorder()->cancel();
  REQUIRE(waitFor([&] { return w.session.state() == "error"; }));
  atEverySize(w, [&](const QString& size) { expectWhole(w, "error" + size); });
}

TEST_CASE("sizes: nothing is cut on the page of compared compilations") {
  const TempCorpus before{commits::of(commits::kFirst)}, after{commits::of(commits::kOff)};
  Window w;
  ReplayModel& replay = *w.tools.replay();
  replay.setShown(true);
  w.settle();
  atEverySize(w, [&](const QString& size) { expectWhole(w, "choice of files" + size); });
  replay.openFiles({pathOf(before.path), "/no/such/folder/with/a/long/name/of/a/file.uopcorpus"});
  settleReplay(w);
  REQUIRE(replay.state() == "error");
  atEverySize(w, [&](const QString& size) { expectWhole(w, "files that cannot be read" + size); });
  replay.openFiles({pathOf(before.path), pathOf(after.path)});
  settleReplay(w);
  REQUIRE(replay.state() == "ready");
  atEverySize(w, [&](const QString& size) {
    for (const char* what : {"rewrites", "graph", "source", "ir", "asm"}) {
      replay.detail()->setWhat(QLatin1String(what));
      settleReplay(w);
      expectWhole(w, QStringLiteral("compared ") + QLatin1String(what) + size);
    }
  });
}

TEST_CASE("sizes: nothing is cut on the page of an experiment") {
  const MadeExperiment before,
      after(
          {.factor = 1.05, .failing = true, .machine = "another machine with a long name of its processor"});
  Window w;
  ExperimentModel& e = *w.tools.experiment();
  const auto settle = [&] {
    REQUIRE(waitFor([&] { return e.settled(); }));
    w.settle();
    REQUIRE(e.state() == "ready");
  };
  e.openFiles({pathOf(after.path)});
  settle();
  atEverySize(w, [&](const QString& size) {
    for (const bool pairs : {false, true}) {
      e.setComparing(pairs);
      w.settle();
      w.click(w.item("experimentRow0"));
      w.click(w.item("experimentKernel0"));
      expectWhole(w, (pairs ? "pairs of cells" : "cells") + size);
    }
  });
  e.openFiles({pathOf(before.path), pathOf(after.path)});
  settle();
  atEverySize(w, [&](const QString& size) { expectWhole(w, "two experiments" + size); });
}
