// Chooses the operand of a sum that is read through windows, and makes the copy.
#include "engine/codegen/windows.h"

#include "engine/codegen/dot_products.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/panels.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "engine/uop/linear.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

using namespace pat;

constexpr int64_t kLongestStride = 8;      ///< of windows
constexpr int64_t kPictureBytes = 1 << 20; ///< of a larger picture, bands are copied
constexpr double kBandReuse = 32;          ///< fewest times that an element of a band is read
constexpr int64_t kBandBytes =
    256 << 10;                     ///< of a band: what it is read with needs the rest of a second cache
constexpr int64_t kFewPlaces = 80; ///< of a picture: filters are arranged once for all such pictures instead
constexpr double kManyChannels =
    16; ///< of a filter whose arrangement takes longer than the gates of a small picture
constexpr int64_t kFewSteps =
    16; ///< of the windows of a small picture, whose margins are rather asked for where they are
constexpr double kSmallReuse = 16;   ///< fewest times that an element of such a picture is read
constexpr int64_t kFarApart = 1024;  ///< distance of terms in bytes: (nearly) each is in a page of its own
constexpr int64_t kCopiedRows = 128; ///< rows of the result that are copied at once
constexpr int64_t kTile = 8;         ///< of these rows, which a tile of results reads together
constexpr int64_t kReaders = 128;    ///< fewest results that must read each of these rows
constexpr int64_t kUncopied = 256 << 10; ///< an operand of at most this size in bytes is not copied

/// The place of a result and the step of its window, if the operand uses them only in the sum place * stride
/// + step * dilation. One of the two factors is 1.
struct Pair {
  UOp place, step;
  int64_t stride = 1, dilation = 1;
  UOp read() const { return place * stride + step * dilation; }
  /// Positions that so many neighbouring places reach.
  int64_t reach(int64_t places) const { return (places - 1) * stride + (extentOf(step) - 1) * dilation + 1; }
  int64_t extent() const { return reach(extentOf(place)); }
};

/// An operand, and the copy that replaces it.
struct Window {
  UOp operand, copied; ///< the operand in the sum; the same as a function of `loops`
  std::vector<UOp> loops, places;
  int64_t size = 1, innermostOutside = -1;
  int64_t placeCount = 1, stepCount = 1; ///< of the pairs
  std::vector<Pair> pairs;
  bool isGated = false;
  bool isPaired(UOp place) const { return std::ranges::find(pairs, place, &Pair::place) != pairs.end(); }
};

UOp simplifiedWindow(UOp u) {
  return graphRewrite(u, sym(), {.name = "window"});
}

/// The read of an operand that has one; null for others.
UOp readOf(UOp operand) {
  UOp found;
  for (UOp u : operand.toposort()) {
    if (u.is(Op::AFTER) || u.is(Op::REDUCE)) return {};
    if (!u.is(Op::INDEX)) continue;
    if (found) return {};
    found = u;
  }
  return found;
}

/// A gate asks whether place * stride + step is 0, and is simplified to ask that of place + step: it gets the sum of the address again.
/// Loops that choose a band are added, as they were: a sum of numbers that are not negative is 0 where each is.
UOp withSumOf(const Pair& p, UOp operand) {
  UOpMap<UOp> replace;
  for (UOp u : operand.toposort()) {
    if (!u.is(Op::CMPLT) || !u.src(0).dtype().isInt()) continue;
    const bool isBelowOne = u.src(1).isConst(1);
    if (!isBelowOne && !u.src(0).isConst(0)) continue;
    const Linear sum = linearOf(u.src(isBelowOne ? 0 : 1));
    UOp whole = p.read();
    size_t ofPair = 0;
    bool isNatural = sum.constant == 0;
    for (const Term& t : sum.terms) {
      isNatural &= t.factor > 0 && t.node.vmin() >= 0;
      if (t.node == p.place || t.node == p.step)
        ++ofPair;
      else
        whole = whole + t.node * t.factor;
    }
    if (isNatural && ofPair == 2)
      replace[u] = isBelowOne ? u.withSrc({whole, u.src(1)}) : u.withSrc({u.src(0), whole});
  }
  return replace.empty() ? operand : operand.substitute(replace);
}

/// The operand with `pair` replaced by one loop over all positions that the pair reaches; null if the operand
/// does not depend on the pair's sum alone.
UOp joined(UOp operand, const Pair& p, UOp loop) {
  UOpMap<UOp> replace;
  UOp gone = p.dilation == 1 ? p.place : p.step;
  if (p.dilation == 1)
    replace[p.step] = loop - p.place * p.stride;
  else
    replace[p.place] = loop - p.step * p.dilation;
  UOp result = simplifiedWindow(withSumOf(p, operand).substitute(replace));
  return result.dependsOn(gone) ? UOp() : result;
}

/// Loops that a window does not move along, such as the rows of a picture under a window of 1x7, belong to the copy as they are: those whose
/// neighbours lie nearer to each other than the channels that are summed, since pictures lie further apart. The axes keep their order in memory.
void addPlainPlaces(const std::vector<UOp>& loops, const std::vector<UOp>& terms, UOp bands, UOp flat,
                    UOp gate, int64_t& nextId, Window& w) {
  int64_t channels = 0;
  for (UOp step : terms) channels = std::max(channels, coefficientOf(flat, step).value_or(0));
  struct Axis {
    int64_t distance;
    UOp loop, place;
  };
  std::vector<Axis> axes;
  for (size_t i = 0; i < w.loops.size(); ++i) {
    int64_t nearest = INT64_MAX;
    for (UOp r : w.places[i].ranges())
      nearest = std::min(nearest, coefficientOf(flat, r).value_or(INT64_MAX));
    axes.push_back({nearest, w.loops[i], w.places[i]});
  }
  const size_t before = axes.size();
  for (UOp place : loops) {
    const auto distance = coefficientOf(flat, place);
    if (place == bands || !w.copied.dependsOn(place) || !distance || *distance < 1 || *distance >= channels)
      continue;
    if (gate && gate.dependsOn(place)) continue;
    UOp loop = UOp::range(extentOf(place), nextId++);
    w.copied = w.copied.substitute({{place, loop}});
    axes.push_back({*distance, loop, place});
    w.placeCount *= extentOf(place), w.size *= extentOf(place);
  }
  if (axes.size() == before) return;
  std::ranges::stable_sort(axes, std::greater<>(), &Axis::distance);
  w.loops.clear(), w.places.clear();
  for (const Axis& a : axes) w.loops.push_back(a.loop), w.places.push_back(a.place);
}

/// `bands`: the loop over bands of the picture, each of which has a copy of its own.
bool findWindow(UOp operand, const std::vector<UOp>& loops, const std::vector<UOp>& terms, UOp bands,
                int64_t& nextId, Window& w) {
  const UOp at = readOf(operand), address = at ? at.src(1) : UOp();
  if (!address) return false;
  w.isGated = address.is(Op::WHERE);
  const DType memory = at.bufferOf().dtype();
  if (!w.isGated && memory.size() * memory.scalar().itemsize() <= kPictureBytes) return false;
  if (w.isGated && !address.src(2).isInvalidConst()) return false;
  const UOp flat = w.isGated ? address.src(1) : address;
  w.operand = w.copied = operand;
  for (UOp step : terms) {
    if (!operand.dependsOn(step)) continue;
    auto ofStep = coefficientOf(flat, step);
    if (!ofStep || *ofStep < 1) return false;
    Pair p;
    for (UOp place : loops) {
      auto ofPlace = coefficientOf(flat, place);
      if (p.place || place == bands || w.isPaired(place) || !ofPlace || *ofPlace < 1) continue;
      if (w.isGated && (!address.src(0).dependsOn(step) || !address.src(0).dependsOn(place))) continue;
      Pair tried{place, step};
      if (*ofPlace % *ofStep == 0)
        tried.stride = *ofPlace / *ofStep;
      else
        tried.dilation = *ofStep / *ofPlace;
      if (*ofPlace * tried.dilation != *ofStep * tried.stride || tried.stride > kLongestStride) continue;
      // A gate names the axes of a picture. Without one, only windows that overlap tell them.
      if (!w.isGated && (tried.dilation > kLongestStride || tried.reach(1) <= tried.stride)) continue;
      UOp loop = UOp::range(tried.extent(), nextId);
      UOp copied = joined(w.copied, tried, loop);
      if (!copied) continue;
      p = tried;
      w.copied = copied;
      w.loops.push_back(loop);
      w.places.push_back(tried.read());
      w.pairs.push_back(p);
      w.placeCount *= extentOf(place), w.stepCount *= extentOf(step);
    }
    if (!p.place) {
      w.loops.push_back(UOp::range(extentOf(step), nextId));
      w.places.push_back(step);
      w.copied = w.copied.substitute({{step, w.loops.back()}});
    }
    ++nextId;
    w.size *= extentOf(w.loops.back());
  }
  if (!w.pairs.empty() && w.stepCount <= w.placeCount)
    addPlainPlaces(loops, terms, bands, flat, w.isGated ? address.src(0) : UOp(), nextId, w);
  for (UOp l : loops)
    if (w.copied.dependsOn(l)) w.innermostOutside = std::max(w.innermostOutside, idOf(l));
  return !w.pairs.empty() &&
         std::ranges::all_of(w.pairs, [&](const Pair& p) { return idOf(p.place) > w.innermostOutside; });
}

/// A copy in memory of the kernel's own, written at `loops` and read at `places`.
UOp readOfCopy(UOp value, const std::vector<UOp>& loops, const std::vector<UOp>& places) {
  UOp to = UOp::index(0), from = UOp::index(0);
  int64_t size = 1;
  for (size_t i = 0; i < loops.size(); ++i) {
    to = to * extentOf(loops[i]) + loops[i];
    from = from * extentOf(loops[i]) + places[i];
    size *= extentOf(loops[i]);
  }
  UOp memory = registersOf(value.dtype(), size, 0);
  UOp copy = memory.indexed({simplifiedWindow(to)}).store(value).end(loops);
  return memory.after(std::span<const UOp>(&copy, 1)).indexed({simplifiedWindow(from)}, value.dtype());
}

/// A kernel and one of its loops.
struct Banded {
  UOp sink, bands;
};

/// The kernel with the outermost places of its windows in bands, the loop over which goes outside of all loops that read a copy: a
/// band with its margins is copied where the whole picture would be too large. Null where none is small enough.
Banded inBands(UOp sink, const std::vector<UOp>& loops, const Window& w, int64_t nextId) {
  const Pair& cut = *std::ranges::min_element(w.pairs, {}, [](const Pair& p) { return idOf(p.place); });
  const int64_t places = extentOf(cut.place), bytes = w.size / cut.extent() * w.operand.dtype().itemsize();
  int64_t band = 0;
  for (int64_t n = 1; n < places; ++n) {
    if (places % n || w.placeCount / places * n < kFewPlaces) continue;
    if (cut.reach(n) * bytes <= (band ? kBandBytes : kPictureBytes)) band = n;
  }
  if (!band) return {};
  int64_t outermost = idOf(cut.place);
  UOpMap<UOp> replace;
  for (UOp l : loops) {
    if (idOf(l) <= w.innermostOutside) continue;
    outermost = std::min(outermost, idOf(l));
    replace[l] = UOp::range(l == cut.place ? band : extentOf(l), nextId++, l.axisType());
  }
  const UOp bands = UOp::range(places / band, outermost, cut.place.axisType());
  replace[cut.place] = bands * band + replace[cut.place];
  return {sink.substitute(replace), bands};
}

UOp stagedWindows(Match& m, UOp sink, UOp bands) {
  UOp sum;
  if (const char* why = onlyReduce(sink, sum)) return m.decline(why);
  std::vector<UOp> loops = rangesIn(sink.src(0).src().subspan(1)), terms = rangesIn(sum.src().subspan(1));
  for (const std::vector<UOp>* list : {&loops, &terms})
    for (UOp r : *list)
      if (extentOf(r) < 1) return m.decline("a symbolic extent");
  UOp value = sum.src(0);
  std::vector<UOp> operands{value};
  if (value.is(Op::MUL)) operands = {value.src(0), value.src(1)};
  // A dot product takes the numbers as they are in memory.
  const bool isNarrow = suitsDotProducts(m.ctx<TargetContext>().target, sum);
  int64_t nextId = nextRangeId(sink);
  for (UOp widened : operands) {
    const UOp operand = isNarrow ? narrowed(widened) : widened;
    Window w;
    if (!findWindow(operand, loops, terms, bands, nextId, w)) continue;
    // The gradient of a filter: each result reads nearly all of the picture. Its lanes are results, not places.
    if (w.stepCount > w.placeCount) return m.decline("windows are larger than their number");
    int64_t pictures = 1; // that share their filters: each group of filters has one of its own
    for (UOp l : loops)
      if (idOf(l) <= w.innermostOutside &&
          std::ranges::any_of(operands, [&](UOp o) { return !o.dependsOn(l); }))
        pictures *= std::max<int64_t>(1, extentOf(l));
    double reads = 1;
    for (UOp r : terms) reads *= static_cast<double>(extentOf(r));
    if (pictures > 1 && w.placeCount < kFewPlaces &&
        reads >= kManyChannels * static_cast<double>(w.stepCount))
      return m.decline("filters would be arranged again for each small picture");
    for (UOp l : loops)
      if (idOf(l) > w.innermostOutside) reads *= static_cast<double>(extentOf(l));
    double reuse = reads / static_cast<double>(w.size);
    int64_t bytes = w.size * operand.dtype().itemsize();
    const bool isLarge = bytes > kPictureBytes && reuse >= kBandReuse;
    if (!w.isGated && !isLarge && !bands)
      return m.decline("windows without a margin are read as vectors where they are");
    if (isLarge && !bands)
      if (const Banded cut = inBands(sink, loops, w, nextRangeId(sink)); cut.sink)
        return stagedWindows(m, cut.sink, cut.bands);
    if (bytes + registerBytes(sink.toposort()) > kWindowBytes)
      return m.decline("a copy would not stay in the cache");
    const bool isSmall = w.placeCount < kFewPlaces && w.stepCount <= kFewSteps;
    if (reuse < (isSmall ? kSmallReuse : kWindowReuse))
      return m.decline("an element is read too seldom for a copy");
    because([&] {
      const std::string cut =
          bands ? fmt::format(", in {} bands, one of which the second cache holds", extentOf(bands)) : "";
      return fmt::format("each of {} elements, margins included, is read {:.0f} times: {} bytes hold them{}",
                         w.size, reuse, bytes, cut);
    });
    UOp read = readOfCopy(w.copied, w.loops, w.places);
    return sink.substitute({{widened, read.cast(widened.dtype())}});
  }
  return m.decline("no operand is read through windows");
}

UOp stageWindows(Match& m) {
  return stagedWindows(m, m.root(), {});
}

/// The number of rows in a block of a transposed left operand: the most that divide them, in whole tiles of eight; 0 if no block
/// is worth a copy.
int64_t blockOf(UOp sink, UOp row, UOp term, int64_t bytes, int64_t readers, const Target& target) {
  const int64_t rows = extentOf(row), space = kWindowBytes - registerBytes(sink.toposort());
  // The other operand is copied anew for each block: twice the rows where half of the second cache holds them, and where threads
  // still have blocks to share.
  constexpr int64_t kTwice = 2 * kCopiedRows, kFewestBlocks = 4, kManyLanes = 16;
  const bool isTwice = target.aluLanes >= kManyLanes && rows >= kFewestBlocks * kTwice &&
                       kTwice * extentOf(term) * bytes <= target.secondCacheBytes / 2;
  int64_t block = isTwice ? kTwice : kCopiedRows;
  while (block > 0 && (rows % block || block * extentOf(term) * bytes > space)) block -= kTile;
  return readers >= kReaders && rows * extentOf(term) * bytes > kUncopied ? block : 0;
}

/// Whether a panel that all lanes share (panels.h) can hold every element of an operand of dot products.
bool fitsPanel(UOp operand, const std::vector<UOp>& loops, UOp term) {
  int64_t bytes = narrowed(operand).dtype().itemsize() * extentOf(term);
  for (UOp l : loops) bytes *= operand.dependsOn(l) ? extentOf(l) : 1;
  return bytes <= kPanelBytes;
}

/// Copies a transposed left operand, in which rows of the result are contiguous and terms are far apart.
UOp stageColumns(Match& m) {
  UOp sink = m.root(), sum;
  if (const char* why = onlyReduce(sink, sum)) return m.decline(why);
  UOp store = sink.src(0).src(0), term = sum.src(1);
  if (sum.srcCount() != 2 || !sum.src(0).is(Op::MUL) || !term.is(Op::RANGE) || extentOf(term) < 1 ||
      !store.is(Op::STORE))
    return m.decline("no product summed over one range");
  std::vector<UOp> loops = rangesIn(sink.src(0).src().subspan(1));
  const Target& target = m.ctx<TargetContext>().target;
  if (suitsDotProducts(target, sum) &&
      std::ranges::any_of(sum.src(0).src(), [&](UOp operand) { return fitsPanel(operand, loops, term); }))
    return m.decline("a panel of dot products holds one operand whole");
  for (UOp operand : sum.src(0).src()) {
    const UOp at = readOf(operand), address = at ? at.src(1) : UOp();
    if (!address || address.is(Op::WHERE)) continue;
    auto apart = coefficientOf(address, term);
    int64_t bytes = operand.dtype().itemsize();
    if (!apart || *apart * bytes < kFarApart) continue;
    for (UOp row : loops) {
      if (coefficientOf(address, row) != 1 || coefficientOf(store.src(0).src(1), row) == 1) continue;
      int64_t readers = 1;
      for (UOp l : loops)
        if (idOf(l) > idOf(row) && !operand.dependsOn(l)) readers *= std::max<int64_t>(1, extentOf(l));
      int64_t block = blockOf(sink, row, term, bytes, readers, target);
      if (!block) return m.decline("it is read too seldom, is near enough, or no block of rows fits");
      because([&] {
        return fmt::format(
            "{} terms that lie {} bytes apart are read {} times: a copy puts those of {} rows side by side",
            extentOf(term), *apart * bytes, readers, block);
      });
      int64_t nextId = nextRangeId(sink);
      // The rows of a tile lie side by side, term after term: a tile reads its part of the copy in order.
      UOp outer = row.withSrc({UOp::index(extentOf(row) / block)});
      const auto place = [&](UOp tile, UOp k, UOp lane) {
        return (tile * extentOf(term) + k) * kTile + lane;
      };
      UOp k = UOp::range(extentOf(term), nextId), tile = UOp::range(block / kTile, nextId + 1),
          lane = UOp::range(kTile, nextId + 2);
      UOp value = operand.substitute({{term, k}, {row, outer * block + tile * kTile + lane}});
      UOp memory = registersOf(value.dtype(), block * extentOf(term), 0);
      UOp copy = memory.indexed({place(tile, k, lane)}).store(value).end({k, tile, lane});
      tile = UOp::range(block / kTile, nextId + 3), lane = UOp::range(kTile, nextId + 4);
      UOp read =
          memory.after(std::span<const UOp>(&copy, 1)).indexed({place(tile, term, lane)}, value.dtype());
      return sink.substitute({{operand, read}}).substitute({{row, outer * block + tile * kTile + lane}});
    }
  }
  return m.decline("no operand has its terms far apart");
}

constexpr RuleDef kWindows[] = {RULE("stage-windows", any(Op::SINK), stageWindows),
                                RULE("stage-columns", any(Op::SINK), stageColumns)};
const KnownRules kWindowsKnown(kWindows);

} // namespace

std::span<const RuleDef> windowRules() {
  return kWindows;
}

} // namespace uopscope
