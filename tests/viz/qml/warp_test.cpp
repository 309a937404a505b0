// The threads of a warp over the linear program: opened by the mouse, walked by mouse and keyboard; a kernel of a processor
// has none and says so.
#include "tests/viz/window_support.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

QString traceOn(const char* device) {
  static std::map<std::string, TempTrace> files;
  static std::map<std::string, QString> paths; // a kernel is compiled once in a process
  QString& path = paths[device];
  if (path.isEmpty())
    path = recordTensors(files[device], device, [](const TensorOptions& of) {
      Tensor::arange(320, of).cast(dtypes::float32).reshape({40, 8}).realize().sum(Ints{1}).realize();
    });
  return path;
}

void openWarp(Window& w) {
  w.session.setTab("uops");
  w.settle();
  REQUIRE(w.session.code()->lineCount() > 0);
  w.click(w.item("warpOpen"));
  REQUIRE(waitFor([&] { return !w.tools.warp()->busy(); }));
  w.settle();
}

} // namespace

TEST_CASE("warp: its threads step through a kernel, by the mouse and by the keyboard") {
  Window w(traceOn("REF:GPU"));
  openWarp(w);
  WarpModel& warp = *w.tools.warp();
  CHECK(w.item("warpPane")->isVisible());
  REQUIRE_MESSAGE(warp.stepCount() > 3, warp.problem().toStdString());
  CHECK(warp.rowCount() == w.session.code()->lineCount());
  CHECK(warp.step() == 0);
  w.click(w.item("warpNext"));
  CHECK(warp.step() == 1);
  w.item("warpList")->forceActiveFocus(Qt::TabFocusReason);
  w.key(Qt::Key_Right);
  CHECK(warp.step() == 2);
  w.key(Qt::Key_Left);
  CHECK(warp.step() == 1);
  w.click(w.item("warpFirst"));
  CHECK(warp.step() == 0);

  int load = 0; // an access shows what it touches, and each thread its value
  while (load < warp.stepCount() && warp.touched().isEmpty()) warp.setStep(++load);
  REQUIRE(load < warp.stepCount());
  CHECK(warp.summary().contains("sectors of 32 bytes"));
  const QVariantList cells = warp.touched()["cells"].toList(), lanes = warp.lanes();
  CHECK(!cells.isEmpty());
  CHECK(lanes.size() == warp.threads());
  w.settle();
  CHECK(w.item("warpTouched")->isVisible());
  CHECK(w.item("warpTouched")->height() > 0);

  const int row = warp.row();
  warp.goToRow(row); // the next execution of the same line, or this one again
  CHECK(warp.row() == row);
  warp.select(row);
  CHECK(w.session.node() >= 0);
  w.click(w.item("warpClose"));
  CHECK(!w.item("warpPane")->isVisible());
}

TEST_CASE(
    "warp: while another group runs, the threads of the one before stay, and another trace begins anew") {
  Window w(traceOn("REF:GPU"));
  openWarp(w);
  WarpModel& warp = *w.tools.warp();
  REQUIRE(warp.groups() > 1);
  warp.setGroup(1);
  CHECK(warp.lanes().size() == warp.threads()); // the run is still the first group's
  REQUIRE(waitFor([&] { return !warp.busy(); }));
  CHECK(warp.group() == 1);
  CHECK(warp.stepCount() > 0);
  w.session.open(traceOn("CPU"));
  REQUIRE(waitFor([&] { return !warp.busy() && !warp.problem().isEmpty(); }));
  CHECK(warp.threads() == 0);
  CHECK(warp.group() == 0);
}

TEST_CASE("warp: a kernel of a processor has no threads, and the pane says how to get them") {
  Window w(traceOn("CPU"));
  openWarp(w);
  WarpModel& warp = *w.tools.warp();
  CHECK(warp.stepCount() == 0);
  CHECK(warp.problem().contains("DEV=REF:GPU"));
  CHECK(w.item("warpProblem")->isVisible());
}
