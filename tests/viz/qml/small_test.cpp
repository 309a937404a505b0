// The small picture of a step: its changes and their neighbourhood, readable without a key, with the map of
// the pass.
#include "tests/viz/window_support.h"
#include "viz/pictures/labels.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// The pass of most steps of the matmul, at a step that changes something.
struct Small {
  Window w{compiledTrace()};
  Small() {
    w.window->resize(1440, 900);
    w.session.setStepAlone(true);
    w.settle();
  }
  const Picture& picture() { return *w.session.graph()->picture(); }
};

} // namespace

TEST_CASE("small: every step of every pass is readable at 1440x900, with what it changes in view") {
  Small s;
  Trace& trace = readerOf(s.w.session);
  int passes = 0, stepsSeen = 0;
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(scope.id))) {
      if (pass.steps == 0) continue;
      ++passes;
      for (const int64_t step : {int64_t{1}, pass.steps / 2, pass.steps}) {
        if (step < 1) continue;
        s.w.session.goTo(pass.id, step);
        s.w.settle();
        CAPTURE(pass.name);
        CAPTURE(step);
        const Picture& p = s.picture();
        ++stepsSeen;
        // The changes of a step may exceed the screen; their neighbourhood never makes them smaller.
        const size_t changed = static_cast<size_t>(std::ranges::count_if(
            p.nodes, [](const PictureNode& n) { return n.mark == Mark::Added || n.mark == Mark::Removed; }));
        if (changed <= 9) CHECK(s.w.canvas->zoom() >= 0.6);
        bool inView = changed == 0;
        for (const PictureNode& n : p.nodes)
          if (n.mark == Mark::Added || n.mark == Mark::Removed)
            inView |= s.w.canvas->boundingRect().intersects(s.w.canvas->nodeOnScreen(n.id));
        CHECK(inView);
      }
    }
  CHECK(passes > 10);
  MESSAGE(stepsSeen, " steps of ", passes, " passes");
}

TEST_CASE("small: a graph of 62 nodes is readable without a key") {
  Small s;
  Trace& trace = readerOf(s.w.session);
  bool tried = false;
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(scope.id))) {
      if (tried || pass.steps == 0) continue;
      s.w.session.goTo(pass.id, 1);
      s.w.settle();
      if (s.w.session.graph()->nodeCount() < 40) continue;
      tried = true;
      CHECK(s.w.canvas->zoom() >= 0.6);
      if (s.w.session.graph()->elsewhere() == 0) {
        // The graph fits whole: every node is drawn, or in a label, or one of lanes.
        const Picture& p = s.picture();
        CHECK(p.nodes.size() - p.removed - p.groups + p.groupedNodes + p.foldedExpressions >= p.graphNodes);
        tried = false;
        continue;
      }
      CHECK(s.w.item("elsewhereChip")->isVisible());
      // The whole graph is one click away, and so is the way back.
      s.w.click(s.w.item("elsewhereChip"));
      CHECK_FALSE(s.w.session.stepAlone());
      CHECK(s.w.session.graph()->elsewhere() == 0);
      s.w.click(s.w.item("wholeChip"));
      CHECK(s.w.session.stepAlone());
      s.w.key(Qt::Key_Z);
      CHECK_FALSE(s.w.session.stepAlone());
      s.w.key(Qt::Key_Z);
      // The map shows the pass; a click on it goes there in the layout of the whole pass.
      QQuickItem* map = s.w.item("map");
      REQUIRE(map->isVisible());
      REQUIRE(s.picture().map);
      CHECK(s.picture().map->nodes.size() > s.picture().nodes.size());
      s.w.click(map);
      CHECK_FALSE(s.w.session.stepAlone());
    }
  CHECK(tried);
}

TEST_CASE("small: what is selected stays in the picture, what is asked for comes into it") {
  Small s;
  Trace& trace = readerOf(s.w.session);
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(scope.id))) {
      if (pass.steps < 3) continue;
      s.w.session.goTo(pass.id, 1);
      s.w.settle();
      if (s.w.session.graph()->elsewhere() < 3) continue;
      int64_t away = -1;
      for (const PictureNode& n : s.picture().map->nodes)
        if (!s.picture().find(n.id)) away = n.id;
      REQUIRE(away > 0);
      s.w.session.setNode(away);
      s.w.settle();
      CHECK(s.w.session.node() == away);
      CHECK(s.picture().find(away));
      s.w.key(Qt::Key_Right);
      if (s.w.session.node() >= 0) CHECK(s.picture().find(s.w.session.node()));
      // Its sources are drawn on demand.
      const size_t before = s.picture().nodes.size();
      s.w.key(Qt::Key_U);
      CHECK(s.picture().nodes.size() != 0);
      s.w.key(Qt::Key_A);
      CHECK(s.picture().nodes.size() >= std::min<size_t>(before, 3));
      // A search covers the whole pass.
      s.w.session.setStepAlone(true);
      s.w.settle();
      s.w.key(Qt::Key_Slash);
      CHECK_FALSE(s.w.session.stepAlone());
      return;
    }
}

TEST_CASE("small: steps of one block are seen from one place; what stays moves to its next one") {
  Small s;
  Trace& trace = readerOf(s.w.session);
  int shared = 0, moved = 0;
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(scope.id))) {
      if (pass.steps < 4) continue;
      s.w.session.goTo(pass.id, 1);
      s.w.settle();
      for (int64_t k = 2; k <= std::min<int64_t>(pass.steps, 12); ++k) {
        const PicturePtr before = s.w.session.graph()->picture();
        const double zoom = s.w.canvas->zoom();
        std::map<uint32_t, QPointF> at;
        for (const PictureNode& n : before->nodes)
          if (n.slot != UINT32_MAX && n.mark != Mark::Removed)
            at[n.slot] = s.w.canvas->nodeOnScreen(n.id).center();
        s.w.key(Qt::Key_Right);
        const PicturePtr now = s.w.session.graph()->picture();
        if (now->layout != before->layout) {
          ++moved;
          continue;
        }
        ++shared;
        CHECK(s.w.canvas->zoom() == zoom);
        for (const PictureNode& n : now->nodes)
          if (const auto was = at.find(n.slot); was != at.end() && n.mark != Mark::Removed)
            CHECK((s.w.canvas->nodeOnScreen(n.id).center() - was->second).manhattanLength() < 1);
      }
    }
  CHECK(shared > 10);
  MESSAGE(shared, " steps moved nothing, ", moved, " were laid out anew");
}

TEST_CASE("small: what stays glides to its next place, and comes to stand where it stands without moving") {
  Small s;
  Trace& trace = readerOf(s.w.session);
  auto seen = [&] {
    return s.w.window->grabWindow().copy(
        QRect(s.w.canvas->mapToScene({0, 0}).toPoint(), s.w.canvas->size().toSize()));
  };
  auto stay = [](const Picture& a, const Picture& b) {
    return std::ranges::count_if(b.nodes, [&](const PictureNode& n) { return a.find(n.id) != nullptr; });
  };
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(scope.id)))
      for (int64_t step = 2; step <= std::min<int64_t>(pass.steps, 12); ++step) {
        s.w.session.goTo(pass.id, step - 1);
        s.w.settle();
        const PicturePtr before = s.w.session.graph()->picture();
        s.w.key(Qt::Key_Right);
        const PicturePtr now = s.w.session.graph()->picture();
        if (now->layout == before->layout || stay(*before, *now) < 3) continue;
        const QImage there = seen();
        s.w.key(Qt::Key_Left);
        s.w.theme.setAnimated(true);
        QTest::keyClick(s.w.window, Qt::Key_Right);
        REQUIRE(waitFor([&] { return s.w.session.graph()->picture()->step == step; }));
        std::vector<QImage> frames;
        QElapsedTimer clock;
        clock.start();
        while (!s.w.canvas->settled() && clock.elapsed() < 5000) {
          QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
          if (const QImage frame = seen(); frames.empty() || frame != frames.back()) frames.push_back(frame);
        }
        s.w.settle();
        CHECK(clock.elapsed() < 5000);
        CHECK(std::ranges::any_of(frames, [&](const QImage& f) { return f != there; }));
        CHECK(seen() == there);
        s.w.theme.setAnimated(false);
        return;
      }
  FAIL("no step is laid out anew with three nodes that stay");
}

TEST_CASE("small: a step changes nothing of the theme, on which all of the window depends") {
  Small s;
  s.w.theme.setAnimated(true);
  s.w.settle();
  int changes = 0;
  QObject::connect(&s.w.theme, &Theme::changed, s.w.window, [&] { ++changes; });
  for (const Qt::Key k :
       {Qt::Key_Right, Qt::Key_Right, Qt::Key_Down, Qt::Key_Right, Qt::Key_BracketRight, Qt::Key_Z})
    s.w.key(k);
  CHECK(changes == 0);
  s.w.theme.setAnimated(false);
}

TEST_CASE("small: a step looks the same however one came to it") {
  Small s;
  Trace& trace = readerOf(s.w.session);
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(scope.id))) {
      if (pass.steps < 20) continue;
      auto places = [&] {
        std::map<int64_t, std::pair<float, float>> out;
        for (const PictureNode& n : s.picture().nodes) out[n.id] = {n.x, n.y};
        return out;
      };
      s.w.session.goTo(pass.id, 10);
      s.w.settle();
      const auto first = places();
      s.w.session.goTo(pass.id, 20);
      s.w.settle();
      for (int k = 0; k < 10; ++k) s.w.key(Qt::Key_Left);
      CHECK(places() == first);
      return;
    }
}

TEST_CASE("small: lanes are one box that a double click opens") {
  Small s;
  Trace& trace = readerOf(s.w.session);
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(scope.id)))
      for (int64_t step = 1; step <= pass.steps; step += 7) {
        s.w.session.goTo(pass.id, step);
        s.w.settle();
        const PictureNode* lanes = nullptr;
        for (const PictureNode& n : s.picture().nodes)
          if (n.members >= 4) lanes = &n;
        if (!lanes) continue;
        CHECK(lanes->op.find("×" + std::to_string(lanes->members)) != std::string::npos);
        CHECK(s.w.item("groupChip")->isVisible());
        const size_t before = s.picture().nodes.size();
        const auto members = static_cast<size_t>(lanes->members);
        const QPoint at = s.w.canvas->mapToScene(s.w.canvas->nodeOnScreen(lanes->id).center()).toPoint();
        QTest::mouseDClick(s.w.window, Qt::LeftButton, {}, at);
        s.w.settle();
        CHECK(s.picture().nodes.size() + 1 >= std::min(before, members));
        size_t groups = 0;
        for (const PictureNode& n : s.picture().nodes) groups += n.members == members;
        CHECK(groups <= 1);
        s.w.key(Qt::Key_A); // and into one box again
        return;
      }
  FAIL("no lanes anywhere");
}

TEST_CASE("small: wires that run together are one with a count") {
  Picture p;
  for (int i = 0; i < 3; ++i) {
    PictureNode n;
    n.id = i + 1, n.op = "ADD";
    measure(n);
    p.nodes.push_back(n);
  }
  for (uint32_t port = 0; port < 16; ++port) p.edges.push_back({0, 2, port, 18, Mark::Same, false, {}});
  p.edges.push_back({1, 2, 16, 18, Mark::Same, false, {}});
  p.edges.push_back({1, 2, 17, 18, Mark::Same, false, {}});
  joinWires(p);
  REQUIRE(p.edges.size() == 3);
  CHECK(p.edges[0].times == 16);
  CHECK(p.edges[1].times == 1);
  CHECK(p.edges[1].number == 16); // its place among the sources is still shown
  CHECK(p.edges[2].ports == 3);

  std::vector<FoldedSource> same, steps;
  for (uint32_t i = 0; i < 16; ++i)
    same.push_back({i, 7, "0.0"}), steps.push_back({i, i, std::to_string(i * 4)});
  joinFolded(same);
  REQUIRE(same.size() == 1);
  CHECK(same[0].ports() == "0–15");
  joinFolded(steps);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].text == "0, 4 … 60");
}
