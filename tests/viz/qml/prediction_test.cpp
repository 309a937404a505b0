// Predicted against measured time in Profile > Roofline: a dot a kernel, its tip with the parts, the filter, the order, and the
// way to the kernel.
#include "tests/viz/whole.h"

#include <QCursor>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Three kernels of the CPU that ran: a product, a sum of rows, an elementwise one.
QString launchedTrace() {
  static const TempTrace file;
  static const QString path = recordTensors(file, "CPU", [](const TensorOptions& cpu) {
    const Tensor a = Tensor::ones({64, 48}, cpu).contiguous().realize();
    const Tensor b = Tensor::ones({48, 256}, cpu).contiguous().realize();
    a.matmul(b).realize();
    a.sum(std::vector<int64_t>{1}).realize();
  });
  return path;
}

RooflineModel& roof(Window& w) {
  return *w.tools.roofline();
}

} // namespace

TEST_CASE("prediction: a dot for each kernel near the diagonal, a list with a filter and an order") {
  Window w(launchedTrace());
  w.window->resize(1200, 760);
  w.session.setTab("profile");
  w.click(w.item("profileMode-roofline"));
  REQUIRE(waitFor([&] { return !roof(w).busy() && roof(w).all() > 0; }, 60000));
  w.settle();
  CHECK(!w.item("predictionPlot")->isVisible());
  w.click(w.item("rooflineView-prediction"));
  CHECK(w.item("predictionPlot")->isVisible());
  CHECK(!w.item("rooflinePlot")->isVisible());
  CHECK(roof(w).errors().contains("edian error"));
  const int all = roof(w).count();
  REQUIRE(all >= 2);
  for (int row = 0; row < all; ++row) {
    const QModelIndex at = roof(w).index(row);
    CHECK(roof(w).data(at, RooflineModel::PredictedSecondsRole).toDouble() > 0);
    CHECK(roof(w).data(at, RooflineModel::PartsRole).toString().contains("launch"));
    const QQuickItem* dot = w.item(QStringLiteral("predictionDot%1").arg(row));
    CHECK(dot->isVisible());
    // Above the diagonal is predicted too long; both axes have one scale.
    const QQuickItem* plot = w.item("predictionPlot");
    const double x = dot->x() + dot->width() / 2, y = dot->y() + dot->height() / 2;
    CHECK(x > 0);
    CHECK(x < plot->width());
    CHECK(y > 0);
    CHECK(y < plot->height());
  }
  // A click chooses the row.
  w.click(w.item("predictionDot0"));
  CHECK(w.window->findChild<QObject*>("rooflinePane")->property("chosen").toInt() >= 0);

  // The order: by name, the other way round, by the ratio.
  auto name = [&](int row) { return roof(w).data(roof(w).index(row), RooflineModel::KernelRole).toString(); };
  w.click(w.item("rooflineHead-kernel"));
  CHECK(roof(w).sortColumn() == "kernel");
  CHECK(name(0) <= name(all - 1));
  w.click(w.item("rooflineHead-kernel"));
  CHECK(name(0) >= name(all - 1));
  w.click(w.item("rooflineHead-ratio"));
  auto ratio = [&](int row) {
    return std::abs(std::log(roof(w).data(roof(w).index(row), RooflineModel::RatioRole).toDouble()));
  };
  CHECK(ratio(0) >= ratio(all - 1));
  expectWhole(w, "the plot of predictions");

  // The filter: some, none, all again.
  const QString first = name(0);
  roof(w).setFilter(first.toUpper());
  w.settle();
  CHECK(roof(w).count() >= 1);
  CHECK(name(0) == first);
  roof(w).setFilter("no kernel of this name");
  w.settle();
  CHECK(roof(w).count() == 0);
  CHECK(w.item("rooflineNone")->isVisible());
  roof(w).setFilter({});
  w.settle();
  CHECK(roof(w).count() == all);

  roof(w).follow(0);
  w.settle();
  CHECK(w.session.tab() == "source");
  CHECK(w.session.scope() == roof(w).data(roof(w).index(0), RooflineModel::ScopeRole).toLongLong());
}
