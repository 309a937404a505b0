// How Python holds nodes: one Python object per node, so that `is` compares structure as it does in the
// reference. The object pins the node (and all below it) in the tensor pool. Nodes of other pools never reach
// Python: they are imported first (rules.cpp).
#pragma once
#include "engine/tensor/operation_scope.h"
#include "engine/uop/uop.h"

#include <pybind11/pybind11.h>

namespace uopscope {

/// Holder of pybind11: counts in Node::pins.
template <typename T>
class NodePin {
public:
  NodePin() = default;
  explicit NodePin(T* node) : node_(node) {
    if (node_) ++node_->pins;
  }
  NodePin(const NodePin& o) : NodePin(o.node_) {}
  NodePin(NodePin&& o) noexcept : node_(o.node_) { o.node_ = nullptr; }
  NodePin& operator=(NodePin o) noexcept {
    std::swap(node_, o.node_);
    return *this;
  }
  ~NodePin() {
    if (node_) --node_->pins;
  }
  T* get() const { return node_; }

private:
  T* node_ = nullptr;
};

} // namespace uopscope

PYBIND11_DECLARE_HOLDER_TYPE(T, uopscope::NodePin<T>, true)

namespace pybind11::detail {

template <>
struct type_caster<uopscope::UOp> {
  PYBIND11_TYPE_CASTER(uopscope::UOp, const_name("UOp"));
  bool load(handle source, bool) {
    make_caster<uopscope::Node> node;
    if (!source || source.is_none() || !node.load(source, false)) return false;
    value = uopscope::UOp(&cast_op<const uopscope::Node&>(node));
    return true;
  }
  static handle cast(uopscope::UOp u, return_value_policy, handle) {
    if (!u) return none().release();
    return pybind11::cast(uopscope::NodePin<uopscope::Node>(const_cast<uopscope::Node*>(u.node()))).release();
  }
};

} // namespace pybind11::detail
