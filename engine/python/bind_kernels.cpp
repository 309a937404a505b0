// Kernels by hand: lowering, the parts of a lowered kernel, launching it, and the abilities of a device's
// renderer.
#include "engine/codegen/codegen.h"
#include "engine/codegen/estimates.h"
#include "engine/codegen/kernel_passes.h"
#include "engine/codegen/opt.h"
#include "engine/codegen/program_text.h"
#include "engine/python/bindings.h"
#include "engine/python/script_kernel.h"
#include "engine/rules/user_rules.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/run_capture.h"
#include "engine/runtime/search.h"
#include "engine/schedule/schedule_passes.h"
#include "engine/tensor/tensor_memory.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

py::dict facts(const Target& t) {
  py::dict out;
  out["device"] = t.device;
  out["suffix"] = t.suffix;
  out["has_local"] = t.hasLocal;
  out["has_shared"] =
      t.hasShared || !t.hasLocal; // without work groups DEFINE_LOCAL is memory of the kernel's own
  out["has_threads"] = t.hasThreads;
  out["supports_float4"] = t.supportsVectors;
  out["global_max"] = py::tuple(py::cast(t.globalMax));
  out["local_max"] = py::tuple(py::cast(t.localMax));
  out["shared_max"] = t.sharedMax;
  py::list native;
  for (int i = 0; i < kOpCount; ++i)
    if (t.nativeOps.has(static_cast<Op>(i))) native.append(static_cast<Op>(i));
  out["native_ops"] = native;
  py::list cores;
  for (const TensorCore& core : t.tensorCores)
    cores.append(py::make_tuple(core.name, core.in, core.out, core.threads));
  out["tensor_cores"] = cores;
  return out;
}

/// A kernel for a renderer, made of a list of instructions.
LoweredKernel kernelOf(const std::vector<UOp>& program) {
  LoweredKernel k;
  k.uops = program;
  k.name = "test";
  for (UOp u : program) {
    if (u.is(Op::SINK) && u.arg().kind() == ArgKind::Kernel) k.name = u.arg().as<KernelInfo>().name;
    if (u.is(Op::DEFINE_VAR)) k.vars.push_back(u);
    if (u.is(Op::DEFINE_GLOBAL)) k.globals.push_back(static_cast<int>(u.arg().i()));
  }
  k.estimates = estimate(program);
  return k;
}

void bindProgram(py::module_& m) {
  py::class_<ScriptKernel>(m, "LoweredKernel")
      .def_property_readonly("name", [](const ScriptKernel& k) { return k.lowered().name; })
      .def_readonly("device", &ScriptKernel::device)
      .def_property_readonly("src", &ScriptKernel::text)
      .def_property_readonly("ast",
                             [](const ScriptKernel& k) { return ScriptKernel::imported(k.lowered().ast); })
      .def_property_readonly("sink",
                             [](const ScriptKernel& k) { return ScriptKernel::imported(k.lowered().sink); })
      .def_property_readonly("uops", &ScriptKernel::uops)
      .def_property_readonly(
          "vars", [](const ScriptKernel& k) { return ScriptKernel::importedAll(k.lowered().vars); })
      .def_property_readonly(
          "applied_opts", [](const ScriptKernel& k) { return py::tuple(py::cast(k.lowered().appliedOpts)); })
      .def_property_readonly(
          "global_size", [](const ScriptKernel& k) { return ScriptKernel::sizes(k.lowered().globalSize); })
      .def_property_readonly("local_size",
                             [](const ScriptKernel& k) { return ScriptKernel::sizes(k.lowered().localSize); })
      .def_property_readonly("globals", [](const ScriptKernel& k) { return k.lowered().globals; })
      .def_property_readonly("outs", [](const ScriptKernel& k) { return k.lowered().outs; })
      .def_property_readonly("ins", [](const ScriptKernel& k) { return k.lowered().ins; })
      .def_property_readonly("costs",
                             [](const ScriptKernel& k) {
                               const Estimates& e = k.lowered().estimates;
                               return ScriptKernel::sizes({e.ops, e.lds, e.mem});
                             })
      .def("compile", [](ScriptKernel& k) { k.program(); })
      .def("assembly",
           [](ScriptKernel& k) {
             Program* p = k.program();
             return p ? p->assembly() : std::string();
           })
      .def("run", &ScriptKernel::run, py::arg("buffers"), py::arg("var_vals"), py::arg("wait") = false);
}

} // namespace

void bindKernels(py::module_& m) {
  bindProgram(m);
  m.def("lower_kernel", &lowerForScript);
  m.def("full_rewrite_to_sink", [](UOp sink, const std::string& device, bool optimize) {
    PoolScope scope(tensorPool());
    NodesHeld held;
    return fullRewriteToSink(sink, scriptTarget(device), optimize);
  });
  py::class_<UserRules>(m, "UserRules")
      .def(py::init([](std::string_view pass, PatternMatcher rules) {
             std::vector<std::string_view> known;
             for (const auto& p : sched::schedulePasses()) known.push_back(p.name);
             for (std::string_view name : kernelPassNames()) known.push_back(name);
             return std::make_unique<UserRules>(pass, known, std::move(rules));
           }),
           py::arg("pass"), py::arg("rules"));
  m.def("linearize", [](UOp sink) {
    PoolScope scope(tensorPool());
    NodesHeld held;
    return ScriptKernel::importedAll(linearize(sink));
  });
  m.def("render_uops", [](const std::vector<UOp>& program, const std::string& device) {
    PoolScope scope(tensorPool());
    NodesHeld held;
    return Device::get(device).renderer().render(kernelOf(program));
  });
  m.def("kernel_of_program", [](const std::vector<UOp>& program, const std::string& device) {
    NodesHeld held;
    auto made = std::make_shared<CompiledKernel>();
    auto pool = std::make_shared<Pool>();
    PoolScope scope(*pool);
    UOpMap<UOp> map;
    std::vector<UOp> moved;
    for (UOp u : program) moved.push_back(pool->import(u, &map));
    made->lowered = kernelOf(moved);
    made->lowered.pool = std::move(pool);
    return ScriptKernel{made, device};
  });
  m.def("estimate", [](const std::vector<UOp>& program) {
    PoolScope scope(tensorPool());
    NodesHeld held;
    Estimates e = estimate(program);
    return ScriptKernel::sizes({e.ops, e.lds, e.mem});
  });
  m.def("search_opts", [](UOp ast, const std::string& device, int width) {
    PoolScope scope(tensorPool());
    NodesHeld held;
    return searchOpts(ast, Device::get(device), width);
  });
  m.def("settings_key", [] { return kernelSettingsNumber(); });
  m.def("device_facts", [](const std::string& device) { return facts(scriptTarget(device)); });
  m.def("supports_dtype", [](const std::string& device, py::object dtype) {
    const Target& t = Device::get(device).renderer().target();
    return !t.supportsDtype || t.supportsDtype(toDType(dtype).scalar());
  });
  m.def("set_device_rules", [](const std::string& device, py::object pre, py::object extra) {
    auto matcher = [](const py::object& o) {
      return o.is_none() ? nullptr : std::make_shared<const PatternMatcher>(o.cast<const PatternMatcher&>());
    };
    setRendererRules(Device::get(device).renderer().target().device, {matcher(pre), matcher(extra)});
  });
}

} // namespace uopscope
