// Builders of UOp: ranges, constants, loads, stores, movement, parameters of kernels; and indexing.
#include "engine/python/uop_arguments.h"
#include "engine/rules/algebra.h"
#include "engine/uop/node_check.h"
#include "engine/uop/unique.h"

namespace uopscope {

namespace {

/// Indexes a node by numbers, nodes and slices. Sliced axes are moved to the end and stay.
UOp indexNode(UOp u, py::object key) {
  PoolScope scope(tensorPool());
  py::tuple parts = py::isinstance<py::tuple>(key) ? key.cast<py::tuple>() : py::make_tuple(key);
  if (!u.hasShape() && u.dtype().isPtr() && parts.size() == 1) // memory of unknown length has one axis
    return u.indexed({sintUOp(parts[0], dtypes::index)}, u.dtype().base());
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

/// Nodes with several sources, as functions of the class or of the first source.
void bindJoining(UOpClass& c) {
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
}

/// Leaves: constants, loops, variables, memory.
void bindLeaves(UOpClass& c) {
  c.def_static(
      "const",
      [](py::object dtype, py::object value, py::object device, py::object shape) {
        PoolScope scope(tensorPool());
        py::detail::make_caster<UOp> node;
        if (node.load(value, false)) return py::detail::cast_op<UOp&>(node);
        DType d = toDType(dtype);
        if (value.is_none() && d.isVoid()) return UOp::make(Op::NOOP, d); // a value of None makes a NOOP
        if (py::isinstance<py::tuple>(value)) {
          UOp lanes = makeChecked(Op::VCONST, d, {}, toArg(value, Op::VCONST, d));
          const auto& each = lanes.arg().as<std::vector<ConstValue>>();
          bool alike = !each.empty() && std::all_of(each.begin(), each.end(),
                                                    [&](const ConstValue& v) { return v == each[0]; });
          return alike ? UOp::constant(d, each[0]) : lanes;
        }
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
      [](const std::string& name, py::object vmin, py::object vmax, DType dtype) {
        PoolScope scope(tensorPool());
        return UOp::variable(name, boundOf(vmin), boundOf(vmax), dtype);
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
    int64_t size = graph::roomFor(shape);
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
}

/// Nodes made from one node: constants like it, conversions, lanes.
void bindAlike(UOpClass& c) {
  c.def("const_like", [](UOp u, py::object v) {
    PoolScope s(tensorPool());
    return constantLike(u, toConst(v));
  });
  c.def("ufix", [](UOp u, py::object x) {
    PoolScope s(tensorPool());
    return operandFor(u, x);
  });
  c.def("cast", [](UOp u, py::object d) {
    PoolScope s(tensorPool());
    return u.cast(toDType(d));
  });
  c.def("bitcast", [](UOp u, py::object d) {
    PoolScope s(tensorPool());
    return u.bitcast(toDType(d));
  });
  c.def("gep", [](UOp u, py::object i) {
    PoolScope s(tensorPool());
    return u.gep(toInts(i));
  });
  c.def("broadcast", [](UOp u, int n) {
    PoolScope s(tensorPool());
    return u.broadcast(n);
  });
}

/// Memory: addresses, loads, stores and the order of effects.
void bindAccesses(UOpClass& c) {
  c.def(
      "index",
      [](UOp u, const py::args& at, bool ptr, py::object dtype) {
        PoolScope s(tensorPool());
        std::vector<UOp> indices;
        for (py::handle h : at)
          if (!h.is_none()) indices.push_back(sintUOp(h, dtypes::index));
        return u.indexed(indices, !dtype.is_none() ? toDType(dtype) : ptr ? u.dtype() : u.dtype().base());
      },
      py::arg("ptr") = false, py::arg("dtype") = py::none());
  c.def("__getitem__", [](UOp u, py::object key) { return indexNode(u, key); });
  c.def(
      "load",
      [](UOp u, const py::args& more, py::object dtype) {
        PoolScope s(tensorPool());
        return u.load(toUOps(more), dtype.is_none() ? DType() : toDType(dtype));
      },
      py::arg("dtype") = py::none());
  c.def("store", [](UOp u, py::object value, const py::args& more) {
    PoolScope s(tensorPool());
    py::detail::make_caster<UOp> node;
    UOp v = node.load(value, false) ? py::detail::cast_op<UOp&>(node)
                                    : UOp::constant(u.dtype().base(), toConst(value));
    return u.store(v, toUOps(more));
  });
  c.def(
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
  c.def("end", [](UOp u, const py::args& ranges) {
    PoolScope s(tensorPool());
    return u.end(toUOps(ranges));
  });
  c.def("after", [](UOp u, const py::args& effects) {
    PoolScope s(tensorPool());
    return u.after(toUOps(effects));
  });
  c.def("assign", [](UOp u, UOp x) {
    PoolScope s(tensorPool());
    return graph::assign(u, x);
  });
  c.def("barrier", [](UOp u, const py::args& more) {
    PoolScope s(tensorPool());
    auto all = toUOps(more);
    all.insert(all.begin(), u);
    return UOp::make(Op::BARRIER, dtypes::void_, all);
  });
}

/// Nodes of the tensor graph.
void bindTensorNodes(UOpClass& c) {
  c.def(
      "reduce",
      [](UOp u, const py::args& ranges, Op arg) {
        PoolScope s(tensorPool());
        return u.reduce(arg, toUOps(ranges));
      },
      py::arg("arg"));
  c.def("r", [](UOp u, Op op, py::object axes) {
    PoolScope s(tensorPool());
    return graph::reduceAxis(u, op, toInts(axes));
  });
  c.def("contiguous", [](UOp u) {
    PoolScope s(tensorPool());
    return graph::contiguous(u);
  });
  c.def("detach", [](UOp u) {
    PoolScope s(tensorPool());
    return graph::detach(u);
  });
  c.def("copy_to_device", [](UOp u, py::object d) {
    PoolScope s(tensorPool());
    return graph::copyTo(u, toDevice(d));
  });
  c.def(
      "bufferize",
      [](UOp u, const py::args& ranges, py::object arg) {
        PoolScope s(tensorPool());
        auto all = toUOps(ranges);
        all.insert(all.begin(), u);
        return makeChecked(Op::BUFFERIZE, u.dtype(), all, toArg(arg, Op::BUFFERIZE));
      },
      py::arg("arg") = py::none());
  c.def("reshape", [](UOp u, const py::args& a) {
    PoolScope s(tensorPool());
    return graph::reshape(u, toShape(argfix(a)));
  });
  c.def("expand", [](UOp u, const py::args& a) {
    PoolScope s(tensorPool());
    return graph::broadcastTo(u, toShape(argfix(a)));
  });
  c.def("permute", [](UOp u, const py::args& a) {
    PoolScope s(tensorPool());
    return graph::permute(u, toInts(argfix(a)));
  });
  c.def("flip", [](UOp u, const py::args& a) {
    PoolScope s(tensorPool());
    return graph::flip(u, toInts(argfix(a)));
  });
  auto bounds = [](py::object pairs) {
    Bounds out;
    for (py::handle p : pairs)
      out.push_back({toSint(py::object(p[py::int_(0)])), toSint(py::object(p[py::int_(1)]))});
    return out;
  };
  c.def("pad", [bounds](UOp u, py::object a) {
    PoolScope s(tensorPool());
    return graph::pad(u, bounds(a));
  });
  c.def("shrink", [bounds](UOp u, py::object a) {
    PoolScope s(tensorPool());
    return graph::shrink(u, bounds(a));
  });
}

/// Values of variables, and gates.
void bindValues(UOpClass& c) {
  c.def("bind", [](UOp u, py::object v) {
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
  auto boundTo = [](UOp u) {
    if (!u.is(Op::BIND) || u.srcCount() < 2 || !u.src(1).isConst())
      throw Error(ErrorKind::Shape, fmt::format("can't unbind {}", opName(u.op())));
    return fromConst(u.src(1).constValue());
  };
  c.def("unbind", [boundTo](UOp u) {
    py::object value = boundTo(u);
    return py::make_tuple(u.src(0), value);
  });
  c.def_property_readonly("val", boundTo);
  c.def("valid", [](UOp u, UOp condition) {
    PoolScope s(tensorPool());
    if (condition.isConst(1)) return u;
    return (u.dtype().isInt() ? u.cast(dtypes::index.vec(u.dtype().count())) : u).validWhere(condition);
  });
  c.def("get_idx", [](UOp u) {
    PoolScope s(tensorPool());
    return indexOf(u);
  });
  c.def("get_valid", [](UOp u) {
    PoolScope s(tensorPool());
    return validOf(u);
  });
}

} // namespace

void bindBuilders(UOpClass& c) {
  bindJoining(c);
  bindLeaves(c);
  bindAlike(c);
  bindAccesses(c);
  bindTensorNodes(c);
  bindValues(c);
}

} // namespace uopscope
