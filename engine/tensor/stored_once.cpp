// Finds the axes along which a value varies, by a short walk over elementwise operations and the simplest movements.
#include "engine/tensor/stored_once.h"

#include "engine/tensor/graph.h"
#include "engine/tensor/state.h"

#include <algorithm>

namespace uopscope {

namespace {

constexpr int kMostNodes = 32; ///< of a value that is examined

/// For each axis, whether elements may differ along it.
using Varies = std::vector<bool>;

Varies everywhere(UOp u) {
  Varies v;
  for (const Sint& s : u.shape()) v.push_back(!(s == Sint(1)));
  return v;
}

Varies variesAlong(UOp u, int& left);

/// Of a RESHAPE that adds or removes axes of length 1; of any other one, all axes vary.
Varies throughReshape(UOp u, int& left) {
  const Varies inner = variesAlong(u.src(0), left);
  Varies v;
  size_t next = 0;
  const Shape from = u.src(0).shape();
  for (const Sint& s : u.shape()) {
    if (s == Sint(1)) {
      v.push_back(false);
      continue;
    }
    while (next < from.size() && from[next] == Sint(1)) ++next;
    if (next == from.size() || !(from[next] == s)) return everywhere(u);
    v.push_back(inner[next++]);
  }
  return v;
}

Varies variesAlong(UOp u, int& left) {
  if (--left < 0) return everywhere(u);
  if (u.is(Op::CONST) || u.is(Op::EXPAND)) {
    Varies v = u.is(Op::CONST) ? Varies(u.shape().size(), false) : variesAlong(u.src(0), left);
    if (u.is(Op::EXPAND))
      for (size_t k = 0; k < v.size(); ++k) v[k] = v[k] && u.src(0).shape()[k] == u.shape()[k];
    return v;
  }
  if (u.is(Op::RESHAPE)) return throughReshape(u, left);
  if (u.is(Op::PERMUTE)) {
    const Varies inner = variesAlong(u.src(0), left);
    Varies v;
    for (int64_t axis : u.arg().ints()) v.push_back(inner[static_cast<size_t>(axis)]);
    return v;
  }
  if (!u.in(group::kElementwise)) return everywhere(u);
  Varies v(u.shape().size(), false);
  for (UOp s : u.src()) {
    const Varies of = variesAlong(s, left);
    for (size_t k = 0; k < v.size() && k < of.size(); ++k) v[k] = v[k] || of[k];
  }
  return v;
}

/// The value as an EXPAND of what differs in it; null if it differs along all axes, or is no computation on memory.
UOp repeated(UOp value) {
  if (!value.in(group::kElementwise) || !value.below().has(Op::EXPAND) || !value.below().has(Op::BUFFER) ||
      !allInt(value.shape()))
    return {};
  int left = kMostNodes;
  const Varies varies = variesAlong(value, left);
  Bounds part;
  bool any = false;
  for (size_t k = 0; k < varies.size(); ++k) {
    const bool repeats = !varies[k] && value.shape()[k].i() > 1;
    part.emplace_back(Sint(0), repeats ? Sint(1) : value.shape()[k]);
    any = any || repeats;
  }
  return any ? graph::expand(graph::contiguous(graph::shrink(value, part)), value.shape()) : UOp();
}

} // namespace

void storeRepeatedOnce(const std::vector<Tensor>& tensors, std::vector<std::pair<UOpRef, UOpRef>>& becomes) {
  for (const Tensor& t : tensors) {
    if (t.devices().size() != 1) continue;
    const UOp value = graph::viewed(t.uop()), once = repeated(value);
    if (!once) continue;
    becomes.emplace_back(value, once);
    t.state()->forEachName([](Tensor::State& s) { s.isStoredOnce = true; });
  }
}

bool Tensor::State::makeWhole() {
  bool any = false;
  forEachName([&](State& s) {
    any = any || s.isStoredOnce;
    s.isStoredOnce = false;
  });
  if (!any) return false;
  const UOp spread = graph::viewed(uop);
  if (!spread.is(Op::EXPAND)) return false;
  const UOp whole = UOp::make(Op::CONTIGUOUS, spread.dtype(), {spread}, Arg::of("own"));
  forEachName([&](State& s) { s.become(UOp(s.uop).substitute({{spread, whole}})); });
  return true;
}

} // namespace uopscope
