// Numbers on the nodes, by mouse and keyboard: a loop's iteration, an input, the list before and after, a wrong rule in red.
#include "engine/codegen/kernel_passes.h"
#include "engine/rules/user_rules.h"
#include "tests/viz/window_support.h"

#include <QImage>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// A sum over rows, whose loops stay.
QString sumTrace() {
  static const TempTrace file;
  static const QString path = recordTensors(file, "CPU", [](const TensorOptions& cpu) {
    const Tensor a = Tensor::empty({40, 300}, cpu).realize();
    (a.sum(std::vector<int64_t>{1}) * 3).realize();
  });
  return path;
}

/// The same with a rule that turns x * 3 into x.
QString wrongTrace() {
  static const TempTrace file;
  static const QString path = recordTensors(file, "CPU", [](const TensorOptions& cpu) {
    PatNode root;
    root.ops.add(Op::MUL);
    const auto rule =
        std::make_shared<const Rule>("drop-three", "wrong.cpp", 1, "x * 3 -> x", std::vector{root},
                                     std::vector<std::string>(), [](Match& m) -> UOp {
                                       const UOp u = m.root();
                                       return u.dtype().isFloat() && u.src(1).isConst() ? u.src(0) : UOp();
                                     });
    const UserRules added("initial symbolic", kernelPassNames(), PatternMatcher(std::vector{rule}));
    const Tensor a = Tensor::empty({8, 5}, cpu).realize();
    (a * 3).realize();
  });
  return path;
}

void toKernel(Window& w, const char* pass) {
  for (const ScopeInfo& s : w.session.trace()->scopes())
    if (s.kind == ScopeKind::Kernel)
      for (const PassInfo& p : w.session.trace()->passes(s.id))
        if (p.name == pass) w.session.goTo(p.id, p.steps > 0 ? 1 : 0);
  w.settle();
}

bool hasNumber(Window& w, const QString& text) {
  return std::ranges::any_of(w.session.graph()->numbers(),
                             [&](const auto& n) { return n.second.text == text; });
}

} // namespace

TEST_CASE("values: a key puts numbers on the nodes, fields choose an iteration and an input") {
  Window w(sumTrace());
  toKernel(w, "initial symbolic");
  CHECK(w.session.graph()->numbers().empty());
  CHECK_FALSE(w.item("graphValues")->isVisible());
  const QImage plain = w.window->grabWindow();
  w.key(Qt::Key_Y);
  REQUIRE(waitFor([&] { return !w.session.graph()->numbers().empty(); }));
  w.settle();
  CHECK(w.item("graphValues")->isVisible());
  CHECK(w.window->grabWindow() != plain);
  CHECK(w.tools.values()->differing() == 0);
  w.click(w.item("valueInput-data1"));
  w.type("2");
  w.key(Qt::Key_Return);
  REQUIRE(waitFor([&] { return hasNumber(w, "600"); })); // the sum of a row
  CHECK(hasNumber(w, "data0[0] = 1800"));
  w.click(w.item("valueLoop-r0"));
  w.key(Qt::Key_A, Qt::ControlModifier);
  w.type("3");
  w.key(Qt::Key_Return);
  REQUIRE(waitFor([&] { return hasNumber(w, "data0[3] = 1800"); }));
  // The iteration stays for the next graph that has the loop.
  w.session.trigger("next-pass");
  w.settle();
  REQUIRE(waitFor([&] { return !w.tools.values()->busy(); }));
  bool kept = false;
  for (const QVariant& l : w.tools.values()->loops())
    kept = kept || (l.toMap()["name"] == "r0" && l.toMap()["at"] == 3);
  CHECK(kept);
  for (const QVariant& l : w.tools.values()->loops()) // the bar names them as the boxes beside it do
    if (l.toMap()["name"] == "r0") CHECK(l.toMap()["shown"] == "L0");
  w.click(w.item("toggleNumbers"));
  CHECK(w.session.graph()->numbers().empty());
}

TEST_CASE("values: the list has every node before and after, and leads to it") {
  Window w(sumTrace());
  toKernel(w, "devectorize");
  w.session.trigger("tab-values");
  w.settle();
  REQUIRE(waitFor([&] { return !w.tools.values()->busy() && w.tools.values()->count() > 3; }));
  CHECK(w.item("valuesPane")->isVisible());
  CHECK(w.tools.values()->differing() == 0);
  REQUIRE(waitFor([&] { return !w.tools.values()->ways().isEmpty(); }));
  CHECK(w.tools.values()->ways()[0].toMap()["element"] == "data0[0]");
  CHECK(w.tools.values()->ways()[0].toMap()["wrongPass"].toLongLong() == 0);
  w.tools.values()->goToNode(1);
  w.settle();
  CHECK(w.session.tab() == "graph");
  CHECK(w.session.node() > 0);
  w.tools.values()->setInput("data1", "many");
  CHECK(w.tools.values()->problem().contains("many is no number"));
}

TEST_CASE("values: a number that a rewrite changes is red, and what the kernel stores leads to the step") {
  Window w(wrongTrace());
  toKernel(w, "after initial symbolic");
  w.session.trigger("tab-values");
  w.settle();
  w.tools.values()->setInput("data1", "2");
  REQUIRE(waitFor([&] { return w.tools.values()->differing() > 0; }));
  CHECK(waitFor([&] { return w.item("valuesVerdict")->property("text").toString().contains("differ"); }));
  w.click(w.item("valuesOnly"));
  CHECK(w.tools.values()->count() == w.tools.values()->differing());
  REQUIRE(waitFor([&] { return !w.tools.values()->ways().isEmpty(); }));
  CHECK(w.tools.values()->ways()[0].toMap()["wrongStep"].toLongLong() == 1);
  w.click(w.item("valuesOn"));
  w.session.trigger("tab-graph");
  w.settle();
  CHECK(std::ranges::any_of(w.session.graph()->numbers(), [](const auto& n) { return n.second.wrong; }));
  CHECK(w.item("differChip")->isVisible());
}
