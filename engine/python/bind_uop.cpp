// UOp in Python: the constructor, fields, arithmetic, builders, questions and printing. All nodes that Python
// holds live in the tensor pool.
#include "engine/python/bindings.h"
#include "engine/python/uop_arguments.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/algebra.h"
#include "engine/rules/rules.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/uop/eval.h"
#include "engine/uop/node_check.h"
#include "engine/uop/origin.h"
#include "engine/uop/print.h"
#include "engine/uop/unique.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>
#include <pybind11/eval.h>

namespace uopscope {

namespace {

UOp makeUOp(Op op, py::object dtype, py::object src, py::object arg, py::object tag) {
  PoolScope scope(tensorPool());
  DType d = dtype.is_none() ? dtypes::void_ : toDType(dtype);
  return makeChecked(op, d, toUOps(src), toArg(arg, op, d), toArg(tag, Op::NOOP));
}

/// The memory of a realized node, as a Buffer of the engine.
/// The buffer whose elements the node has in their order. A view of some of them, or in another order, has none of its own.
py::object bufferObject(UOp u) {
  UOp b = graph::base(u);
  UOp view = u;
  while (view != b && (!view.in(group::kMovement) || view.is(Op::RESHAPE))) view = view.src(0);
  if (view != b)
    throw Error(ErrorKind::Shape,
                fmt::format("a view with a buffer can only be RESHAPE, not {}: its buffer is that of .base",
                            opName(view.op())));
  if (!b.in({Op::BUFFER, Op::BUFFER_VIEW}))
    throw Error(ErrorKind::Shape,
                fmt::format("{} has no buffer, it must be BUFFER: realize the tensor first", opName(b.op())));
  return py::cast(Buffer::of(b));
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
                                       : x.alu(Op::MUL, {constantLike(x, ConstValue::ofInt(-1))});
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
    std::vector<UOp> operands = toUOps(more);
    operands.insert(operands.begin(), self);
    checkNode(op, operands, {});
    return self.alu(op, std::span(operands).subspan(1));
  });
}

/// A bound of a float. The engine keeps bounds of integers, so only constants and floats converted from
/// integers have bounds.
double floatBound(UOp u, bool upper) {
  if (u.is(Op::CAST) && !u.src(0).dtype().isFloat())
    return static_cast<double>(upper ? u.src(0).vmax() : u.src(0).vmin());
  if (u.is(Op::VCONST)) {
    const auto& lanes = u.arg().as<std::vector<ConstValue>>();
    auto less = [](const ConstValue& a, const ConstValue& b) { return a.asDouble() < b.asDouble(); };
    auto [low, high] = std::minmax_element(lanes.begin(), lanes.end(), less);
    return asWritten(u.dtype(), *(upper ? high : low)).asDouble();
  }
  return upper ? INFINITY : -INFINITY;
}

/// The fields of a node, and copies of a node with other fields.
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
             return makeChecked(o, d, s, arg ? toArg(arg, o, d) : u.arg(),
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
      .def_property_readonly("key", [](UOp u) {
        auto [high, low] = u.key();
        return py::bytes(fmt::format("{:016x}{:016x}", high, low));
      });
}

/// Facts about a node: shape, device, origin, bounds.
void bindFacts(UOpClass& c) {
  c.def_property_readonly("shape",
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
      .def_property_readonly("size", [](UOp u) { return graph::roomFor(u.shape()); })
      .def("numel",
           [](UOp u) {
             PoolScope scope(tensorPool());
             return fromSint(prod(u.shape()));
           })
      .def_property_readonly("device",
                             [](UOp u) -> py::object {
                               return u.device().empty() ? py::object(py::none()) : fromDevice(u.device());
                             })
      .def_property_readonly("base", [](UOp u) { return graph::base(u); })
      .def_property_readonly("axis",
                             [](UOp u) -> py::object {
                               auto axis = splitAxis(u);
                               return axis ? py::object(py::int_(*axis)) : py::none();
                             })
      .def_property_readonly("buffer", [](UOp u) { return bufferObject(u); })
      .def_property_readonly("buf_uop", [](UOp u) { return u.bufferOf(); })
      .def_property_readonly("is_realized",
                             [](UOp u) {
                               auto inMemory = [](UOp part) {
                                 UOp b = graph::base(part);
                                 return b.is(Op::BUFFER) && Buffer::of(b)->isAllocated();
                               };
                               UOp b = graph::base(u);
                               if (!b.is(Op::MULTI) || !b.src(0).is(Op::MSTACK)) return inMemory(b);
                               auto parts = b.src(0).src();
                               return std::all_of(parts.begin(), parts.end(), inMemory);
                             })
      .def("is_contiguous", [](UOp u) { return graph::isRealized(u); })
      .def_property_readonly(
          "metadata",
          [](UOp u) -> py::object {
            const NodeOrigin* o = originOf(u);
            if (!o) return py::none();
            return py::make_tuple(
                py::module_::import("tinygrad.helpers")
                    .attr("Metadata")(std::string(o->operation), fmt::format("{}:{}", o->file, o->line)));
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
  // Bounds of floats and booleans become Python values of that type.
  auto bound = [](UOp u, int64_t v, bool upper) -> py::object {
    if (u.isConst() && !u.isInvalidConst()) return fromConst(asWritten(u.dtype(), u.constValue()), u.dtype());
    if (u.dtype().scalar().isBool()) return py::bool_(v != 0);
    if (u.dtype().isFloat()) return py::float_(floatBound(u, upper));
    return py::int_(v);
  };
  c.def_property_readonly("vmin", [bound](UOp u) { return bound(u, u.vmin(), false); });
  c.def_property_readonly("vmax", [bound](UOp u) { return bound(u, u.vmax(), true); });
}

/// The graph below a node, and substitution in it.
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
          [](UOp u, py::dict map, py::object name, py::object more) {
            if (!more.is_none()) { // further rules: a rewrite with these
              py::module_ ops = py::module_::import("tinygrad.uop.ops");
              return ops.attr("graph_rewrite")(u, more + ops.attr("_substitute"), map, true, name)
                  .cast<UOp>();
            }
            PoolScope scope(tensorPool());
            UOpMap<UOp> replacements;
            for (auto [k, v] : map) replacements[k.cast<UOp>()] = v.cast<UOp>();
            return u.substitute(replacements);
          },
          py::arg("dvars"), py::arg("name") = py::none(), py::arg("extra_pm") = py::none());
}

/// Simplifies an expression. A division by the constant 0 has no value. The rules keep it, since it may occur
/// in the index of a masked access where nothing is read. A script that asks for the value of the expression
/// gets a ZeroDivisionError.
UOp simplifyDefined(UOp u) {
  if (u.below().has(Op::IDIV) || u.below().has(Op::MOD))
    visitBelow(u, [](UOp n) {
      if (n.in({Op::IDIV, Op::MOD}) && n.src(1).isConst() && n.src(1).arg().isNumber() &&
          n.src(1).arg().number() == 0) {
        PyErr_SetString(PyExc_ZeroDivisionError, fmt::format("{} divides by 0", n.render()).c_str());
        throw py::error_already_set();
      }
      return Visit::Below;
    });
  return simplify(u);
}

/// Questions about integer expressions.
void bindAlgebra(UOpClass& c) {
  c.def("simplify",
        [](UOp u) {
          PoolScope scope(tensorPool());
          NodesHeld held;
          return simplifyDefined(u);
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
            if (!simplifyFirst) return closedExpression(u);
            UOp simple = simplify(u);
            auto lanes = simple.src();
            bool isConstant =
                simple.is(Op::VECTORIZE) && !lanes.empty() &&
                std::all_of(lanes.begin(), lanes.end(), [](UOp lane) { return lane.isConst(); });
            if (!isConstant) return closedExpression(simple);
            if (std::all_of(lanes.begin(), lanes.end(), [&](UOp lane) { return lane == lanes[0]; }))
              return closedExpression(lanes[0]);
            std::string text;
            for (UOp lane : lanes) text += (text.empty() ? "" : ", ") + closedExpression(lane);
            return "(" + text + ")";
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
      .def("vars",
           [](UOp u) { // a bound variable counts as its BIND
             py::set out;
             UOpMap<bool> bound;
             for (UOp n : u.toposort())
               if (n.is(Op::BIND)) bound[n.src(0)] = true;
             for (UOp n : u.toposort())
               if (n.is(Op::BIND) || (n.is(Op::DEFINE_VAR) && !bound.count(n))) out.add(py::cast(n));
             return out;
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
    throw Error(ErrorKind::Shape, fmt::format("eval failed to be a single number, range is {} to {} in {}",
                                              s.vmin(), s.vmax(), s.render()));
  };
  c.def("__bool__", [valueOf](UOp u) { return valueOf(u).asDouble() != 0; });
  c.def("__int__", [valueOf](UOp u) { return static_cast<int64_t>(valueOf(u).asDouble()); });
  c.def("__float__", [valueOf](UOp u) { return valueOf(u).asDouble(); });
}

} // namespace

void bindUOps(py::module_& m) {
  // Calling the class returns the one object of the node, even if it existed before.
  py::exec(R"(
class _UOpMeta(type(Exemplar)):
  def __call__(cls, op, dtype=None, src=(), arg=None, tag=None): return _make_uop(op, dtype, src, arg, tag)
)",
           [&] {
             struct Exemplar {};
             [[maybe_unused]] py::class_<Exemplar> type(m, "Exemplar");
             return m.attr("__dict__");
           }());
  m.def("_make_uop", &makeUOp);
  m.def("compare_nodes", [](UOp a, UOp b) { return compareNodes(a, b); });
  UOpClass c(m, "UOp", py::metaclass(m.attr("_UOpMeta")));
  c.attr("__module__") = "tinygrad.uop.ops";
  bindFields(c);
  bindFacts(c);
  bindArithmetic(c);
  bindGraph(c);
  bindAlgebra(c);
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
