// Opts of a kernel without a sum: the loop along which reads and results lie side by side becomes lanes. A copy that turns rows into
// columns gets a square of lanes.
//
//   out[i][j] = a[j][i] * b[j][i]    a square of 8 by 8, i inside: two operands stream, the result comes in pieces of its rows
#include "engine/codegen/heuristic.h"
#include "engine/codegen/live_ranges.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/tiling.h"
#include "engine/rules/algebra.h"

#include <algorithm>
#include <set>

namespace uopscope::heuristic {

namespace {

/// For a copy that reads along one loop and writes along another: a square tile of both loops makes all reads
/// and writes vectors. What the inner loop walks along streams, the other side comes in pieces of lines: the result streams
/// beside one operand, since a line of it is read and written, and several operands do.
void chooseForTransposed(KernelOptimizer& s, const KernelShape& k, int64_t width) {
  for (UOp written : k.outputs)
    for (UOp read : k.outputs) {
      if (read == written || !writtenNextToEachOther(k, written)) continue;
      std::set<uint32_t> operands; // that are read apart
      bool all = true;
      for (UOp r : k.reads) {
        const int64_t along = strideOf(r, written);
        if (along == 0 || along == 1) continue;
        operands.insert(r.src(0).id());
        all &= along != TileAxis::kNotLinear && strideOf(r, read) == 1;
      }
      int64_t down = largestDivisor(extentOf(read), {width, width / 2, 4});
      int64_t across = largestDivisor(extentOf(written), {width, width / 2, 4});
      if (operands.empty() || !all || !down || !across) continue;
      Decision why =
          inWords("it is read along one loop and written along the other: a square of both is whole vectors");
      if (!tryApply(s, OptOp::UPCAST, axisOf(s, read), down, why)) return;
      tryApply(s, OptOp::UPCAST, axisOf(s, written), across, why);
      const int outer = axisOf(s, read), inner = axisOf(s, written);
      if (operands.size() > k.writes.size() && outer >= 0 && outer < inner)
        tryApply(s, OptOp::SWAP, outer, inner, inWords("several operands stream beside one result"));
      return;
    }
}

/// A short loop along which everything that is read repeats, such as the rows of a small matrix of constants: written out, each
/// number is loaded once for all of its results, and the constants are known.
void chooseForRepeated(KernelOptimizer& s, const KernelShape& k) {
  constexpr int64_t kLongest = 8;
  if (k.reads.empty()) return;
  for (UOp r : k.outputs) {
    const int64_t n = extentOf(r);
    if (n < 2 || n > kLongest || r.axisType() != AxisType::Loop ||
        std::ranges::any_of(k.reads, [&](UOp read) { return read.dependsOn(r); }))
      continue;
    tryApply(s, OptOp::UPCAST, axisOf(s, r), n,
             inWords("what it reads is the same along it, and is loaded once"));
    return;
  }
}

/// Rows that are read at places which are computed, such as those of a resized picture: several at once share the places.
void chooseForSharedPlaces(KernelOptimizer& s, const KernelShape& k) {
  constexpr int kFewest = 6; // operations that rows share
  const std::vector<UOp> nodes = s.ast().toposort();
  UOp best;
  int most = kFewest - 1;
  for (UOp r : k.outputs) {
    if (r.axisType() != AxisType::Loop || writtenNextToEachOther(k, r) ||
        !largestDivisor(extentOf(r), {8, 4, 2}) ||
        !std::ranges::all_of(k.reads, [&](UOp read) { return read.dependsOn(r); }))
      continue;
    int shared = 0;
    for (UOp u : nodes)
      shared +=
          u.in(group::kAlu) && u.dtype().kind() != Scalar::Index && !u.dependsOn(r) && !u.ranges().empty();
    if (shared > most) best = r, most = shared;
  }
  if (best)
    tryApply(s, OptOp::UPCAST, axisOf(s, best), largestDivisor(extentOf(best), {8, 4, 2}),
             inWords("the places that are read are computed once for all of its steps"));
}

/// Whether 2, 4 or 8 neighbours along a loop read one element, and the next ones the next: in[i / 2], a picture that a pooling took together.
bool isRepeatedAlong(UOp access, UOp range) {
  constexpr int64_t kOutside = 1 << 20; // loops of no kernel
  const int64_t extent = extentOf(range);
  for (int64_t times : {2, 4, 8}) {
    if (extent % times) continue;
    const UOp group = UOp::range(extent / times, kOutside), own = UOp::range(times, kOutside + 1);
    const UOp index = simplify(access.src(1).substitute({{range, group * times + own}}));
    if (!index.dependsOn(own) && coefficientOf(index, group) == 1) return true;
  }
  return false;
}

/// Lanes of a kernel without a sum. Where it reads or stores many values of 8 bytes, as an exchange of 16 keys does, each
/// gets one register: two of each would not fit, and would go to memory and back.
int64_t lanesOfValues(const Target& target, const KernelShape& k, int64_t width) {
  auto wide = [](const std::vector<UOp>& accesses) {
    return std::ranges::count_if(accesses, [](UOp a) { return a.dtype().base().itemsize() == 8; });
  };
  const RegisterFile file = registerFileOf(target);
  const int64_t values = std::max(wide(k.reads), wide(k.writes)), bytes = 8 * width;
  return bytes > file.vectorBytes && values * bytes > file.vectors * file.vectorBytes ? width / 2 : width;
}

} // namespace

/// A loop that was cut leaves several loops in the kernel: each of them gets lanes.
void chooseForElementwise(KernelOptimizer& s, const KernelShape& k, int64_t most) {
  const int64_t width = lanesOfValues(s.target(), k, most);
  std::vector<UOp> done; // stores that have lanes already
  for (UOp r : k.outputs) {
    std::vector<UOp> writes;
    for (UOp w : k.writes)
      if (w.dependsOn(r)) writes.push_back(w);
    const bool areNew = !writes.empty() && std::ranges::all_of(writes, [&](UOp w) {
      return strideOf(w, r) == 1 && std::ranges::find(done, w) == done.end();
    });
    if (!areNew) continue;
    const bool areSideBySide = readsSuitLanes(k, r);
    if (!areSideBySide && !std::ranges::all_of(k.reads, [&](UOp read) {
          const int64_t stride = strideOf(read, r);
          return stride == 0 || stride == 1 || (stride == TileAxis::kNotLinear && isRepeatedAlong(read, r));
        }))
      continue;
    done.insert(done.end(), writes.begin(), writes.end());
    int64_t amount = largestDivisor(extentOf(r), {width, width / 2, 4, 2});
    if (!areSideBySide && amount < 4 && extentOf(r) <= width) amount = extentOf(r); // a whole row
    const Decision why = inWords(
        areSideBySide ? "what is read and written lies next to each other along it"
                      : "what is written lies next to each other along it, and neighbours read the same");
    if (amount < width / 2 && extentOf(r) >= 2 * width &&
        tryOverlap(s, OptOp::UPCAST, axisOf(s, r), width, why))
      continue;
    if (amount) tryApply(s, OptOp::UPCAST, axisOf(s, r), amount, why);
  }
  if (!done.empty()) return chooseForRepeated(s, k);
  const size_t before = s.applied().size();
  chooseForTransposed(s, k, width);
  if (s.applied().size() == before) chooseForSharedPlaces(s, k);
}

} // namespace uopscope::heuristic
