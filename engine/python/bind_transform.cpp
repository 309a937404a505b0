// Transforms of graphs: placeholders, vmap, forward and reverse derivatives, patterns of Jacobians, custom
// derivatives. All work on nodes; docs/design/transforms.md describes how functions of functions are built
// from them.
#include "engine/python/bind_transform.h"

#include "engine/python/bindings.h"
#include "engine/rewrite/replacement.h"
#include "engine/tensor/gradient.h"
#include "engine/tensor/placeholder.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/transform/batch.h"
#include "engine/transform/sparsity.h"
#include "engine/transform/tangent.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

using Nodes = std::vector<UOp>;

/// Placeholders with the values in their place. A value is flat, as its placeholder is, but for axes in
/// front.
UOpMap<UOp> arguments(const Nodes& keys, const Nodes& values, const Shape& front) {
  UOpMap<UOp> map;
  for (size_t i = 0; i < keys.size(); ++i) {
    Shape shape = front;
    shape.push_back(keys[i].shape()[0]);
    map[keys[i]] = graph::reshape(values[i], shape);
  }
  return map;
}

constexpr RuleDef kArguments[] = {RULE("argument", pat::any(Op::BUFFER), pat::entry())};
const KnownRules kArgumentsKnown(kArguments);

/// The values for these arguments.
Nodes applied(const Nodes& values, const Nodes& keys, const Nodes& with) {
  static const PatternMatcher rules({kArguments});
  UOpMap<UOp> map = arguments(keys, with, {});
  std::erase_if(map, [](const auto& entry) { return entry.first == entry.second; });
  // Arguments may depend on the placeholders of a transform around this one, never on these: one pass is
  // enough.
  ObservedScope scope({ScopeKind::Other, "arguments", scriptLocation(), {}});
  UOp done = replaceNodes(UOp::sink(values), map, rules, "arguments");
  return {done.src().begin(), done.src().end()};
}

py::bytes bytesOf(const std::vector<int32_t>& v) {
  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(int32_t)};
}

py::dict pattern(const Sparsity& s, Seeds seeds) {
  Coloring c = colorPattern(s, seeds);
  py::dict out;
  out["shape"] = py::make_tuple(s.rows, s.columns);
  out["indptr"] = bytesOf(s.indptr);
  out["indices"] = bytesOf(s.indices);
  out["from_values"] = s.fromValues;
  out["by_columns"] = c.byColumns;
  out["colors"] = c.colors;
  out["color"] = bytesOf(c.color);
  return out;
}

Nodes fromList(const py::handle& list) {
  Nodes out;
  for (py::handle h : list) out.push_back(h.is_none() ? UOp() : h.cast<UOp>());
  return out;
}

void setDerivative(UOp key, const py::object& reverse, const py::object& forward) {
  CustomDerivative d;
  if (!reverse.is_none())
    d.reverse = [held = share(reverse)](UOp g, UOp node) {
      return fromList(py::handle(held.get())(g, Nodes(node.src().begin() + 1, node.src().end() - 1)));
    };
  if (!forward.is_none())
    d.forward = [held = share(forward)](const Nodes& tangents, UOp node) {
      py::object out = py::handle(held.get())(tangents, Nodes(node.src().begin() + 1, node.src().end() - 1));
      return out.is_none() ? UOp() : out.cast<UOp>();
    };
  setCustomDerivative(key, d);
}

/// The names of a table's rules for an operation, in the order in which they are tried; empty if there is none.
std::string rulesFor(const PatternMatcher& rules, Op op) {
  std::string names;
  for (const auto& rule : rules.rules())
    if (rule->pattern().back().ops.has(op)) names += (names.empty() ? "" : ", ") + std::string(rule->name());
  return names;
}

} // namespace

void bindTransforms(py::module_& m) {
  auto def = [&](const char* name, auto f) { m.def(name, f); };
  def("placeholder", [](const py::tuple& shape, DType dtype, const py::object& device) {
    OperationScope op("placeholder");
    return newPlaceholder(toShape(shape), dtype, toDevice(device));
  });
  def("refuse_placeholders", [](const Nodes& roots) {
    OperationScope op("transform");
    refusePlaceholders(roots);
  });
  def("batch_values",
      [](const Nodes& values, const Nodes& keys, const Nodes& with, const py::object& length) {
        OperationScope op("vmap");
        NodesHeld held;
        Sint n = toSint(length);
        return batch(values, arguments(keys, with, {n}), n);
      });
  def("tangents_of", [](const Nodes& values, const Nodes& keys, const Nodes& with) {
    OperationScope op("jvp");
    NodesHeld held;
    return tangents(values, arguments(keys, with, {}));
  });
  def("cotangents_of", [](const Nodes& values, const Nodes& seeds, const Nodes& keys) {
    OperationScope op("vjp");
    NodesHeld held;
    std::vector<std::pair<UOp, UOp>> seeded;
    for (size_t i = 0; i < values.size(); ++i) seeded.emplace_back(values[i], seeds[i]);
    auto all = gradientsOf(seeded, keys, "transpose");
    Nodes out;
    for (UOp key : keys) out.push_back(all.contains(key) ? all.at(key) : UOp());
    return out;
  });
  def("apply_values", [](const Nodes& values, const Nodes& keys, const Nodes& with) {
    OperationScope op("arguments");
    NodesHeld held;
    return applied(values, keys, with);
  });
  def("jacobian_pattern", [](UOp value, UOp key) {
    OperationScope op("sparsity");
    NodesHeld held;
    return pattern(sparsityOf(value, key), Seeds::Fewest);
  });
  // The pattern by columns (or rows) where a derivative along its colours is worth it, else None.
  def("sparse_pattern", [](UOp value, UOp key, bool byColumns) -> py::object {
    OperationScope op("sparsity");
    NodesHeld held;
    auto found = sparsityIfSparse(value, key);
    if (!found || (byColumns && !found->forward)) return py::none();
    return pattern(*found, byColumns ? Seeds::Columns : Seeds::Rows);
  });
  def("new_unique", [] {
    PoolScope scope(tensorPool());
    return newUnique();
  });
  def("set_derivative", setDerivative);
  def("with_derivative", [](UOp value, const Nodes& inputs, UOp key) {
    PoolScope scope(tensorPool());
    return withDerivative(value, inputs, key);
  });
  // Equal to the value and another node: its users are computed again.
  def("computed_again", [](UOp value) {
    PoolScope scope(tensorPool());
    return UOp::make(Op::CONTIGUOUS, value.dtype(), {value}, Arg::of("again"));
  });
  def("transform_rules", [](Op op) {
    return py::make_tuple(rulesFor(batchRules(), op), rulesFor(tangentRules(), op),
                          rulesFor(gradientRules(), op));
  });
}

} // namespace uopscope
