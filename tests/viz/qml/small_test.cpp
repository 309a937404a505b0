// The small picture of a step: what it changes and its neighbourhood, readable without a key, with the map of
// the pass.
#include "tests/viz/window_support.h"

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
  Trace& trace = *s.w.session.trace();
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
        // What a step changes may be more than a screen holds; what is near it never is what makes it small.
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
  Trace& trace = *s.w.session.trace();
  bool tried = false;
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(scope.id))) {
      if (tried || pass.steps == 0) continue;
      s.w.session.goTo(pass.id, 1);
      s.w.settle();
      if (s.w.session.graph()->nodeCount() < 40) continue;
      tried = true;
      CHECK(s.w.canvas->zoom() >= 0.6);
      CHECK(s.w.session.graph()->elsewhere() > 0);
      CHECK(s.w.item("elsewhereChip")->isVisible());
      // Everything is one click away, and back.
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
  Trace& trace = *s.w.session.trace();
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
      // Its sources are drawn when asked for.
      const size_t before = s.picture().nodes.size();
      s.w.key(Qt::Key_U);
      CHECK(s.picture().nodes.size() != 0);
      s.w.key(Qt::Key_A);
      CHECK(s.picture().nodes.size() >= std::min<size_t>(before, 3));
      // A search is of everything.
      s.w.session.setStepAlone(true);
      s.w.settle();
      s.w.key(Qt::Key_Slash);
      CHECK_FALSE(s.w.session.stepAlone());
      return;
    }
}
