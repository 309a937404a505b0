// The passes of LLVM in the tab of the IR: opened by the mouse, walked by the keyboard, another kernel's when one goes there.
#include "tests/viz/window_support.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// A kernel of the CPU: others have no LLVM IR.
QString cpuTrace() {
  static const TempTrace file;
  static const QString path = recordTensors(file, "CPU", [](const TensorOptions& cpu) {
    Tensor::empty({4, 8}, cpu).realize().softmax().realize();
  });
  return path;
}

} // namespace

TEST_CASE("llvm: the passes that changed a kernel, and the difference of the chosen one") {
  Window w(cpuTrace());
  w.session.setTab("ir");
  w.settle();
  REQUIRE(w.session.code()->lineCount() > 0);
  w.click(w.item("llvmOpen"));
  LlvmPassesModel& passes = *w.tools.llvm();
  REQUIRE(waitFor([&] { return passes.count() > 1 && !passes.busy(); }));
  w.settle();
  CHECK(w.item("llvmPane")->isVisible());
  CHECK(passes.current() == 1);
  CHECK(!passes.meaning().isEmpty());
  CHECK(passes.lines()->rowCount() > 0);
  w.item("llvmList")->forceActiveFocus(Qt::TabFocusReason);
  w.key(Qt::Key_Home);
  w.key(Qt::Key_Return);
  CHECK(passes.current() == 0);
  w.key(Qt::Key_Down);
  w.key(Qt::Key_Down);
  w.key(Qt::Key_Return);
  CHECK(passes.current() == 2);
  w.click(w.item("llvmClose"));
  CHECK(!w.item("llvmPane")->isVisible());
}

TEST_CASE("llvm: its passes follow ours in the tree, by the mouse and by the keyboard") {
  Window w(cpuTrace());
  TraceTreeModel& tree = *w.session.tree();
  auto rowsOf = [&](const char* kind) {
    std::vector<int> rows;
    for (int k = 0; k < tree.rowCount(); ++k)
      if (tree.data(tree.index(k), TraceTreeModel::KindRole) == QLatin1String(kind)) rows.push_back(k);
    return rows;
  };
  REQUIRE(waitFor([&] { return rowsOf("llvm").size() == 1; })); // the open kernel's
  const int row = rowsOf("llvm").front();
  CHECK(tree.data(tree.index(row - 1), TraceTreeModel::KindRole) == "pass");
  CHECK_FALSE(tree.data(tree.index(row), TraceTreeModel::CurrentRole).toBool());
  const auto scope = w.session.scope();
  QMetaObject::invokeMethod(w.item("traceTree"), "taken", Q_ARG(int, row));
  w.settle();
  CHECK(w.session.tab() == "ir");
  CHECK(w.session.scope() == scope);
  REQUIRE(waitFor([&] { return w.tools.llvm()->count() > 1; }));
  CHECK(w.item("llvmPane")->isVisible());
  // A filter finds it, with its kernel above it.
  tree.setFilter("llvm");
  REQUIRE(waitFor([&] { return tree.rowCount() > 0 && rowsOf("pass").empty() && !rowsOf("llvm").empty(); }));
  CHECK(rowsOf("llvm").size() == rowsOf("kernel").size());
}

TEST_CASE("llvm: a schedule has no IR, and the pane says so") {
  Window w(cpuTrace());
  w.tools.llvm()->setOpen(true);
  w.session.setTab("ir");
  for (const ScopeInfo& s : w.session.trace()->scopes())
    if (s.kind == ScopeKind::Schedule) w.session.goToScope(s.id);
  w.session.setTab("ir");
  REQUIRE(waitFor([&] { return !w.tools.llvm()->problem().isEmpty(); }));
  CHECK(w.tools.llvm()->count() == 0);
  CHECK(w.tools.llvm()->problem().contains("no LLVM IR"));
}
