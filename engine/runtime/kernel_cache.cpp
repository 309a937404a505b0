// The cache of lowered and compiled kernels. It has two tables. The table by node costs nothing to look up.
// The table by the content of the kernel also finds the same kernel of a different schedule. Settings that
// influence lowering are part of both keys. Both tables compare contents, since kernels with equal hashes may
// differ.
//
// The kernels of one schedule are made in parallel: each by one thread, in pools of its own, with an observer
// of its own. Prints and records do not depend on the number of threads: texts are kept until the kernel
// first runs, and observers are joined in the order of the schedule.
#include "engine/runtime/kernel_cache.h"

#include "engine/base/context_var.h"
#include "engine/base/cpu_count.h"
#include "engine/base/engine_session.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/process_memory.h"
#include "engine/base/recent.h"
#include "engine/codegen/program_text.h"
#include "engine/render/c_renderer.h"
#include "engine/rewrite/replacement.h"
#include "engine/rules/rounding.h"
#include "engine/rules/user_rules.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_report.h"
#include "engine/runtime/search.h"
#include "engine/uop/content.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace uopscope {

CompiledKernel lowerAndRender(UOp ast, const Device& device, std::string& report,
                              std::vector<TextLine>* lines) {
  CompiledKernel made;
  {
    ObservedPhase phase("lower");
    made.lowered = lowerKernel(ast, device.renderer().target());
  }
  LoweredKernel& k = made.lowered;
  PoolScope pool(*k.pool);
  Observer* observer = Observer::current();
  if (observer) {
    // Recorded first, so that a trace has the linear program even if rendering or compiling fails.
    observer->onArtifact({"name", k.name});
    // Observers identify a program by the pool of its first node, so that node is copied to a pool that
    // stays.
    std::vector<UOp> program = k.uops;
    made.told = std::make_shared<Pool>();
    if (!program.empty()) program.front() = made.told->import(program.front());
    observer->onProgram(program);
    observer->onArtifact({"opts", optsJson(k)});
    observer->onArtifact({"launch", launchJson(k, device)});
  }
  if (vars::debug >= 3) report += optsJson(k) + '\n';
  if (vars::debug >= 5) report += k.sink.str() + '\n';
  if (vars::debug >= 6) report += programText(k.uops);
  const bool tracesLines =
      observer && observer->wantsRewrites(); // lines refer to nodes, which only such an observer records
  std::vector<TextLine> known;
  {
    ObservedPhase phase("render");
    made.source = device.renderer().renderWithLines(k, tracesLines ? &known : nullptr);
  }
  if (vars::debug >= 4) report += made.source + '\n';
  bool isIr = made.source.starts_with("define ");
  if (observer) {
    if (isIr) { // readers get C as well
      std::vector<TextLine> linesOfC;
      std::string c =
          CRenderer(device.renderer().target()).renderWithLines(k, tracesLines ? &linesOfC : nullptr);
      observer->onArtifact({"source", c, linesOfC});
    }
    if (!isIr || observer->wantsMachineTexts())
      observer->onArtifact({isIr ? "ir" : "source", made.source, known});
  }
  if (lines) *lines = std::move(known);
  return made;
}

namespace {

/// The key of a node. Ids are unique in a pool, and serial numbers of pools are unique in the process.
struct NodeKey {
  uint64_t pool, id, settings;
  const Device* device;
  bool operator==(const NodeKey&) const = default;
};
/// The key of a kernel's content (contentOf).
struct ContentKey {
  std::vector<uint64_t> words;
  uint64_t settings;
  const Device* device;
  bool operator==(const ContentKey&) const = default;
};
struct KeyHash {
  size_t operator()(const NodeKey& k) const {
    return mixHash(mixHash(k.pool, k.id), k.settings) ^ reinterpret_cast<uintptr_t>(k.device);
  }
  size_t operator()(const ContentKey& k) const {
    uint64_t h = k.settings;
    for (uint64_t w : k.words) h = mixHash(h, w);
    return h ^ reinterpret_cast<uintptr_t>(k.device);
  }
};

/// The values of all settings that influence the lowering of a kernel.
struct Settings {
  std::array<int64_t, 15> values;
  uint64_t rules;
  auto operator<=>(const Settings&) const = default;
};
Settings settingsNow() {
  return {{vars::noopt, vars::beam, vars::transcendental, vars::devectorize, vars::nolocals, vars::tc,
           vars::tcSelect, vars::cpuCount, vars::cpuLlvm, vars::cpuTarget, vars::disableFastIdiv,
           vars::pcontig, vars::plain, vars::splitReduceop, vars::strictFloat},
          userRulesVersion()};
}

struct Entry {
  std::shared_ptr<CompiledKernel> kernel = std::make_shared<CompiledKernel>(); ///< captured runs hold it too
  std::string report;   ///< the text that DEBUG asks for
  bool ran = false;     ///< a run has used it, so its report has been printed
  uint64_t used = 0;    ///< time of the last use
  size_t textBytes = 0; ///< length of the source
  /// Estimates its memory: the pools, and machine code by the length of its text.
  size_t bytes() const {
    constexpr size_t kLoaded = 32 << 10; // pages of code and the tables of the JIT
    auto of = [](const std::shared_ptr<Pool>& pool) { return pool ? pool->bytes() : 0; };
    return of(kernel->lowered.pool) + of(kernel->told) + 2 * textBytes + kLoaded;
  }
};
struct Cache {
  std::mutex mutex;
  std::unordered_map<NodeKey, Entry*, KeyHash> byNode;
  std::unordered_map<ContentKey, std::unique_ptr<Entry>, KeyHash> byContent;
  std::map<Settings, uint64_t> settings; ///< a number for each set of settings met; numbers are never reused
  std::pair<Settings, uint64_t> lastSettings{};
  uint64_t settingsMet = 0;
  KernelCacheStats stats;
  size_t limit = 8192, bytes = 0;
  uint64_t now = 0;

  uint64_t settingsNumber() {
    constexpr size_t kMaxKept = 1024; // a script may add and remove rules many times
    Settings wanted = settingsNow();
    if (settingsMet && wanted == lastSettings.first) return lastSettings.second;
    if (settings.size() >= kMaxKept) settings.clear();
    auto [it, isNew] = settings.try_emplace(wanted, settingsMet);
    settingsMet += isNew;
    lastSettings = *it;
    return it->second;
  }
};
Cache& cache() {
  return EngineSession::current().part<Cache>();
}
constexpr size_t kMaxNodes = 1 << 16;
// Twice that stays mapped where half of them is dropped again and again; a recorder of new shapes is to stay below
// half a gigabyte.
constexpr size_t kMaxBytes = 96 << 20;

/// Drops the half of the kernels used longest ago if there are too many. A running kernel is held by its
/// caller.
void makeRoom(Cache& c) {
  if (c.byContent.size() <= c.limit && c.bytes <= kMaxBytes) return;
  if (c.byContent.empty()) return;
  const uint64_t middle = middleTime(c.byContent, [](auto& known) { return known.second->used; });
  auto isOld = [&](const Entry& e) { return e.used < middle; };
  std::erase_if(c.byNode, [&](auto& known) { return isOld(*known.second); });
  std::erase_if(c.byContent, [&](auto& known) { return isOld(*known.second); });
  c.bytes = 0;
  for (auto& [key, entry] : c.byContent) c.bytes += entry->bytes();
}

} // namespace

uint64_t kernelSettingsNumber() {
  Cache& c = cache();
  std::lock_guard lock(c.mutex);
  return c.settingsNumber();
}

namespace {

/// The instructions of lines of assembly: those of the source lines they were compiled from.
std::vector<TextLine> throughSource(const std::vector<AssemblyLine>& assembly,
                                    const std::vector<TextLine>& source) {
  std::vector<TextLine> out;
  for (AssemblyLine a : assembly) {
    auto at = std::lower_bound(source.begin(), source.end(), a.source,
                               [](TextLine l, uint32_t line) { return l.line < line; });
    for (; at != source.end() && at->line == a.source; ++at) out.push_back({a.line, at->instruction});
  }
  return out;
}

constexpr RuleDef kSearched[] = {RULE("take-searched-opts", pat::any(Op::SINK), pat::entry())};
const KnownRules kSearchedKnown(kSearched);

std::unique_ptr<Entry> makeKernel(const ScheduleItem& item, Device& device) {
  ObservedScope scope({ScopeKind::Kernel, "kernel", item.script, item.ast});
  auto entry = std::make_unique<Entry>();
  CompiledKernel& made = *entry->kernel;
  std::string& report = entry->report;
  std::vector<TextLine> lines;
  Pool searched;
  UOp ast = item.ast;
  if (wantsSearch(ast, device)) {
    PoolScope pool(searched);
    UOp plain = searched.import(ast);
    {
      ObservedPhase phase("search");
      ast = withOpts(plain, searchOpts(ast, device, static_cast<int>(vars::beam.value())));
    }
    static const PatternMatcher takeOpts({kSearched});
    because([&] { return fmt::format("BEAM={} found these options", vars::beam.value()); });
    ast = replaceNodes(plain, {{plain, ast}}, takeOpts, "BEAM");
  }
  made = lowerAndRender(ast, device, report, &lines);
  Observer* observer = Observer::current();
  LoweredKernel& k = made.lowered;
  PoolScope pool(*k.pool);
  {
    ObservedPhase phase("compile");
    made.program = device.compile(k, made.source);
  }
  const bool told = observer && observer->wantsMachineTexts();
  if (told) observer->onArtifact({"registers", registersJson(k, device, made.program.get())});
  if (made.program && (told || vars::debug >= 7)) {
    ObservedPhase phase("disassemble");
    std::vector<AssemblyLine> fromSource;
    // Lines lead to instructions of the linear program, which only a recording of rewrites has.
    std::string assembly = told && observer->wantsRewrites() ? made.program->assemblyWithLines(fromSource)
                                                             : made.program->assembly();
    if (told && !assembly.empty()) observer->onArtifact({"asm", assembly, throughSource(fromSource, lines)});
    if (vars::debug >= 7) report += assembly + '\n';
  }
  entry->textBytes = std::exchange(made.source, {}).size();
  return entry;
}

/// Moves the parts of a kernel that a launch needs to a small pool. Returns the old pool, which has the
/// graphs and the linear program.
std::shared_ptr<Pool> keepLaunchOnly(LoweredKernel& k) {
  auto small = std::make_shared<Pool>();
  PoolScope scope(*small);
  UOpMap<UOp> moved;
  auto move = [&](Sint& s) {
    if (!s.isInt()) s = small->import(s.uop(), &moved);
  };
  for (UOp& v : k.vars) v = small->import(v, &moved);
  for (Sint& s : k.globalSize) move(s);
  for (Sint& s : k.localSize) move(s);
  for (Sint* s : {&k.estimates.ops, &k.estimates.lds, &k.estimates.mem}) move(*s);
  k.ast = k.sink = {};
  k.uops = {};
  return std::exchange(k.pool, std::move(small));
}

/// A kernel that must be made.
struct MissingKernel {
  const ScheduleItem* item;
  Device* device;
  ContentKey byContent;
  std::unique_ptr<Entry> made;
  std::exception_ptr failure;
};

constexpr size_t kMany = 16; ///< kernels whose compilation takes memory worth giving back

void makeInParallel(std::vector<MissingKernel>& missing) {
  auto make = [](MissingKernel& m) {
    try {
      m.made = makeKernel(*m.item, *m.device);
      std::shared_ptr<Pool> workings = keepLaunchOnly(m.made->kernel->lowered);
      if (Observer* observer = Observer::current()) observer->poolDone(std::move(workings));
    } catch (...) {
      m.failure = std::current_exception();
    }
  };
  auto threads = std::min<size_t>(missing.size(), static_cast<size_t>(loweringThreads()));
  if (userRulesVersion()) threads = 1;   // rules of a script run on the thread of the script
  for (const MissingKernel& m : missing) // timing needs an otherwise idle machine
    if (m.device->renderer().target().preMatcher || wantsSearch(m.item->ast, *m.device)) threads = 1;
  std::vector<std::unique_ptr<Observer>> observers(missing.size());
  Observer* observer = Observer::current();
  for (size_t i = 0; observer && threads > 1 && i < missing.size(); ++i)
    if (observers[i] = observer->fork(i); !observers[i]) threads = 1;
  if (threads <= 1) {
    for (MissingKernel& m : missing) make(m);
    return;
  }
  std::atomic<size_t> next{0};
  std::vector<std::atomic<bool>> finished(missing.size()); // observers that have all of their events
  auto makeNext = [&] {
    const size_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i >= missing.size()) return false;
    {
      ObserverScope scope(observers[i].get());
      make(missing[i]);
    }
    finished[i].store(true, std::memory_order_release);
    return true;
  };
  size_t joined = 0;
  auto joinFinished = [&] { // events are written while other kernels compile
    for (; observer && joined < missing.size() && finished[joined].load(std::memory_order_acquire); ++joined)
      observer->join(std::move(observers[joined]));
  };
  std::vector<std::thread> helpers;
  for (size_t t = 1; t < threads; ++t)
    helpers.emplace_back([&, &session = EngineSession::current()] {
      EngineSessionScope in(session);
      while (makeNext()) {
      }
      if (missing.size() >= kMany) giveBackFreedMemory(); // of this thread
    });
  while (makeNext()) joinFinished();
  for (std::thread& t : helpers) t.join();
  joinFinished();
}

/// Compiling many kernels takes as much memory as a large model's values: neither keeps memory that the other needs.
void makeAll(std::vector<MissingKernel>& missing, std::span<Device* const> devices) {
  if (missing.size() < kMany) return makeInParallel(missing);
  for (Device* device : devices)
    if (device) device->releaseKept();
  giveBackFreedMemory();
  makeInParallel(missing);
  giveBackFreedMemory();
}

Entry* find(Cache& c, const NodeKey& byNode) {
  auto it = c.byNode.find(byNode);
  return it == c.byNode.end() ? nullptr : it->second;
}

/// The device that makes the kernels of all devices of a kind: CPU for CPU:1, CPU:2 ... In NULL:CUDA, the
/// part behind the colon is a language.
Device& makerFor(Device& device) {
  const std::string& name = device.name();
  size_t colon = name.find(':');
  if (colon == std::string::npos || name.find_first_not_of("0123456789", colon + 1) != std::string::npos)
    return device;
  return Device::get(name.substr(0, colon));
}

} // namespace

int loweringThreads() {
  return vars::threads > 0 ? static_cast<int>(vars::threads.value()) : cpuCount();
}

void prepareKernels(std::span<const ScheduleItem> items, std::span<Device* const> devices) {
  Cache& c = cache();
  uint64_t settings = kernelSettingsNumber();
  std::vector<MissingKernel> missing;
  std::vector<std::pair<NodeKey, ContentKey>> wanted;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].ast.is(Op::SINK)) continue;
    Device* device = &makerFor(*devices[i]);
    NodeKey byNode{items[i].ast.node()->pool->serial(), items[i].ast.id(), settings, device};
    std::lock_guard lock(c.mutex);
    if (find(c, byNode)) continue;
    ContentKey byContent{contentOf(items[i].ast), settings, device};
    wanted.emplace_back(byNode, byContent);
    auto kept = c.byContent.find(byContent);
    if (kept != c.byContent.end()) kept->second->used = ++c.now; // protects it from eviction
    bool known = kept != c.byContent.end() ||
                 std::any_of(missing.begin(), missing.end(),
                             [&](const MissingKernel& m) { return m.byContent == byContent; });
    if (!known) missing.push_back({&items[i], device, byContent, nullptr, nullptr});
  }
  makeAll(missing, devices);
  std::lock_guard lock(c.mutex);
  makeRoom(c);
  std::exception_ptr failure;
  for (MissingKernel& m : missing) {
    ++c.stats.misses;
    if (m.made) m.made->used = ++c.now;
    if (m.made) {
      c.bytes += m.made->bytes();
      c.byContent.emplace(m.byContent, std::move(m.made));
    } else if (!failure) {
      failure = m.failure;
    }
  }
  if (c.byNode.size() >= kMaxNodes) c.byNode.clear(); // nodes of old schedules
  for (auto& [byNode, byContent] : wanted)
    if (auto it = c.byContent.find(byContent); it != c.byContent.end()) c.byNode[byNode] = it->second.get();
  if (failure) std::rethrow_exception(failure);
}

std::shared_ptr<const CompiledKernel> findKernel(const ScheduleItem& item, Device& device, bool& firstRun) {
  Cache& c = cache();
  std::lock_guard lock(c.mutex);
  Entry* entry =
      find(c, {item.ast.node()->pool->serial(), item.ast.id(), c.settingsNumber(), &makerFor(device)});
  if (!entry) return nullptr;
  firstRun = !entry->ran;
  entry->used = ++c.now;
  if (entry->ran) {
    ++c.stats.hits;
  } else {
    entry->ran = true;
    if (!entry->report.empty()) {
      fmt::print("{}", entry->report);
      std::fflush(stdout);
      entry->report = {};
    }
  }
  return entry->kernel;
}

std::shared_ptr<const CompiledKernel> getKernel(const ScheduleItem& item, Device& device) {
  bool firstRun;
  if (auto found = findKernel(item, device, firstRun)) return found;
  Device* on = &device;
  prepareKernels({&item, 1}, {&on, 1});
  return findKernel(item, device, firstRun);
}

std::pair<std::vector<int>, std::vector<int>> kernelAccess(const Pool* program) {
  std::lock_guard lock(cache().mutex);
  for (auto& [key, entry] : cache().byContent)
    if (entry->kernel->identity() == program)
      return {entry->kernel->lowered.ins, entry->kernel->lowered.outs};
  return {};
}

void clearKernelCache() {
  Cache& c = cache();
  std::lock_guard lock(c.mutex);
  c.byNode.clear();
  c.byContent.clear();
  c.bytes = 0;
  c.stats = {};
}

KernelCacheStats kernelCacheStats() {
  std::lock_guard lock(cache().mutex);
  KernelCacheStats stats = cache().stats;
  stats.kernels = cache().byContent.size();
  return stats;
}

size_t limitKernelCache(size_t kernels) {
  std::lock_guard lock(cache().mutex);
  return std::exchange(cache().limit, kernels);
}

} // namespace uopscope
