// Reports the work of the compiler and the devices to a Python object while a script asks for it
// (TRACK_MATCH_STATS=2, PROFILE=1); uopscope/tracked.py stores it. A node is reported as the number of an
// entry (operation, dtype, numbers of sources, argument, tag), so the records hold neither nodes nor memory.
//
//   _uopscope.track(listener, rewrites=True)     # until _uopscope.track(None)
//   _uopscope.track(listener, memory=True)       # and memory is given back as soon as nothing reaches it
#include "engine/python/bind_tracking.h"

#include "engine/python/bindings.h"
#include "engine/rewrite/forwarding_observer.h"
#include "engine/rewrite/rule.h"
#include "engine/runtime/kernel_report.h"
#include "engine/tensor/tensor_memory.h"

#include <optional>

namespace uopscope {

namespace {

py::tuple placeOf(const SourceLocation& at) {
  return py::make_tuple(std::string(at.file), at.line);
}

class Tracker final : public ForwardingObserver {
public:
  Tracker(Observer& inner, py::object listener, bool rewrites)
      : ForwardingObserver(inner), listener_(std::move(listener)), rewrites_(rewrites) {}

  bool wantsRewrites() const override { return rewrites_ || inner().wantsRewrites(); }

  void onScopeBegin(const ScopeBegin& begin) override {
    ForwardingObserver::onScopeBegin(begin);
    if (rewrites_)
      tell("scope_begin",
           begin.kind == ScopeKind::Kernel     ? "kernel"
           : begin.kind == ScopeKind::Schedule ? "schedule"
                                               : "other",
           std::string(begin.name));
  }
  void onScopeEnd() override {
    ForwardingObserver::onScopeEnd();
    if (rewrites_) tell("scope_end");
  }
  void onArtifact(const Artifact& artifact) override {
    ForwardingObserver::onArtifact(artifact);
    if (rewrites_ && artifact.kind == "name") tell("kernel_named", std::string(artifact.text));
  }
  void onPassBegin(const PassBegin& begin) override {
    ForwardingObserver::onPassBegin(begin);
    if (rewrites_)
      tell("pass_begin", std::string(begin.name), placeOf(begin.at), number(begin.root), !!begin.bottomUp);
  }
  void onPassEnd(const PassEnd& end) override {
    ForwardingObserver::onPassEnd(end);
    if (rewrites_)
      tell("pass_end", end.root ? number(end.root) : py::none(),
           end.outcome == PassOutcome::Failed ? py::object(py::str(std::string(end.message))) : py::none());
  }
  Control onRewrite(const RewriteEvent& event) override {
    Control answer = ForwardingObserver::onRewrite(event);
    if (rewrites_ && answer != Control::Skip)
      tell("rewrite", number(event.before), number(event.after), ruleOf(*event.rule),
           static_cast<double>(event.ns) * 1e-9);
    return answer;
  }
  void onRuleError(const Rule& rule, UOp before, std::string_view message) override {
    ForwardingObserver::onRuleError(rule, before, message);
    if (rewrites_) tell("rule_error", number(before), ruleOf(rule), std::string(message));
  }
  void onBuffer(const BufferEvent& b) override {
    ForwardingObserver::onBuffer(b);
    if (b.base == 0) tell("buffer", b.id, std::string(b.device), std::string(b.dtype), b.bytes, b.freed);
  }
  void onLaunch(const Launch& l) override {
    ForwardingObserver::onLaunch(l);
    std::vector<int> ins{1}, outs{0}; // of a copy
    if (l.program) std::tie(ins, outs) = kernelAccess(l.program);
    tell("launch", std::string(l.kernel), std::string(l.device), l.durationNs, l.program == nullptr,
         std::vector<uint64_t>(l.buffers.begin(), l.buffers.end()), ins, outs);
  }
  void poolRetired(Pool& pool) override {
    ForwardingObserver::poolRetired(pool);
    forget(pool);
  }
  void poolDone(std::shared_ptr<Pool> pool) override {
    forget(*pool);
    ForwardingObserver::poolDone(std::move(pool));
  }

private:
  void forget(const Pool& pool) {
    std::erase_if(numbers_, [&](const auto& known) { return known.first >> 32 == pool.serial(); });
  }
  /// Calls the listener on the working thread. An exception of the listener ends that work, as that of a rule
  /// does.
  template <typename... A>
  void tell(const char* what, A&&... arguments) {
    py::gil_scoped_acquire lock;
    listener_.attr(what)(std::forward<A>(arguments)...);
  }
  static py::tuple ruleOf(const Rule& rule) {
    return py::make_tuple(std::string(rule.file()), rule.line(), rule.text());
  }
  /// The number of a node's entry. Entries of its sources are made first.
  py::object number(UOp root) {
    if (!root) return py::none();
    auto key = [](UOp u) { return uint64_t{u.node()->pool->serial()} << 32 | u.id(); };
    auto isNew = [&](UOp u) { return !numbers_.contains(key(u)); };
    for (UOp u : root.toposort(isNew)) {
      py::tuple src(u.srcCount());
      for (size_t i = 0; i < u.srcCount(); ++i) src[i] = numbers_.at(key(u.src(i)));
      py::object made = listener_.attr("node")(u.op(), u.dtype(), src, fromArg(u.arg(), u.op(), u.dtype()),
                                               fromArg(u.tag(), Op::NOOP));
      numbers_.emplace(key(u), made.cast<int64_t>());
    }
    return py::int_(numbers_.at(key(root)));
  }

  py::object listener_;
  bool rewrites_;
  std::unordered_map<uint64_t, int64_t> numbers_; ///< by pool and id
};

/// The active tracker, which passes events on to the previous observer of the thread.
struct Tracking {
  Observer nobody;
  std::optional<Tracker> tracker;
  std::optional<ObserverScope> scope;
};
std::unique_ptr<Tracking> tracking;

/// A scope that a `with` statement opens and closes.
class BlockScope {
public:
  BlockScope(std::string name, std::string file, int line)
      : name_(std::move(name)), file_(std::move(file)), line_(line) {}
  void enter() { scope_.emplace(ScopeBegin{ScopeKind::Other, name_, {file_, line_}, {}}); }
  void exit() { scope_.reset(); }

private:
  std::string name_, file_;
  int line_;
  std::optional<ObservedScope> scope_;
};

} // namespace

void bindTracking(py::module_& m) {
  m.def(
      "track",
      [](py::object listener, bool rewrites, bool memory) {
        tracking.reset(); // in the opposite order of construction
        releaseAtEachRealize(memory);
        if (listener.is_none()) return;
        tracking = std::make_unique<Tracking>();
        Observer* outer = Observer::current();
        tracking->tracker.emplace(outer ? *outer : tracking->nobody, std::move(listener), rewrites);
        tracking->scope.emplace(&*tracking->tracker);
      },
      py::arg("listener"), py::arg("rewrites") = false, py::arg("memory") = false);
  m.def("observed", [] { return Observer::current() != nullptr; });
  py::class_<BlockScope>(m, "ObservedScope")
      .def(py::init<std::string, std::string, int>(), py::arg("name"), py::arg("file") = "",
           py::arg("line") = 0)
      .def("__enter__", [](BlockScope& s) { s.enter(); })
      .def("__exit__", [](BlockScope& s, const py::args&) { s.exit(); });
}

} // namespace uopscope
