// Scopes of tensor operations: the state in a session, and reports to its observer.
#include "engine/tensor/operation_scope.h"

#include "engine/base/context_var.h"
#include "engine/base/engine_session.h"
#include "engine/tensor/call_namer.h"
#include "engine/uop/origin.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

ScriptLocator scriptLocator = nullptr;
CallNamer callNamer = nullptr;

struct ScopeState {
  const char* name = nullptr;
  uint32_t firstId = 0; ///< the scope made the nodes from here on
  bool located = false;
  SourceLocation script;
  std::string_view calls;
};
ScopeState& scopeState() {
  return EngineSession::current().part<ScopeState>();
}

void report(UOp node, ScopeState& state) {
  Observer* observer = Observer::current();
  if (!state.located) {
    state.script = scriptLocation();
    // Only a recording of all rewrites keeps the calls, and to find them takes longer than the line.
    if (callNamer && observer && observer->wantsRewrites()) state.calls = callNamer();
    state.located = true;
  }
  setOrigin(node, {state.name, state.script.file, state.script.line, state.calls});
  if (observer) observer->onOrigin({node, state.name, state.script});
}

} // namespace

Pool& tensorPool() {
  return EngineSession::current().part<Pool>();
}

void setScriptLocator(ScriptLocator locator) {
  scriptLocator = locator;
}

void setCallNamer(CallNamer namer) {
  callNamer = namer;
}

SourceLocation scriptLocation() {
  return scriptLocator ? scriptLocator() : SourceLocation{};
}

OperationScope::OperationScope(const char* name) : pool_(tensorPool()) {
  ScopeState& state = scopeState();
  outermost_ = state.name == nullptr;
  if (outermost_) state = {name, Pool::current().nextId(), false, {}, {}};
}

OperationScope::~OperationScope() {
  if (outermost_) scopeState().name = nullptr;
}

const char* OperationScope::current() {
  return scopeState().name;
}

void OperationScope::made(UOp node) {
  ScopeState& state = scopeState();
  if (state.name && node.id() >= state.firstId && vars::tracemeta >= 1) report(node, state);
}

void OperationScope::madeGraph(UOp root, uint32_t from) {
  ScopeState& state = scopeState();
  if (!state.name || vars::tracemeta < 1) return;
  from = std::max(from, state.firstId);
  for (UOp node : root.toposort([&](UOp u) { return u.id() >= from; })) report(node, state);
}

void fail(ErrorKind kind, const std::string& message) {
  const ScopeState& state = scopeState();
  std::string text = state.name ? fmt::format("{}: {}", state.name, message) : message;
  SourceLocation at = scriptLocation();
  if (at.line > 0) text += fmt::format(" (at {}:{})", at.file, at.line);
  throw Error(kind, text);
}

} // namespace uopscope
