// Tests the drawing and its speed, without a window.
#include "tests/viz/support.h"
#include "viz/scene/picture_painter.h"

#include <doctest/doctest.h>

#include <QImage>
#include <random>

using namespace uopscope;
using namespace uopscope::test;

namespace {

PicturePtr grid(int n, Mark mark = Mark::Same) {
  auto p = std::make_shared<Picture>();
  std::mt19937 rng(1);
  for (int i = 0; i < n; ++i) {
    PictureNode node;
    node.id = i + 1;
    node.op = "ADD";
    node.detail = "r0*4+r1";
    node.dtype = "index";
    node.family = OpFamily::Arithmetic;
    node.mark = mark;
    measure(node);
    node.x = static_cast<float>(i % 100) * 160 + 100;
    const int row = i / 100; // a hundred in each
    node.y = static_cast<float>(row) * 110 + 60;
    p->nodes.push_back(node);
    for (int k = 0; k < 2 && i > 100; ++k)
      p->edges.push_back(
          {static_cast<uint32_t>(i - 100 + static_cast<int>(rng() % 60) - 30 < 0 ? 0 : i - 100),
           static_cast<uint32_t>(i),
           static_cast<uint32_t>(k),
           2,
           Mark::Same,
           false,
           {}});
  }
  p->index();
  return p;
}

QImage paint(const Picture& p, double scale, QSize size, bool dark = true) {
  QImage image(size, QImage::Format_RGB32);
  const Palette colours = palette(dark);
  image.fill(colours.canvas);
  QPainter painter(&image);
  painter.scale(scale, scale);
  paintPicture(painter, p, {colours, QRectF(0, 0, size.width() / scale, size.height() / scale), scale});
  return image;
}

int pixels(const QImage& image, const QColor& wanted, int slack = 40) {
  int n = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const QColor c = image.pixelColor(x, y);
      n += std::abs(c.red() - wanted.red()) + std::abs(c.green() - wanted.green()) +
               std::abs(c.blue() - wanted.blue()) <
           slack;
    }
  return n;
}

} // namespace

TEST_CASE("painter: marks show in their colours at every zoom, in both themes") {
  application();
  for (bool dark : {true, false})
    for (double scale : {1.0, 0.4, 0.15, 0.04}) {
      const Palette c = palette(dark);
      const QImage same = paint(*grid(300), scale, {600, 400}, dark);
      INFO("dark ", dark, " scale ", scale);
      CHECK(pixels(paint(*grid(300, Mark::Added), scale, {600, 400}, dark), c.added) > pixels(same, c.added));
      CHECK(pixels(paint(*grid(300, Mark::Removed), scale, {600, 400}, dark), c.removed) >
            pixels(same, c.removed));
      CHECK(pixels(paint(*grid(300, Mark::Changed), scale, {600, 400}, dark), c.changed) >
            pixels(same, c.changed));
    }
}

TEST_CASE("painter: a node is found where it is drawn") {
  application();
  const PicturePtr p = grid(300);
  for (const PictureNode& n : p->nodes)
    CHECK(p->nodes[static_cast<size_t>(nodeAt(*p, {n.x, n.y}))].id == n.id);
  CHECK(nodeAt(*p, {-50, -50}) == -1);
}

TEST_CASE("painter: ten thousand nodes in a frame") {
  application();
  const PicturePtr p = grid(10000);
  paint(*p, 0.08, {1300, 900});
  QElapsedTimer clock;
  clock.start();
  paint(*p, 0.08, {1300, 900});
  const double all = static_cast<double>(clock.nsecsElapsed()) / 1e6;
  clock.restart();
  paint(*p, 1.0, {1300, 900});
  const double near = static_cast<double>(clock.nsecsElapsed()) / 1e6;
  MESSAGE("10,000 nodes, 20,000 edges: ", all, " ms seen whole, ", near, " ms at full size");
  CHECK(all < 50 * 8); // 20 frames a second, with room for a busy machine
  CHECK(near < 50 * 8);
}

TEST_CASE("painter: a note on a number is drawn at the node whose label tells it") {
  application();
  Picture p;
  PictureNode node;
  node.id = 1;
  node.op = "ADD";
  node.folded.push_back({1, 77, "0.0"});
  measure(node);
  node.x = 100, node.y = 60;
  p.nodes.push_back(node);
  p.index();
  auto drawn = [&](const std::map<int64_t, QString>& notes) {
    QImage image(400, 160, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    paintEmphasis(painter, p, {-1, -1, {}, -1, notes}, {palette(true), QRectF(0, 0, 400, 160), 1, nullptr});
    return image;
  };
  const QImage fits = drawn({{1, "+ADD"}}), fails = drawn({{1, "+ADD"}, {77, "!1.0"}});
  CHECK(fits != fails);
  CHECK(drawn({{77, "!1.0"}}) == drawn({})); // no visible node reads it
}

TEST_CASE("painter: the frame of a selection leaves the word of a colour below the box alone") {
  application();
  Picture p;
  PictureNode node;
  node.id = 1;
  node.op = "ADD";
  measure(node);
  node.x = 100, node.y = 60;
  p.nodes.push_back(node);
  p.index();
  auto tinting = std::make_shared<Tinting>();
  tinting->of = {0};
  tinting->legend = {{"REDUCE", 1, 0}};
  const PaintOptions options{palette(true), QRectF(0, 0, 400, 160), 1, tinting};
  auto drawn = [&](bool word, bool selected) {
    PaintOptions o = options;
    if (!word) o.tinting = nullptr;
    QImage image(400, 160, QImage::Format_RGB32);
    image.fill(o.palette.canvas);
    QPainter painter(&image);
    paintPicture(painter, p, o);
    if (selected) paintEmphasis(painter, p, {-1, 1, {}, -1, {}}, o);
    return image.copy(0, static_cast<int>(nodeRect(node).bottom()) + 1, 400, 40);
  };
  const QImage with = drawn(true, false), without = drawn(false, false), chosen = drawn(true, true);
  int letters = 0, covered = 0;
  for (int y = 0; y < with.height(); ++y)
    for (int x = 0; x < with.width(); ++x)
      if (with.pixel(x, y) != without.pixel(x, y))
        ++letters, covered += chosen.pixel(x, y) != with.pixel(x, y);
  CHECK(letters > 40);
  CHECK(covered == 0);
}

TEST_CASE("painter: of a long edge the part in the view is drawn, and it looks the same") {
  Picture p;
  for (int i = 0; i < 2; ++i) {
    PictureNode node;
    node.id = i + 1;
    node.op = "ADD";
    measure(node);
    node.x = 100 + static_cast<float>(i) * 300;
    node.y = static_cast<float>(i) * 40'000;
    p.nodes.push_back(node);
  }
  p.edges.push_back({0, 1, 0, 1, Mark::Same, false, {}});
  p.index();
  const QRectF view(0, 20'000, 500, 400);
  const QPainterPath whole = edgePath(p, p.edges[0]), part = edgePath(p, p.edges[0], view);
  CHECK(whole.length() > 39'000);
  CHECK(part.length() < 600);
  CHECK(part.length() > 390);
  for (const double t : {0.1, 0.5, 0.9}) {
    const QPointF at = part.pointAtPercent(t);
    const auto same = whole.pointAtPercent(whole.percentAtLength(
        whole.length() * (at.y() - whole.boundingRect().top()) / whole.boundingRect().height()));
    CHECK(std::abs(same.x() - at.x()) < 3);
  }
  CHECK(edgePath(p, p.edges[0], QRectF(0, 50'000, 500, 400)).isEmpty());
}

TEST_CASE("painter: a laid-out edge runs at right angles, and only what may be seen of it is drawn") {
  for (const bool leftToRight : {false, true}) {
    CAPTURE(leftToRight);
    auto turned = [&](float x, float y) { return leftToRight ? LayoutPoint{y, x} : LayoutPoint{x, y}; };
    Picture p;
    p.leftToRight = leftToRight;
    for (int i = 0; i < 2; ++i) {
      PictureNode node;
      node.id = i + 1;
      node.op = "ADD";
      measure(node);
      const LayoutPoint at = turned(100 + static_cast<float>(i) * 900, static_cast<float>(i) * 40'000);
      node.x = at.x, node.y = at.y;
      p.nodes.push_back(node);
    }
    const std::vector<LayoutPoint> bends{turned(500, 200), turned(1000, 39'800)};
    p.edges.push_back({0, 1, 0, 1, Mark::Same, false, bends});
    p.index();
    auto along = [&](const QPointF& at) { return leftToRight ? at.y() : at.x(); };
    const QPainterPath whole = edgePath(p, p.edges[0]);
    CHECK(std::abs(along(whole.pointAtPercent(0.5)) - 500) < 0.01);
    CHECK(whole.length() > 40'500);
    const QRectF view = leftToRight ? QRectF(20'000, 300, 400, 500) : QRectF(300, 20'000, 500, 400);
    const QPainterPath part = edgePath(p, p.edges[0], view);
    CHECK(part.length() >= 400);
    CHECK(part.length() < 500);
    CHECK(std::abs(along(part.pointAtPercent(0.3)) - 500) < 0.01);
    CHECK(edgePath(p, p.edges[0], leftToRight ? QRectF(20'000, 700, 400, 500) : QRectF(700, 20'000, 500, 400))
              .isEmpty());
  }
}
