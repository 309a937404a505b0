// Products, convolution, pooling, norms and losses of Tensor.
#include "engine/python/bindings.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

Reduction toReduction(const std::string& name) {
  if (name == "mean") return Reduction::Mean;
  if (name == "sum") return Reduction::Sum;
  if (name == "none") return Reduction::None;
  throw Error(ErrorKind::Value, fmt::format("reduction='{}' must be one of mean, sum, none", name));
}

/// One int per axis, from an int or a sequence.
Ints spread(py::object o, size_t n) {
  Ints v = toInts(o);
  return v.size() == 1 && PyIndex_Check(o.ptr()) ? Ints(n, v[0]) : v;
}

/// Products and convolutions.
void bindProducts(TensorClass& c) {
  c.def(
      "dot", [](const Tensor& t, const Tensor& w, py::object d) { return t.dot(w, toOptionalDType(d)); },
      py::arg("w"), py::arg("dtype") = py::none());
  c.def(
      "matmul",
      [](const Tensor& t, const Tensor& x, bool reverse, py::object d) {
        return t.matmul(x, reverse, toOptionalDType(d));
      },
      py::arg("x"), py::arg("reverse") = false, py::arg("dtype") = py::none());
  c.def(
      "linear",
      [](const Tensor& t, const Tensor& w, const Tensor& b, py::object d) {
        return t.linear(w, b, toOptionalDType(d));
      },
      py::arg("weight"), py::arg("bias") = Tensor(), py::arg("dtype") = py::none());
  c.def(
      "sequential",
      [](const Tensor& t, py::object layers) {
        py::object x = py::cast(t);
        for (py::handle layer : layers) x = layer(x);
        return x;
      },
      py::arg("ll"));
  c.def_static(
      "einsum",
      [](const std::string& formula, const py::args& operands, py::object d) {
        std::vector<Tensor> all;
        for (py::handle h : argfix(operands)) all.push_back(h.cast<Tensor>());
        return Tensor::einsum(formula, all, toOptionalDType(d));
      },
      py::arg("formula"), py::arg("dtype") = py::none());
  c.def(
      "conv2d",
      [](const Tensor& t, const Tensor& w, const Tensor& b, int64_t groups, py::object stride,
         py::object dilation, py::object padding, py::object d) {
        size_t n = w.shape().size() > 2 ? w.shape().size() - 2 : 0;
        return t.conv2d(w, b, groups, spread(stride, n), spread(dilation, n),
                        PyIndex_Check(padding.ptr()) ? Ints(2 * n, toInts(padding)[0]) : toInts(padding),
                        toOptionalDType(d));
      },
      py::arg("weight"), py::arg("bias") = Tensor(), py::arg("groups") = 1, py::arg("stride") = 1,
      py::arg("dilation") = 1, py::arg("padding") = 0, py::arg("dtype") = py::none());
  c.def(
      "conv_transpose2d",
      [](const Tensor& t, const Tensor& w, const Tensor& b, int64_t groups, py::object stride,
         py::object dilation, py::object padding, py::object extra) {
        size_t n = w.shape().size() > 2 ? w.shape().size() - 2 : 0;
        return t.convTranspose2d(w, b, groups, spread(stride, n), spread(dilation, n),
                                 PyIndex_Check(padding.ptr()) ? Ints(2 * n, toInts(padding)[0])
                                                              : toInts(padding),
                                 spread(extra, n));
      },
      py::arg("weight"), py::arg("bias") = Tensor(), py::arg("groups") = 1, py::arg("stride") = 1,
      py::arg("dilation") = 1, py::arg("padding") = 0, py::arg("output_padding") = 0);
}

/// Windows over the last axes.
void bindPooling(TensorClass& c) {
  auto pads = [](py::object padding, size_t n) {
    return PyIndex_Check(padding.ptr()) ? Ints(2 * n, toInts(padding)[0]) : toInts(padding);
  };
  c.def(
      "avg_pool2d",
      [pads](const Tensor& t, py::object kernel, py::object stride, py::object dilation, py::object padding,
             bool ceil, bool count) {
        Ints k = spread(kernel, 2);
        return t.avgPool2d(k, stride.is_none() ? Ints{} : spread(stride, k.size()),
                           spread(dilation, k.size()), pads(padding, k.size()), ceil, count);
      },
      py::arg("kernel_size") = py::make_tuple(2, 2), py::arg("stride") = py::none(), py::arg("dilation") = 1,
      py::arg("padding") = 0, py::arg("ceil_mode") = false, py::arg("count_include_pad") = true);
  c.def(
      "max_pool2d",
      [pads](const Tensor& t, py::object kernel, py::object stride, py::object dilation, py::object padding,
             bool ceil, bool indices) -> py::object {
        Ints k = spread(kernel, 2);
        auto [values, at] = t.maxPool2d(k, stride.is_none() ? Ints{} : spread(stride, k.size()),
                                        spread(dilation, k.size()), pads(padding, k.size()), ceil, indices);
        if (!indices) return py::cast(values);
        return py::make_tuple(values, at);
      },
      py::arg("kernel_size") = py::make_tuple(2, 2), py::arg("stride") = py::none(), py::arg("dilation") = 1,
      py::arg("padding") = 0, py::arg("ceil_mode") = false, py::arg("return_indices") = false);
  c.def(
      "interpolate",
      [](const Tensor& t, py::object size, const std::string& mode, bool align) {
        if (!py::isinstance<py::tuple>(size) && !py::isinstance<py::list>(size))
          throw Error(ErrorKind::Shape,
                      fmt::format("invalid size={}: give one number for each of the last axes",
                                  std::string(py::repr(size))));
        return t.interpolate(toInts(size), mode, align);
      },
      py::arg("size"), py::arg("mode") = "linear", py::arg("align_corners") = false);
}

/// Attention and norms.
void bindNorms(TensorClass& c) {
  c.def("scaled_dot_product_attention", method(&Tensor::scaledDotProductAttention), py::arg("key"),
        py::arg("value"), py::arg("attn_mask") = Tensor(), py::arg("dropout_p") = 0.0,
        py::arg("is_causal") = false, py::arg("enable_gqa") = false);
  c.def("dropout", method(&Tensor::dropout), py::arg("p") = 0.5);
  c.def(
      "layernorm",
      [](const Tensor& t, py::object axis, double eps) { return t.layernorm(toInts(axis), eps); },
      py::arg("axis") = -1, py::arg("eps") = 1e-5);
  c.def(
      "batchnorm",
      [](const Tensor& t, const Tensor& w, const Tensor& b, const Tensor& mean, const Tensor& invstd,
         py::object axis) { return t.batchnorm(w, b, mean, invstd, toInts(axis)); },
      py::arg("weight"), py::arg("bias"), py::arg("mean"), py::arg("invstd"), py::arg("axis") = 1);
}

void bindLosses(TensorClass& c) {
  c.def(
      "binary_crossentropy",
      [](const Tensor& t, const Tensor& y, const std::string& r) {
        return t.binaryCrossentropy(y, toReduction(r));
      },
      py::arg("Y"), py::arg("reduction") = "mean");
  c.def(
      "binary_crossentropy_logits",
      [](const Tensor& t, const Tensor& y, const std::string& r, const Tensor& w) {
        return t.binaryCrossentropyLogits(y, toReduction(r), w);
      },
      py::arg("Y"), py::arg("reduction") = "mean", py::arg("pos_weight") = Tensor());
  c.def(
      "sparse_categorical_crossentropy",
      [](const Tensor& t, const Tensor& y, int64_t ignore, double smoothing, const std::string& r) {
        return t.sparseCategoricalCrossentropy(y, ignore, smoothing, toReduction(r));
      },
      py::arg("Y"), py::arg("ignore_index") = -1, py::arg("label_smoothing") = 0.0,
      py::arg("reduction") = "mean");
  c.def(
      "cross_entropy",
      [](const Tensor& t, const Tensor& y, const std::string& r, double smoothing) {
        return t.crossEntropy(y, toReduction(r), smoothing);
      },
      py::arg("Y"), py::arg("reduction") = "mean", py::arg("label_smoothing") = 0.0);
  c.def(
      "nll_loss",
      [](const Tensor& t, const Tensor& y, const Tensor& w, std::optional<int64_t> ignore,
         const std::string& r) { return t.nllLoss(y, w, ignore, toReduction(r)); },
      py::arg("Y"), py::arg("weight") = Tensor(), py::arg("ignore_index") = py::none(),
      py::arg("reduction") = "mean");
}

} // namespace

void bindTensorNN(TensorClass& c) {
  bindProducts(c);
  bindPooling(c);
  bindNorms(c);
  bindLosses(c);
}

} // namespace uopscope
