// Elementwise operations, operators, functions and reductions of Tensor.
#include "engine/python/bindings.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

template <typename F>
void reversible(TensorClass& c, const char* name, F f) {
  c.def(
      name, [f](const Tensor& t, const Operand& x, bool reverse) { return (t.*f)(x, reverse); }, py::arg("x"),
      py::arg("reverse") = false);
}

/// A method under its name as the operation of what it makes, so `a * b` is "__mul__" in traces and messages.
template <typename... X, typename F, typename... Extra>
void named(TensorClass& c, const char* name, F f, Extra... extra) {
  c.def(
      name,
      [name, f](const Tensor& t, X... x) {
        OperationScope op(name);
        return f(t, x...);
      },
      extra...);
}

void bindOperators(TensorClass& c) {
  using BinaryFn = Tensor (*)(const Tensor&, const Operand&, bool);
  auto operators = [&](const char* forward, const char* reflected, const char* inPlace, BinaryFn f) {
    using X = const Operand&;
    const py::is_operator unlessOther;
    named<X>(c, forward, [f](const Tensor& t, X x) { return f(t, x, false); }, unlessOther);
    if (reflected) named<X>(c, reflected, [f](const Tensor& t, X x) { return f(t, x, true); }, unlessOther);
    if (inPlace)
      named<X>(c, inPlace, [f](const Tensor& t, X x) { return t.assign(f(t, x, false)); }, unlessOther);
  };
  operators("__add__", "__radd__", "__iadd__",
            [](const Tensor& t, const Operand& x, bool r) { return t.add(x, r); });
  operators("__sub__", "__rsub__", "__isub__",
            [](const Tensor& t, const Operand& x, bool r) { return t.sub(x, r); });
  operators("__mul__", "__rmul__", "__imul__",
            [](const Tensor& t, const Operand& x, bool r) { return t.mul(x, r); });
  operators("__truediv__", "__rtruediv__", "__itruediv__",
            [](const Tensor& t, const Operand& x, bool r) { return t.div(x, r); });
  operators("__floordiv__", "__rfloordiv__", "__ifloordiv__",
            [](const Tensor& t, const Operand& x, bool r) { return t.div(x, r, "floor"); });
  operators("__mod__", "__rmod__", nullptr,
            [](const Tensor& t, const Operand& x, bool r) { return t.mod(x, r); });
  operators("__pow__", "__rpow__", "__ipow__",
            [](const Tensor& t, const Operand& x, bool r) { return t.pow(x, r); });
  operators("__and__", "__rand__", "__iand__",
            [](const Tensor& t, const Operand& x, bool r) { return t.bitAnd(x, r); });
  operators("__or__", "__ror__", "__ior__",
            [](const Tensor& t, const Operand& x, bool r) { return t.bitOr(x, r); });
  operators("__xor__", "__rxor__", "__ixor__",
            [](const Tensor& t, const Operand& x, bool r) { return t.bitXor(x, r); });
  operators("__lt__", nullptr, nullptr, [](const Tensor& t, const Operand& x, bool) { return t.lt(x); });
  operators("__gt__", nullptr, nullptr, [](const Tensor& t, const Operand& x, bool) { return t.gt(x); });
  operators("__le__", nullptr, nullptr, [](const Tensor& t, const Operand& x, bool) { return t.le(x); });
  operators("__ge__", nullptr, nullptr, [](const Tensor& t, const Operand& x, bool) { return t.ge(x); });
  operators("__ne__", nullptr, nullptr, [](const Tensor& t, const Operand& x, bool) { return t.ne(x); });
  operators("__eq__", nullptr, nullptr, [](const Tensor& t, const Operand& x, bool) { return t.eq(x); });
  // pybind11 removes the hash of a class that gets an __eq__.
  c.def("__hash__", [](const Tensor& t) { return reinterpret_cast<size_t>(t.state().get()) >> 4; });
  named<const Tensor&>(c, "__matmul__", [](const Tensor& t, const Tensor& x) { return t.matmul(x); });
  named<const Tensor&>(c, "__rmatmul__", [](const Tensor& t, const Tensor& x) { return t.matmul(x, true); });
  named<const Tensor&>(c, "__imatmul__",
                       [](const Tensor& t, const Tensor& x) { return t.assign(t.matmul(x)); });
  named<int64_t>(c, "__lshift__", [](const Tensor& t, int64_t n) { return t.lshift(n); });
  named<int64_t>(c, "__rshift__", [](const Tensor& t, int64_t n) { return t.rshift(n); });
  named<int64_t>(c, "__ilshift__", [](const Tensor& t, int64_t n) { return t.assign(t.lshift(n)); });
  named<int64_t>(c, "__irshift__", [](const Tensor& t, int64_t n) { return t.assign(t.rshift(n)); });
  named<>(c, "__neg__", [](const Tensor& t) { return t.neg(); });
  named<>(c, "__invert__", [](const Tensor& t) { return t.bitNot(); });
  named<>(c, "__abs__", [](const Tensor& t) { return t.abs(); });
}

/// Functions of a tensor without further arguments.
void bindFunctions(TensorClass& c) {
  const std::pair<const char*, Tensor (Tensor::*)() const> unary[] = {{"neg", &Tensor::neg},
                                                                      {"logical_not", &Tensor::logicalNot},
                                                                      {"bitwise_not", &Tensor::bitNot},
                                                                      {"reciprocal", &Tensor::reciprocal},
                                                                      {"sqrt", &Tensor::sqrt},
                                                                      {"rsqrt", &Tensor::rsqrt},
                                                                      {"exp", &Tensor::exp},
                                                                      {"exp2", &Tensor::exp2},
                                                                      {"log", &Tensor::log},
                                                                      {"log2", &Tensor::log2},
                                                                      {"log10", &Tensor::log10},
                                                                      {"sin", &Tensor::sin},
                                                                      {"cos", &Tensor::cos},
                                                                      {"tan", &Tensor::tan},
                                                                      {"asin", &Tensor::asin},
                                                                      {"acos", &Tensor::acos},
                                                                      {"atan", &Tensor::atan},
                                                                      {"sinh", &Tensor::sinh},
                                                                      {"cosh", &Tensor::cosh},
                                                                      {"tanh", &Tensor::tanh},
                                                                      {"asinh", &Tensor::asinh},
                                                                      {"acosh", &Tensor::acosh},
                                                                      {"atanh", &Tensor::atanh},
                                                                      {"erf", &Tensor::erf},
                                                                      {"trunc", &Tensor::trunc},
                                                                      {"floor", &Tensor::floor},
                                                                      {"ceil", &Tensor::ceil},
                                                                      {"round", &Tensor::round},
                                                                      {"abs", &Tensor::abs},
                                                                      {"sign", &Tensor::sign},
                                                                      {"square", &Tensor::square},
                                                                      {"isnan", &Tensor::isnan},
                                                                      {"isfinite", &Tensor::isfinite},
                                                                      {"relu", &Tensor::relu},
                                                                      {"relu6", &Tensor::relu6},
                                                                      {"sigmoid", &Tensor::sigmoid},
                                                                      {"gelu", &Tensor::gelu},
                                                                      {"quick_gelu", &Tensor::quickGelu},
                                                                      {"silu", &Tensor::silu},
                                                                      {"swish", &Tensor::silu},
                                                                      {"mish", &Tensor::mish},
                                                                      {"softsign", &Tensor::softsign},
                                                                      {"logsigmoid", &Tensor::logsigmoid},
                                                                      {"hardswish", &Tensor::hardswish}};
  for (auto [name, f] : unary) c.def(name, method(f));
}

void bindFunctionsOfNumbers(TensorClass& c) {
  c.def("elu", method(&Tensor::elu), py::arg("alpha") = 1.0)
      .def("celu", method(&Tensor::celu), py::arg("alpha") = 1.0)
      .def("selu", method(&Tensor::selu), py::arg("alpha") = 1.67326, py::arg("gamma") = 1.0507)
      .def("softplus", method(&Tensor::softplus), py::arg("beta") = 1.0)
      .def("hardsigmoid", method(&Tensor::hardsigmoid), py::arg("alpha") = 1.0 / 6, py::arg("beta") = 0.5)
      .def("hardtanh", method(&Tensor::hardtanh), py::arg("min_val") = -1, py::arg("max_val") = 1)
      .def("leaky_relu", method(&Tensor::leakyRelu), py::arg("neg_slope") = 0.01)
      .def("isinf", method(&Tensor::isinf), py::arg("detect_positive") = true,
           py::arg("detect_negative") = true)
      .def("isclose", method(&Tensor::isclose), py::arg("other"), py::arg("rtol") = 1e-5,
           py::arg("atol") = 1e-8, py::arg("equal_nan") = false)
      .def(
          "allclose",
          [](const Tensor& t, const Tensor& o, double rtol, double atol, bool nan) {
            return t.isclose(o, rtol, atol, nan).all().item().i != 0;
          },
          py::arg("other"), py::arg("rtol") = 1e-5, py::arg("atol") = 1e-8, py::arg("equal_nan") = false)
      .def("lerp", method(&Tensor::lerp), py::arg("end"), py::arg("weight"))
      .def("copysign", method(&Tensor::copysign), py::arg("other"))
      .def("logaddexp", method(&Tensor::logaddexp), py::arg("other"))
      .def("maximum", method(&Tensor::maximum), py::arg("x"))
      .def("minimum", method(&Tensor::minimum), py::arg("x"))
      .def("eq", method(&Tensor::eq), py::arg("x"))
      .def("ne", method(&Tensor::ne), py::arg("x"))
      .def("where", method(&Tensor::where), py::arg("x"), py::arg("y"))
      .def("lshift", method(&Tensor::lshift), py::arg("x"))
      .def("rshift", method(&Tensor::rshift), py::arg("x"))
      .def("threefry", method(&Tensor::threefry), py::arg("seed"));
}

void bindClamping(TensorClass& c) {
  auto clamp = [](const Tensor& t, const std::optional<Operand>& low, const std::optional<Operand>& high) {
    return t.clamp(low, high);
  };
  auto clampAny = [clamp](const Tensor& t, py::object low, py::object high) {
    auto operand = [](py::object o) {
      return o.is_none() ? std::optional<Operand>() : std::optional<Operand>([&] {
        py::detail::make_caster<Operand> caster;
        if (!caster.load(o, false)) throw py::type_error("clamp takes numbers or tensors");
        return py::detail::cast_op<Operand&>(caster);
      }());
    };
    return clamp(t, operand(low), operand(high));
  };
  c.def("clamp", clampAny, py::arg("min_") = py::none(), py::arg("max_") = py::none());
  c.def("clip", clampAny, py::arg("min_") = py::none(), py::arg("max_") = py::none());
}

/// Arithmetic with named methods, and conversions of types.
void bindNamedArithmetic(TensorClass& c) {
  reversible(c, "add", &Tensor::add);
  reversible(c, "sub", &Tensor::sub);
  reversible(c, "mul", &Tensor::mul);
  reversible(c, "idiv", &Tensor::idiv);
  reversible(c, "mod", &Tensor::mod);
  reversible(c, "pow", &Tensor::pow);
  reversible(c, "bitwise_and", &Tensor::bitAnd);
  reversible(c, "bitwise_or", &Tensor::bitOr);
  reversible(c, "bitwise_xor", &Tensor::bitXor);
  c.def(
      "div",
      [](const Tensor& t, const Operand& x, bool reverse, const std::optional<std::string>& mode) {
        return t.div(x, reverse, mode.value_or(""));
      },
      py::arg("x"), py::arg("reverse") = false, py::arg("rounding_mode") = py::none());
  c.def("cast", [](const Tensor& t, py::object d) { return t.cast(toValueDType(d)); }, py::arg("dtype"));
  c.def(
      "bitcast", [](const Tensor& t, py::object d) { return t.bitcast(toValueDType(d)); }, py::arg("dtype"));
  const std::pair<const char*, DType> casts[] = {{"float", dtypes::float32},     {"half", dtypes::float16},
                                                 {"bfloat16", dtypes::bfloat16}, {"double", dtypes::float64},
                                                 {"int", dtypes::int32},         {"long", dtypes::int64},
                                                 {"short", dtypes::int16},       {"bool", dtypes::bool_}};
  for (auto [name, d] : casts) c.def(name, [d = d](const Tensor& t) { return t.cast(d); });
}

void bindReductions(TensorClass& c) {
  using Plain = Tensor (Tensor::*)(const Axes&, bool) const;
  const std::pair<const char*, Plain> plain[] = {{"max", &Tensor::max},   {"min", &Tensor::min},
                                                 {"mean", &Tensor::mean}, {"any", &Tensor::any},
                                                 {"all", &Tensor::all},   {"logsumexp", &Tensor::logsumexp}};
  for (auto [name, f] : plain)
    c.def(
        name,
        [f = f](const Tensor& t, py::object axis, bool keepdim) { return (t.*f)(toAxes(axis), keepdim); },
        py::arg("axis") = py::none(), py::arg("keepdim") = false);
  using Typed = Tensor (Tensor::*)(const Axes&, bool, std::optional<DType>) const;
  const std::pair<const char*, Typed> typed[] = {{"sum", &Tensor::sum}, {"prod", &Tensor::prod}};
  for (auto [name, f] : typed)
    c.def(
        name,
        [f = f](const Tensor& t, py::object axis, bool keepdim, py::object d) {
          return (t.*f)(toAxes(axis), keepdim, toOptionalDType(d));
        },
        py::arg("axis") = py::none(), py::arg("keepdim") = false, py::arg("dtype") = py::none());
  auto spread = [&](const char* name, auto f) {
    c.def(
        name,
        [f](const Tensor& t, py::object axis, bool keepdim, int64_t correction) {
          return f(t, toAxes(axis), keepdim, correction);
        },
        py::arg("axis") = py::none(), py::arg("keepdim") = false, py::arg("correction") = 1);
  };
  spread("var", [](const Tensor& t, const Axes& a, bool k, int64_t n) { return t.var(a, k, n); });
  spread("std", [](const Tensor& t, const Axes& a, bool k, int64_t n) { return t.std(a, k, n); });
  spread("var_mean", [](const Tensor& t, const Axes& a, bool k, int64_t n) {
    return std::pair(t.var(a, k, n), t.mean(a, k));
  });
  spread("std_mean", [](const Tensor& t, const Axes& a, bool k, int64_t n) {
    return std::pair(t.std(a, k, n), t.mean(a, k));
  });
  auto soft = [&](const char* name, Tensor (Tensor::*f)(int64_t, std::optional<DType>) const) {
    c.def(
        name, [f](const Tensor& t, int64_t axis, py::object d) { return (t.*f)(axis, toOptionalDType(d)); },
        py::arg("axis") = -1, py::arg("dtype") = py::none());
  };
  soft("softmax", &Tensor::softmax);
  soft("log_softmax", &Tensor::logSoftmax);
  c.def("argmax", method(&Tensor::argmax), py::arg("axis") = py::none(), py::arg("keepdim") = false)
      .def("argmin", method(&Tensor::argmin), py::arg("axis") = py::none(), py::arg("keepdim") = false)
      .def("cumsum", method(&Tensor::cumsum), py::arg("axis") = 0)
      .def("cumprod", method(&Tensor::cumprod), py::arg("axis"))
      .def("cummax", method(&Tensor::cummax), py::arg("axis") = 0)
      .def("cummin", method(&Tensor::cummin), py::arg("axis") = 0)
      .def("logcumsumexp", method(&Tensor::logcumsumexp), py::arg("axis") = 0);
}

} // namespace

void bindTensorMath(TensorClass& c) {
  bindOperators(c);
  bindFunctions(c);
  bindFunctionsOfNumbers(c);
  bindClamping(c);
  bindNamedArithmetic(c);
  bindReductions(c);
}

} // namespace uopscope
