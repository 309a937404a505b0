// A selected node is shown in every pane and pass, lines of one operation have one colour in all panes, and no click
// leads to an empty canvas.
#include "tests/viz/window_support.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Visible items of a name anywhere below.
int shown(QQuickItem* root, const QString& name) {
  int count = root->objectName() == name && root->isVisible();
  for (QQuickItem* child : root->childItems()) count += shown(child, name);
  return count;
}

bool somethingInView(const GraphCanvas& canvas, const Picture& picture) {
  const QRectF pane(0, 0, canvas.width(), canvas.height());
  return std::ranges::any_of(
      picture.nodes, [&](const PictureNode& n) { return pane.intersects(canvas.nodeOnScreen(n.id)); });
}

/// The first node of the present graph that became instructions with lines.
qlonglong nodeOfProgram(Window& w) {
  w.session.setTab("links");
  REQUIRE(waitFor([&] { return w.tools.linked()->source()->count() > 0; }));
  w.session.setTab("graph");
  w.settle();
  for (const PictureNode& n : w.session.graph()->picture()->nodes) {
    w.session.setNode(n.id);
    w.settle();
    if (w.tools.linked()->source()->litCount() > 0) return n.id;
  }
  return -1;
}

} // namespace

TEST_CASE("everywhere: a node selected in the graph is lit in the code, the links and the tree") {
  Window w(compiledTrace());
  const qlonglong node = nodeOfProgram(w);
  REQUIRE(node >= 0);
  const LinkedPanes& linked = *w.tools.linked();
  CHECK(w.tools.linked()->uops()->litCount() > 0);
  CHECK(w.tools.linked()->source()->litCount() > 0);
  for (const auto& [key, modifiers] : {std::pair(Qt::Key_2, Qt::KeyboardModifiers(Qt::ControlModifier)),
                                       {Qt::Key_4, Qt::ControlModifier | Qt::AltModifier}}) {
    w.key(key, modifiers);
    REQUIRE(waitFor([&] { return w.session.code()->lineCount() > 0; }));
    w.settle();
    CHECK(w.session.node() == node);
    CHECK(shown(w.window->contentItem(), "selectionMark") > 0);
  }
  (void)linked;
  w.key(Qt::Key_1, Qt::ControlModifier);
  // The tree marks the passes in which the node is made, lives and is rewritten.
  CHECK(shown(w.window->contentItem(), "life") > 0);
  w.key(Qt::Key_Escape);
  CHECK(w.session.node() < 0);
  CHECK(shown(w.window->contentItem(), "life") == 0);
}

TEST_CASE("everywhere: operations of the script have a colour, and their UOps, kernel lines and assembly "
          "have the same") {
  const KeptTrace kept(6);
  Window w(kept.path);
  w.key(Qt::Key_3, Qt::ControlModifier);
  REQUIRE(waitFor([&] { return w.tools.linked()->source()->count() > 0; }));
  w.settle();
  LinkedPanes& linked = *w.tools.linked();
  const int operations = linked.tensors()->count();
  REQUIRE(operations > 0);
  auto coloured = [&](LinkedLines* lines) {
    int count = 0;
    for (const LinkedLines::Line& l : lines->lines()) {
      CHECK(l.colour < operations);
      if (l.colour >= 0) CHECK(l.of == linked.tensors()->lines()[static_cast<size_t>(l.colour)].text);
      count += l.colour >= 0;
    }
    return count;
  };
  CHECK(coloured(linked.tensors()) == operations);
  CHECK(coloured(linked.uops()) > 0);
  CHECK(coloured(linked.source()) > 0);
  CHECK(shown(w.window->contentItem(), "rainbow") > operations);
  // A line of the kernel has the colour of an instruction that it was made for.
  for (int row = 0; row < linked.source()->count(); ++row) {
    const int colour = linked.source()->lines()[static_cast<size_t>(row)].colour;
    if (colour < 0) continue;
    linked.select("source", row);
    bool found = false;
    for (int u = 0; u < linked.uops()->count(); ++u)
      found |= linked.uops()->lit(u) && linked.uops()->lines()[static_cast<size_t>(u)].colour == colour;
    CHECK(found);
  }
}

TEST_CASE("everywhere: no grouping, turn or step leaves the canvas empty") {
  Window w(compiledTrace());
  const Trace& trace = readerOf(w.session);
  const auto schedule = std::ranges::find(trace.scopes(), ScopeKind::Schedule, &ScopeInfo::kind);
  REQUIRE(schedule != trace.scopes().end());
  w.session.goToScope(schedule->id);
  w.settle();
  for (const bool alone : {true, false}) {
    w.session.setStepAlone(alone);
    w.settle();
    for (const char* by : {"kernel", "loop", "reduce", "tensor", "line", "layer", "nothing"}) {
      w.tools.graph()->setGroupBy(by);
      w.settle();
      CAPTURE(std::string(by));
      for (const Qt::Key k : {Qt::Key_Home, Qt::Key_R, Qt::Key_Home, Qt::Key_End, Qt::Key_R}) {
        w.key(k);
        CHECK(somethingInView(*w.canvas, *w.session.graph()->picture()));
      }
    }
  }
}

TEST_CASE(
    "everywhere: the curve of registers stands beside the lines of a kernel, its peak is marked and told") {
  Window w(compiledTrace());
  for (const char* tab : {"uops", "source"}) {
    CAPTURE(tab);
    w.session.setTab(tab);
    REQUIRE(waitFor([&] { return w.session.code()->registersMost() > 0; }));
    w.settle();
    CHECK(shown(w.window->contentItem(), "registerBar") > 0);
    const CodeModel& code = *w.session.code();
    int most = 0;
    for (int row = 0; row < code.lineCount(); ++row)
      most = std::max(most, code.data(code.index(row), CodeModel::AliveRole).toInt());
    CHECK(most == code.registersMost());
    const int peak = code.registersPeak();
    CHECK(code.data(code.index(peak - 1), CodeModel::AliveRole).toInt() == most);
    const QString who = code.registersAt(peak);
    CHECK(who.startsWith(QString("%1 of %2 registers").arg(most).arg(code.registersLimit())));
    CHECK(who.count('\n') >= 1);
    CHECK(code.registersText().contains(QString::number(most)));
  }
  w.session.setTab("script"); // a text without instructions
  w.settle();
  CHECK(shown(w.window->contentItem(), "registerBar") == 0);
}
