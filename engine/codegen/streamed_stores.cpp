// Finds the stores of a kernel that write a large result in order, from the traffic of its linear program.
#include "engine/codegen/streamed_stores.h"

#include "engine/codegen/access_traffic.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/estimates.h"
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

/// The memory that the threads of a kernel touch.
class Touched {
public:
  explicit Touched(std::span<const UOp> program) {
    for (UOp u : program) {
      traffic_.follow(u);
      if (const int64_t threads = threadsBy(u)) thread_ = u, threads_ = static_cast<double>(threads);
    }
    traffic_.finish();
  }
  const AccessTraffic& ofThread() const { return traffic_; }
  /// Bytes of all accesses of a group.
  double moved(const AccessGroup& g) const {
    return threads_ * traffic_.executions(g.block) * static_cast<double>(g.offsets.size()) *
           static_cast<double>(g.width);
  }
  /// Bytes of all arrays; what threads share is there once.
  double bytes() const {
    UOpMap<double> most;
    for (const AccessGroup& g : traffic_.groups()) {
      const double parts = thread_ && g.base.dependsOn(thread_) ? threads_ : 1;
      const double touched = parts * traffic_.lines(g, g.loops.size()) * kLineBytes;
      const auto size = static_cast<double>(bytesOf(g.buffer));
      double& known = most[g.buffer];
      known = std::max(known, size > 0 ? std::min(touched, size) : touched);
    }
    double all = 0;
    for (const auto& [array, touched] : most) all += touched;
    return all;
  }

private:
  AccessTraffic traffic_;
  UOp thread_;
  double threads_ = 1;
};

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
  const Touched touched(linearize(sink));
  const AccessTraffic& traffic = touched.ofThread();
  const double all = touched.bytes();
  // What fits is written where it is, and found there.
  if (all <= static_cast<double>(target.cacheBytes)) return sink;
  UOpMap<UOp> streamed;
  double bytes = 0;
  for (const AccessGroup& g : traffic.groups()) {
    const double own = touched.moved(g);
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
                        all * 1e-6, megabytes),
                    .price = megabytes,
                    .unit = "MB between memory and caches for the result",
                    .others = {{"stored through the caches", 2 * megabytes}}};
  });
  return replaceNodes(sink, streamed, rules, pass);
}

} // namespace uopscope
