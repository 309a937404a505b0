// Matrices, hashes, axes by name, several devices, memory of other libraries; and names of the reference that
// are not supported here.
#include "engine/python/bindings.h"
#include "engine/runtime/device.h"
#include "engine/tensor/foreign_memory.h"
#include "engine/tensor/tinyfs.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

std::vector<std::string> deviceList(py::handle h) {
  std::vector<std::string> out;
  if (py::isinstance<py::str>(h)) return {toDevice(h)};
  for (py::handle name : h) out.push_back(toDevice(name));
  return out;
}

void unsupported(TensorClass& c, const char* name, const char* why) {
  std::string text = fmt::format("{}: not supported here, {}", name, why);
  auto raise = [text](const py::args&, const py::kwargs&) -> py::object {
    throw Error(ErrorKind::Unsupported, text);
  };
  c.def(name, raise);
}

void bindMatrices(TensorClass& c) {
  c.def("qr", method(&Tensor::qr));
  c.def(
      "svd",
      [](const Tensor& t, bool full) {
        Tensor::Svd r = t.svd(full);
        return py::make_tuple(r.u, r.s, r.v);
      },
      py::arg("full_matrices") = true);
  c.def("newton_schulz", method(&Tensor::newtonSchulz), py::arg("steps"), py::arg("params"),
        py::arg("eps") = 1e-7);
  c.def("hash", method(&Tensor::hash));
  c.def(
      "keccak",
      [](const Tensor& t, py::object cfg) {
        if (py::isinstance<py::str>(cfg)) return t.keccak(cfg.cast<std::string>());
        auto [rate, suffix] = cfg.cast<std::pair<int64_t, int64_t>>();
        return t.keccak(rate, suffix);
      },
      py::arg("cfg") = "sha3_256");
  c.def(
      "rearrange",
      [](const Tensor& t, const std::string& formula, const py::kwargs& sizes) {
        std::vector<std::pair<std::string, int64_t>> known;
        for (auto [name, size] : sizes) known.emplace_back(name.cast<std::string>(), size.cast<int64_t>());
        return t.rearrange(formula, known);
      },
      py::arg("formula"));
  c.def("nonzero", method(&Tensor::nonzero));
  c.def(
      "max_unpool2d",
      [](const Tensor& t, const Tensor& indices, py::object kernel, py::object stride, py::object dilation,
         py::object padding, py::object size) {
        return t.maxUnpool2d(indices, toInts(kernel), stride.is_none() ? Ints{} : toInts(stride),
                             toInts(dilation), toInts(padding), size.is_none() ? Ints{} : toInts(size));
      },
      py::arg("indices"), py::arg("kernel_size") = py::make_tuple(2, 2), py::arg("stride") = py::none(),
      py::arg("dilation") = 1, py::arg("padding") = 0, py::arg("output_size") = py::none());
}

/// Methods that Python writes: (name, function of uopscope.tensor_methods).
constexpr std::pair<const char*, const char*> kForwarded[] = {{"_cumalu", "cumalu"},
                                                              {"_repr_html_", "repr_html"}};

void bindForwarded(TensorClass& c) {
  for (const auto& [name, function] : kForwarded)
    c.def(name, [function](py::object self, const py::args& args, const py::kwargs& more) {
      return py::module_::import("uopscope.tensor_methods").attr(function)(self, *args, **more);
    });
  c.def_static("_threefry_random_bits", [](py::object key, py::object low, py::object high) {
    return py::module_::import("uopscope.tensor_methods").attr("threefry_random_bits")(key, low, high);
  });
}

void bindDevices(TensorClass& c) {
  c.def(
       "shard",
       [](const Tensor& t, py::object devices, std::optional<int64_t> axis) {
         return t.shard(deviceList(devices), axis);
       },
       py::arg("devices"), py::arg("axis") = py::none())
      .def(
          "shard_",
          [](const Tensor& t, py::object devices, std::optional<int64_t> axis) {
            return t.replace(t.shard(deviceList(devices), axis));
          },
          py::arg("devices"), py::arg("axis") = py::none())
      .def("shard_like", method(&Tensor::shardLike), py::arg("y"));
  c.def_static(
      "from_blob",
      [](uintptr_t address, py::object shape, const py::kwargs& kw) {
        TensorOptions o = takeOptions(kw);
        return tensorOver(o.device.value_or(Device::defaultName()), o.dtype.value_or(dtypes::defaultFloat()),
                          toInts(shape), reinterpret_cast<void*>(address), nullptr, o.requiresGrad);
      },
      py::arg("ptr"), py::arg("shape"));
}

} // namespace

void bindTensorMore(TensorClass& c) {
  bindMatrices(c);
  bindDevices(c);
  bindForwarded(c);
  c.def(
      "alu",
      [](const Tensor& t, Op op, const py::args& others) {
        std::vector<Tensor> all;
        for (py::handle h : others) all.push_back(h.cast<Tensor>());
        return t.alu(op, all);
      },
      py::arg("op"));
  c.def(
      "ufix",
      [](const Tensor& t, const Operand& x) -> Tensor {
        if (x.isTensor()) return x.tensor();
        PoolScope s(tensorPool());
        return Tensor::fromUOp(constantLike(t.uop(), x.value()));
      },
      py::arg("x"));
  c.def("usum", [](const Tensor& t, const py::args& others) {
    Tensor sum = t;
    for (py::handle h : others) sum = sum.add(h.cast<Operand>());
    return sum;
  });
  unsupported(c, "decode_hevc_frame", "it needs a video decoder");
  // No device has image memory, so operands need no layout of pixels.
  c.attr("image_dot") = c.attr("dot");
  c.attr("image_conv2d") = c.attr("conv2d");
  c.def("fs_load", &tinyfs::load, py::arg("size"));
  c.def("fs_store", &tinyfs::store);
}

} // namespace uopscope
