// Whether a kernel is a streamed softmax, the size of its blocks, and its name.
#include "engine/codegen/streams.h"

#include "engine/codegen/memory.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/codegen/stream_stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace uopscope {

namespace {

using namespace pat;

/// Whole vectors, and whole tiles of 8 rows where there are 32 registers, and of 6 where there are 16.
Stream::Block blockFor(const Target& target) {
  return target.aluLanes >= 16 ? Stream::Block{64, 64} : Stream::Block{48, 96};
}

/// Named after the loops of the expression, since those of all stages would be a name of a hundred letters: rows and columns, keys, terms.
Arg named(UOp sink, const SoftmaxSums& sums, std::span<const UOp> loops) {
  KernelInfo info;
  if (sink.arg().kind() == ArgKind::Kernel) info = sink.arg().as<KernelInfo>();
  if (info.name != "test" && !info.name.empty()) return Arg::of(info);
  std::vector<int64_t> extents;
  for (UOp l : loops) extents.push_back(extentOf(l));
  extents.push_back(extentOf(sums.key));
  for (const SoftmaxSums::Product& p : sums.products) extents.push_back(p.terms);
  info.name = fmt::format("r_{}", fmt::join(extents, "_"));
  return Arg::of(info);
}

UOp carryMaximum(Match& m) {
  const UOp sink = m.root(), end = onlyEnd(sink);
  if (!end || !sink.below().has(Op::EXP2) || !end.src(0).is(Op::STORE))
    return m.decline("no weights of a softmax");
  const UOp store = end.src(0);
  std::vector<UOp> loops = rangesIn(end.src().subspan(1));
  if (store.srcCount() != 2 || !store.src(0).is(Op::INDEX) || store.src(0).srcCount() != 2)
    return m.decline("not one plain store");
  const auto sums = softmaxSumsOf(store.src(1), loops);
  if (!sums) return m.decline("not a function of sums that a softmax weights");
  const Stream::Block block = blockFor(m.ctx<TargetContext>().target);
  Stream stream(sink, *sums, store, block);
  const UOp kernel = stream.kernel();
  because([&] {
    return fmt::format(
        "the largest score so far is carried from {} keys to the next, for {} rows at a time{}", block.keys,
        block.rows, stream.isCut() ? "; blocks of keys that the mask hides are skipped" : "");
  });
  return sink.withSrc(std::vector<UOp>(sink.srcCount(), kernel)).withArg(named(sink, *sums, loops));
}

constexpr RuleDef kStream[] = {RULE("carry-maximum", any(Op::SINK), carryMaximum)};
const KnownRules kStreamKnown(kStream);

} // namespace

std::span<const RuleDef> streamRules() {
  return kStream;
}

} // namespace uopscope
