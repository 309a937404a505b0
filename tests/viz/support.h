// Shared by the tests of the window: an application without a screen, waiting with the event loop running,
// and traces of real compilations, recorded once per run.
//
//   Session s;  s.open(matmulTrace());  REQUIRE(waitFor([&] { return s.settled(); }));
#pragma once
#include "engine/runtime/device.h"
#include "engine/tensor/tensor.h"
#include "replay/read/opening.h"
#include "replay/record/session.h"
#include "replay/schema/database_watch.h"
#include "tests/replay/support.h"
#include "viz/models/session/session.h"

#include <doctest/doctest.h>

#include <QElapsedTimer>
#include <QGuiApplication>
#include <QQuickStyle>
#include <QQuickWindow>
#include <QSettings>
#include <QStandardPaths>
#include <QString>
#include <QTemporaryDir>
#include <optional>

namespace uopscope::test {

/// The place of the application; CloseApplication ends it before the program's statics are destroyed.
inline std::optional<QGuiApplication>& applicationSlot() {
  static std::optional<QGuiApplication> slot;
  return slot;
}

/// Ends the shared application after the last test, since Qt does not survive a destruction with the statics.
/// It is registered once, however many test files include this.
struct CloseApplication : doctest::IReporter {
  explicit CloseApplication(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override { applicationSlot().reset(); }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
DOCTEST_REGISTER_LISTENER("close-application", 1, CloseApplication);

inline QGuiApplication& application() {
  static int argc = 1;
  static char name[] = "viz_tests";
  static char* argv[] = {name, nullptr};
  static const bool prepared = [] {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QStandardPaths::setTestModeEnabled(true);
    // No test reads or changes a person's settings.
    static const QTemporaryDir settings;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    QQuickWindow::setGraphicsApi(QSGRendererInterface::Software);
    QQuickStyle::setStyle(QStringLiteral("Basic"));
    return true;
  }();
  (void)prepared;
  auto& slot = applicationSlot();
  if (!slot) slot.emplace(argc, argv);
  return *slot;
}

template <typename Condition>
bool waitFor(Condition condition, int ms = 20000) {
  QElapsedTimer clock;
  clock.start();
  while (!condition()) {
    if (clock.elapsed() > ms) return false;
    const DatabaseWatch watch; // the window's thread reads no file
    QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  }
  return true;
}

/// A reader of the trace that is open, for the tests themselves; the next call replaces it.
inline Trace& readerOf(const Session& session) {
  static std::unique_ptr<Trace> reader;
  reader = std::make_unique<Trace>(session.trace()->facts().path);
  return *reader;
}

/// Records tensors that `program` makes with the options it is given: those of `device`. Returns the path of the trace.
template <typename Program>
QString recordTensors(const TempTrace& file, const char* device, Program program) {
  SessionOptions options;
  options.path = file.path;
  options.script = "compiled.py";
  options.handleSignals = false;
  RecordingSession session(options);
  TensorOptions on;
  on.device = device;
  program(on);
  return QString::fromStdString(file.path);
}

/// A matmul with relu and a softmax, compiled for the device that executes nothing.
inline QString compiledTrace() {
  static const TempTrace file;
  static const QString path = recordTensors(file, "NULL", [](const TensorOptions& on) {
    Tensor::empty({16, 16}, on).matmul(Tensor::empty({16, 16}, on)).relu().realize();
    Tensor::empty({4, 8}, on).softmax().realize();
  });
  return path;
}

/// One small kernel of integers on the CPU: a product and a sum by rules of their own.
inline QString productTrace() {
  static const TempTrace file;
  static const QString path = recordTensors(file, "CPU", [](const TensorOptions& cpu) {
    const Tensor a = Tensor::empty({96}, TensorOptions{cpu.device, dtypes::int32}).realize();
    (a * 8 + 1).realize();
  });
  return path;
}

/// A kernel of the CPU with a tile that has alternatives.
inline QString tiledTrace() {
  static const TempTrace file;
  static const QString path = recordTensors(file, "CPU", [](const TensorOptions& cpu) {
    const Tensor a = Tensor::empty({64, 48}, cpu).realize(), b = Tensor::empty({48, 256}, cpu).realize();
    a.matmul(b).relu().realize();
  });
  return path;
}

/// Passes over small expressions by the rules of tests/replay/support.h.
inline QString expressionTrace() {
  static const TempTrace file;
  static const bool recorded = [] {
    recordTo(file.path, [] {
      Pool pool;
      PoolScope scope(pool);
      ObservedScope script({.kind = ScopeKind::Script, .name = "expressions.py", .script = {}, .root = {}});
      ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r_4", .script = {}, .root = {}});
      const UOp r0 = UOp::range(4, 0), r1 = UOp::range(7, 1);
      const UOp sum = (r0 + 0) * 1 + (r1 + 2 + 3) + (r0 + 0) + (r1 * 0);
      const UOp root = UOp::sink(std::vector<UOp>{sum, (sum + sum) % r1});
      const UOp mid = graphRewrite(root, shrinking(), {.name = "shrink"});
      graphRewrite(mid, nesting(), {.name = "nest"});
      Observer::current()->onArtifact(
          {.kind = "source", .text = "void r_4(int* data0) {\n  data0[0] = 1; // one\n}\n"});
      Observer::current()->poolRetired(pool);
    });
    return true;
  }();
  (void)recorded;
  return QString::fromStdString(file.path);
}

/// Goes to the first step of the largest pass in the kernel with most steps, so that there is much to walk
/// through.
inline void goToFullest(Session& session) {
  const ScopeId scope = session.trace()->facts().openingScope;
  if (scope == 0) return;
  PassInfo most;
  for (const PassInfo& p : session.trace()->passes(scope))
    if (p.steps > most.steps) most = p;
  session.goToPass(scope, most.id);
}

/// A kernel of three passes, of which the first and the last decide by price.
inline QString decidedTrace() {
  static const TempTrace file;
  static const bool recorded = [] {
    recordTo(file.path, [] {
      Pool pool;
      PoolScope scope(pool);
      ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r_4", .script = {}, .root = {}});
      const UOp r0 = UOp::range(4, 0), r1 = UOp::range(7, 1);
      auto decide = [](const char* reason) {
        because([=] { return Decision{reason, 1.5, "cycles", {{"the sum", 3.0}, {"two loops", 1.8}}}; });
      };
      decide("a product is cheaper");
      graphRewrite(UOp::sink(std::vector<UOp>{r0 + r0, r1 * 1}), shrinking(), {.name = "tile"});
      graphRewrite(UOp::sink(std::vector<UOp>{r1 + 0}), shrinking(), {.name = "plain"});
      decide("the loop stands alone");
      graphRewrite(UOp::sink(std::vector<UOp>{r1 + r1}), shrinking(), {.name = "cut"});
    });
    return true;
  }();
  (void)recorded;
  return QString::fromStdString(file.path);
}

} // namespace uopscope::test
