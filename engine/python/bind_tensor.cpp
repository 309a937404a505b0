// Tensor: construction, fields, creation, data, realize, gradient. The files bind_tensor_*.cpp have its
// operations.
#include "engine/python/bindings.h"
#include "engine/python/tensor_data.h"
#include "engine/runtime/device.h"
#include "engine/tensor/gradient.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/tensor_memory.h"

#include <fmt/format.h>
#include <pybind11/eval.h>

namespace uopscope {

TensorOptions takeOptions(const py::kwargs& kwargs, std::initializer_list<const char*> others) {
  TensorOptions o;
  for (auto [key, value] : kwargs) {
    auto name = key.cast<std::string>();
    if (name == "device") {
      if (!value.is_none()) o.device = toDevice(value);
    } else if (name == "dtype") {
      o.dtype = toOptionalDType(value);
    } else if (name == "requires_grad") {
      if (!value.is_none()) o.requiresGrad = value.cast<bool>();
    } else if (std::find(others.begin(), others.end(), name) == others.end()) {
      throw py::type_error(fmt::format("unexpected keyword argument '{}'", name));
    }
  }
  return o;
}

namespace {

/// arange with symbolic bounds or step: computes the largest possible number of values, then shrinks to the
/// actual number.
Tensor symbolicArange(py::handle start, py::handle stop, py::handle step, TensorOptions o) {
  PoolScope scope(tensorPool());
  NodesHeld held;
  Sint begin = stop.is_none() ? Sint(0) : toSint(start), end = toSint(stop.is_none() ? start : stop),
       by = toSint(step);
  if (by.vmin() <= 0)
    throw Error(ErrorKind::Value, "arange: a symbolic step has to be positive, whatever its value");
  Sint count = (end - begin + by - Sint(1)) / by;
  if (!o.dtype) o.dtype = dtypes::defaultInt();
  Tensor all = Tensor::arange(ConstValue::ofInt(0), ConstValue::ofInt(std::max<int64_t>(count.vmax(), 0)),
                              ConstValue::ofInt(1), o);
  return all.shrink({std::pair<Sint, Sint>(Sint(0), count)}).mul(Operand(by)).add(Operand(begin));
}

void bindCreation(TensorClass& c) {
  auto shaped = [&](const char* name, Tensor (*make)(const Shape&, const TensorOptions&)) {
    c.def_static(name, [make](const py::args& shape, const py::kwargs& kw) {
      return make(toShape(argfix(shape)), takeOptions(kw));
    });
  };
  shaped("empty", &Tensor::empty);
  shaped("zeros", &Tensor::zeros);
  shaped("ones", &Tensor::ones);
  c.def_static(
      "full",
      [](py::object shape, py::object value, const py::kwargs& kw) {
        PoolScope scope(tensorPool());
        if (py::isinstance<Node>(value)) {
          Tensor one = Tensor::scalar(ConstValue::ofInt(0), takeOptions(kw)).add(Operand(toSint(value)));
          return one.broadcastTo(PyIndex_Check(shape.ptr()) ? Shape{toSint(shape)} : toShape(shape));
        }
        return Tensor::full(PyIndex_Check(shape.ptr()) ? Shape{toSint(shape)} : toShape(shape),
                            value.is_none() ? ConstValue::ofFloat(0) : toConst(value), takeOptions(kw));
      },
      py::arg("shape"), py::arg("fill_value"));
  auto like = [&](const char* name, double value) {
    c.def(name, [value](const Tensor& t, const py::kwargs& kw) {
      return t.fullLike(t.isFloat() ? ConstValue::ofFloat(value)
                                    : ConstValue::ofInt(static_cast<int64_t>(value)),
                        takeOptions(kw));
    });
  };
  like("zeros_like", 0);
  like("ones_like", 1);
  c.def(
      "full_like",
      [](const Tensor& t, py::object value, const py::kwargs& kw) {
        return t.fullLike(toConst(value), takeOptions(kw));
      },
      py::arg("fill_value"));
  c.def("empty_like", [](const Tensor& t, const py::kwargs& kw) {
    TensorOptions o = takeOptions(kw);
    if (!o.dtype) o.dtype = t.dtype();
    if (!o.device) o.device = t.device();
    return Tensor::empty(t.shape(), o);
  });
  c.def(
      "const_like",
      [](const Tensor& t, py::object v) {
        PoolScope s(tensorPool());
        return Tensor::fromUOp(constantLike(t.uop(), toConst(v)));
      },
      py::arg("b"));
  c.def_static(
      "arange",
      [](py::object start, py::object stop, py::object step, const py::kwargs& kw) {
        if (py::isinstance<Node>(start) || py::isinstance<Node>(stop) || py::isinstance<Node>(step))
          return symbolicArange(start, stop, step, takeOptions(kw));
        ConstValue a = ConstValue::ofInt(0), b = toConst(start);
        if (!stop.is_none()) a = b, b = toConst(stop);
        if (toConst(step).asDouble() == 0) {
          PyErr_SetString(PyExc_ZeroDivisionError, "arange: step must not be zero");
          throw py::error_already_set();
        }
        return Tensor::arange(a, b, toConst(step), takeOptions(kw));
      },
      py::arg("start"), py::arg("stop") = py::none(), py::arg("step") = 1);
  c.def_static(
      "linspace",
      [](double start, double stop, int64_t steps, const py::kwargs& kw) {
        return Tensor::linspace(start, stop, steps, takeOptions(kw));
      },
      py::arg("start"), py::arg("stop"), py::arg("steps"));
  c.def_static(
      "eye",
      [](int64_t n, std::optional<int64_t> m, const py::kwargs& kw) {
        return Tensor::eye(n, m, takeOptions(kw));
      },
      py::arg("n"), py::arg("m") = py::none());
  c.def_static("from_uop", [](UOp u, const py::kwargs&) {
    return Tensor::scalar(ConstValue::ofInt(0), {{}, dtypes::int32, false}).add(Operand(Sint(u)));
  });
}

/// A range that no END closes and no CONTRACT makes lanes of; null if there is none.
UOp openRange(UOp sink) {
  if (sink.ranges().empty()) return {};
  std::vector<int64_t> lanes; // (range, length) of each axis
  for (UOp u : sink.toposort())
    if (u.is(Op::CONTRACT)) lanes.insert(lanes.end(), u.arg().ints().begin(), u.arg().ints().end());
  for (UOp r : sink.ranges()) {
    bool isContracted = false;
    for (size_t i = 0; i < lanes.size(); i += 2)
      isContracted = isContracted || lanes[i] == r.arg().as<RangeArg>().ids[0];
    if (!isContracted) return r;
  }
  return {};
}

/// Custom kernels: the function receives a placeholder per tensor and returns the SINK of the kernel.
std::vector<Tensor> customKernel(const std::vector<Tensor>& tensors, py::object fxn, py::object gradFxn) {
  OperationScope op("custom_kernel");
  NodesHeld held;
  std::vector<UOp> buffers;
  py::list placeholders;
  for (const Tensor& t : tensors) {
    UOp u = graph::contiguous(t.uop());
    Shape shape = u.shape(); // for a split tensor, the part on each device
    if (auto axis = splitAxis(u)) {
      auto parts = static_cast<int64_t>(t.devices().size());
      shape[static_cast<size_t>(*axis)] = shape[static_cast<size_t>(*axis)] / Sint(parts);
    }
    int64_t size = graph::roomFor(shape);
    UOp p =
        UOp::make(Op::DEFINE_GLOBAL, u.dtype().ptr(size), {}, Arg::of(static_cast<int64_t>(buffers.size())));
    if (shape.size() > 1) p = graph::reshape(p, shape);
    placeholders.append(p);
    buffers.push_back(u);
  }
  py::object answer = fxn(*py::tuple(placeholders));
  UOp sink = answer.cast<UOp>();
  if (!sink.is(Op::SINK))
    fail(ErrorKind::Type,
         fmt::format(
             "a custom kernel's function must answer a SINK (end with .sink(arg=KernelInfo(...))), got {}",
             opName(sink.op())));
  if (UOp range = openRange(sink))
    fail(ErrorKind::Spec,
         fmt::format("the custom kernel leaves range {} open: close it with .end(...) before .sink(...)",
                     range.arg().repr()));
  std::vector<UOp> src{sink.arg() ? sink : sink.withArg(Arg::of(KernelInfo{}))};
  src.insert(src.end(), buffers.begin(), buffers.end());
  UOp kernel = UOp::make(Op::CUSTOM_KERNEL, dtypes::void_, src);
  if (!gradFxn.is_none())
    setCustomDerivative(kernel, {.reverse =
                                     [held = share(gradFxn)](UOp g, UOp k) {
                                       // As in the reference, the function receives the buffers as sources of
                                       // the kernel.
                                       py::list buffers;
                                       for (UOp b : k.src().subspan(1)) buffers.append(b);
                                       py::object seen = py::module_::import("types").attr("SimpleNamespace")(
                                           py::arg("op") = Op::CUSTOM_KERNEL,
                                           py::arg("src") = py::tuple(buffers), py::arg("uop") = k);
                                       std::vector<UOp> each;
                                       for (py::handle h : py::handle(held.get())(g, seen))
                                         each.push_back(h.is_none() ? UOp() : h.cast<UOp>());
                                       return each;
                                     },
                                 .forward = {}});
  std::vector<Tensor> out;
  for (UOp b : buffers) out.push_back(Tensor::fromUOp(b.after(std::span<const UOp>(&kernel, 1))));
  return out;
}

std::vector<Tensor> tensorsOf(const Tensor& first, const py::args& more) {
  std::vector<Tensor> all{first};
  for (py::handle h : more) all.push_back(h.cast<Tensor>());
  return all;
}

py::list scheduleItems(const std::shared_ptr<Schedule>& schedule) {
  py::object make = py::module_::import("tinygrad.engine.schedule").attr("ExecItem").attr("_of");
  py::list items;
  for (size_t i = 0; i < schedule->items.size(); ++i) items.append(make(schedule, i));
  return items;
}

/// `with Tensor.train():`, written in Python since it also decorates Python functions.
void bindTraining(py::module_& m, TensorClass& c) {
  py::exec(R"(
import contextlib
class train(contextlib.ContextDecorator):
  """with Tensor.train(): ... dropout and batch norm behave as in training."""
  def __init__(self, mode=True): self.mode, self._before = mode, []
  def __enter__(self):
    self._before.append(Tensor.training)
    Tensor.training = self.mode
  def __exit__(self, *_): Tensor.training = self._before.pop()
train.__module__ = "tinygrad.tensor"
)",
           m.attr("__dict__"));
  c.attr("train") = m.attr("train");
  m.attr("__dict__").attr("pop")("train");
}

/// Tensors from data, and the properties node, type, shape and device.
void bindProperties(TensorClass& c) {
  c.def(py::init([](py::object data, py::object device, py::object dtype, py::object requiresGrad) {
          TensorOptions o;
          if (!device.is_none()) o.device = toDevice(device);
          o.dtype = toOptionalDType(dtype);
          if (!requiresGrad.is_none()) o.requiresGrad = requiresGrad.cast<bool>();
          return tensorFromPython(data, o).state();
        }),
        py::arg("data") = py::none(), py::arg("device") = py::none(), py::arg("dtype") = py::none(),
        py::arg("requires_grad") = py::none());
  c.def_property(
       "uop", [](const Tensor& t) { return t.uop(); },
       [](const Tensor& t, UOp u) {
         t.state()->leaveNames();
         t.state()->become(u);
       })
      .def_property_readonly("dtype", [](const Tensor& t) { return t.dtype(); })
      .def_property_readonly("shape",
                             [](const Tensor& t) {
                               PoolScope s(tensorPool()); // a symbolic length may be simplified
                               return fromShape(t.shape());
                             })
      .def_property_readonly("device", [](const Tensor& t) { return fromDevice(t.device()); })
      .def_property_readonly("ndim", [](const Tensor& t) { return t.ndim(); })
      .def_property(
          "requires_grad", [](const Tensor& t) { return t.requiresGrad(); },
          [](const Tensor& t, RequiresGrad v) { t.state()->requiresGrad = v; })
      .def_property(
          "grad", [](const Tensor& t) { return t.grad(); },
          [](const Tensor& t, const Tensor& g) { t.setGrad(g); })
      .def(
          "requires_grad_", [](const Tensor& t, RequiresGrad v) { return t.setRequiresGrad(v); },
          py::arg("requires_grad") = true)
      .def(
          "size",
          [](const Tensor& t, std::optional<int64_t> dim) -> py::object {
            return dim ? fromSint(t.shape().at(static_cast<size_t>(t.resolveDim(*dim))))
                       : py::object(fromShape(t.shape()));
          },
          py::arg("dim") = py::none())
      .def("numel",
           [](const Tensor& t) {
             PoolScope s(tensorPool());
             return fromSint(t.numel());
           })
      .def("element_size", [](const Tensor& t) { return t.dtype().itemsize(); })
      .def("nbytes", [](const Tensor& t) { return t.intNumel() * t.dtype().itemsize(); })
      .def("is_floating_point", [](const Tensor& t) { return t.isFloat(); })
      .def("__repr__", [](const Tensor& t) { return t.str(); })
      .def("__hash__", [](const Tensor& t) { return reinterpret_cast<size_t>(t.state().get()) >> 4; })
      .def("__bool__",
           [](const Tensor&) -> bool {
             throw py::type_error("__bool__ on Tensor is not defined: ask for one value with .item(), or "
                                  "choose element by element "
                                  "with where() (under vmap, grad and the other transforms the only way)");
           })
      .def("__len__",
           [](const Tensor& t) {
             if (t.shape().empty()) throw py::type_error("len() of a 0-d tensor");
             return t.intShape()[0];
           })
      .def("__delitem__",
           [](const Tensor&, py::object) { throw py::type_error("Tensor does not support deleting items"); });
  // What is left has no value, no shape and no memory.
  c.attr("uop") = c.attr("uop").attr("deleter")(py::cpp_function([](const Tensor& t) {
    PoolScope s(tensorPool());
    t.state()->leaveNames();
    t.state()->become(UOp::make(Op::NOOP, dtypes::void_));
  }));
  c.def_property_static(
      "training", [](const py::object&) { return Tensor::training(); },
      [](const py::object&, bool on) { Tensor::training() = on; });
}

/// From a tensor to its values: schedules, memory, numbers.
void bindRealizing(TensorClass& c) {
  c.def("item", [](const Tensor& t) { return fromConst(t.item(), t.dtype()); })
      .def("tolist", [](const Tensor& t) { return tensorToList(t); })
      .def("numpy", [](const Tensor& t) { return tensorToNumpy(t); })
      .def("data", [](const Tensor& t) { return tensorToMemory(t); })
      .def("realize",
           [](const Tensor& t, const py::args& more, const py::kwargs&) {
             Tensor::realize(tensorsOf(t, more));
             return t;
           })
      .def("schedule_with_vars",
           [](const Tensor& t, const py::args& more) {
             auto schedule = std::make_shared<Schedule>(Tensor::schedule(tensorsOf(t, more)));
             return py::make_tuple(scheduleItems(schedule), py::cast(schedule).attr("var_vals"));
           })
      .def("schedule",
           [](const Tensor& t, const py::args& more) {
             return scheduleItems(std::make_shared<Schedule>(Tensor::schedule(tensorsOf(t, more))));
           })
      .def_static(
          "from_url",
          [](const std::string& url, bool gunzip, const py::kwargs& options) {
            py::object path =
                py::module_::import("tinygrad.helpers").attr("fetch")(url, py::arg("gunzip") = gunzip);
            return py::type::of<Tensor::State>()(path, **options);
          },
          py::arg("url"), py::arg("gunzip") = false);
}

/// Moving values, assignment and gradients.
void bindMoving(TensorClass& c) {
  c.def("contiguous",
        [](const Tensor& t, const py::args& opts, const py::kwargs& named) {
          if (!named.empty() && !(named.size() == 1 && named.contains("arg")))
            throw py::type_error(
                fmt::format("unexpected keyword argument '{}'", named.begin()->first.cast<std::string>()));
          bool isOneTuple = py::len(opts) == 1 && py::isinstance<py::tuple>(opts[0]);
          py::object arg = named.contains("arg") ? py::object(named["arg"])
                           : isOneTuple          ? py::object(opts[0])
                           : opts.empty()        ? py::none()
                                                 : py::object(opts);
          if (arg.is_none()) return t.contiguous();
          try {
            OperationScope op("contiguous");
            Arg wanted = Arg::of(arg.cast<std::vector<Opt>>());
            return Tensor::fromUOp(UOp::make(Op::CONTIGUOUS, t.dtype(), {t.uop()}, wanted), t.requiresGrad());
          } catch (const py::cast_error&) {
            throw py::type_error("contiguous takes a tuple of Opts for the kernel that computes it");
          }
        })
      .def("contiguous_backward", method(&Tensor::contiguousBackward))
      .def("detach", method(&Tensor::detach))
      .def("clone", method(&Tensor::clone))
      .def(
          "to",
          [](const Tensor& t, py::object d) {
            return t.to(d.is_none() ? Device::defaultName() : toDevice(d));
          },
          py::arg("device"))
      .def(
          "to_",
          [](const Tensor& t, py::object d) {
            Tensor there = t.to(d.is_none() ? Device::defaultName() : toDevice(d));
            if (there.grad() && t.grad()) t.grad().replace(there.grad());
            return t.replace(there);
          },
          py::arg("device"))
      .def(
          "replace", [](const Tensor& t, const Tensor& x, bool any) { return t.replace(x, any); },
          py::arg("x"), py::arg("allow_shape_mismatch") = false)
      .def(
          "assign",
          [](const Tensor& t, py::object x) {
            py::detail::make_caster<Tensor> tensor;
            if (!x.is_none() && tensor.load(x, false)) return t.assign(py::detail::cast_op<Tensor&>(tensor));
            return t.assign(tensorFromPython(x, {t.device(), t.dtype(), {}}));
          },
          py::arg("x"))
      .def(
          "gradient",
          [](const Tensor& t, const py::args& targets, const Tensor& seed, bool materialize) {
            std::vector<Tensor> all;
            for (py::handle h : targets) all.push_back(h.cast<Tensor>());
            return t.gradient(all, seed, materialize);
          },
          py::arg("gradient") = Tensor(), py::arg("materialize_grads") = false)
      .def(
          "backward", [](const Tensor& t, const Tensor& seed) { return t.backward(seed); },
          py::arg("gradient") = Tensor())
      .def(
          "custom_kernel",
          [](const Tensor& first, const py::args& more, py::object fxn, py::object grad) {
            return customKernel(tensorsOf(first, more), fxn, grad);
          },
          py::arg("fxn"), py::arg("grad_fxn") = py::none());
}

} // namespace

void bindTensors(py::module_& m) {
  TensorClass c(m, "Tensor", py::dynamic_attr()); // scripts keep notes on their tensors: t.name = "head"
  c.attr("__module__") = "tinygrad.tensor";
  reinterpret_cast<PyTypeObject*>(c.ptr())->tp_name = "Tensor"; // the name in Python's messages
  bindProperties(c);
  bindCreation(c);
  bindTensorRandom(c);
  bindRealizing(c);
  bindMoving(c);
  m.def("compute_gradient", [](UOp root, UOp seed, const std::vector<UOp>& targets) {
    PoolScope scope(tensorPool());
    NodesHeld held;
    py::dict out;
    for (auto [node, grad] : gradientsOf(root, seed, targets)) out[py::cast(node)] = grad;
    return out;
  });
  m.def("collect_nodes", [] { return collectTensorPool(); });
  m.def("current_operation", [] {
    const char* name = OperationScope::current();
    return name ? py::object(py::str(name)) : py::none();
  });
  bindTraining(m, c);
  m.def("live_tensors", [] { return Tensor::live(); });
  bindTensorMovement(c);
  bindTensorMath(c);
  bindTensorNN(c);
  bindTensorMore(c);
  bindInterop(c);
}

} // namespace uopscope
