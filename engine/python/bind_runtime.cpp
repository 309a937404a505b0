// Devices, counters, settings, schedules, and lowering by hand.
#include "engine/base/context_var.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/user_rules.h"
#include "engine/python/bindings.h"
#include "engine/runtime/device.h"
#include "engine/tensor/tensor_memory.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

/// A kernel lowered for Python: its nodes copied into the tensor pool, held by the Python objects.
/// A kernel as a script sees it: its nodes come into the tensor pool when they are asked for.
struct ScriptKernel {
  LoweredKernel lowered;
  std::string source;

  py::list uops() const {
    PoolScope scope(tensorPool());
    NodesHeld held;
    UOpMap<UOp> map;
    py::list out;
    for (UOp u : lowered.uops) out.append(tensorPool().import(u, &map));
    return out;
  }
  static UOp imported(UOp u) {
    PoolScope scope(tensorPool());
    return tensorPool().import(u);
  }
};

} // namespace

void bindRuntime(py::module_& m) {
  m.def("context_get", [](const std::string& name) {
    ContextVar* v = ContextVar::find(name);
    if (!v) throw py::key_error(fmt::format("{} is not a context variable", name));
    return v->value();
  });
  m.def("context_set", [](const std::string& name, int64_t value) {
    ContextVar* v = ContextVar::find(name);
    if (!v) throw py::key_error(fmt::format("{} is not a context variable", name));
    v->set(value);
  });
  m.def("context_names", [] {
    std::vector<std::string> out;
    for (ContextVar* v : ContextVar::all()) out.emplace_back(v->name());
    return out;
  });
  m.def("device_default", [] { return Device::defaultName(); });
  m.def("device_set_default", [](const std::string& name) { Device::setDefaultName(name); });
  m.def("device_canonicalize", [](const std::string& name) { return Device::canonicalize(name); });
  m.def("device_available", [] { return Device::available(); });
  m.def("device_open", [](const std::string& name) { return Device::get(name).name(); });
  m.def("device_synchronize", [](const std::string& name) { Device::get(name).synchronize(); });
  py::class_<GlobalCounters>(m, "GlobalCounters")
      .def_readwrite_static("global_ops", &GlobalCounters::globalOps)
      .def_readwrite_static("global_mem", &GlobalCounters::globalMem)
      .def_readwrite_static("time_sum_s", &GlobalCounters::timeSum)
      .def_readwrite_static("kernel_count", &GlobalCounters::kernelCount)
      .def_readwrite_static("mem_used", &GlobalCounters::memUsed)
      .def_static("reset", &GlobalCounters::reset);

  py::class_<Buffer, std::shared_ptr<Buffer>>(m, "Buffer")
      .def_property_readonly("device", &Buffer::device)
      .def_property_readonly("dtype", &Buffer::dtype)
      .def_property_readonly("size", &Buffer::size)
      .def_property_readonly("nbytes", &Buffer::bytes)
      .def_property_readonly("offset", &Buffer::offset)
      .def_property_readonly("base",
                             [](const std::shared_ptr<Buffer>& b) { return b->base() ? b->base() : b; })
      .def("is_allocated", &Buffer::isAllocated)
      .def("allocate",
           [](const std::shared_ptr<Buffer>& b) {
             b->allocate();
             return b;
           })
      .def("ensure_allocated",
           [](const std::shared_ptr<Buffer>& b) {
             b->allocate();
             return b;
           })
      .def("copyin",
           [](const std::shared_ptr<Buffer>& b, py::buffer from) {
             py::buffer_info info = from.request();
             if (static_cast<size_t>(info.size * info.itemsize) != b->bytes())
               throw Error(ErrorKind::Shape,
                           fmt::format("copyin of {} bytes into {}", info.size * info.itemsize, b->bytes()));
             b->copyIn(info.ptr);
             return b;
           })
      .def("as_buffer",
           [](Buffer& b) {
             py::bytearray out(std::string(b.bytes(), 0));
             b.copyOut(PyByteArray_AS_STRING(out.ptr()));
             return py::memoryview(out);
           })
      .def("__repr__", [](const Buffer& b) {
        return fmt::format("<buf real:{} device:{} size:{} dtype:{} offset:{}>", b.isAllocated(), b.device(),
                           b.size(), b.dtype().name(), b.offset());
      });

  py::class_<Schedule, std::shared_ptr<Schedule>>(m, "Schedule")
      .def("__len__", [](const Schedule& s) { return s.items.size(); })
      .def("ast",
           [](const Schedule& s, size_t i) {
             PoolScope scope(tensorPool());
             return tensorPool().import(s.items.at(i).ast);
           })
      .def("buffers",
           [](const Schedule& s, size_t i) {
             py::list out;
             for (const UOpRef& b : s.items.at(i).buffers) out.append(b.get());
             return out;
           })
      .def("metadata", [](const Schedule& s, size_t i) { return s.items.at(i).metadata; })
      .def_property_readonly("var_vals",
                             [](const Schedule& s) {
                               py::dict out;
                               for (auto& [name, value] : s.vars) out[py::str(name)] = value;
                               return out;
                             })
      .def_readonly("cache_hit", &Schedule::cacheHit)
      .def("run",
           [](Schedule& s) {
             PoolScope scope(tensorPool());
             runSchedule(s);
           })
      .def("run_item", [](const Schedule& s, size_t i) {
        PoolScope scope(tensorPool());
        Schedule one;
        one.items.push_back(s.items.at(i));
        one.vars = s.vars;
        runSchedule(one);
      });
  py::class_<ScriptKernel>(m, "LoweredKernel")
      .def_property_readonly("name", [](const ScriptKernel& k) { return k.lowered.name; })
      .def_readonly("src", &ScriptKernel::source)
      .def_property_readonly("ast",
                             [](const ScriptKernel& k) { return ScriptKernel::imported(k.lowered.ast); })
      .def_property_readonly("sink",
                             [](const ScriptKernel& k) { return ScriptKernel::imported(k.lowered.sink); })
      .def_property_readonly("uops", &ScriptKernel::uops)
      .def_property_readonly("applied_opts",
                             [](const ScriptKernel& k) { return py::tuple(py::cast(k.lowered.appliedOpts)); })
      .def_property_readonly("global_size",
                             [](const ScriptKernel& k) { return fromShape(k.lowered.globalSize); })
      .def_property_readonly("local_size",
                             [](const ScriptKernel& k) { return fromShape(k.lowered.localSize); })
      .def_property_readonly("outs", [](const ScriptKernel& k) { return k.lowered.outs; })
      .def_property_readonly("ins", [](const ScriptKernel& k) { return k.lowered.ins; });
  m.def("clear_schedule_cache", &clearScheduleCache);
  m.def("kernel_cache_stats", [] {
    py::dict out;
    KernelCacheStats s = kernelCacheStats();
    out["hits"] = s.hits;
    out["misses"] = s.misses;
    return out;
  });
  m.def("lower_kernel", [](UOp ast, const std::string& device) {
    PoolScope scope(tensorPool());
    NodesHeld held;
    Device& d = Device::get(device);
    LoweredKernel k = lowerKernel(ast, d.renderer().target());
    std::string source = d.renderer().render(k);
    return ScriptKernel{std::move(k), std::move(source)};
  });
  m.def("full_rewrite_to_sink", [](UOp sink, const std::string& device, bool optimize) {
    PoolScope scope(tensorPool());
    NodesHeld held;
    return fullRewriteToSink(sink, Device::get(device).renderer().target(), optimize);
  });
  py::class_<UserRules>(m, "UserRules")
      .def(py::init<std::string_view, PatternMatcher>(), py::arg("pass"), py::arg("rules"));
  m.def("linearize", [](UOp sink) {
    PoolScope scope(tensorPool());
    NodesHeld held;
    py::list out;
    for (UOp u : linearize(sink)) out.append(u);
    return out;
  });
  py::class_<Opt>(m, "Opt")
      .def(py::init([](OptOp op, std::optional<int> axis, py::object arg) {
             return Opt{op, axis.value_or(-1), arg.is_none() ? Ints{} : toInts(arg)};
           }),
           py::arg("op"), py::arg("axis") = py::none(), py::arg("arg") = py::none())
      .def_readonly("op", &Opt::op)
      .def_property_readonly(
          "axis", [](const Opt& o) { return o.axis < 0 ? py::object(py::none()) : py::int_(o.axis); })
      .def_property_readonly("arg",
                             [](const Opt& o) -> py::object {
                               if (o.arg.empty()) return py::none();
                               if (o.arg.size() == 1) return py::int_(o.arg[0]);
                               return py::tuple(py::cast(o.arg));
                             })
      .def(
          "__eq__", [](const Opt& a, const Opt& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const Opt& o) { return std::hash<std::string>()(toString(o)); })
      .def("__repr__", [](const Opt& o) { return toString(o); });
}

} // namespace uopscope
