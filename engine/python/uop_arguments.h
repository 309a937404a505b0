// Helpers for the files that bind UOp: nodes from Python sequences, numbers as operands.
//
//   UOp one = operandFor(node, py::int_(1));      // the constant 1 in the type of `node`
#pragma once
#include "engine/python/bindings.h"

#include <fmt/format.h>

namespace uopscope {

using UOpClass = py::class_<Node, NodePin<Node>>;

inline std::vector<UOp> toUOps(py::handle sequence) {
  std::vector<UOp> out;
  for (py::handle h : sequence)
    if (!h.is_none()) out.push_back(h.cast<UOp>());
  return out;
}

inline py::tuple tupleOf(std::span<const UOp> uops) {
  py::tuple out(uops.size());
  for (size_t i = 0; i < uops.size(); ++i) out[i] = py::cast(uops[i]);
  return out;
}

/// For a number, a constant of the type of `like`; for a node, the node.
inline UOp operandFor(UOp like, py::handle h) {
  py::detail::make_caster<UOp> node;
  if (node.load(h, false)) return py::detail::cast_op<UOp&>(node);
  if (!isNumber(h) && !h.is(invalidObject()))
    throw py::type_error(fmt::format("{} is no operand of a UOp", std::string(py::repr(h))));
  if (h.is(invalidObject())) return UOp::invalid();
  return constantLike(like, toConst(h));
}

inline UOp sintUOp(py::handle h, DType d) {
  py::detail::make_caster<UOp> node;
  if (node.load(h, false)) return py::detail::cast_op<UOp&>(node);
  return UOp::constant(d, h.cast<int64_t>());
}

/// Binds the functions that make nodes (bind_uop_builders.cpp).
void bindBuilders(UOpClass& c);

} // namespace uopscope
