// The types that each node must have, and the message about a node with wrong types.
#include "engine/rules/typing.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

int lanes(UOp u) {
  return u.dtype().isPtr() ? u.dtype().vcount() : u.dtype().count();
}

bool arithmetic(UOp u) {
  DType type = u.dtype();
  // The gate of a pixel of an image has one lane, and the index two.
  bool isGate = u.is(Op::WHERE) && u.src(2).isInvalidConst();
  bool sameLanes = std::all_of(u.src().begin(), u.src().end(), [&](UOp s) {
    return lanes(s) == lanes(u) || (isGate && s == u.src(0) && lanes(s) == 1);
  });
  if (type.isPtr() || type.isVoid() || !sameLanes) return false;
  switch (u.op()) {
  case Op::CMPLT:
  case Op::CMPNE:
  case Op::CMPEQ: return type.isBool() && u.src(0).dtype() == u.src(1).dtype();
  case Op::WHERE: return u.src(0).dtype().isBool() && u.src(1).dtype() == type && u.src(2).dtype() == type;
  case Op::SHL:
  case Op::SHR:
    return type.isInt() && u.src(0).dtype() == type &&
           (u.src(1).dtype() == type || u.src(1).dtype().kind() == Scalar::UInt32);
  case Op::IDIV:
  case Op::MOD: return type.isInt() && u.src(0).dtype() == type && u.src(1).dtype() == type;
  case Op::EXP2:
  case Op::LOG2:
  case Op::SIN:
  case Op::SQRT:
  case Op::RECIPROCAL:
  case Op::FDIV:
  case Op::TRUNC:
    if (!type.isFloat()) return false;
    break;
  default: break;
  }
  return std::all_of(u.src().begin(), u.src().end(), [&](UOp s) { return s.dtype() == type; });
}

bool constant(UOp u) {
  if (u.dtype().count() < 1 || u.dtype().isPtr()) return false;
  switch (u.arg().kind()) {
  case ArgKind::Bool: return u.dtype().isBool();
  case ArgKind::Int: return u.dtype().isInt();
  case ArgKind::Float: return u.dtype().isFloat();
  case ArgKind::Invalid: return u.dtype().kind() == Scalar::Index;
  default: return false;
  }
}

size_t sourcesOf(Op op) {
  return group::kTernary.has(op) ? 3 : group::kBinary.has(op) ? 2 : 1;
}

} // namespace

bool wellTyped(UOp u) {
  if (u.is(Op::CONST)) return constant(u);
  if (!u.in(group::kElementwise)) return true;
  if (u.srcCount() != sourcesOf(u.op())) return false;
  if (u.in(group::kAlu)) return arithmetic(u);
  if (u.dtype().isPtr()) return u.src(0).dtype().isPtr();
  if (u.is(Op::CAST) &&
      u.src(0).dtype().isPtr()) // the address in shared memory, for a core that reads it itself
    return u.dtype() == dtypes::uint32 && u.src(0).dtype().addrspace() == AddrSpace::Local;
  if (u.src(0).dtype().isPtr() || u.dtype().isVoid() || u.src(0).dtype().isVoid()) return false;
  return u.is(Op::BITCAST) || lanes(u) == lanes(u.src(0));
}

std::string describeNode(UOp u) {
  std::string text = fmt::format("{} {}", opName(u.op()), u.dtype().name());
  if (u.arg()) text += " arg " + u.arg().repr();
  return text;
}

void specError(UOp u, std::span<const UOp> nodes, std::string_view before, std::string_view why) {
  std::string text = fmt::format("{}{}{}", before, describeNode(u), why);
  for (size_t i = 0; i < u.srcCount(); ++i)
    text += fmt::format("\n  source {}: {}", i, describeNode(u.src(i)));
  size_t shown = 0;
  for (UOp user : nodes)
    if (shown < 4 && std::find(user.src().begin(), user.src().end(), u) != user.src().end()) {
      text += fmt::format("\n  used by: {}", describeNode(user));
      ++shown;
    }
  throw Error(ErrorKind::Spec, text);
}

SpecObserver::SpecObserver(const PatternMatcher& spec, std::string where, Observer* next)
    : spec_(spec), where_(std::move(where)), next_(next) {}

void SpecObserver::onScopeBegin(const ScopeBegin& e) {
  if (next_) next_->onScopeBegin(e);
}
void SpecObserver::onScopeEnd() {
  if (next_) next_->onScopeEnd();
}
void SpecObserver::onPassBegin(const PassBegin& e) {
  if (next_) next_->onPassBegin(e);
}
void SpecObserver::onPassEnd(const PassEnd& e) {
  if (next_) next_->onPassEnd(e);
}
Control SpecObserver::onRewrite(const RewriteEvent& e) {
  std::vector<UOp> made, stack{e.after};
  while (!stack.empty()) {
    UOp u = stack.back();
    stack.pop_back();
    if (u.id() < e.firstNewId || std::find(made.begin(), made.end(), u) != made.end()) continue;
    made.push_back(u);
    stack.insert(stack.end(), u.src().begin(), u.src().end());
  }
  for (UOp u : made)
    if (!spec_.rewrite(u))
      specError(u, made, fmt::format("{}: rule '{}' made a node that is not valid: ", where_, e.rule->name()),
                fmt::format(" does not fit its sources; it came from {}", describeNode(e.before)));
  return next_ && next_->wantsRewrites() ? next_->onRewrite(e) : Control::Apply;
}
void SpecObserver::onGate(UOp u) {
  if (next_ && next_->wantsRewrites()) next_->onGate(u);
}
void SpecObserver::onRuleError(const Rule& rule, UOp before, std::string_view message) {
  if (next_) next_->onRuleError(rule, before, message);
}
void SpecObserver::onCounts(const PassCounts& counts) {
  if (next_) next_->onCounts(counts);
}
void SpecObserver::poolRetired(Pool& pool) {
  if (next_) next_->poolRetired(pool);
}
void SpecObserver::poolDone(std::shared_ptr<Pool> pool) {
  if (next_) next_->poolDone(std::move(pool));
}

} // namespace uopscope
