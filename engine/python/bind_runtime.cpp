// Devices, counters, settings and schedules.
#include "engine/base/context_var.h"
#include "engine/python/bindings.h"
#include "engine/runtime/counters.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/run_schedule.h"
#include "engine/tensor/tensor_memory.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

/// A class attribute that is a counter of the current session.
template <auto Counter>
void defineCounter(py::class_<GlobalCounters>& c, const char* name) {
  using Value = std::remove_reference_t<decltype(GlobalCounters::current().*Counter)>;
  c.def_property_static(
      name, [](const py::object&) { return GlobalCounters::current().*Counter; },
      [](const py::object&, Value value) { GlobalCounters::current().*Counter = value; });
}

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
  py::class_<GlobalCounters> counters(m, "GlobalCounters");
  defineCounter<&GlobalCounters::globalOps>(counters, "global_ops");
  defineCounter<&GlobalCounters::globalMem>(counters, "global_mem");
  defineCounter<&GlobalCounters::timeSum>(counters, "time_sum_s");
  defineCounter<&GlobalCounters::kernelCount>(counters, "kernel_count");
  counters
      .def_property_static(
          "mem_used",
          [](const py::object&) {
            releaseUnreached();
            return GlobalCounters::current().memUsed;
          },
          [](const py::object&, int64_t bytes) { GlobalCounters::current().memUsed = bytes; })
      .def_static("reset", [] { GlobalCounters::current().reset(); });

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
  m.def("clear_schedule_cache", &clearScheduleCache);
  m.def("schedule_cache_size", &scheduleCacheSize);
  m.def("kernel_cache_stats", [] {
    py::dict out;
    KernelCacheStats s = kernelCacheStats();
    out["hits"] = s.hits;
    out["misses"] = s.misses;
    return out;
  });
}

} // namespace uopscope
