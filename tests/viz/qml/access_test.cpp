// Accessibility: every item that can be clicked or focused has a role and a name, the graph announces the
// selection, Tab reaches every pane, and the focus is visible.
#include "tests/replay/experiment/made_experiment.h"
#include "tests/viz/window_support.h"

#include <QAccessible>
#include <QQmlProperty>
#include <set>

using namespace uopscope;
using namespace uopscope::test;

namespace {

QString nameOf(QObject* object) {
  QAccessibleInterface* i = QAccessible::queryAccessibleInterface(object);
  return i && i->isValid() ? i->text(QAccessible::Name) : QString();
}

// The path of an item, to report it.
QString pathOf(QQuickItem* item) {
  QString path;
  for (QQuickItem* i = item; i && i->parentItem(); i = i->parentItem())
    path.prepend(QLatin1Char('/') + QString::fromLatin1(i->metaObject()->className()).section('_', 0, 0) +
                 (i->objectName().isEmpty() ? QString() : QLatin1Char('#') + i->objectName()));
  return path;
}

bool ignored(QQuickItem* item) {
  return QQmlProperty(item, QStringLiteral("Accessible.ignored"), qmlContext(item)).read().toBool();
}

// Visible items that take clicks or the keyboard.
void interactive(QQuickItem* item, std::vector<QQuickItem*>& out) {
  if (!item->isVisible() || !item->isEnabled()) return;
  const bool takesClicks = item->inherits("QQuickMouseArea") || item->inherits("QQuickAbstractButton");
  const bool takesKeys = item->activeFocusOnTab() || item->inherits("QQuickTextInput") ||
                         item->inherits("QQuickTextEdit") || item->inherits("GraphCanvas");
  if (takesClicks || takesKeys) out.push_back(item);
  for (QQuickItem* child : item->childItems()) interactive(child, out);
}

// A plain area is named by the item that it covers.
std::set<QString> unnamed(Window& w) {
  std::vector<QQuickItem*> items;
  interactive(w.window->contentItem(), items);
  std::set<QString> out;
  for (QQuickItem* item : items) {
    if (item->inherits("QQuickScrollBar") || ignored(item)) continue;
    const bool named = !nameOf(item).trimmed().isEmpty() ||
                       (item->inherits("QQuickMouseArea") && !nameOf(item->parentItem()).trimmed().isEmpty());
    if (!named) out.insert(pathOf(item));
  }
  return out;
}

// New rows get their names with the next turn of the event loop.
void checkNames(Window& w, const char* view) {
  waitFor([&] { return unnamed(w).empty(); }, 2000);
  for (const QString& path : unnamed(w)) FAIL_CHECK(view, ": ", path.toStdString(), " has no name");
}

// Walks the tree of a screen reader: every control has a name.
int walk(QAccessibleInterface* i, int depth = 0) {
  if (!i || !i->isValid() || depth > 60) return 0;
  int controls = 0;
  switch (i->role()) {
  case QAccessible::Button:
  case QAccessible::CheckBox:
  case QAccessible::RadioButton:
  case QAccessible::ComboBox:
  case QAccessible::EditableText:
  case QAccessible::PageTab:
  case QAccessible::ListItem:
  case QAccessible::TreeItem:
  case QAccessible::MenuItem:
  case QAccessible::List:
  case QAccessible::Table:
  case QAccessible::Graphic:
  case QAccessible::Chart:
  case QAccessible::Slider:
    ++controls;
    if (i->text(QAccessible::Name).trimmed().isEmpty() && !i->state().invisible)
      FAIL_CHECK(pathOf(qobject_cast<QQuickItem*>(i->object())).toStdString(), " has no name, role ",
                 i->role());
    break;
  default: break;
  }
  for (int k = 0; k < i->childCount(); ++k) controls += walk(i->child(k), depth + 1);
  return controls;
}

void checkView(Window& w, const char* view) {
  checkNames(w, view);
  CHECK(walk(QAccessible::queryAccessibleInterface(w.window)) > 4);
}

} // namespace

TEST_CASE("access: whatever can be clicked or focused has a name, in every view") {
  Window w(compiledTrace());
  QAccessible::setActive(true);
  w.session.setNode(w.session.graph()->picture()->nodes.back().id);
  w.settle();
  w.key(Qt::Key_L, Qt::ShiftModifier);
  w.key(Qt::Key_D, Qt::ControlModifier);
  for (const char* tab : {"graph", "source", "ir", "asm", "uops", "links", "script", "compare", "stats",
                          "profile", "timeline", "sql"}) {
    w.session.setTab(QLatin1String(tab));
    w.settle();
    checkView(w, tab);
  }
  w.tools.bookmarks()->remove(0);
  w.session.setTab("graph");
  w.key(Qt::Key_W);
  w.key(Qt::Key_G, Qt::ControlModifier);
  checkView(w, "why and a condition");
  for (const auto& [key, mods, name] : {std::tuple(Qt::Key_F1, Qt::KeyboardModifiers(), "sheet of keys"),
                                        {Qt::Key_P, Qt::ControlModifier, "palette"},
                                        {Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier, "link"}}) {
    w.key(key, mods);
    checkView(w, name);
    w.key(Qt::Key_Escape);
  }
}

TEST_CASE("access: the first page, an error, replays and experiments have names") {
  {
    Window w;
    QAccessible::setActive(true);
    checkView(w, "first page");
    w.key(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    checkView(w, "choice of replays");
    const MadeExperiment before, after;
    w.tools.experiment()->openFiles(
        {QString::fromStdString(before.path), QString::fromStdString(after.path)});
    REQUIRE(waitFor([&] { return w.tools.experiment()->settled(); }));
    w.settle();
    checkView(w, "two experiments");
  }
  Window w("/no/such.uoptrace");
  checkView(w, "error");
}

TEST_CASE("access: the graph tells what it shows and what is selected") {
  Window w(compiledTrace());
  QAccessible::setActive(true);
  QAccessibleInterface* graph = QAccessible::queryAccessibleInterface(w.canvas);
  REQUIRE(graph);
  const QString first = graph->text(QAccessible::Name);
  CHECK(first.contains(w.session.passName()));
  w.key(Qt::Key_Left);
  CHECK(graph->text(QAccessible::Name) != first);
  const QString nothing = graph->text(QAccessible::Description);
  const PictureNode n = w.session.graph()->picture()->nodes.back();
  w.session.setNode(n.id);
  w.settle();
  const QString selected = graph->text(QAccessible::Description);
  CHECK(selected != nothing);
  CHECK(selected.contains(QString::fromStdString(n.op)));
  w.key(Qt::Key_1);
  CHECK(graph->text(QAccessible::Description) != selected);
  w.session.setNode(-1);
  w.settle();
  CHECK(graph->text(QAccessible::Description) == nothing);
}

TEST_CASE("access: Tab goes round through every pane, each stop has a name and can be seen") {
  Window w(compiledTrace());
  QAccessible::setActive(true);
  std::set<QString> names;
  std::set<QQuickItem*> seen;
  w.canvas->forceActiveFocus();
  for (int k = 0; k < 120; ++k) {
    const QImage before = w.window->grabWindow();
    w.key(Qt::Key_Tab);
    QQuickItem* at = w.window->activeFocusItem();
    REQUIRE(at);
    names.insert(at->objectName());
    // In a list the present row has the focus.
    if (at->inherits("URow") || QString::fromLatin1(at->metaObject()->className()).startsWith("URow"))
      names.insert(at->parentItem()->parentItem()->objectName());
    const std::string where = pathOf(at).toStdString();
    CHECK_MESSAGE(at->isVisible(), where);
    CHECK_MESSAGE(!nameOf(at).isEmpty(), where);
    const QRect area = at->mapRectToScene(at->boundingRect()).toAlignedRect().adjusted(-4, -4, 4, 4) &
                       QRect(QPoint(0, 0), w.window->size());
    CHECK_MESSAGE(w.window->grabWindow().copy(area) != before.copy(area), where, ": focus cannot be seen");
    if (!seen.insert(at).second) break;
  }
  CHECK(w.window->activeFocusItem() != nullptr);
  for (const char* pane : {"canvas", "traceTree", "treeFilter", "stepList", "slider", "stepNumber",
                           "nextStep", "colourPicker", "play"})
    CHECK_MESSAGE(names.contains(QLatin1String(pane)), std::string(pane), " is not reached by Tab");
}

TEST_CASE("access: buttons, tabs, choices, menus and lists by the keyboard alone") {
  Window w(compiledTrace());
  auto focus = [&](const char* name) { w.item(name)->forceActiveFocus(Qt::TabFocusReason); };
  w.canvas->setFollow(false);
  w.canvas->zoomBy(1.7);
  w.settle();
  const QRectF view = w.canvas->viewRect();
  focus("nextStep");
  const qlonglong step = w.session.step();
  w.key(Qt::Key_Space);
  CHECK(w.session.step() == step + 1);
  w.key(Qt::Key_Return);
  CHECK(w.session.step() == step + 2);
  CHECK(w.canvas->viewRect().size() == view.size()); // Space went to the button, not to the graph
  focus("stepList");
  w.key(Qt::Key_Home);
  w.key(Qt::Key_Down);
  w.key(Qt::Key_Return);
  CHECK(w.session.step() == 2);
  const qlonglong pass = w.session.pass();
  focus("traceTree");
  w.key(Qt::Key_Up);
  CHECK(w.session.pass() == pass); // the key moved in the list, not in the trace
  w.key(Qt::Key_Return);
  w.key(Qt::Key_Escape);
  CHECK(w.window->activeFocusItem() == w.canvas);
  focus("colourPicker");
  w.key(Qt::Key_Return);
  CHECK(w.popupOpen("colourPickerMenu"));
  w.key(Qt::Key_Down);
  w.key(Qt::Key_Return);
  CHECK(w.session.graph()->colourBy() == "dtype");
  w.session.setTab("stats");
  w.session.stats()->setShow("applied"); // rows go by time, and Return finds a step of rules that have one
  w.settle();
  focus("statsTable");
  w.key(Qt::Key_Down);
  w.key(Qt::Key_Down);
  w.key(Qt::Key_Return);
  CHECK(w.session.tab() == "graph");
}
