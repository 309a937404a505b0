// DType: its constructors and properties.
#include "engine/python/bindings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace uopscope {

namespace {

/// The format character of the struct module; None for types that struct does not know.
py::object formatOf(DType d) {
  switch (d.kind()) {
  case Scalar::Bool: return py::str("?");
  case Scalar::Int8: return py::str("b");
  case Scalar::UInt8: return py::str("B");
  case Scalar::Int16: return py::str("h");
  case Scalar::UInt16: return py::str("H");
  case Scalar::Int32: return py::str("i");
  case Scalar::UInt32: return py::str("I");
  case Scalar::Int64: return py::str("q");
  case Scalar::UInt64: return py::str("Q");
  case Scalar::Float16: return py::str("e");
  case Scalar::Float32: return py::str("f");
  case Scalar::Float64: return py::str("d");
  default: return py::none();
  }
}

} // namespace

void bindDTypes(py::module_& m) {
  py::class_<DType> c(m, "DType");
  c.def_property_readonly("name",
                          [](const DType& d) {
                            if (d.isImage()) return std::string(d.imageShape().isHalf ? "imageh" : "imagef");
                            return std::string(d.cName());
                          })
      .def_property_readonly("itemsize",
                             [](const DType& d) { return d.isPtr() && !d.isImage() ? 8 : d.itemsize(); })
      .def_property_readonly("bitsize", [](const DType& d) { return d.bitsize(); })
      .def_property_readonly("count", [](const DType& d) { return d.count(); })
      .def_property_readonly("vcount", [](const DType& d) { return d.vcount(); })
      .def_property_readonly("v", [](const DType& d) { return d.vcount(); })
      .def_property_readonly("fmt", [](const DType& d) { return formatOf(d); })
      .def_property_readonly("base", [](const DType& d) { return d.base(); })
      .def_property_readonly("_base", [](const DType& d) { return d.base(); })
      .def_property_readonly("size", [](const DType& d) { return d.size(); })
      .def_property_readonly("addrspace", [](const DType& d) { return d.addrspace(); })
      .def_property_readonly("is_ptr", [](const DType& d) { return d.isPtr(); })
      .def_property_readonly("is_image", [](const DType& d) { return d.isImage(); })
      .def_property_readonly("shape",
                             [](const DType& d) {
                               if (!d.isImage())
                                 throw py::attribute_error(d.name() + " has no shape: only images have one");
                               ImageShape i = d.imageShape();
                               if (i.hasChannels) return py::make_tuple(i.height, i.width, 4);
                               return py::make_tuple(i.height, i.width);
                             })
      .def_property_readonly("priority",
                             [](const DType& d) { return std::max(static_cast<int>(d.kind()) - 2, -1); })
      .def_property_readonly("min", [](const DType& d) { return fromConst(dtypeMin(d), d); })
      .def_property_readonly("max", [](const DType& d) { return fromConst(dtypeMax(d), d); })
      .def("scalar", [](const DType& d) { return d.isPtr() ? d.vec(1) : d.scalar(); })
      .def("vec",
           [](const DType& d, int n) {
             if (d.vcount() > 1 && n > 1)
               throw Error(ErrorKind::Shape, fmt::format("can't vectorize {} with size {}", d.name(), n));
             return d.vec(n);
           })
      .def(
          "ptr",
          [](const DType& d, int64_t size, AddrSpace space) {
            if (d.isImage() && space != AddrSpace::Global)
              throw Error(ErrorKind::Type, "an image lies in global memory: it cannot be local");
            return d.isImage() ? d : d.ptr(size, space);
          },
          py::arg("size") = DType::kUnsized, py::arg("addrspace") = AddrSpace::Global)
      .def("nbytes",
           [](const DType& d) {
             if (!d.isPtr()) throw Error(ErrorKind::Runtime, "only ptr types have nbytes");
             if (d.size() == DType::kUnsized)
               throw Error(ErrorKind::Runtime, "can't get nbytes of a pointer with unlimited size");
             return d.size() * d.itemsize();
           })
      .def("__repr__", [](const DType& d) { return d.name(); })
      .def(
          "__eq__", [](const DType& a, const DType& b) { return a == b; }, py::is_operator())
      .def(
          "__ne__", [](const DType& a, const DType& b) { return a != b; }, py::is_operator())
      .def(
          "__lt__", [](const DType& a, const DType& b) { return a < b; }, py::is_operator())
      .def("__hash__", [](const DType& d) { return d.bits() * 0x9E3779B97F4A7C15ull >> 3; })
      .def("__reduce__",
           [](const DType& d) {
             return py::make_tuple(py::module_::import("_uopscope").attr("dtype_from_bits"),
                                   py::make_tuple(d.bits()));
           })
      .def_property_readonly("is_float", [](const DType& d) { return d.isFloat(); })
      .def_property_readonly("is_int", [](const DType& d) { return d.isInt(); })
      .def_property_readonly("is_unsigned", [](const DType& d) { return d.isUnsigned(); });
  m.def("image_dtype", [](const std::vector<int64_t>& shape, bool isHalf) {
    if (shape.size() < 2 || shape.size() > 3 || (shape.size() == 3 && shape[2] != 4))
      throw Error(ErrorKind::Type,
                  fmt::format("an image has the shape (height, width, 4), not ({})", fmt::join(shape, ", ")));
    return DType::image({shape[0], shape[1], shape.size() == 3, isHalf});
  });
  m.def("dtype_from_bits", [](uint64_t bits) { return DType::fromBits(bits); });
  py::list all;
  for (int i = 0; i < kScalarCount; ++i) all.append(DType(static_cast<Scalar>(i)));
  m.attr("all_dtypes") = py::tuple(all);
  m.def("to_dtype", [](py::object o) { return toDType(o); });
  m.def("least_upper_dtype", [](const py::args& args) {
    std::vector<DType> types;
    for (py::handle h : args) types.push_back(toDType(h));
    return dtypes::leastUpper(types);
  });
  m.def("least_upper_float", [](DType d) { return dtypes::leastUpperFloat(d); });
  m.def("sum_acc_dtype", [](DType d) { return sumAccDtype(d); });
  m.def("default_float", [] { return dtypes::defaultFloat(); });
  m.def("default_int", [] { return dtypes::defaultInt(); });
  m.def("set_default_float", [](py::object d) { dtypes::setDefaultFloat(toDType(d)); });
  m.def("set_default_int", [](py::object d) { dtypes::setDefaultInt(toDType(d)); });
  m.def("as_const", [](py::object v, DType d) {
    PoolScope scope(tensorPool());
    if (py::isinstance<py::tuple>(v)) {
      py::list out;
      for (py::handle h : v) out.append(fromConst(UOp::constant(d.scalar(), toConst(h)).constValue(), d));
      return py::object(py::tuple(out));
    }
    return fromConst(UOp::constant(d.scalar(), toConst(v)).constValue(), d);
  });
}

} // namespace uopscope
