// Lowers kernels of scripts, imports their nodes, and runs them.
#include "engine/python/script_kernel.h"

#include "engine/render/c_renderer.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/kernel_report.h"
#include "engine/tensor/tensor_memory.h"

#include <fmt/format.h>

#include <cstdio>

namespace uopscope {

const Target& scriptTarget(const std::string& device) {
  static const Target none = [] {
    Target t;
    t.hasLocal = t.hasShared = true;
    t.globalMax = t.localMax = {INT32_MAX, INT32_MAX, INT32_MAX};
    t.nativeOps = {Op::MOD};
    return t;
  }();
  return device.empty() ? none : Device::get(device).renderer().target();
}

ScriptKernel lowerForScript(UOp ast, const std::string& device) {
  PoolScope scope(tensorPool());
  NodesHeld held;
  ObservedScope told({ScopeKind::Kernel, "kernel", scriptLocation(), ast});
  std::string report; // the text that DEBUG asks for
  auto made = std::make_shared<CompiledKernel>(lowerAndRender(ast, Device::get(device), report));
  if (!report.empty()) {
    fmt::print("{}", report);
    std::fflush(stdout);
  }
  return {made, device};
}

py::list ScriptKernel::uops() const {
  PoolScope scope(tensorPool());
  NodesHeld held;
  UOpMap<UOp> map;
  py::list out;
  for (UOp u : lowered().uops) out.append(tensorPool().import(u, &map));
  return out;
}

std::string ScriptKernel::text() const {
  const Target& target = Device::get(device).renderer().target();
  return target.suffix == "LLVM" ? CRenderer(target).render(lowered()) : kernel->source;
}

UOp ScriptKernel::imported(UOp u) {
  PoolScope scope(tensorPool());
  return tensorPool().import(u);
}

py::list ScriptKernel::importedAll(std::span<const UOp> nodes) {
  NodesHeld held;
  py::list out;
  for (UOp u : nodes) out.append(imported(u));
  return out;
}

py::tuple ScriptKernel::sizes(const std::vector<Sint>& all) {
  py::tuple out(all.size());
  for (size_t i = 0; i < all.size(); ++i)
    out[i] = all[i].isInt() ? py::object(py::int_(all[i].i())) : py::cast(imported(all[i].uop()));
  return out;
}

Program* ScriptKernel::program() {
  PoolScope scope(*kernel->lowered.pool);
  if (!kernel->program) kernel->program = Device::get(device).compile(kernel->lowered, kernel->source);
  return kernel->program.get();
}

double ScriptKernel::run(const std::vector<std::shared_ptr<Buffer>>& buffers, const py::dict& values,
                         bool wait) {
  program();
  if (buffers.size() != lowered().globals.size())
    throw Error(ErrorKind::Shape, fmt::format("kernel {} takes {} buffers, {} are given", lowered().name,
                                              lowered().globals.size(), buffers.size()));
  std::vector<void*> memory;
  std::vector<uint64_t> ids;
  for (const auto& b : buffers) {
    if (!b->root()->isAllocated())
      throw Error(ErrorKind::Shape,
                  fmt::format("kernel {} is given a buffer without memory", lowered().name));
    auto kind = [](const std::string& name) { return name.substr(0, name.find(':')); };
    if (kind(b->device()) != kind(device) && !Device::get(b->device()).hostView(b->memory()))
      throw Error(ErrorKind::Device, fmt::format("kernel {} runs on {}, and is given memory of {}: move the "
                                                 "tensor with .to(\"{}\")",
                                                 lowered().name, device, b->device(), device));
    memory.push_back(b->memory());
    ids.push_back(b->id());
  }
  VarValues vars;
  for (auto [name, value] : values) vars.emplace_back(name.cast<std::string>(), value.cast<int64_t>());
  PoolScope scope(*kernel->lowered.pool);
  Device& d = Device::get(device);
  double seconds = launchKernel(*kernel, d, memory, vars, false, {}, ids, wait);
  if (RunCapture::active())
    RunCapture::ran({kernel, &d, buffers, {}, vars, kernel->lowered.pool, lowered().ast});
  return seconds;
}

} // namespace uopscope
