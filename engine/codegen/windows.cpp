// Which operand of a sum is read through windows, and the copy.
#include "engine/codegen/windows.h"

#include "engine/codegen/ranges.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

using namespace pat;

constexpr int64_t kLongestStride = 8; ///< of windows

/// A result's place and a step of its window that are only used together: as place * stride + step * dilation, one of
/// the two factors being 1.
struct Pair {
  UOp place, step;
  int64_t stride = 1, dilation = 1;
  UOp read() const { return place * stride + step * dilation; }
  int64_t extent() const { return (extentOf(place) - 1) * stride + (extentOf(step) - 1) * dilation + 1; }
};

/// An operand in terms of what is copied.
struct Window {
  UOp operand, copied; ///< as it stands in the sum; as a function of `loops`
  std::vector<UOp> loops, places;
  int64_t size = 1, innermostOutside = -1;
  std::vector<UOp> paired;
};

UOp simplified(UOp u) {
  return graphRewrite(u, sym(), {.name = "window"});
}
int64_t idOf(UOp range) {
  return range.arg().as<RangeArg>().ids[0];
}

UOp addressOf(UOp operand) {
  UOp found;
  for (UOp u : operand.toposort()) {
    if (u.is(Op::AFTER) || u.is(Op::REDUCE)) return {};
    if (!u.is(Op::INDEX)) continue;
    if (found) return {};
    found = u.src(1);
  }
  return found;
}

/// The operand with `pair` replaced by one loop over what both reach; null where it does not depend on their sum
/// alone.
UOp joined(UOp operand, const Pair& p, UOp loop) {
  UOpMap<UOp> replace;
  UOp gone = p.dilation == 1 ? p.place : p.step;
  if (p.dilation == 1)
    replace[p.step] = loop - p.place * p.stride;
  else
    replace[p.place] = loop - p.step * p.dilation;
  UOp result = simplified(operand.substitute(replace));
  return result.dependsOn(gone) ? UOp() : result;
}

bool findWindow(UOp operand, const std::vector<UOp>& loops, const std::vector<UOp>& terms, int64_t& nextId,
                Window& w) {
  UOp address = addressOf(operand);
  if (!address || !address.is(Op::WHERE) || !address.src(2).isInvalidConst()) return false;
  UOp flat = address.src(1), gate = address.src(0);
  w.operand = w.copied = operand;
  for (UOp step : terms) {
    if (!operand.dependsOn(step)) continue;
    auto ofStep = coefficientOf(flat, step);
    if (!ofStep || *ofStep < 1) return false;
    Pair p;
    for (UOp place : loops) {
      auto ofPlace = coefficientOf(flat, place);
      bool used = std::find(w.paired.begin(), w.paired.end(), place) != w.paired.end();
      if (p.place || used || !gate.dependsOn(step) || !gate.dependsOn(place) || !ofPlace || *ofPlace < 1)
        continue;
      Pair tried{place, step};
      if (*ofPlace % *ofStep == 0)
        tried.stride = *ofPlace / *ofStep;
      else
        tried.dilation = *ofStep / *ofPlace;
      if (*ofPlace * tried.dilation != *ofStep * tried.stride || tried.stride > kLongestStride) continue;
      UOp loop = UOp::range(tried.extent(), nextId);
      UOp copied = joined(w.copied, tried, loop);
      if (!copied) continue;
      p = tried;
      w.copied = copied;
      w.loops.push_back(loop);
      w.places.push_back(tried.read());
      w.paired.push_back(place);
    }
    if (!p.place) {
      w.loops.push_back(UOp::range(extentOf(step), nextId));
      w.places.push_back(step);
      w.copied = w.copied.substitute({{step, w.loops.back()}});
    }
    ++nextId;
    w.size *= extentOf(w.loops.back());
  }
  for (UOp l : loops)
    if (w.copied.dependsOn(l)) w.innermostOutside = std::max(w.innermostOutside, idOf(l));
  return !w.paired.empty() &&
         std::all_of(w.paired.begin(), w.paired.end(), [&](UOp l) { return idOf(l) > w.innermostOutside; });
}

UOp stageWindows(Match& m) {
  UOp sink = m.root();
  if (!sink.below().has(Op::REDUCE) || sink.srcCount() != 1 || !sink.src(0).is(Op::END))
    return m.decline("not one loop with a sum");
  UOp sum;
  for (UOp u : sink.toposort()) {
    if (u.in({Op::DEFINE_REG, Op::DEFINE_LOCAL, Op::AFTER})) return m.decline("it has memory of its own");
    if (!u.is(Op::REDUCE)) continue;
    if (sum) return m.decline("several sums");
    sum = u;
  }
  std::vector<UOp> loops = rangesIn(sink.src(0).src().subspan(1)), terms = rangesIn(sum.src().subspan(1));
  for (const std::vector<UOp>* list : {&loops, &terms})
    for (UOp r : *list)
      if (extentOf(r) < 1) return m.decline("a symbolic extent");
  UOp value = sum.src(0);
  std::vector<UOp> operands{value};
  if (value.is(Op::MUL)) operands = {value.src(0), value.src(1)};
  int64_t nextId = nextRangeId(sink);
  for (UOp operand : operands) {
    Window w;
    if (!findWindow(operand, loops, terms, nextId, w)) continue;
    double reads = 1;
    for (UOp r : terms) reads *= static_cast<double>(extentOf(r));
    for (UOp l : loops)
      if (idOf(l) > w.innermostOutside) reads *= static_cast<double>(extentOf(l));
    double reuse = reads / static_cast<double>(w.size);
    int64_t bytes = w.size * operand.dtype().itemsize();
    if (bytes > kWindowBytes) return m.decline("a copy would not stay in the cache");
    if (reuse < kWindowReuse) return m.decline("an element is read too seldom for a copy");
    because([&] {
      return fmt::format("each of {} elements, margins included, is read {:.0f} times: {} bytes hold them",
                         w.size, reuse, bytes);
    });
    UOp memory =
        UOp::make(Op::DEFINE_REG, operand.dtype().ptr(w.size, AddrSpace::Reg), {}, Arg::of(int64_t{0}));
    UOp to = UOp::index(0), from = UOp::index(0);
    for (size_t i = 0; i < w.loops.size(); ++i) {
      to = to * extentOf(w.loops[i]) + w.loops[i];
      from = from * extentOf(w.loops[i]) + w.places[i];
    }
    UOp copy = memory.indexed({simplified(to)}).store(w.copied).end(w.loops);
    UOp read = memory.after(std::span<const UOp>(&copy, 1)).indexed({simplified(from)}, operand.dtype());
    return sink.substitute({{operand, read}});
  }
  return m.decline("no operand is read through windows");
}

constexpr RuleDef kWindows[] = {RULE("stage-windows", any(Op::SINK), stageWindows)};

} // namespace

std::span<const RuleDef> windowRules() {
  return kWindows;
}

} // namespace uopscope
