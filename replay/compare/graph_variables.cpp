// Nodes share lists: most nodes have the variables of one of their sources.
#include "replay/compare/graph_variables.h"

#include "engine/base/error.h"
#include "engine/codegen/ranges.h"

#include <algorithm>

namespace uopscope {
namespace {

bool byKey(const Variable& a, const Variable& b) {
  return a.key != b.key ? a.key < b.key : a.node.node() < b.node.node();
}

} // namespace

std::vector<std::pair<int64_t, int64_t>> laneAxes(UOp u) {
  std::vector<std::pair<int64_t, int64_t>> axes;
  if (u.arg().kind() != ArgKind::Ints) return axes;
  const auto& flat = u.arg().ints();
  for (size_t i = 0; i + 1 < flat.size(); i += 2) axes.emplace_back(flat[i], flat[i + 1]);
  return axes;
}

bool hasKey(const VariableList& list, uint32_t key) {
  return std::any_of(list.begin(), list.end(), [&](const Variable& v) { return v.key == key; });
}

uint32_t Variables::keyOfName(const std::string& name) {
  return keys_.try_emplace(name, static_cast<uint32_t>(keys_.size())).first->second;
}
uint32_t Variables::keyOfAxis(int64_t id) {
  return keyOfName("r" + std::to_string(id));
}
uint32_t Variables::keyOfRange(UOp range) {
  return keyOfAxis(axisNumber(range)); // as the expander numbers them
}

VariableList Variables::closedBy(UOp u) {
  VariableList out;
  auto add = [&](const VariableList& list) {
    for (const Variable& v : list)
      if ((!v.node || v.node.is(Op::RANGE)) && !hasKey(out, v.key)) out.push_back(v);
  };
  if (u.is(Op::CONTRACT)) {
    for (const auto& [id, size] : laneAxes(u)) out.push_back({keyOfAxis(id), {}, size});
  } else if (u.in({Op::END, Op::REDUCE, Op::BUFFERIZE})) {
    for (size_t i = 1; i < u.srcCount(); ++i) add(namedBy(u.src(i)));
  } else if (u.is(Op::STORE)) {
    for (size_t i = 2; i < u.srcCount(); ++i)
      if (!u.src(i).dtype().isVoid() && !u.src(i).dtype().isBool()) add(of(u.src(i)));
  }
  return out;
}

VariableList Variables::namedBy(UOp source) {
  return source.is(Op::RANGE) ? VariableList{{keyOfRange(source), source, 0}} : of(source);
}

const VariableList& Variables::of(UOp root) {
  auto known = [&](UOp u) { return u.slot() < known_.size() ? known_[u.slot()] : nullptr; };
  if (const VariableList* list = known(root)) return *list;
  std::vector<UOp> stack{root};
  while (!stack.empty()) {
    const UOp u = stack.back();
    if (known(u)) {
      stack.pop_back();
      continue;
    }
    const size_t waiting = stack.size();
    for (const UOp s : u.src())
      if (!known(s)) stack.push_back(s);
    if (stack.size() > waiting) continue;
    stack.pop_back();
    if (u.slot() >= known_.size()) known_.resize(u.slot() + 256, nullptr);
    known_[u.slot()] = compute(u);
  }
  return *known(root);
}

const VariableList* Variables::compute(UOp u) {
  VariableList all;
  for (const UOp s : u.src()) {
    const VariableList& list = *known_[s.slot()];
    if (list.empty()) continue;
    VariableList merged;
    std::set_union(all.begin(), all.end(), list.begin(), list.end(), std::back_inserter(merged), byKey);
    all = std::move(merged);
  }
  auto add = [&](Variable v) {
    if (std::find(all.begin(), all.end(), v) == all.end())
      all.insert(std::upper_bound(all.begin(), all.end(), v, byKey), v);
  };
  if (u.is(Op::RANGE)) add({keyOfRange(u), u, 0});
  if (u.is(Op::SPECIAL) && u.arg().kind() == ArgKind::String) add({keyOfName("s" + u.arg().str()), u, 0});
  if (u.is(Op::DEFINE_VAR)) add({keyOfName("v" + u.arg().as<VarArg>().name), u, 0});
  if (u.is(Op::UNROLL))
    for (const auto& [id, size] : laneAxes(u)) add({keyOfAxis(id), {}, size});
  for (const Variable& closed : closedBy(u))
    std::erase_if(all, [&](const Variable& v) { return v.key == closed.key; });
  for (const UOp s : u.src())
    if (*known_[s.slot()] == all) return known_[s.slot()];
  lists_.push_back(std::move(all));
  return &lists_.back();
}

bool hasAxes(UOp u) {
  if (u.dtype().isPtr() || u.dtype().isVoid()) return false;
  try {
    return u.hasShape() && !u.shape().empty();
  } catch (const Error&) {
    return false;
  }
}

} // namespace uopscope
