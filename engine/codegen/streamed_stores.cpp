// Finds the stores of a kernel that write a large result in order, from the traffic of its linear program.
#include "engine/codegen/streamed_stores.h"

#include "engine/codegen/access_traffic.h"
#include "engine/codegen/codegen.h"
#include "engine/rewrite/replacement.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// The part of the last cache from which on a result is large. A smaller one may still be there when the next kernel asks for it.
constexpr int64_t kPartOfCache = 3;
constexpr double kLongRun = 4096;    ///< bytes in a row; the ends of shorter rows are parts of lines
constexpr int64_t kFewestBytes = 16; ///< of a store that processors can stream

int64_t bytesOf(UOp memory) {
  return memory.dtype().size() * memory.dtype().scalar().itemsize();
}

/// The arrays of at least so many bytes that the kernel stores into and does not read.
std::vector<UOp> writtenOnly(const std::vector<UOp>& nodes, int64_t bytes) {
  std::vector<UOp> written;
  for (UOp u : nodes)
    if (u.is(Op::STORE))
      if (const UOp memory = u.src(0).bufferOf();
          memory.is(Op::DEFINE_GLOBAL) && bytesOf(memory) >= bytes && !std::ranges::count(written, memory))
        written.push_back(memory);
  for (UOp u : nodes)
    if (u.is(Op::LOAD)) std::erase(written, u.src(0).bufferOf());
  return written;
}

/// How many threads share the kernel.
double threadsOf(const std::vector<UOp>& nodes) {
  for (UOp u : nodes)
    if (u.is(Op::DEFINE_VAR) && u.arg().as<VarArg>().name == "core_id")
      return static_cast<double>(u.arg().as<VarArg>().vmax + 1);
  return 1;
}

AccessTraffic trafficOf(std::span<const UOp> program) {
  AccessTraffic traffic;
  for (UOp u : program) {
    if (u.is(Op::RANGE)) traffic.open(u, static_cast<double>(std::max<int64_t>(1, u.src(0).vmax())));
    if (u.is(Op::END))
      for (size_t i = 1; i < u.srcCount(); ++i) traffic.close();
    if (u.in({Op::LOAD, Op::STORE}) && accessIndex(u).is(Op::INDEX) &&
        !accessIndex(u).bufferOf().is(Op::DEFINE_REG))
      traffic.add(u);
  }
  traffic.finish();
  return traffic;
}

/// Bytes that the stores of a group write in a row, in one turn of the loops that continue it; 0 where one turn of the innermost
/// writes several rows, each of which would keep parts of lines waiting.
double runOf(const AccessGroup& g, const AccessTraffic& traffic) {
  std::vector<int64_t> offsets = g.offsets;
  std::ranges::sort(offsets);
  for (size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] != offsets[i - 1] + g.width) return 0;
  int64_t run = g.width * static_cast<int64_t>(offsets.size());
  for (size_t i = 0; i < g.steps.size(); ++i)
    if (g.steps[i].bytes == run) run *= static_cast<int64_t>(traffic.trips(g.loops[i]));
  return static_cast<double>(run);
}

/// Whether the stores of a group are whole vectors that fill runs of so many bytes, line after line.
bool isInOrder(const AccessGroup& g, const AccessTraffic& traffic, double run) {
  const bool isWhole = std::ranges::all_of(g.accesses, [&](UOp store) {
    return store.src(1).dtype().itemsize() == g.width && accessIndex(store).srcCount() == 2 && !store.arg();
  });
  return isWhole && g.width >= kFewestBytes && !(g.width & (g.width - 1)) && !isIndirect(g.base) &&
         g.isAligned && runOf(g, traffic) >= run;
}

constexpr RuleDef kStreamedStores[] = {RULE("stream-stores", pat::any(Op::STORE), pat::entry())};
const KnownRules kStreamedStoresKnown(kStreamedStores);

} // namespace

std::span<const RuleDef> streamedStoreRules() {
  return kStreamedStores;
}

UOp streamStores(UOp sink, const Target& target, const PatternMatcher& rules, std::string_view pass) {
  const int64_t large = target.cacheBytes / kPartOfCache;
  if (!large) return sink;
  const std::vector<UOp> nodes = sink.toposort(), written = writtenOnly(nodes, large);
  if (written.empty()) return sink;
  const AccessTraffic traffic = trafficOf(linearize(sink));
  const double threads = threadsOf(nodes);
  // What fits is written where it is, and found there.
  if (threads * traffic.footprint(0) <= static_cast<double>(target.cacheBytes)) return sink;
  UOpMap<UOp> streamed;
  double bytes = 0;
  for (const AccessGroup& g : traffic.groups()) {
    const double own = threads * traffic.executions(g.block) * static_cast<double>(g.offsets.size()) *
                       static_cast<double>(g.width);
    if (!g.isStore || own < static_cast<double>(large) || !std::ranges::count(written, g.buffer) ||
        !isInOrder(g, traffic, std::min(kLongRun, static_cast<double>(large))))
      continue;
    bytes += own;
    for (UOp store : g.accesses) streamed[store] = store.withArg(Arg::of("stream"));
  }
  if (streamed.empty()) return sink;
  because([&] {
    const double megabytes = bytes * 1e-6;
    return Decision{.reason = fmt::format(
                        "the kernel touches {:.0f} MB, more than the last cache keeps: {:.0f} MB of results "
                        "go to memory past it, so none of their lines is read before it is written",
                        threads * traffic.footprint(0) * 1e-6, megabytes),
                    .price = megabytes,
                    .unit = "MB between memory and caches for the result",
                    .others = {{"stored through the caches", 2 * megabytes}}};
  });
  return replaceNodes(sink, streamed, rules, pass);
}

} // namespace uopscope
