// Optimisations of a kernel: Opt, and the Scheduler that applies them.
//
//   k = Scheduler(ast, Device["CPU"].renderer); k.apply_opt(Opt(OptOps.UPCAST, 0, 4)); k.get_optimized_ast()
#include "engine/codegen/codegen.h"
#include "engine/codegen/opt.h"
#include "engine/python/bindings.h"
#include "engine/runtime/device.h"
#include "engine/tensor/tensor_memory.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

/// A Scheduler in the tensor pool; it holds the nodes that it needs.
struct ScriptScheduler {
  std::string device;
  UOpRef first;
  KernelOptimizer kernel;
  std::vector<UOpRef> held; ///< all earlier graphs, whose nodes a script may still use

  ScriptScheduler(UOp ast, const std::string& d)
      : device(d), first(ast), kernel(ast, Device::get(d).renderer().target()) {
    hold();
  }
  void hold() {
    held.emplace_back(kernel.ast());
    for (UOp r : kernel.ranges()) held.emplace_back(r);
  }
  template <typename F>
  void change(F f) {
    PoolScope scope(tensorPool());
    NodesHeld nodes;
    f(kernel);
    hold();
  }
};

py::list nodes(const std::vector<UOp>& all) {
  py::list out;
  for (UOp u : all) out.append(u);
  return out;
}

} // namespace

void bindOpts(py::module_& m) {
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
  py::class_<ScriptScheduler>(m, "KernelScheduler")
      .def(py::init([](UOp ast, const std::string& device) {
        PoolScope scope(tensorPool());
        NodesHeld held;
        return ScriptScheduler(ast, device);
      }))
      .def("copy", [](const ScriptScheduler& s) { return ScriptScheduler(s); })
      .def_property_readonly("ast", [](const ScriptScheduler& s) { return s.kernel.ast(); })
      .def_property_readonly("applied_opts", [](const ScriptScheduler& s) { return s.kernel.applied(); })
      .def_property_readonly("rngs", [](const ScriptScheduler& s) { return nodes(s.kernel.ranges()); })
      .def_property_readonly("reduceops", [](const ScriptScheduler& s) { return nodes(s.kernel.reduces()); })
      .def_property_readonly("bufs", [](const ScriptScheduler& s) { return nodes(s.kernel.accesses()); })
      .def("parallel_ranges", [](const ScriptScheduler& s) { return nodes(s.kernel.parallelRanges()); })
      .def("apply",
           [](ScriptScheduler& s, const Opt& opt) { s.change([&](KernelOptimizer& k) { k.apply(opt); }); })
      .def("loops_to_global",
           [](ScriptScheduler& s) { s.change([](KernelOptimizer& k) { k.loopsToGlobal(); }); })
      .def("choose", [](ScriptScheduler& s) { s.change([](KernelOptimizer& k) { chooseOpts(k); }); })
      .def_property_readonly("name", [](const ScriptScheduler& s) { return s.kernel.name(); })
      .def("optimized", [](ScriptScheduler& s) {
        PoolScope scope(tensorPool());
        NodesHeld held;
        return s.kernel.optimized();
      });
  m.def("ready_for_opts", [](UOp sink, const std::string& device) {
    PoolScope scope(tensorPool());
    NodesHeld held;
    return readyForOpts(sink, Device::get(device).renderer().target());
  });
}

} // namespace uopscope
