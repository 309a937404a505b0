// Movement, joining and indexing of Tensor.
#include "engine/python/bindings.h"
#include "engine/python/tensor_data.h"
#include "engine/runtime/device.h"
#include "engine/runtime/mapped_file.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

Index toIndex(py::handle h, const Tensor& t) {
  if (h.is_none()) return Index::newAxis();
  if (h.ptr() == Py_Ellipsis) return Index::ellipsis();
  if (PySlice_Check(h.ptr())) {
    auto bound = [&](const char* name) -> std::optional<Sint> {
      py::object v = h.attr(name);
      if (v.is_none()) return {};
      if (!PyIndex_Check(v.ptr()) && !py::isinstance<Node>(v))
        throw py::type_error(fmt::format("slice {} is not supported", std::string(py::repr(h))));
      return toSint(v);
    };
    py::object step = h.attr("step");
    return Index::slice(bound("start"), bound("stop"), step.is_none() ? 1 : step.cast<int64_t>());
  }
  py::detail::make_caster<Tensor> tensor;
  if (tensor.load(h, false)) return Index::of(py::detail::cast_op<Tensor&>(tensor));
  if (py::isinstance<py::list>(h) || py::isinstance<py::tuple>(h) ||
      (py::hasattr(h, "__array_interface__") && py::len(h.attr("shape")) > 0)) {
    Tensor values = tensorFromPython(py::reinterpret_borrow<py::object>(h), {t.device(), {}, false});
    if (!values.dtype().isInt())
      throw Error(ErrorKind::Index,
                  fmt::format("index {} contains non-int element", std::string(py::repr(h))));
    return Index::of(values);
  }
  int overflow = 0;
  if (PyLong_Check(h.ptr()) && (PyLong_AsLongLongAndOverflow(h.ptr(), &overflow), overflow))
    throw Error(ErrorKind::Index, fmt::format("index {} is out of bounds", std::string(py::str(h))));
  if (PyIndex_Check(h.ptr()) || py::isinstance<Node>(h)) return Index::of(toSint(h));
  throw py::index_error(
      fmt::format("{} indexing is not supported", std::string(py::str(py::type::of(h).attr("__name__")))));
}

std::vector<Index> toIndices(py::object key, const Tensor& t) {
  std::vector<Index> out;
  bool intList = py::isinstance<py::list>(key);
  if (intList)
    for (py::handle h : key) intList = intList && PyLong_Check(h.ptr());
  if (!intList && (py::isinstance<py::tuple>(key) || py::isinstance<py::list>(key)))
    for (py::handle h : key) out.push_back(toIndex(h, t));
  else
    out.push_back(toIndex(key, t));
  return out;
}

/// (first, *rest) where first may be a sequence of tensors.
std::vector<Tensor> joined(py::object first, const py::args& rest) {
  std::vector<Tensor> out;
  if (py::isinstance<py::list>(first) || py::isinstance<py::tuple>(first)) {
    if (!rest.empty()) throw py::value_error("takes the tensors one by one, or one list of them, not both");
    for (py::handle h : first) out.push_back(h.cast<Tensor>());
  } else
    out.push_back(first.cast<Tensor>());
  for (py::handle h : rest) {
    if (py::isinstance<py::list>(h) || py::isinstance<py::tuple>(h))
      for (py::handle item : h) out.push_back(item.cast<Tensor>());
    else
      out.push_back(h.cast<Tensor>());
  }
  return out;
}

/// A shape in which None stands for the present length.
Shape shapeWithNone(py::object sequence, const Tensor& t, bool expanding) {
  Shape out;
  size_t i = 0;
  for (py::handle h : sequence) {
    if (h.is_none())
      out.push_back(expanding ? Sint(-1)
                    : i < t.shape().size()
                        ? t.shape()[i]
                        : throw py::index_error("None in a shape beyond the tensor's rank"));
    else
      out.push_back(toSint(h));
    ++i;
  }
  return out;
}

/// pad() takes (left, right, top, bottom ...), last axis first, or pairs, first axis first.
Bounds toPadding(py::object padding, const Tensor& t) {
  Bounds out;
  bool flat = true;
  for (py::handle h : padding) flat = flat && (PyIndex_Check(h.ptr()) || py::isinstance<Node>(h));
  if (!flat) {
    for (py::handle h : padding) {
      if (h.is_none())
        out.push_back({0, 0});
      else
        out.push_back({toSint(py::object(h[py::int_(0)])), toSint(py::object(h[py::int_(1)]))});
    }
    return out;
  }
  Shape amounts = toShape(padding);
  if (amounts.size() % 2) throw py::value_error("Flat padding must have even number of pads");
  size_t axes = amounts.size() / 2;
  for (size_t i = axes; i < t.shape().size(); ++i) out.push_back({0, 0});
  for (size_t i = axes; i-- > 0;) out.push_back({amounts[i * 2], amounts[i * 2 + 1]});
  return out;
}

/// f(t, 2, 3), f(t, (2, 3)) and f(t, name=(2, 3)) are the same.
template <typename F>
void variadic(TensorClass& c, const char* function, const char* name, F f) {
  c.def(function, [f, name](const Tensor& t, const py::args& a) {
    if (a.empty()) throw py::type_error(fmt::format("missing 1 required argument: '{}'", name));
    return f(t, argfix(a));
  });
  c.def(
      function, [f](const Tensor& t, py::object a) { return f(t, argfix(py::args(py::make_tuple(a)))); },
      py::kw_only(), py::arg(name));
}

/// Operations that change the shape or order of elements, or repeat or cut them.
void bindShapes(TensorClass& c) {
  auto reshape = [](const Tensor& t, py::object shape) { return t.reshape(shapeWithNone(shape, t, false)); };
  variadic(c, "reshape", "shape", reshape);
  variadic(c, "view", "shape", reshape);
  variadic(c, "expand", "shape",
           [](const Tensor& t, py::object shape) { return t.expand(shapeWithNone(shape, t, true)); });
  variadic(c, "permute", "order", [](const Tensor& t, py::object order) { return t.permute(toInts(order)); });
  variadic(c, "flip", "axis", [](const Tensor& t, py::object axes) { return t.flip(toInts(axes)); });
  variadic(c, "repeat", "repeats", [](const Tensor& t, py::object n) { return t.repeat(toInts(n)); });
  c.def("_broadcast_to", [](const Tensor& t, py::object shape) { return t.broadcastTo(toShape(shape)); })
      .def("transpose", method(&Tensor::transpose), py::arg("dim0") = 1, py::arg("dim1") = 0)
      .def_property_readonly("T", [](const Tensor& t) { return t.transpose(); })
      .def(
          "shrink",
          [](const Tensor& t, py::object arg) {
            std::vector<std::optional<std::pair<Sint, Sint>>> bounds;
            for (py::handle h : arg) {
              if (h.is_none())
                bounds.emplace_back();
              else
                bounds.push_back({{toSint(py::object(h[py::int_(0)])), toSint(py::object(h[py::int_(1)]))}});
            }
            return t.shrink(bounds);
          },
          py::arg("arg"));
  auto sizes = [](py::object shape) {
    std::vector<std::optional<Sint>> out;
    for (py::handle h : shape) {
      if (h.is_none())
        out.emplace_back();
      else
        out.push_back(toSint(h));
    }
    return out;
  };
  variadic(c, "shrink_to", "shape",
           [sizes](const Tensor& t, py::object shape) { return t.shrinkTo(sizes(shape)); });
  variadic(c, "pad_to", "shape",
           [sizes](const Tensor& t, py::object shape) { return t.padTo(sizes(shape)); });
  c.def(
       "pad",
       [](const Tensor& t, py::object padding, const std::string& mode, py::object value) {
         return t.padMode(toPadding(padding, t), mode, toConst(value));
       },
       py::arg("padding"), py::arg("mode") = "constant", py::arg("value") = 0.0)
      .def("squeeze", method(&Tensor::squeeze), py::arg("dim") = py::none())
      .def("unsqueeze", method(&Tensor::unsqueeze), py::arg("dim"))
      .def("flatten", method(&Tensor::flatten), py::arg("start_dim") = 0, py::arg("end_dim") = -1)
      .def(
          "unflatten",
          [](const Tensor& t, int64_t dim, py::object sizes) { return t.unflatten(dim, toShape(sizes)); },
          py::arg("dim"), py::arg("sizes"))
      .def("repeat_interleave", method(&Tensor::repeatInterleave), py::arg("repeats"),
           py::arg("dim") = py::none());
}

/// Joining and splitting tensors. Both t.cat(u, dim=1) and Tensor.cat(*tensors, dim=1) are possible.
void bindJoining(TensorClass& c) {
  c.def(
      "cat",
      [](py::object first, const py::args& rest, int64_t dim) {
        return Tensor::cat(joined(first, rest), dim);
      },
      py::arg("dim") = 0);
  c.def(
      "stack",
      [](py::object first, const py::args& rest, int64_t dim) {
        return Tensor::stack(joined(first, rest), dim);
      },
      py::arg("dim") = 0);
  c.def(
      "meshgrid",
      [](py::object first, const py::args& rest, const std::string& indexing) {
        return py::tuple(py::cast(Tensor::meshgrid(joined(first, rest), indexing)));
      },
      py::arg("indexing") = "ij");
  c.def(
       "split",
       [](const Tensor& t, py::object sizes, int64_t dim) {
         return py::tuple(py::cast(PyIndex_Check(sizes.ptr()) ? t.splitEvery(toInts(sizes)[0], dim)
                                                              : t.split(toInts(sizes), dim)));
       },
       py::arg("sizes"), py::arg("dim") = 0)
      .def("chunk", method(&Tensor::chunk), py::arg("chunks"), py::arg("dim") = 0)
      .def("unfold", method(&Tensor::unfold), py::arg("dim"), py::arg("size"), py::arg("step"))
      .def("diag", method(&Tensor::diag))
      .def("diagonal", method(&Tensor::diagonal), py::arg("offset") = 0, py::arg("dim1") = 0,
           py::arg("dim2") = 1)
      .def(
          "roll",
          [](const Tensor& t, py::object shifts, py::object dims) {
            return t.roll(toInts(shifts),
                          dims.is_none() ? std::optional<Ints>() : std::optional<Ints>(toInts(dims)));
          },
          py::arg("shifts"), py::arg("dims") = py::none())
      .def("tril", method(&Tensor::tril), py::arg("diagonal") = 0)
      .def("triu", method(&Tensor::triu), py::arg("diagonal") = 0)
      .def(
          "_pool",
          [](const Tensor& t, py::object k, py::object s, py::object d) {
            return t.pool(toInts(k), toInts(s), toInts(d));
          },
          py::arg("k_"), py::arg("stride") = 1, py::arg("dilation") = 1);
}

/// Elements by index, by mask and by order.
void bindIndexing(TensorClass& c) {
  c.def("__getitem__", [](const Tensor& t, py::object key) { return t.get(toIndices(key, t)); })
      .def("__setitem__",
           [](const Tensor& t, py::object key, py::object value) {
             py::detail::make_caster<Operand> operand;
             if (isFileDevice(t.device()) && py::isinstance<py::list>(value)) { // written at once
               t.get(toIndices(key, t))
                   .assign(tensorFromPython(value, {Device::defaultName(), t.dtype(), {}}));
               return;
             }
             if (!operand.load(value, false))
               throw py::type_error(fmt::format("can't set a {} to a Tensor",
                                                std::string(py::str(py::type::of(value).attr("__name__")))));
             t.set(toIndices(key, t), py::detail::cast_op<Operand&>(operand));
           })
      .def("gather", method(&Tensor::gather), py::arg("dim"), py::arg("index"))
      .def(
          "scatter",
          [](const Tensor& t, int64_t dim, const Tensor& index, const Operand& src,
             const std::optional<std::string>& reduce) {
            return t.scatter(dim, index, src, reduce.value_or(""));
          },
          py::arg("dim"), py::arg("index"), py::arg("src"), py::arg("reduce") = py::none())
      .def("scatter_reduce", method(&Tensor::scatterReduce), py::arg("dim"), py::arg("index"), py::arg("src"),
           py::arg("reduce"), py::arg("include_self") = true)
      .def("one_hot", method(&Tensor::oneHot), py::arg("num_classes") = -1)
      .def("masked_select", method(&Tensor::maskedSelect), py::arg("mask"))
      .def(
          "masked_fill",
          [](const Tensor& t, const Tensor& mask, const Operand& v) { return mask.where(v, t); },
          py::arg("mask"), py::arg("value"))
      .def("sort", method(&Tensor::sort), py::arg("dim") = -1, py::arg("descending") = false)
      .def(
          "argsort", [](const Tensor& t, int64_t dim, bool down) { return t.sort(dim, down).second; },
          py::arg("dim") = -1, py::arg("descending") = false)
      .def(
          "topk",
          [](const Tensor& t, int64_t k, int64_t dim, bool largest, bool sorted) {
            if (!sorted) throw Error(ErrorKind::Unsupported, "topk with sorted_=False is not supported");
            return t.topk(k, dim, largest);
          },
          py::arg("k"), py::arg("dim") = -1, py::arg("largest") = true, py::arg("sorted_") = true);
}

} // namespace

void bindTensorMovement(TensorClass& c) {
  bindShapes(c);
  bindJoining(c);
  bindIndexing(c);
}

} // namespace uopscope
