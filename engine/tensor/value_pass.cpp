// Runs a transform as a pass and reports it to the observer.
#include "engine/tensor/value_pass.h"

#include "engine/base/source_path.h"
#include "engine/tensor/operation_scope.h"
#include "engine/uop/origin.h"

#include <exception>

namespace uopscope {

ValuePass::ValuePass(const char* scope, const char* pass, const PatternMatcher& rules,
                     std::span<const UOp> values, const char* file, int line)
    : observer_(Observer::current()), rules_(rules), scope_({ScopeKind::Other, scope, scriptLocation(), {}}),
      now_(values.begin(), values.end()), exceptions_(std::uncaught_exceptions()) {
  if (observer_) observer_->onPassBegin({pass, {projectPath(file), line}, UOp::sink(now_), nullptr, &rules});
}

ValuePass::~ValuePass() {
  if (!observer_) return;
  bool failed = std::uncaught_exceptions() > exceptions_;
  observer_->onPassEnd(
      {failed ? UOp() : UOp::sink(now_), failed ? PassOutcome::Failed : PassOutcome::Done, {}});
}

UOp ValuePass::step(size_t k, const PassContext& context) {
  UOp answer = rules_.rewrite(now_[k], context, observer_, nullptr, /*bottomUp=*/true);
  if (answer) {
    gate(answer);
    now_[k] = answer;
  }
  return answer;
}

void ValuePass::keep(size_t k) {
  gate(now_[k]);
}

void ValuePass::gate(UOp u) {
  if (observer_ && observer_->wantsRewrites()) observer_->onGate(u);
}

void inheritOrigin(UOp made, UOp from, uint32_t firstNewId) {
  const NodeOrigin* origin = originOf(from);
  if (!origin) return;
  for (UOp u : made.toposort([&](UOp n) { return n.id() >= firstNewId; })) {
    setOrigin(u, *origin);
    if (Observer* o = Observer::current()) o->onOrigin({u, origin->operation, {origin->file, origin->line}});
  }
}

} // namespace uopscope
