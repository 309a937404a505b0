// Decisions on the screen: the reason of a step, the price, a bar for each alternative, marks in the list.
#include "tests/viz/window_support.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

std::vector<QQuickItem*> all(QQuickItem* root, const QString& name) {
  std::vector<QQuickItem*> out;
  if (root->objectName() == name && root->isVisible()) out.push_back(root);
  for (QQuickItem* child : root->childItems())
    for (QQuickItem* found : all(child, name)) out.push_back(found);
  return out;
}

QString text(QQuickItem* item) {
  return item->property("text").toString();
}

} // namespace

TEST_CASE("decisions: a step shows its reason, its price and a bar for each alternative") {
  Window w(decidedTrace());
  REQUIRE(w.session.follow("kernel=r_4&pass=tile&step=1"));
  w.settle();
  CHECK(text(w.item("decisionReason")) == "a product is cheaper");
  CHECK(text(w.item("decisionPrice")).contains("cycles"));
  const auto bars = all(w.window->contentItem(), "decisionPart");
  REQUIRE(bars.size() == 3);
  CHECK(bars[0]->width() == doctest::Approx(bars[1]->width() / 2).epsilon(0.02));
  CHECK(bars[2]->width() > bars[0]->width());
  // A step without a decision has no such part, and no mark.
  CHECK(all(w.item("stepList"), "decidedMark").size() == 1);
  w.key(Qt::Key_Right);
  CHECK(all(w.window->contentItem(), "decisionReason").empty());
}

TEST_CASE("decisions: E goes to the next one, over passes that decide nothing, Shift E back") {
  Window w(decidedTrace());
  REQUIRE(w.session.follow("kernel=r_4&pass=tile&step=0"));
  w.settle();
  w.key(Qt::Key_E);
  CHECK(w.session.step() == 1);
  w.key(Qt::Key_E);
  CHECK(w.session.passName() == "cut");
  CHECK(text(w.item("decisionReason")) == "the loop stands alone");
  w.key(Qt::Key_E);
  CHECK(w.session.passName() == "cut");
  CHECK(w.session.notice().contains("Nothing else was decided"));
  w.key(Qt::Key_E, Qt::ShiftModifier);
  CHECK(w.session.passName() == "tile");
}
