// Tensor: random numbers, and the streams that they are drawn from.
#include "engine/python/bindings.h"
#include "engine/tensor/random_streams.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

/// The value of a keyword other than device, dtype and requires_grad.
template <typename T>
T option(const py::kwargs& kwargs, const char* name, T fallback) {
  return kwargs.contains(name) ? py::object(kwargs[name]).cast<T>() : std::move(fallback);
}

} // namespace

void bindTensorRandom(TensorClass& c) {
  auto streams = [](Tensor RandomStream::* member) {
    return [member](const py::object&) {
      std::map<std::string, Tensor> out;
      for (const RandomStream& stream : randomStreams()) out[stream.device] = stream.*member;
      return out;
    };
  };
  c.def_property_readonly_static("_device_seeds", streams(&RandomStream::key));
  c.def_property_readonly_static("_device_rng_counters", streams(&RandomStream::drawn));
  c.def_static("manual_seed", [](int64_t seed) { Tensor::manualSeed(seed); }, py::arg("seed") = 0);
  c.def_static("rand", [](const py::args& shape, const py::kwargs& kw) {
    return Tensor::rand(toInts(argfix(shape)), takeOptions(kw, {"contiguous", "generator"}),
                        option(kw, "contiguous", true));
  });
  auto random = [&](const char* name, Tensor (*make)(const Ints&, const TensorOptions&)) {
    c.def_static(name, [make](const py::args& shape, const py::kwargs& kw) {
      return make(toInts(argfix(shape)), takeOptions(kw));
    });
  };
  random("randn", &Tensor::randn);
  random("scaled_uniform", &Tensor::scaledUniform);
  random("glorot_uniform", &Tensor::glorotUniform);
  c.def_static("kaiming_uniform", [](const py::args& shape, const py::kwargs& kw) {
    return Tensor::kaimingUniform(toInts(argfix(shape)), option(kw, "a", 0.01), takeOptions(kw, {"a"}));
  });
  c.def_static("kaiming_normal", [](const py::args& shape, const py::kwargs& kw) {
    return Tensor::kaimingNormal(toInts(argfix(shape)), option(kw, "a", 0.01), takeOptions(kw, {"a"}));
  });
  c.def_static("uniform", [](const py::args& shape, const py::kwargs& kw) {
    return Tensor::uniform(toInts(argfix(shape)), toConst(option(kw, "low", py::object(py::float_(0.0)))),
                           toConst(option(kw, "high", py::object(py::float_(1.0)))),
                           takeOptions(kw, {"low", "high"}));
  });
  c.def_static("normal", [](const py::args& shape, const py::kwargs& kw) {
    return Tensor::normal(toInts(argfix(shape)), option(kw, "mean", 0.0), option(kw, "std", 1.0),
                          takeOptions(kw, {"mean", "std"}));
  });
  c.def_static("randint", [](const py::args& shape, const py::kwargs& kw) {
    for (const char* bound : {"low", "high"})
      if (kw.contains(bound) && !PyLong_Check(py::object(kw[bound]).ptr()))
        throw py::type_error(fmt::format("{} must be an integer", bound));
    return Tensor::randint(toInts(argfix(shape)), option<int64_t>(kw, "low", 0),
                           option<int64_t>(kw, "high", 10), takeOptions(kw, {"low", "high"}));
  });
  c.def_static(
      "randperm",
      // PyTorch's backends hand on its `generator`, which says nothing here: the stream is that of the device.
      [](int64_t n, const py::kwargs& kw) { return Tensor::randperm(n, takeOptions(kw, {"generator"})); },
      py::arg("n"));
  c.def("rand_like", [](const Tensor& t, const py::kwargs& kw) {
    return t.randLike(takeOptions(kw, {"contiguous"}), option(kw, "contiguous", true));
  });
  c.def("randn_like", [](const Tensor& t, const py::kwargs& kw) { return t.randnLike(takeOptions(kw)); });
  c.def("multinomial", method(&Tensor::multinomial), py::arg("num_samples") = 1,
        py::arg("replacement") = false);
}

} // namespace uopscope
