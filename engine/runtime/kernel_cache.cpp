// Kernels that were lowered and compiled. Two tables: by the node asked for, which costs nothing, and by the
// content of the kernel, so that the same kernel of another schedule is found too. Settings that change what
// is made of a kernel are part of both keys.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/program_text.h"
#include "engine/render/c_renderer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_report.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <mutex>
#include <unordered_map>

namespace uopscope {

namespace {

struct Key {
  uint64_t a, b, settings;
  const Device* device;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& k) const {
    return (k.a * 0x9E3779B97F4A7C15ull ^ k.b) * 0xD6E8FEB86659FD93ull ^ k.settings ^
           reinterpret_cast<uintptr_t>(k.device);
  }
};

struct Cache {
  std::mutex mutex;
  std::unordered_map<Key, const CompiledKernel*, KeyHash> byNode;
  std::unordered_map<Key, std::unique_ptr<CompiledKernel>, KeyHash> byContent;
  KernelCacheStats stats;
};
Cache& cache() {
  static Cache c;
  return c;
}
constexpr size_t kMaxNodes = 1 << 16;

uint64_t settingsKey() {
  uint64_t h = 0;
  for (const ContextVar* v :
       {&vars::noopt, &vars::beam, &vars::transcendental, &vars::devectorize, &vars::nolocals, &vars::tc,
        &vars::cpuCount, &vars::cpuLlvm, &vars::disableFastIdiv, &vars::pcontig, &vars::splitReduceop})
    h = (h ^ static_cast<uint64_t>(v->value())) * 0x9E3779B97F4A7C15ull + 1;
  return h;
}

std::unique_ptr<CompiledKernel> makeKernel(const ScheduleItem& item, Device& device) {
  ObservedScope scope({ScopeKind::Kernel, "kernel", item.script, item.ast});
  auto made = std::make_unique<CompiledKernel>();
  made->lowered = lowerKernel(item.ast, device.renderer().target());
  LoweredKernel& k = made->lowered;
  Observer* observer = Observer::current();
  if (observer) {
    // What was lowered is in the trace even where it does not render or compile.
    observer->onArtifact({"name", k.name});
    observer->onArtifact({"opts", optsJson(k)});
    observer->onArtifact({"uops", programText(k.uops)});
    observer->onArtifact({"launch", launchJson(k, device)});
  }
  if (vars::debug >= 3) fmt::print("{}\n", optsJson(k));
  if (vars::debug >= 5) fmt::print("{}\n", k.sink.str());
  if (vars::debug >= 6) fmt::print("{}", programText(k.uops));
  made->source = device.renderer().render(k);
  if (vars::debug >= 4) fmt::print("{}\n", made->source);
  if (vars::debug >= 3) std::fflush(stdout);
  bool isIr = made->source.starts_with("define ");
  if (observer) {
    observer->onArtifact({"source", isIr ? CRenderer(device.renderer().target()).render(k) : made->source});
    if (isIr) observer->onArtifact({"ir", made->source});
  }
  made->program = device.compile(k, made->source);
  if (made->program && (observer || vars::debug >= 7)) {
    std::string assembly = made->program->assembly();
    if (observer && !assembly.empty()) observer->onArtifact({"asm", assembly});
    if (vars::debug >= 7) {
      fmt::print("{}\n", assembly);
      std::fflush(stdout);
    }
  }
  return made;
}

} // namespace

const CompiledKernel& getKernel(const ScheduleItem& item, Device& device) {
  Cache& c = cache();
  uint64_t settings = settingsKey();
  Key byNode{item.ast.node()->pool->serial(), item.ast.id(), settings, &device};
  {
    std::lock_guard lock(c.mutex);
    if (auto it = c.byNode.find(byNode); it != c.byNode.end()) {
      ++c.stats.hits;
      return *it->second;
    }
  }
  auto [a, b] = item.ast.key();
  Key byContent{a, b, settings, &device};
  std::unique_ptr<CompiledKernel> made;
  std::unique_lock lock(c.mutex);
  if (!c.byContent.contains(byContent)) {
    lock.unlock();
    made = makeKernel(item, device);
    lock.lock();
    ++c.stats.misses;
  } else {
    ++c.stats.hits;
  }
  const CompiledKernel& kernel = *c.byContent.emplace(byContent, std::move(made)).first->second;
  if (c.byNode.size() >= kMaxNodes) c.byNode.clear(); // nodes of schedules long gone
  c.byNode[byNode] = &kernel;
  return kernel;
}

void clearKernelCache() {
  Cache& c = cache();
  std::lock_guard lock(c.mutex);
  if (Observer* observer = Observer::current())
    for (auto& [key, kernel] : c.byContent)
      if (kernel->lowered.pool) observer->poolRetired(*kernel->lowered.pool);
  c.byNode.clear();
  c.byContent.clear();
  c.stats = {};
}

KernelCacheStats kernelCacheStats() {
  std::lock_guard lock(cache().mutex);
  return cache().stats;
}

} // namespace uopscope
