// How Python holds nodes. There is one Python object per node, so `is` compares structure as in the
// reference. The object pins the node (and so its transitive sources) in the tensor pool. Nodes of other
// pools are imported before they reach Python (bind_rules.cpp).
#pragma once
#include "engine/tensor/operation_scope.h"
#include "engine/uop/uop.h"

#include <pybind11/pybind11.h>

namespace uopscope {

/// The holder type for pybind11; it counts in Node::pins.
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
