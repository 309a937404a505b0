// UOp as Python sees it: the constructor, fields, arithmetic, builders, questions and printing. All nodes of
// Python live in the tensor pool.
#include "engine/python/bindings.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/algebra.h"
#include "engine/rules/rules.h"
#include "engine/runtime/device.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/uop/eval.h"
#include "engine/uop/origin.h"
#include "engine/uop/print.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>
#include <pybind11/eval.h>

namespace uopscope {

namespace {

using UOpClass = py::class_<Node, NodePin<Node>>;

std::vector<UOp> toUOps(py::handle sequence) {
  std::vector<UOp> out;
  for (py::handle h : sequence)
    if (!h.is_none()) out.push_back(h.cast<UOp>());
  return out;
}

py::tuple tupleOf(std::span<const UOp> uops) {
  py::tuple out(uops.size());
  for (size_t i = 0; i < uops.size(); ++i) out[i] = py::cast(uops[i]);
  return out;
}

UOp makeUOp(Op op, py::object dtype, py::object src, py::object arg, py::object tag) {
  PoolScope scope(tensorPool());
  DType d = dtype.is_none() ? dtypes::void_ : toDType(dtype);
  UOp made = UOp::make(op, d, toUOps(src), toArg(arg, op, d), toArg(tag, Op::NOOP));
  return made;
}

/// A number next to a node: a constant like it; a node: itself.
UOp operandFor(UOp like, py::handle h) {
  py::detail::make_caster<UOp> node;
  if (node.load(h, false)) return py::detail::cast_op<UOp&>(node);
  if (!isNumber(h) && !h.is(invalidObject()))
    throw py::type_error(fmt::format("{} is no operand of a UOp", std::string(py::repr(h))));
  if (h.is(invalidObject())) return UOp::invalid();
  return graph::constLike(like, toConst(h));
}

UOp sintUOp(py::handle h, DType d) {
  py::detail::make_caster<UOp> node;
  if (node.load(h, false)) return py::detail::cast_op<UOp&>(node);
  return UOp::constant(d, h.cast<int64_t>());
}

template <typename F>
void binary(UOpClass& c, const char* name, const char* operatorName, const char* reflectedName, F f) {
  auto forward = [f](UOp self, py::object x, bool reverse) {
    PoolScope scope(tensorPool());
    UOp o = operandFor(self, x);
    return reverse ? f(o, self) : f(self, o);
  };
  if (name) c.def(name, forward, py::arg("x"), py::arg("reverse") = false);
  c.def(operatorName, [forward](UOp self, py::object x) { return forward(self, x, false); });
  if (reflectedName)
    c.def(reflectedName, [forward](UOp self, py::object x) { return forward(self, x, true); });
}

void bindArithmetic(UOpClass& c) {
  auto alu = [](Op op) { return [op](UOp a, UOp b) { return a.alu(op, {b}); }; };
  auto negative = [](UOp x) {
    return x.dtype().scalar().isBool() ? x.logicalNot()
                                       : x.alu(Op::MUL, {graph::constLike(x, ConstValue::ofInt(-1))});
  };
  binary(c, "add", "__add__", "__radd__", alu(Op::ADD));
  binary(c, "mul", "__mul__", "__rmul__", alu(Op::MUL));
  binary(c, "idiv", "__floordiv__", "__rfloordiv__", alu(Op::IDIV));
  binary(c, "mod", "__mod__", "__rmod__", alu(Op::MOD));
  binary(c, "bitwise_and", "__and__", "__rand__", alu(Op::AND));
  binary(c, "bitwise_or", "__or__", "__ror__", alu(Op::OR));
  binary(c, "bitwise_xor", "__xor__", "__rxor__", alu(Op::XOR));
  binary(c, "lshift", "__lshift__", "__rlshift__", alu(Op::SHL));
  binary(c, "rshift", "__rshift__", "__rrshift__", alu(Op::SHR));
  binary(c, "pow", "__pow__", "__rpow__", alu(Op::POW));
  binary(c, nullptr, "__lt__", nullptr, alu(Op::CMPLT));
  binary(c, nullptr, "__gt__", nullptr, [](UOp a, UOp b) { return b.alu(Op::CMPLT, {a}); });
  binary(c, nullptr, "__ge__", nullptr, [](UOp a, UOp b) { return a.alu(Op::CMPLT, {b}).logicalNot(); });
  binary(c, nullptr, "__le__", nullptr, [](UOp a, UOp b) { return b.alu(Op::CMPLT, {a}).logicalNot(); });
  binary(c, "ne", "__ne__", nullptr, alu(Op::CMPNE));
  binary(c, "eq", "_eq", nullptr, [](UOp a, UOp b) { return a.alu(Op::CMPNE, {b}).logicalNot(); });
  binary(c, "maximum", "_max", nullptr, alu(Op::MAX));
  binary(c, "minimum", "_min", nullptr, [](UOp a, UOp b) { return a.minimum(b); });
  binary(c, "sub", "__sub__", "__rsub__", [negative](UOp a, UOp b) {
    return a.alu(Op::ADD, {b.isConst() && !b.srcCount() ? simplify(negative(b)) : negative(b)});
  });
  binary(c, "div", "__truediv__", "__rtruediv__",
         [](UOp a, UOp b) { return a.alu(Op::MUL, {b.alu(Op::RECIPROCAL)}); });
  binary(c, "threefry", "_threefry", nullptr, alu(Op::THREEFRY));
  auto unary = [&](const char* name, Op op) {
    c.def(name, [op](UOp x) {
      PoolScope scope(tensorPool());
      return x.alu(op);
    });
  };
  unary("exp2", Op::EXP2);
  unary("log2", Op::LOG2);
  unary("sin", Op::SIN);
  unary("sqrt", Op::SQRT);
  unary("reciprocal", Op::RECIPROCAL);
  unary("trunc", Op::TRUNC);
  auto neg = [negative](UOp x) {
    PoolScope scope(tensorPool());
    return negative(x);
  };
  c.def("neg", neg).def("__neg__", neg);
  c.def("logical_not", [](UOp x) {
    PoolScope scope(tensorPool());
    return x.logicalNot();
  });
  c.def("where", [](UOp self, py::object x, py::object y) {
    PoolScope scope(tensorPool());
    py::detail::make_caster<UOp> node;
    UOp like = node.load(x, false) ? py::detail::cast_op<UOp&>(node) : y.cast<UOp>();
    return self.where(operandFor(like, x), operandFor(like, y));
  });
  c.def("alu", [](UOp self, Op op, const py::args& more) {
    PoolScope scope(tensorPool());
    return self.alu(op, toUOps(more));
  });
}

void bindFields(UOpClass& c) {
  c.def_property_readonly("op", [](UOp u) { return u.op(); })
      .def_property_readonly("dtype", [](UOp u) { return u.dtype(); })
      .def_property_readonly("src", [](UOp u) { return tupleOf(u.src()); })
      .def_property_readonly("arg", [](UOp u) { return fromArg(u.arg(), u.op(), u.dtype()); })
      .def_property_readonly("tag", [](UOp u) { return fromArg(u.tag(), Op::NOOP); })
      .def_property_readonly("id", [](UOp u) { return u.id(); })
      .def("replace",
           [](UOp u, const py::kwargs& changes) {
             PoolScope scope(tensorPool());
             auto take = [&](const char* key) {
               return changes.contains(key) ? py::object(changes[key]) : py::object();
             };
             py::object op = take("op"), dtype = take("dtype"), src = take("src"), arg = take("arg"),
                        tag = take("tag");
             size_t known = size_t(!!op) + size_t(!!dtype) + size_t(!!src) + size_t(!!arg) + size_t(!!tag);
             if (known != changes.size()) throw py::type_error("replace takes op, dtype, src, arg and tag");
             Op o = op ? op.cast<Op>() : u.op();
             DType d = dtype ? toDType(dtype) : u.dtype();
             std::vector<UOp> s(u.src().begin(), u.src().end());
             if (src) s = toUOps(src);
             return UOp::make(o, d, s, arg ? toArg(arg, o, d) : u.arg(),
                              tag ? toArg(tag, Op::NOOP) : u.tag());
           })
      .def(
          "rtag",
          [](UOp u, py::object tag) {
            PoolScope scope(tensorPool());
            return u.withTag(toArg(tag, Op::NOOP));
          },
          py::arg("tag") = true)
      .def("__repr__", [](UOp u) { return u.str(); })
      .def("__hash__", [](UOp u) { return UOpHash()(u); })
      .def("__eq__",
           [](UOp a, py::object b) {
             py::detail::make_caster<UOp> node;
             return node.load(b, false) && py::detail::cast_op<UOp&>(node) == a;
           })
      .def_property_readonly("key",
                             [](UOp u) {
                               auto [high, low] = u.key();
                               return py::bytes(fmt::format("{:016x}{:016x}", high, low));
                             })
      .def_property_readonly("shape",
                             [](UOp u) {
                               PoolScope scope(tensorPool());
                               return fromShape(u.shape());
                             })
      .def_property_readonly("_shape",
                             [](UOp u) -> py::object {
                               PoolScope scope(tensorPool());
                               return u.hasShape() ? py::object(fromShape(u.shape())) : py::none();
                             })
      .def_property_readonly("ndim", [](UOp u) { return u.shape().size(); })
      .def_property_readonly("size",
                             [](UOp u) {
                               int64_t n = 1;
                               for (const Sint& s : u.shape()) n *= s.vmax();
                               return n;
                             })
      .def("numel",
           [](UOp u) {
             PoolScope scope(tensorPool());
             return fromSint(prod(u.shape()));
           })
      .def_property_readonly("device",
                             [](UOp u) -> py::object {
                               return u.device().empty() ? py::object(py::none()) : py::str(u.device());
                             })
      .def_property_readonly("base", [](UOp u) { return graph::base(u); })
      .def_property_readonly("buf_uop", [](UOp u) { return u.bufferOf(); })
      .def_property_readonly("is_realized",
                             [](UOp u) {
                               UOp b = graph::base(u);
                               return b.is(Op::BUFFER) && Buffer::of(b)->isAllocated();
                             })
      .def("is_contiguous", [](UOp u) { return graph::isRealized(u); })
      .def_property_readonly(
          "metadata",
          [](UOp u) -> py::object {
            const NodeOrigin* o = originOf(u);
            return o ? py::object(py::make_tuple(std::string(o->operation), std::string(o->file), o->line))
                     : py::none();
          })
      .def_property_readonly("ranges",
                             [](UOp u) {
                               py::dict out;
                               for (UOp r : u.ranges()) out[py::cast(r)] = py::none();
                               return out;
                             })
      .def_property_readonly("expr", [](UOp u) {
        if (!u.is(Op::DEFINE_VAR))
          throw Error(ErrorKind::Shape, fmt::format("expr needs a DEFINE_VAR, not {}", opName(u.op())));
        return u.arg().as<VarArg>().name;
      });
  // bounds: of floats and booleans as Python's own values
  auto bound = [](UOp u, int64_t v, bool upper) -> py::object {
    if (u.isConst()) return fromConst(u.constValue(), u.dtype());
    if (u.dtype().scalar().isBool()) return py::bool_(v != 0);
    if (u.dtype().isFloat()) return py::float_(upper ? INFINITY : -INFINITY);
    return py::int_(v);
  };
  c.def_property_readonly("vmin", [bound](UOp u) { return bound(u, u.vmin(), false); });
  c.def_property_readonly("vmax", [bound](UOp u) { return bound(u, u.vmax(), true); });
}

void bindGraph(UOpClass& c) {
  c.def(
       "toposort",
       [](UOp u, py::object gate) {
         NodesHeld held;
         py::dict out; // ordered, as in the reference
         auto nodes = gate.is_none() ? u.toposort() : u.toposort([&](UOp n) { return gate(n).cast<bool>(); });
         for (UOp n : nodes) out[py::cast(n)] = py::none();
         return out;
       },
       py::arg("gate") = py::none())
      .def_property_readonly("backward_slice",
                             [](UOp u) {
                               py::dict out;
                               for (UOp n : u.backwardSlice()) out[py::cast(n)] = py::none();
                               return out;
                             })
      .def("get_consumer_map",
           [](UOp u) {
             auto consumers = u.consumerMap();
             py::dict out;
             for (UOp n : u.toposort()) {
               py::dict users;
               for (UOp user : consumers[n]) users[py::cast(user)] = py::none();
               out[py::cast(n)] = users;
             }
             return out;
           })
      .def(
          "substitute",
          [](UOp u, py::dict map, py::object) {
            PoolScope scope(tensorPool());
            UOpMap<UOp> replacements;
            for (auto [k, v] : map) replacements[k.cast<UOp>()] = v.cast<UOp>();
            return u.substitute(replacements);
          },
          py::arg("dvars"), py::arg("name") = py::none())
      .def("simplify",
           [](UOp u) {
             PoolScope scope(tensorPool());
             NodesHeld held;
             return simplify(u);
           })
      .def("ssimplify",
           [](UOp u) {
             PoolScope scope(tensorPool());
             NodesHeld held;
             UOp s = simplify(u);
             return s.isConst() ? fromConst(s.constValue(), s.dtype()) : py::cast(s);
           })
      .def(
          "render",
          [](UOp u, bool simplifyFirst) {
            PoolScope scope(tensorPool());
            return (simplifyFirst ? simplify(u) : u).render();
          },
          py::arg("simplify") = true)
      .def("pyrender", [](UOp u) { return pyrender(u); })
      .def("const_factor", [](UOp u) { return constFactor(u); })
      .def("divides",
           [](UOp u, int64_t v) {
             PoolScope scope(tensorPool());
             return divides(u, v);
           })
      .def("divide_exact",
           [](UOp u, UOp v) {
             PoolScope scope(tensorPool());
             return divideExact(u, v);
           })
      .def(
          "pop_const",
          [](UOp u, Op op) {
            PoolScope scope(tensorPool());
            auto [rest, value] = popConst(u, op);
            return py::make_tuple(rest, value);
          },
          py::arg("op") = Op::ADD)
      .def("split_uop", [](UOp u, Op op) { return tupleOf(splitUop(u, op)); })
      .def("is_increasing", [](UOp u) { return isIncreasing(u); })
      .def("sym_infer",
           [](UOp u, py::dict values) {
             PoolScope scope(tensorPool());
             std::map<std::string, int64_t> vars;
             for (auto [k, v] : values) vars[k.cast<std::string>()] = v.cast<int64_t>();
             return symInfer(u, vars);
           })
      .def("variables", [](UOp u) {
        std::map<std::string, UOp> vars;
        for (UOp n : u.toposort())
          if (n.is(Op::DEFINE_VAR)) vars[n.arg().as<VarArg>().name] = n;
        py::list out;
        for (auto& [name, v] : vars) out.append(v);
        return out;
      });
  c.def_static("gcd", [](const py::args& uops) {
    PoolScope scope(tensorPool());
    return gcd(toUOps(uops));
  });
  auto valueOf = [](UOp u) {
    PoolScope scope(tensorPool());
    UOp s = simplify(u);
    if (s.isConst()) return s.constValue();
    if (!s.dtype().isFloat() && s.vmin() == s.vmax())
      return s.dtype().isBool() ? ConstValue::ofBool(s.vmin() != 0) : ConstValue::ofInt(s.vmin());
    throw Error(ErrorKind::Value, fmt::format("eval failed to be a single number, range is {} to {} in {}",
                                              s.vmin(), s.vmax(), s.render()));
  };
  c.def("__bool__", [valueOf](UOp u) { return valueOf(u).asDouble() != 0; });
  c.def("__int__", [valueOf](UOp u) { return static_cast<int64_t>(valueOf(u).asDouble()); });
  c.def("__float__", [valueOf](UOp u) { return valueOf(u).asDouble(); });
}

/// Index of a node by numbers, nodes and slices: sliced axes are moved last and stay.
UOp indexNode(UOp u, py::object key) {
  PoolScope scope(tensorPool());
  py::tuple parts = py::isinstance<py::tuple>(key) ? key.cast<py::tuple>() : py::make_tuple(key);
  const Shape& shape = u.shape();
  if (parts.size() != shape.size())
    throw Error(ErrorKind::Shape, fmt::format("__getitem__ shape mismatch, indexing {} with {} args",
                                              shapeStr(shape), parts.size()));
  Ints order, kept;
  std::vector<UOp> at;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (py::isinstance<py::slice>(parts[i])) {
      kept.push_back(static_cast<int64_t>(i));
      continue;
    }
    order.push_back(static_cast<int64_t>(i));
    at.push_back(sintUOp(parts[i], dtypes::index));
  }
  DType element = u.dtype().base();
  if (kept.empty()) return u.indexed(at, element);
  order.insert(order.end(), kept.begin(), kept.end());
  return graph::permute(u, order).indexed(at, u.dtype());
}

void bindBuilders(UOpClass& c) {
  auto scoped = [](auto f) {
    return [f](auto&&... a) {
      PoolScope scope(tensorPool());
      return f(std::forward<decltype(a)>(a)...);
    };
  };
  (void)scoped;
  c.def("sink", [](const py::args& srcs, const py::kwargs& kw) {
    PoolScope scope(tensorPool());
    py::object arg = kw.contains("arg") ? py::object(kw["arg"]) : py::none();
    return UOp::sink(toUOps(srcs), toArg(arg, Op::SINK));
  });
  c.def("group", [](const py::args& srcs) {
    PoolScope scope(tensorPool());
    return UOp::groupOf(toUOps(srcs));
  });
  c.def("vectorize", [](const py::args& srcs) {
    PoolScope scope(tensorPool());
    return UOp::vectorize(toUOps(srcs));
  });
  c.def("sum", [](const py::args& srcs) {
    PoolScope scope(tensorPool());
    auto all = toUOps(srcs);
    return joinUop(all, all[0].dtype().isBool() ? Op::OR : Op::ADD, all[0]);
  });
  c.def("prod", [](const py::args& srcs) {
    PoolScope scope(tensorPool());
    auto all = toUOps(srcs);
    return joinUop(all, all[0].dtype().isBool() ? Op::AND : Op::MUL, all[0]);
  });
  c.def_static(
      "const",
      [](py::object dtype, py::object value, py::object device, py::object shape) {
        PoolScope scope(tensorPool());
        py::detail::make_caster<UOp> node;
        if (node.load(value, false)) return py::detail::cast_op<UOp&>(node);
        DType d = toDType(dtype);
        if (py::isinstance<py::tuple>(value))
          return UOp::make(Op::VCONST, d, {}, toArg(value, Op::VCONST, d));
        UOp c = device.is_none() ? UOp::constant(d, toConst(value))
                                 : graph::constant(d, toConst(value), toDevice(device));
        return shape.is_none() ? c : graph::broadcastTo(c, toShape(shape));
      },
      py::arg("dtype"), py::arg("b"), py::arg("device") = py::none(), py::arg("shape") = py::none());
  c.def_static(
      "range",
      [](py::object end, py::object axis, AxisType type, DType dtype, py::object src) {
        PoolScope scope(tensorPool());
        std::vector<UOp> sources{sintUOp(end, dtype)};
        for (UOp s : toUOps(src)) sources.push_back(s);
        return UOp::make(Op::RANGE, dtype, sources, Arg::of(RangeArg{toInts(axis), type}));
      },
      py::arg("end"), py::arg("axis_id"), py::arg("axis_type") = AxisType::Loop,
      py::arg("dtype") = dtypes::index, py::arg("src") = py::tuple());
  c.def_static(
      "special",
      [](py::object end, const std::string& name, DType dtype) {
        PoolScope scope(tensorPool());
        return UOp::special(sintUOp(end, dtype), name, dtype);
      },
      py::arg("end"), py::arg("name"), py::arg("dtype") = dtypes::index);
  c.def_static(
      "variable",
      [](const std::string& name, int64_t vmin, int64_t vmax, DType dtype) {
        PoolScope scope(tensorPool());
        return UOp::variable(name, vmin, vmax, dtype);
      },
      py::arg("name"), py::arg("min_val"), py::arg("max_val"), py::arg("dtype") = dtypes::index);
  c.def_static("invalid", [] {
    PoolScope scope(tensorPool());
    return UOp::invalid();
  });
  c.def_static("unique", [] {
    PoolScope scope(tensorPool());
    return newUnique();
  });
  c.def_static("new_buffer", [](py::object device, int64_t size, py::object dtype) {
    PoolScope scope(tensorPool());
    return newBuffer(toDevice(device), toDType(dtype), size);
  });
  auto placeholder = [](const Shape& shape, DType dtype, int64_t slot, AddrSpace space) {
    PoolScope scope(tensorPool());
    int64_t size = 1;
    for (const Sint& s : shape) size *= s.vmax();
    Op op = space == AddrSpace::Global  ? Op::DEFINE_GLOBAL
            : space == AddrSpace::Local ? Op::DEFINE_LOCAL
                                        : Op::DEFINE_REG;
    UOp u = UOp::make(op, dtype.base().ptr(size, space), {}, Arg::of(slot));
    return shape.size() > 1 ? graph::reshape(u, shape) : u;
  };
  c.def_static(
      "placeholder",
      [placeholder](py::object shape, py::object dtype, int64_t slot, AddrSpace space) {
        return placeholder(toShape(shape), toDType(dtype), slot, space);
      },
      py::arg("shape"), py::arg("dtype"), py::arg("slot"), py::arg("addrspace") = AddrSpace::Global);
  c.def(
      "placeholder_like",
      [placeholder](UOp u, int64_t slot) {
        return placeholder(u.shape(), u.dtype(), slot, AddrSpace::Global);
      },
      py::arg("slot"));

  auto def = [&](const char* name, auto f, auto&&... extra) { c.def(name, f, extra...); };
  def("const_like", [](UOp u, py::object v) {
    PoolScope s(tensorPool());
    return graph::constLike(u, toConst(v));
  });
  def("cast", [](UOp u, py::object d) {
    PoolScope s(tensorPool());
    return u.cast(toDType(d));
  });
  def("bitcast", [](UOp u, py::object d) {
    PoolScope s(tensorPool());
    return u.bitcast(toDType(d));
  });
  def("gep", [](UOp u, py::object i) {
    PoolScope s(tensorPool());
    return u.gep(toInts(i));
  });
  def("broadcast", [](UOp u, int n) {
    PoolScope s(tensorPool());
    return u.broadcast(n);
  });
  def(
      "index",
      [](UOp u, const py::args& at, bool ptr, py::object dtype) {
        PoolScope s(tensorPool());
        std::vector<UOp> indices;
        for (py::handle h : at)
          if (!h.is_none()) indices.push_back(sintUOp(h, dtypes::index));
        return u.indexed(indices, !dtype.is_none() ? toDType(dtype) : ptr ? u.dtype() : u.dtype().base());
      },
      py::arg("ptr") = false, py::arg("dtype") = py::none());
  def("__getitem__", [](UOp u, py::object key) { return indexNode(u, key); });
  def(
      "load",
      [](UOp u, const py::args& more, py::object dtype) {
        PoolScope s(tensorPool());
        return u.load(toUOps(more), dtype.is_none() ? DType() : toDType(dtype));
      },
      py::arg("dtype") = py::none());
  def("store", [](UOp u, py::object value, const py::args& more) {
    PoolScope s(tensorPool());
    py::detail::make_caster<UOp> node;
    UOp v = node.load(value, false) ? py::detail::cast_op<UOp&>(node)
                                    : UOp::constant(u.dtype().base(), toConst(value));
    return u.store(v, toUOps(more));
  });
  def(
      "set",
      [](UOp u, py::object value, py::object end) {
        PoolScope s(tensorPool());
        py::detail::make_caster<UOp> node;
        UOp v = node.load(value, false) ? py::detail::cast_op<UOp&>(node)
                                        : UOp::constant(u.dtype().base(), toConst(value));
        std::vector<UOp> ranges =
            node.load(end, false) ? std::vector<UOp>{py::detail::cast_op<UOp&>(node)} : toUOps(end);
        UOp stored = u.store(v).end(ranges);
        return u.src(0).after(std::span<const UOp>(&stored, 1));
      },
      py::arg("val"), py::arg("end") = py::tuple());
  def("end", [](UOp u, const py::args& ranges) {
    PoolScope s(tensorPool());
    return u.end(toUOps(ranges));
  });
  def("after", [](UOp u, const py::args& effects) {
    PoolScope s(tensorPool());
    return u.after(toUOps(effects));
  });
  def("assign", [](UOp u, UOp x) {
    PoolScope s(tensorPool());
    return graph::assign(u, x);
  });
  def("barrier", [](UOp u, const py::args& more) {
    PoolScope s(tensorPool());
    auto all = toUOps(more);
    all.insert(all.begin(), u);
    return UOp::make(Op::BARRIER, dtypes::void_, all);
  });
  def(
      "reduce",
      [](UOp u, const py::args& ranges, Op arg) {
        PoolScope s(tensorPool());
        return u.reduce(arg, toUOps(ranges));
      },
      py::arg("arg"));
  def("r", [](UOp u, Op op, py::object axes) {
    PoolScope s(tensorPool());
    return graph::reduceAxis(u, op, toInts(axes));
  });
  def("contiguous", [](UOp u) {
    PoolScope s(tensorPool());
    return graph::contiguous(u);
  });
  def("detach", [](UOp u) {
    PoolScope s(tensorPool());
    return graph::detach(u);
  });
  def("copy_to_device", [](UOp u, py::object d) {
    PoolScope s(tensorPool());
    return graph::copyTo(u, toDevice(d));
  });
  def(
      "bufferize",
      [](UOp u, const py::args& ranges, py::object arg) {
        PoolScope s(tensorPool());
        auto all = toUOps(ranges);
        all.insert(all.begin(), u);
        return UOp::make(Op::BUFFERIZE, u.dtype(), all, toArg(arg, Op::BUFFERIZE));
      },
      py::arg("arg") = py::none());
  def("reshape", [](UOp u, const py::args& a) {
    PoolScope s(tensorPool());
    return graph::reshape(u, toShape(argfix(a)));
  });
  def("expand", [](UOp u, const py::args& a) {
    PoolScope s(tensorPool());
    return graph::broadcastTo(u, toShape(argfix(a)));
  });
  def("permute", [](UOp u, const py::args& a) {
    PoolScope s(tensorPool());
    return graph::permute(u, toInts(argfix(a)));
  });
  def("flip", [](UOp u, const py::args& a) {
    PoolScope s(tensorPool());
    return graph::flip(u, toInts(argfix(a)));
  });
  auto bounds = [](py::object pairs) {
    Bounds out;
    for (py::handle p : pairs)
      out.push_back({toSint(py::object(p[py::int_(0)])), toSint(py::object(p[py::int_(1)]))});
    return out;
  };
  def("pad", [bounds](UOp u, py::object a) {
    PoolScope s(tensorPool());
    return graph::pad(u, bounds(a));
  });
  def("shrink", [bounds](UOp u, py::object a) {
    PoolScope s(tensorPool());
    return graph::shrink(u, bounds(a));
  });
  def("bind", [](UOp u, py::object v) {
    PoolScope s(tensorPool());
    if (!u.is(Op::DEFINE_VAR))
      throw Error(ErrorKind::Shape, fmt::format("op is {}, need DEFINE_VAR", opName(u.op())));
    UOp value = sintUOp(v, u.dtype());
    const auto& var = u.arg().as<VarArg>();
    if (value.vmin() < var.vmin || value.vmax() > var.vmax)
      throw Error(ErrorKind::Shape,
                  fmt::format("bind {} not in range [{}, {}]", value.render(), var.vmin, var.vmax));
    return UOp::make(Op::BIND, u.dtype(), {u, value});
  });
  def("unbind", [](UOp u) {
    if (!u.is(Op::BIND)) throw Error(ErrorKind::Shape, fmt::format("can't unbind {}", opName(u.op())));
    return py::make_tuple(u.src(0), fromConst(u.src(1).constValue()));
  });
  c.def_property_readonly("val", [](UOp u) { return fromConst(u.src(1).constValue()); });
  def("valid", [](UOp u, UOp condition) {
    PoolScope s(tensorPool());
    return u.validWhere(condition);
  });
  def("get_idx", [](UOp u) {
    PoolScope s(tensorPool());
    return indexOf(u);
  });
  def("get_valid", [](UOp u) {
    PoolScope s(tensorPool());
    return validOf(u);
  });
}

} // namespace

void bindUOps(py::module_& m) {
  // Calling the class gives the one object of the node, whatever made it first.
  py::exec(R"(
class _UOpMeta(type(Exemplar)):
  def __call__(cls, op, dtype=None, src=(), arg=None, tag=None): return _make_uop(op, dtype, src, arg, tag)
)",
           [&] {
             struct Exemplar {};
             py::class_<Exemplar>(m, "Exemplar");
             return m.attr("__dict__");
           }());
  m.def("_make_uop", &makeUOp);
  UOpClass c(m, "UOp", py::metaclass(m.attr("_UOpMeta")));
  c.attr("__module__") = "tinygrad.uop.ops";
  bindFields(c);
  bindArithmetic(c);
  bindGraph(c);
  bindBuilders(c);

  py::class_<KernelInfo> info(m, "KernelInfo");
  info.def(py::init([](const std::string& name, std::vector<AxisType> axisTypes, bool noLocals,
                       std::vector<Opt> applied, py::object toApply) {
             KernelInfo k{name, std::move(axisTypes), noLocals, std::move(applied), !toApply.is_none(), {}};
             if (!toApply.is_none()) k.optsToApply = toApply.cast<std::vector<Opt>>();
             return k;
           }),
           py::arg("name") = "test", py::arg("axis_types") = py::tuple(), py::arg("dont_use_locals") = false,
           py::arg("applied_opts") = py::tuple(), py::arg("opts_to_apply") = py::none())
      .def_readonly("name", &KernelInfo::name)
      .def_property_readonly("axis_types",
                             [](const KernelInfo& k) { return py::tuple(py::cast(k.axisTypes)); })
      .def_readonly("dont_use_locals", &KernelInfo::dontUseLocals)
      .def_property_readonly("applied_opts",
                             [](const KernelInfo& k) { return py::tuple(py::cast(k.appliedOpts)); })
      .def_property_readonly("opts_to_apply",
                             [](const KernelInfo& k) {
                               return k.hasOptsToApply ? py::object(py::tuple(py::cast(k.optsToApply)))
                                                       : py::none();
                             })
      .def_property_readonly("function_name", [](const KernelInfo& k) { return k.name; })
      .def(
          "__eq__", [](const KernelInfo& a, const KernelInfo& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const KernelInfo& k) { return std::hash<std::string>()(k.name); })
      .def("__repr__", [](const KernelInfo& k) { return Arg::of(k).repr(); });
  py::class_<BufferizeOpts>(m, "BufferizeOpts")
      .def(py::init([](py::object device, AddrSpace space, bool removable) {
             return BufferizeOpts{device.is_none() ? "" : py::str(device).cast<std::string>(), space,
                                  removable};
           }),
           py::arg("device") = py::none(), py::arg("addrspace") = AddrSpace::Global,
           py::arg("removable") = true)
      .def_readonly("device", &BufferizeOpts::device)
      .def_readonly("addrspace", &BufferizeOpts::addrspace)
      .def_readonly("removable", &BufferizeOpts::removable)
      .def(
          "__eq__", [](const BufferizeOpts& a, const BufferizeOpts& b) { return a == b; }, py::is_operator())
      .def("__repr__", [](const BufferizeOpts& b) { return Arg::of(b).repr(); });
}

} // namespace uopscope
