// Pickling and deep copies of types, nodes, buffers, tensors and captured functions. Graphs are written as
// flat lists, so deep graphs need no deep recursion. BUFFERs and UNIQUEs are pickled as objects, so nodes
// shared by two tensors are also shared after loading.
//
//   pickle.loads(pickle.dumps(net))           tensors with the same values
//   pickle.loads(pickle.dumps(jitted))        replays in a process that does not have the function
#include "engine/python/python_jit.h"
#include "engine/python/uop_arguments.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/mapped_file.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/uop/node_check.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>
#include <pybind11/eval.h>

namespace uopscope {

namespace {

py::object made(const char* function) {
  return py::module_::import("_uopscope").attr(function);
}

bool isLeaf(UOp u) {
  return u.in({Op::BUFFER, Op::UNIQUE});
}

/// (function, arguments) for making the node again.
py::tuple reduceNode(UOp root) {
  PoolScope scope(tensorPool());
  NodesHeld held;
  if (root.is(Op::UNIQUE)) return py::make_tuple(made("_unique_node"), py::tuple());
  if (root.is(Op::BUFFER)) return py::make_tuple(made("_buffer_node"), py::make_tuple(Buffer::of(root)));
  UOpMap<size_t> number;
  py::list leaves, rows;
  auto nodes = root.toposort([](UOp u) { return !isLeaf(u); });
  for (UOp u : nodes)
    for (UOp s : u.src())
      if (isLeaf(s) && !number.count(s)) {
        number[s] = leaves.size();
        leaves.append(s);
      }
  for (UOp u : nodes) {
    if (isLeaf(u)) continue;
    py::list sources;
    for (UOp s : u.src()) sources.append(number.at(s));
    rows.append(py::make_tuple(static_cast<int>(u.op()), u.dtype(), py::tuple(sources),
                               fromArg(u.arg(), u.op(), u.dtype()), fromArg(u.tag(), Op::NOOP)));
    number[u] = leaves.size() + rows.size() - 1;
  }
  return py::make_tuple(made("_nodes"), py::make_tuple(py::tuple(leaves), py::tuple(rows)));
}

UOp nodesFrom(py::tuple leaves, py::tuple rows) {
  PoolScope scope(tensorPool());
  NodesHeld held;
  std::vector<UOp> nodes;
  for (py::handle leaf : leaves) nodes.push_back(leaf.cast<UOp>());
  for (py::handle row : rows) {
    auto [op, dtype, sources, arg, tag] =
        row.cast<std::tuple<int, DType, std::vector<size_t>, py::object, py::object>>();
    if (op < 0 || op >= kOpCount) throw py::value_error("a pickled node is of no known operation");
    std::vector<UOp> src;
    for (size_t s : sources) src.push_back(nodes.at(s));
    auto o = static_cast<Op>(op);
    nodes.push_back(makeChecked(o, dtype, src, toArg(arg, o, dtype), toArg(tag, Op::NOOP)));
  }
  return nodes.back();
}

UOp bufferNode(const std::shared_ptr<Buffer>& buffer) {
  PoolScope scope(tensorPool());
  UOp node = newBuffer(buffer->device(), buffer->dtype(), buffer->size());
  Buffer::bind(node, buffer);
  return node;
}

py::tuple reduceBuffer(const std::shared_ptr<Buffer>& b) {
  if (b->base())
    return py::make_tuple(made("_buffer_view"),
                          py::make_tuple(b->base(), b->dtype(), b->size(), b->offset()));
  if (isFileDevice(b->device()))
    return py::make_tuple(made("_buffer_of_file"), py::make_tuple(filePath(b->device())));
  py::object bytes = py::none();
  if (b->isAllocated()) {
    std::string values(b->bytes(), 0);
    b->copyOut(values.data());
    bytes = py::bytes(values);
  }
  return py::make_tuple(made("_buffer"), py::make_tuple(b->device(), b->dtype(), b->size(), bytes));
}

std::shared_ptr<Buffer> bufferFrom(const std::string& device, DType dtype, int64_t size, py::object bytes) {
  auto b = std::make_shared<Buffer>(device, dtype, size);
  if (bytes.is_none()) return b;
  std::string values = bytes.cast<std::string>();
  if (values.size() != b->bytes())
    throw py::value_error(
        fmt::format("a pickled buffer has {} bytes instead of {}", values.size(), b->bytes()));
  if (!values.empty()) b->copyIn(values.data());
  return b;
}

/// A kernel is pickled as its graph, and lowered again after loading.
py::tuple kernelState(const RunStep& step) {
  PoolScope scope(tensorPool());
  return py::make_tuple(tensorPool().import(step.ast), step.device->name());
}

void restoreKernel(RunStep& step, UOp ast, const std::string& device) {
  step.device = &Device::get(device);
  step.pool = std::make_shared<Pool>();
  PoolScope scope(*step.pool);
  step.ast = step.pool->import(ast);
  ScheduleItem item{step.ast, step.pool, {}, step.metadata, {}};
  step.kernel = getKernel(item, *step.device);
}

py::tuple reduceJit(const PyCapturedJit& jit) {
  NodesHeld held;
  CapturedJit::Parts parts = jit.parts();
  py::list steps, views, before;
  for (size_t i = 0; i < parts.run.steps.size(); ++i) {
    const RunStep& s = parts.run.steps[i];
    py::list patches;
    for (const auto& p : parts.run.patches[i]) patches.append(py::make_tuple(p.argument, p.input, p.offset));
    steps.append(py::make_tuple(s.kernel ? py::object(kernelState(s)) : py::none(), py::cast(s.buffers),
                                s.metadata, s.values, py::tuple(patches)));
  }
  for (const UOpRef& v : parts.views) views.append(v.get());
  for (const HostAction& a : parts.run.before) before.append(py::make_tuple(a.device, a.words, a.at));
  return py::make_tuple(made("_captured_jit"),
                        py::make_tuple(steps, parts.run.names, before, views, parts.names, parts.results,
                                       parts.passed, jit.ret(), jit.names(), jit.inputs()));
}

std::shared_ptr<PyCapturedJit> jitFrom(py::list steps, std::vector<std::string> runNames, py::list before,
                                       py::list views, std::vector<std::string> names,
                                       std::vector<Tensor> results,
                                       std::vector<std::pair<size_t, size_t>> passed, py::object ret,
                                       py::list argumentNames, size_t inputs) {
  NodesHeld held;
  CapturedJit::Parts parts;
  for (py::handle h : steps) {
    auto [kernel, buffers, metadata, values, patches] =
        h.cast<std::tuple<py::object, std::vector<std::shared_ptr<Buffer>>, std::vector<std::string>,
                          VarValues, std::vector<std::tuple<uint32_t, uint32_t, size_t>>>>();
    RunStep s;
    s.buffers = std::move(buffers);
    s.metadata = std::move(metadata);
    s.values = std::move(values);
    if (!kernel.is_none()) {
      auto [ast, device] = kernel.cast<std::pair<py::object, std::string>>();
      restoreKernel(s, ast.cast<UOp>(), device);
    }
    parts.run.steps.push_back(std::move(s));
    auto& all = parts.run.patches.emplace_back();
    for (auto [argument, input, offset] : patches) all.push_back({argument, input, offset});
  }
  for (py::handle h : before) {
    auto [device, words, at] = h.cast<std::tuple<std::string, int64_t, std::shared_ptr<Buffer>>>();
    parts.run.before.push_back(Tensor::drawAgain(device, words, at));
  }
  for (py::handle v : views) parts.views.emplace_back(v.cast<UOp>());
  parts.run.names = std::move(runNames);
  parts.names = std::move(names);
  parts.results = std::move(results);
  parts.passed = std::move(passed);
  return std::make_shared<PyCapturedJit>(CapturedJit(std::move(parts)), ret, argumentNames, inputs);
}

} // namespace

void bindPickling(py::module_& m) {
  m.def("_unique_node", [] {
    PoolScope scope(tensorPool());
    return newUnique();
  });
  m.def("_buffer_node", &bufferNode);
  m.def("_nodes", &nodesFrom);
  m.def("_buffer", &bufferFrom);
  m.def("_buffer_view", [](const std::shared_ptr<Buffer>& base, DType dtype, int64_t size, int64_t offset) {
    return Buffer::view(base, dtype, size, offset);
  });
  m.def("_buffer_of_file", [](const std::string& path) {
    PoolScope scope(tensorPool());
    return Buffer::of(graph::base(Tensor::fromFile(path).uop()));
  });
  m.def("_tensor", [](UOp u, RequiresGrad requiresGrad, const Tensor& grad) {
    Tensor t(std::make_shared<Tensor::State>(u, requiresGrad));
    t.setGrad(grad);
    return t;
  });
  m.def("_captured_jit", &jitFrom);
  py::exec(R"(
def _by_name(f, name):
  """pickle finds functions of Python by their name, those of C++ not at all."""
  def call(*arguments): return f(*arguments)
  call.__module__, call.__name__, call.__qualname__ = "_uopscope", name, name
  return call
for _n in ("_unique_node", "_buffer_node", "_nodes", "_buffer", "_buffer_view", "_buffer_of_file", "_tensor", "_captured_jit", "dtype_from_bits"):
  globals()[_n] = _by_name(globals()[_n], _n)
)",
           m.attr("__dict__"));
  auto reduce = [&](const char* type, auto f) {
    py::object c = m.attr(type);
    c.attr("__reduce__") = py::cpp_function(f, py::name("__reduce__"), py::is_method(c));
  };
  reduce("UOp", [](UOp u) { return reduceNode(u); });
  reduce("Buffer", [](const std::shared_ptr<Buffer>& b) { return reduceBuffer(b); });
  reduce("Tensor", [](const Tensor& t) {
    return py::make_tuple(made("_tensor"), py::make_tuple(t.uop(), t.requiresGrad(), t.grad()));
  });
  reduce("CapturedJit", [](const PyCapturedJit& j) { return reduceJit(j); });
  reduce("Opt", [](const Opt& o) {
    return py::make_tuple(made("Opt"),
                          py::make_tuple(o.op, o.axis < 0 ? py::object(py::none()) : py::int_(o.axis),
                                         py::tuple(py::cast(o.arg))));
  });
  reduce("KernelInfo", [](const KernelInfo& k) {
    py::object all = k.hasOptsToApply ? py::object(py::tuple(py::cast(k.optsToApply))) : py::none();
    return py::make_tuple(made("KernelInfo"),
                          py::make_tuple(k.name, py::tuple(py::cast(k.axisTypes)), k.dontUseLocals,
                                         py::tuple(py::cast(k.appliedOpts)), all));
  });
  reduce("BufferizeOpts", [](const BufferizeOpts& b) {
    return py::make_tuple(made("BufferizeOpts"), py::make_tuple(b.device, b.addrspace, b.removable));
  });
}

} // namespace uopscope
