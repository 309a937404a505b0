// Conversions of numbers, shapes and arguments, and the script line of a call.
#include "engine/python/casters.h"

#include "engine/runtime/device.h"
#include "engine/tensor/multi.h"
#include "engine/uop/eval.h"

#include <fmt/format.h>
#include <pybind11/eval.h>

#include <set>
#include <unordered_map>

namespace uopscope {

namespace {

template <typename E>
void makeEnum(py::module_& m, const char* name, const char* module, const std::vector<std::string>& members) {
  py::dict values;
  for (size_t i = 0; i < members.size(); ++i) values[py::str(members[i])] = i;
  py::object base = m.attr("_Enum");
  py::object type = base(name, values, py::arg("module") = module);
  PyEnum<E>::type = type.inc_ref().ptr();
  PyEnum<E>::members.clear();
  for (const std::string& member : members)
    PyEnum<E>::members.push_back(py::object(type.attr(member.c_str())).release().ptr());
  m.attr(name) = type;
}

} // namespace

void bindEnums(py::module_& m) {
  py::exec(R"(
import enum
class _Enum(enum.IntEnum):
  def __str__(self): return f"{type(self).__name__}.{self.name}"
  __repr__ = __str__
)",
           m.attr("__dict__"));
  auto names = [](int count, auto nameOf) {
    std::vector<std::string> out;
    for (int i = 0; i < count; ++i) out.emplace_back(nameOf(i));
    return out;
  };
  makeEnum<Op>(m, "Ops", "tinygrad.uop", names(kOpCount, [](int i) { return opName(static_cast<Op>(i)); }));
  makeEnum<AxisType>(m, "AxisType", "tinygrad.uop.ops",
                     names(static_cast<int>(AxisType::Placeholder) + 1,
                           [](int i) { return axisTypeName(static_cast<AxisType>(i)); }));
  makeEnum<OptOp>(m, "OptOps", "tinygrad.codegen.opt", names(static_cast<int>(OptOp::SWAP) + 1, [](int i) {
                    return optOpName(static_cast<OptOp>(i));
                  }));
  makeEnum<AddrSpace>(m, "AddrSpace", "tinygrad.dtype", {"GLOBAL", "LOCAL", "REG"});
}

DType toDType(py::handle h) {
  if (py::isinstance<DType>(h)) return h.cast<DType>();
  if (py::isinstance<py::str>(h)) {
    if (auto d = dtypes::fromName(h.cast<std::string>())) return *d;
    throw Error(ErrorKind::Type, fmt::format("no dtype is called {}", h.cast<std::string>()));
  }
  throw py::type_error(fmt::format("expected a dtype, got {}", std::string(py::str(py::type::of(h)))));
}

std::optional<DType> toOptionalDType(py::handle h) {
  if (h.is_none()) return {};
  return toValueDType(h);
}

DType toValueDType(py::handle h) {
  DType d = toDType(h);
  return d.isImage() ? d.base() : d;
}

std::string toDevice(py::handle h) {
  if (py::isinstance<py::str>(h)) return Device::canonicalize(h.cast<std::string>());
  if (!py::isinstance<py::tuple>(h) && !py::isinstance<py::list>(h))
    throw py::type_error(fmt::format("expected a device name or a tuple of them, got {}",
                                     std::string(py::str(py::type::of(h)))));
  std::string all;
  for (py::handle name : h) all += (all.empty() ? "" : ",") + toDevice(name);
  return all;
}

py::object fromDevice(const std::string& device) {
  if (splitDevices(device).size() == 1) return py::str(device);
  return py::tuple(py::str(device).attr("split")(","));
}

bool isNumber(py::handle h) {
  PyObject* o = h.ptr();
  if (PyLong_Check(o) || PyFloat_Check(o)) return true;
  return py::hasattr(h, "__array_interface__") && h.attr("ndim").cast<int>() == 0; // a NumPy scalar
}

ConstValue toConst(py::handle h) {
  PyObject* o = h.ptr();
  if (PyBool_Check(o)) return ConstValue::ofBool(o == Py_True);
  if (PyFloat_Check(o)) return ConstValue::ofFloat(PyFloat_AS_DOUBLE(o));
  if (PyLong_Check(o)) {
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) return ConstValue::ofInt(v);
    unsigned long long u = PyLong_AsUnsignedLongLongMask(o);
    return ConstValue::ofInt(static_cast<int64_t>(u));
  }
  if (h.is(invalidObject())) return ConstValue::invalid();
  if (py::hasattr(h, "item")) return toConst(py::object(h.attr("item")()));
  throw py::type_error(fmt::format("expected a number, got {}", std::string(py::str(py::type::of(h)))));
}

py::object fromConst(ConstValue v) {
  switch (v.kind) {
  case ConstValue::Kind::Bool: return py::bool_(v.i != 0);
  case ConstValue::Kind::Float: return py::float_(v.f);
  case ConstValue::Kind::Invalid: return invalidObject();
  default: return py::int_(v.i);
  }
}

py::object fromConst(ConstValue v, DType d) {
  if (v.kind == ConstValue::Kind::Int && d.scalar() == dtypes::uint64)
    return py::int_(static_cast<uint64_t>(v.i));
  return fromConst(v);
}

Sint toSint(py::handle h) {
  if (PyLong_Check(h.ptr())) return Sint(h.cast<int64_t>());
  py::detail::make_caster<UOp> node;
  if (node.load(h, false)) return Sint(py::detail::cast_op<UOp&>(node));
  if (PyIndex_Check(h.ptr())) return Sint(py::int_(py::reinterpret_borrow<py::object>(h)).cast<int64_t>());
  throw py::type_error(fmt::format("expected an int, got {}", std::string(py::str(py::type::of(h)))));
}

py::object fromSint(const Sint& s) {
  return s.isInt() ? py::object(py::int_(s.i())) : py::cast(s.uop());
}

Shape toShape(py::handle sequence) {
  Shape out;
  for (py::handle h : sequence) out.push_back(toSint(h));
  return out;
}

py::tuple fromShape(const Shape& shape) {
  py::tuple out(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) out[i] = fromSint(shape[i]);
  return out;
}

Ints toInts(py::handle h) {
  if (PyIndex_Check(h.ptr())) return {py::int_(py::reinterpret_borrow<py::object>(h)).cast<int64_t>()};
  Ints out;
  for (py::handle item : h) {
    if (!PyIndex_Check(item.ptr()))
      throw py::type_error(fmt::format("expected ints, got {}", std::string(py::repr(h))));
    out.push_back(py::int_(py::reinterpret_borrow<py::object>(item)).cast<int64_t>());
  }
  return out;
}

py::object argfix(const py::args& args) {
  if (args.size() == 1 && (py::isinstance<py::tuple>(args[0]) || py::isinstance<py::list>(args[0])))
    return args[0];
  return args;
}

Axes toAxes(py::handle h) {
  if (h.is_none()) return {};
  return toInts(h);
}

int64_t boundOf(py::handle h) {
  if (!PyFloat_Check(h.ptr())) return h.cast<int64_t>();
  double value = h.cast<double>();
  if (value >= 9.2e18) return std::numeric_limits<int64_t>::max();
  if (value <= -9.2e18) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(std::floor(value));
}

namespace {

/// (name, dims, type of the operands, type of the sum, device, threads, axes of a, b and c, reduced axes)
WmmaArg toWmma(const py::sequence& items) {
  constexpr size_t kParts = 8;
  if (items.size() != kParts)
    throw py::type_error(fmt::format("the argument of a WMMA has {} parts, not {}", kParts, items.size()));
  auto at = [&](size_t i) { return py::object(items[i]); };
  WmmaArg w{at(0).cast<std::string>(),
            toInts(at(1)),
            at(2).cast<DType>(),
            at(3).cast<DType>(),
            at(4).cast<std::string>(),
            at(5).cast<int64_t>(),
            {},
            toInts(at(7))};
  for (py::handle axes : at(6)) {
    w.upcastAxes.emplace_back();
    for (py::handle axis : axes) {
      const Ints pair = toInts(axis);
      if (pair.size() != 2) throw py::type_error("an axis of a WMMA is a number and a size");
      w.upcastAxes.back().emplace_back(pair[0], pair[1]);
    }
  }
  return w;
}

py::object fromWmma(const WmmaArg& w) {
  auto tuple = [](const auto& list) { return py::tuple(py::cast(list)); };
  py::list axes;
  for (const auto& list : w.upcastAxes) axes.append(tuple(list));
  return py::make_tuple(w.name, tuple(w.dims), w.dtypeIn, w.dtypeOut, w.device, w.threads, py::tuple(axes),
                        tuple(w.reduceAxes));
}

/// Objects of a script that are arguments of nodes, by their text: a node, and a trace, holds the text. They stay as long as the
/// module does.
py::dict argumentObjects() {
  py::module_ module = py::module_::import("_uopscope");
  if (!py::hasattr(module, "_argument_objects")) module.attr("_argument_objects") = py::dict();
  return module.attr("_argument_objects");
}

/// Whether there are any: texts of nodes are read far more often than objects are made.
bool& hasArgumentObjects() {
  static bool any = false;
  return any;
}

/// The text of an object of a script, such as a frozen dataclass. Equal texts have to stand for equal objects, since nodes are
/// equal if their arguments are.
Arg ofObject(py::handle h) {
  const py::str text = py::repr(h);
  if (PyObject_Hash(h.ptr()) == -1) {
    PyErr_Clear();
    throw py::type_error(
        fmt::format("{} cannot be the argument of a UOp: it has no hash", std::string(text)));
  }
  py::dict known = argumentObjects();
  hasArgumentObjects() = true;
  if (!known.contains(text))
    known[text] = h;
  else if (!py::object(known[text]).equal(h))
    throw py::type_error(
        fmt::format("{} cannot be the argument of a UOp: another object with this text is one, and is not "
                    "equal to it",
                    std::string(text)));
  return Arg::of(std::string_view(std::string(text)));
}

py::object objectOr(py::str text) {
  if (!hasArgumentObjects()) return text;
  const py::dict known = argumentObjects();
  return known.contains(text) ? py::object(known[text]) : py::object(std::move(text));
}

} // namespace

Arg toArg(py::handle h, Op op, DType dtype) {
  if (h.is_none()) return {};
  if (py::isinstance<KernelInfo>(h)) return Arg::of(h.cast<KernelInfo>());
  if (py::isinstance<BufferizeOpts>(h)) return Arg::of(h.cast<BufferizeOpts>());
  py::detail::make_caster<Op> asOp;
  if (asOp.load(h, false)) return Arg::of(static_cast<Op>(py::detail::cast_op<Op&>(asOp)));
  if (h.is(invalidObject())) return Arg::invalid();
  if (op == Op::CONST && isNumber(h) && !dtype.isVoid())
    return UOp::constant(dtype.scalar(), toConst(h)).arg();
  if (PyBool_Check(h.ptr())) return Arg::ofBool(h.cast<bool>());
  if (PyLong_Check(h.ptr())) return Arg::of(toConst(h).i);
  if (PyFloat_Check(h.ptr())) return Arg::of(h.cast<double>());
  if (py::isinstance<py::str>(h)) return Arg::of(std::string_view(h.cast<std::string>()));
  if (py::isinstance<py::bytes>(h)) return Arg::of(std::string_view(h.cast<std::string>()));
  if (!py::isinstance<py::tuple>(h) && !py::isinstance<py::list>(h)) return ofObject(h);
  auto items = py::reinterpret_borrow<py::sequence>(h);
  size_t n = items.size();
  if (op == Op::WMMA && n && py::isinstance<py::str>(items[0])) return Arg::of(toWmma(items));
  py::detail::make_caster<AxisType> axis;
  if (n && axis.load(items[n - 1], false)) {
    RangeArg r{{}, py::detail::cast_op<AxisType&>(axis)};
    for (size_t i = 0; i + 1 < n; ++i) r.ids.push_back(py::object(items[i]).cast<int64_t>());
    return Arg::of(r);
  }
  if (n == 2 && asOp.load(items[0], false))
    return Arg::of(ReduceArg{py::detail::cast_op<Op&>(asOp), toInts(py::object(items[1]))});
  if (n && py::isinstance<Opt>(items[0])) return Arg::of(h.cast<std::vector<Opt>>());
  if (n && py::isinstance<py::str>(items[0])) {
    if (op == Op::DEFINE_VAR && n == 3)
      return Arg::of(VarArg{py::object(items[0]).cast<std::string>(), boundOf(items[1]), boundOf(items[2])});
    return Arg::of(h.cast<std::vector<std::string>>());
  }
  if (n && (op == Op::VCONST || py::isinstance<py::float_>(items[0]))) {
    std::vector<ConstValue> values;
    for (py::handle item : items)
      values.push_back(dtype.isVoid() ? toConst(item)
                                      : UOp::constant(dtype.scalar(), toConst(item)).constValue());
    return Arg::of(values);
  }
  Ints flat; // the pairs of UNROLL and CONTRACT are flattened
  for (py::handle item : items)
    for (int64_t v : toInts(item)) flat.push_back(v);
  return Arg::of(flat);
}

py::object fromArg(const Arg& arg, Op op, DType dtype) {
  switch (arg.kind()) {
  case ArgKind::None: return py::none();
  case ArgKind::Op: return py::cast(arg.op());
  case ArgKind::Bool:
  case ArgKind::Int:
  case ArgKind::Float:
  case ArgKind::Invalid: return fromConst(asWritten(dtype, arg.constant()), dtype);
  case ArgKind::String: return objectOr(py::str(std::string(arg.str())));
  case ArgKind::Ints: {
    const Ints& v = arg.ints();
    py::list out;
    for (size_t i = 0; i < v.size(); ++i) {
      if (op == Op::FLIP)
        out.append(py::bool_(v[i] != 0));
      else if (op == Op::UNROLL || op == Op::CONTRACT)
        out.append(py::make_tuple(v[i], v[i + 1])), ++i;
      else
        out.append(v[i]);
    }
    return py::tuple(out);
  }
  case ArgKind::Strings: return py::tuple(py::cast(arg.as<std::vector<std::string>>()));
  case ArgKind::Range: {
    const auto& r = arg.as<RangeArg>();
    py::list out;
    for (int64_t id : r.ids) out.append(id);
    out.append(r.type);
    return py::tuple(out);
  }
  case ArgKind::Reduce:
    return py::make_tuple(arg.as<ReduceArg>().op, py::tuple(py::cast(arg.as<ReduceArg>().axes)));
  case ArgKind::Var: {
    const auto& var = arg.as<VarArg>();
    auto bound = [&](int64_t v) -> py::object {
      if (!dtype.isFloat()) return py::int_(v);
      if (v == std::numeric_limits<int64_t>::max()) return py::float_(INFINITY);
      return v == std::numeric_limits<int64_t>::min() ? py::float_(-INFINITY)
                                                      : py::float_(static_cast<double>(v));
    };
    return py::make_tuple(var.name, bound(var.vmin), bound(var.vmax));
  }
  case ArgKind::Bufferize: return py::cast(arg.as<BufferizeOpts>());
  case ArgKind::Kernel: return py::cast(arg.as<KernelInfo>());
  case ArgKind::Consts: {
    py::list out;
    for (const ConstValue& v : arg.as<std::vector<ConstValue>>())
      out.append(fromConst(asWritten(dtype, v), dtype));
    return py::tuple(out);
  }
  case ArgKind::Opts: return py::tuple(py::cast(arg.as<std::vector<Opt>>()));
  case ArgKind::Wmma: return fromWmma(arg.as<WmmaArg>());
  default: return py::str(arg.repr());
  }
}

namespace {
PyObject* invalid = nullptr;
}

py::object invalidObject() {
  return py::reinterpret_borrow<py::object>(invalid ? invalid : Py_None);
}

void bindInvalid(py::module_& m) {
  py::exec(R"(
class InvalidType:
  """An index that must not be accessed. There is one object of it."""
  _one = None
  def __new__(cls):
    if cls._one is None: cls._one = object.__new__(cls)
    return cls._one
  def __repr__(self): return "Invalid"
  def __lt__(self, other): return self is not other
  def __gt__(self, other): return self is not other
  def __reduce__(self): return InvalidType, ()
Invalid = InvalidType()
)",
           m.attr("__dict__"));
  invalid = py::object(m.attr("Invalid")).release().ptr();
}

std::shared_ptr<PyObject> share(py::object o) {
  return {o.release().ptr(), [](PyObject* p) {
            if (Py_IsInitialized()) Py_DECREF(p);
          }};
}

const char* internText(std::string_view text) {
  static std::set<std::string, std::less<>> texts;
  auto it = texts.find(text);
  return (it != texts.end() ? it : texts.emplace(text).first)->c_str();
}

namespace {
std::string ownFolder; // folder of the modules of a plain Python; empty if they are embedded
}

void setOwnSources(const std::string& folder) {
  ownFolder = folder;
}

bool isOwnSource(std::string_view file) {
  if (file.starts_with("<uopscope>")) return true;
  if (ownFolder.empty() || !file.starts_with(ownFolder)) return false;
  std::string_view below = file.substr(ownFolder.size());
  return below.starts_with("tinygrad/") || below.starts_with("uopscope/");
}

SourceLocation pythonLocation() {
  if (!Py_IsInitialized()) return {};
  PyFrameObject* top = PyEval_GetFrame();
  if (!top) return {};
  // Lines are looked up once per position in the code. The code objects are kept alive, so their addresses
  // are not reused. A script that makes code without end clears the table now and then.
  constexpr size_t kMostCode = 1 << 14;
  struct Place {
    SourceLocation at;
    bool own;
  };
  static std::unordered_map<PyCodeObject*, std::unordered_map<int, Place>> known;
  if (known.size() > kMostCode) {
    for (auto& [code, places] :
         known) // NOLINT(bugprone-nondeterministic-pointer-iteration-order): any order does
      Py_DECREF(code);
    known.clear();
  }
  py::object frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(top));
  while (frame) {
    auto* f = reinterpret_cast<PyFrameObject*>(frame.ptr());
    PyCodeObject* code = PyFrame_GetCode(f);
    py::object keep = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(code));
    int at = PyFrame_GetLasti(f);
    auto [places, isNew] = known.try_emplace(code);
    if (isNew) Py_INCREF(code);
    auto it = places->second.find(at);
    if (it == places->second.end()) {
      const char* file = PyUnicode_AsUTF8(code->co_filename);
      Place p{{file ? internText(file) : "", PyFrame_GetLineNumber(f)}, file && isOwnSource(file)};
      it = places->second.emplace(at, p).first;
    }
    if (!it->second.own) return it->second.at;
    frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
  }
  return {};
}

} // namespace uopscope

namespace pybind11::detail {

handle type_caster<uopscope::DType>::cast(const uopscope::DType& d, return_value_policy, handle parent) {
  static std::unordered_map<uint64_t, PyObject*> known; // lives as long as the process
  auto [it, isNew] = known.try_emplace(d.bits(), nullptr);
  if (isNew) it->second = type_caster_base<uopscope::DType>::cast(d, return_value_policy::copy, parent).ptr();
  return handle(it->second).inc_ref();
}

} // namespace pybind11::detail
