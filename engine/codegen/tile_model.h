// The price of a tile of a reduction (tiling.h): cycles per lane and step, from counts of loads, operations and registers and from
// the caches that memory comes from. The search asks it of every tile; only the order of the prices matters, so it is coarse.
//
//   const TileModel model(axes, machine, {});
//   model.cost({columns, 32}, {{rows, 8}});      // 32 lanes of columns, which 8 rows share
#pragma once
#include "engine/codegen/panels.h"
#include "engine/codegen/tiling.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace uopscope {

/// A part of an axis, by its number among the axes.
struct AxisPart {
  size_t axis;
  int64_t amount;
};

class TileModel {
public:
  static constexpr int64_t kMaxVector = 32; ///< along one axis
  static constexpr int64_t kMaxRows = 8;    ///< of another axis
  static constexpr int64_t kLongSum = 160;  ///< terms, of which more than kMaxVector may be lanes

  TileModel(const std::vector<TileAxis>& axes, const TileMachine& machine, const WrittenOut& written)
      : axes_(axes), reads_(machine.reads), width_(machine.registerLanes), hasMasks_(machine.hasMasks),
        keepsOrder_(machine.keepsOrder), turnsTerms_(machine.turnsTerms), multiplies_(machine.multiplies),
        sums_(machine.sums), threads_(machine.threads), registers_(machine.registers), written_(written) {
    double all = 1;
    for (const TileAxis& a : axes) {
      if (a.isTerm) steps_ *= static_cast<double>(a.extent);
      all *= static_cast<double>(a.extent);
      if (!a.isTerm) results_ *= static_cast<double>(a.extent);
    }
    for (size_t r = 0; r < reads_; ++r) {
      double elements = 1;
      for (const TileAxis& a : axes)
        if (a.strides[r]) elements *= static_cast<double>(a.extent);
      if (elements > kSharedCache) fromMemory_.push_back(r);
    }
    for (size_t r = 0; r < reads_ && all > kCached; ++r) {
      auto every = [&](auto holds) { return std::all_of(axes.begin(), axes.end(), holds); };
      if (!every([&](const TileAxis& a) { return a.strides[r] != 0; })) continue;
      ++streams_;
      jumps_ += every([&](const TileAxis& a) {
        return !a.isTerm || (a.strides[r] != 1 && a.strides[r] != TileAxis::kNotLinear);
      });
    }
  }

  /// Longer runs of memory pay where each step is elsewhere.
  bool wantsLongRuns() const { return jumps_ > 0; }

  /// Cycles per lane and step; `lanes` is the axis that lies in vectors, `rows` are taken along.
  double cost(AxisPart lanes, const std::vector<AxisPart>& rows) const {
    const TileAxis& v = axes_[lanes.axis];
    int64_t rowCount = 1;
    for (AxisPart r : rows) rowCount *= r.amount;
    int64_t all = lanes.amount * rowCount;
    if ((all > width_ && all * sums_ > mostLanes()) || all * written_.steps * written_.terms > kMostPlaces)
      return kNever;
    if (v.isTerm && !keepsAccumulators(all, rowCount, width_, registers_)) return kNever;

    auto vectorsOf = [&](int64_t n) {
      int64_t vectors = (n + width_ - 1) / width_;
      return static_cast<double>(vectors);
    };
    const int64_t wholeVectors = lanes.amount / width_, rest = lanes.amount % width_;
    const bool partial = rest && isJoined(v) && lanes.amount < v.extent, ragged = rest && !partial;
    // Half a register is a register of its own. Alone it has half of the arithmetic in each instruction: for sums of few terms.
    const bool isHalf = 2 * lanes.amount == width_,
               endsInHalf = 2 * rest == width_ && !v.isTerm && (wholeVectors || steps_ <= kFewTerms);
    double loads = 0, inserts = 0, branches = 0, addressing = 0, crossings = 0;
    double kept = 0; // registers of what no term changes
    bool panels = false;
    for (size_t r = 0; r < reads_; ++r) {
      double times = 1, addresses = 0;
      for (AxisPart row : rows) {
        if (axes_[row.axis].strides[r]) times *= static_cast<double>(row.amount);
        if (axes_[row.axis].strides[r] == TileAxis::kNotLinear)
          addresses = std::max(1.0, addresses) * static_cast<double>(row.amount);
      }
      auto n = static_cast<double>(lanes.amount);
      bool known = isKnownInAdvance(r, lanes, all), gated = false, divided = false;
      for (const TileAxis& a : axes_) {
        gated |= a.gates[r];
        divided |= a.strides[r] == TileAxis::kNotLinear && !(known && (&a == &v || a.isTerm));
      }
      bool apart = v.gates[r] && !known;
      if (divided)
        addressing +=
            kAddressing * std::max(1.0, addresses) * (v.strides[r] == TileAxis::kNotLinear && !known ? n : 1);
      if (v.strides[r] == 0) {
        loads += times;
        for (AxisPart row : rows)
          if (hasNeighbours(r, row)) crossings += kOtherLine * static_cast<double>(row.amount - 1);
        if (gated) branches += times;
      } else if (double reuse = panelReuse(r, lanes, rows); reuse > 0) {
        loads += times * (vectorsOf(lanes.amount) + 2 * n / reuse);
        inserts += times * n / reuse;
        panels = true;
      } else if (v.strides[r] == 1 && !apart) {
        if (isKept(r)) kept += times * vectorsOf(lanes.amount);
        // A vector of 11 lanes is read as 8, 2 and 1.
        loads += times * (static_cast<double>(wholeVectors) + std::popcount(static_cast<uint64_t>(rest)));
        if (ragged && !endsInHalf) inserts += 2 * times * vectorsOf(lanes.amount);
        if (isShifted(r, lanes))
          crossings += times * vectorsOf(lanes.amount) * static_cast<double>(width_ - 1) / kLine;
        if (gated) branches += times;
      } else if (v.strides[r] == 1 && hasMasks_) {
        loads += times * vectorsOf(lanes.amount);
        inserts += kMask * times * vectorsOf(lanes.amount);
      } else if (v.strides[r] > 1 && v.strides[r] <= kStepInVectors && !v.isTerm && !v.gates[r] &&
                 lanes.amount >= width_) {
        // Vectors hold what lies between lanes as well, and each further vector is a shuffle.
        const double step = static_cast<double>(v.strides[r]);
        loads += times * step * vectorsOf(lanes.amount);
        inserts += times * (step - 1) * vectorsOf(lanes.amount);
        if (gated) branches += times * step;
      } else {
        double there = known && v.gates[r] && v.strides[r] == TileAxis::kNotLinear ? kThere : 1;
        loads += times * n * there;
        inserts += times * n * there;
        if (gated) branches += times * n * there;
      }
    }
    bool single = lanes.amount == 1;
    double operations = (single ? static_cast<double>(all) : vectorsOf(all)) * static_cast<double>(sums_);
    if (ragged && !isHalf && !single && rowCount > 1)
      inserts += (endsInHalf ? 2 : joinsOf(rest, lanes, rows)) * operations;
    if (kept > 0 && operations > static_cast<double>(mostTileRegisters(registers_)) &&
        operations + kept > accumulators())
      return kNever;
    double spilled = 2 * std::max(0.0, operations - accumulators());
    // The rows of a short sum overlap: none waits for the accumulators of the one before.
    const bool overlaps = partial && steps_ <= kOverlappedSteps * static_cast<double>(lanes.amount);
    double cycles = std::max({overlaps ? 0 : kLatency, operations / 2, (loads + spilled) / 2, inserts,
                              (loads + operations + inserts + 2 * branches + addressing + spilled) / 3.5});
    double stores =
        v.writtenInOrder && !v.isTerm ? operations : static_cast<double>((v.isTerm ? rowCount : all) * sums_);
    cycles = std::max(cycles, fromCaches(lanes, rows, areLanesOutside(lanes, rows))) + kTouch * loads;
    // If lanes are terms, a step of the loop takes several terms.
    double steps = v.isTerm ? steps_ / static_cast<double>(lanes.amount) : steps_;
    cycles += kStepOverhead + kCrossing * crossings + (stores + (v.isTerm ? 3 * operations : 0)) / steps;
    if (multiplies_ && v.isTerm && steps > kFewFactors) cycles += operations * kSubnormals / steps;
    // Along the terms, memory is read in order by any tile. Across them, a wider tile reads more of each row.
    if (v.isTerm) cycles = std::max(cycles, streams_ * vectorsOf(all) * kStreamCycles);
    if (partial) cycles += joining(lanes.amount, rowCount) * static_cast<double>(all);
    // Such a read depends on every axis, so each row is a place of its own, which matters where it goes on for long.
    if (!v.isTerm && all > 1)
      cycles += jumps_ * kElsewhere * (steps_ < kLongStream ? 1 : static_cast<double>(rowCount));
    return cycles * (panels ? kPanelCare : 1) * repeated(lanes, rows) * inOneThread(lanes, rows) /
           static_cast<double>(all * together(lanes, rows));
  }

  /// How many times the memory that the lanes read is read again, if it is not contiguous and worth a panel
  /// (see panels.h); else 0.
  double panelReuse(size_t read, AxisPart lanes, const std::vector<AxisPart>& rows) const {
    const TileAxis& v = axes_[lanes.axis];
    if (v.isTerm) return termPanelReuse(read, lanes, rows);
    if (v.strides[read] == 1 || v.strides[read] == TileAxis::kNotLinear || lanes.amount < width_) return 0;
    int64_t terms = 1;
    for (const TileAxis& a : axes_) {
      if (a.gates[read] || a.strides[read] == TileAxis::kNotLinear) return 0;
      if (a.isTerm && a.strides[read]) terms *= a.extent;
    }
    // A panel has the lanes of one axis.
    if (std::ranges::any_of(rows,
                            [&](AxisPart c) { return c.amount > 1 && axes_[c.axis].strides[read] != 0; }))
      return 0;
    auto loop = [&](size_t i) { return place(i, lanes, rows); };
    auto worth = [&](double reuse) { return worthPanel(true, terms, reuse, terms * lanes.amount * 4); };
    double reuse = repeatedBy(read, loop, lanes, rows);
    if (!worth(reuse) && !keepsOrder_ && isOnlyOneOf(read, lanes.axis)) {
      // panelOutside (heuristic.cpp) brings one loop outside of those that only read the panel.
      const size_t none = axes_.size();
      size_t inner = none, outer = none;
      for (size_t i = 0; i < none; ++i) {
        const TileAxis& a = axes_[loop(i)];
        if (a.isTerm) continue;
        if (!a.strides[read])
          outer = std::min(outer, i);
        else if (partOf(loop(i), lanes, rows) < a.extent)
          inner = i;
      }
      if (inner < none && outer < inner && (!axes_[loop(inner)].writtenInOrder || results_ <= kCached))
        reuse = repeatedBy(
            read, [&](size_t i) { return loop(i == inner   ? outer
                                              : i == outer ? inner
                                                           : i); }, lanes, rows);
    }
    return worth(reuse) ? reuse : 0;
  }

  /// The same where the lanes are terms: the panel has the rows of the tile, too, and is made in front of all loops that read it again.
  double termPanelReuse(size_t read, AxisPart lanes, const std::vector<AxisPart>& rows) const {
    const TileAxis& v = axes_[lanes.axis];
    if (!turnsTerms_ || v.strides[read] <= 1 || lanes.amount % width_ || v.extent % lanes.amount) return 0;
    double reuse = 1 / static_cast<double>(threads_);
    int64_t terms = 1, columns = 1;
    bool isFree = false; // whether a loop outside of this one reads the panel again
    for (size_t i = 0; i < axes_.size(); ++i) {
      const TileAxis& a = axes_[i];
      const int64_t part = partOf(i, lanes, rows);
      if (a.gates[read] || a.strides[read] == TileAxis::kNotLinear) return 0;
      if (a.isTerm) {
        terms *= a.strides[read] ? a.extent : 1;
      } else if (a.strides[read]) {
        columns *= isFree ? a.extent : part;
      } else {
        reuse *= static_cast<double>(a.extent) / static_cast<double>(part);
        isFree |= part < a.extent;
      }
    }
    return columns <= kMostColumns && worthPanel(true, terms, reuse, terms * columns * 4) ? reuse : 0;
  }

  /// How many times a read is repeated by the loops inside of the innermost loop that its address depends on. `loop`: the axis of
  /// the i-th loop from outside.
  template <class Loop>
  double repeatedBy(size_t read, Loop loop, AxisPart lanes, const std::vector<AxisPart>& rows) const {
    double reuse = 1;
    for (size_t i = axes_.size(); i-- > 0;) {
      const TileAxis& a = axes_[loop(i)];
      const int64_t part = partOf(loop(i), lanes, rows);
      if (a.isTerm) continue;
      if (a.strides[read] && part < a.extent) break;
      if (!a.strides[read]) reuse *= std::max(1.0, static_cast<double>(a.extent) / static_cast<double>(part));
    }
    return reuse;
  }
  /// Whether the lanes of an axis differ in one read alone.
  bool isOnlyOneOf(size_t read, size_t axis) const {
    for (size_t r = 0; r < reads_; ++r)
      if (r != read && axes_[axis].strides[r] != 0) return false;
    return true;
  }

  /// Shuffles of a vector that holds the end of a row, read as pieces of powers of two, and the beginning of the next one: few where the rows
  /// follow each other in memory, in each read that the lanes go along.
  double joinsOf(int64_t rest, AxisPart lanes, const std::vector<AxisPart>& rows) const {
    for (size_t r = 0; r < reads_; ++r)
      if (rows.size() != 1 ||
          (axes_[lanes.axis].strides[r] == 1 && axes_[rows[0].axis].strides[r] != lanes.amount))
        return 1 + 2 * std::popcount(static_cast<uint64_t>(rest));
    return 2;
  }

  /// Whether lanes of these terms are priced as vectors of several lengths together. Registers of 4 lanes are too short for it.
  bool isJoined(const TileAxis& terms) const { return terms.isTerm && width_ >= 8 && terms.extent > width_; }
  /// Cycles of a lane of terms, more than in a whole vector, where vectors of 8, 4, 2 and 1 are put together: measured for 4
  /// to 64 lanes of 1, 2 and 4 rows with registers of 16 lanes.
  static double joining(int64_t lanes, int64_t rows) {
    if (rows > 2) return 0.25;
    if (lanes % 2 == 0)
      return lanes > kMaxVector && rows > 1 ? 0.55 : lanes >= 16 ? 0.04 : rows == 1 ? 0.06 : 0.09;
    if (lanes < 8) return rows == 1 ? 0.24 : 0.34;
    if (lanes & 8) return rows == 1 ? 0.44 : 0.12;
    return 0.06;
  }

  /// Whether the loop over the lanes belongs outside of the loop over the last rows: not where all that the lanes read stays in
  /// the second cache, and what the rows read would come from memory for each of the lanes' steps. A panel has to be outside.
  bool areLanesOutside(AxisPart lanes, const std::vector<AxisPart>& rows) const {
    if (!isInside(lanes, rows)) return true;
    bool isRepeated = false; // for each of the lanes' steps
    for (size_t r : fromMemory_) isRepeated |= !axes_[lanes.axis].strides[r];
    if (!isRepeated) return true;
    for (size_t r = 0; r < reads_; ++r)
      if (panelReuse(r, lanes, rows) > 0) return true;
    return fromCaches(lanes, rows, true) <= fromCaches(lanes, rows, false);
  }

  /// Whether neighbours along an axis lie in one line, which no other term reads: rows are then whole quarters of a line.
  bool shareLines(const TileAxis& axis) const {
    for (size_t r = 0; r < reads_; ++r)
      if (axis.strides[r] == 1 && std::ranges::none_of(axes_, [&](const TileAxis& a) {
            return a.isTerm && a.strides[r] > 0 && a.strides[r] < kApart;
          }))
        return true;
    return false;
  }

  /// Terms that an instruction adds to each lane of the tile.
  int64_t together(AxisPart lanes, const std::vector<AxisPart>& rows) const {
    return lanes.amount < width_ || areRowsOfLanes(lanes, rows) ? 1 : axes_[lanes.axis].together;
  }

  /// Results of a tile. A sum of one read adds what lies in memory: no register holds it.
  int64_t mostLanes() const {
    if (jumps_ > 0 && reads_ == 1) return 16 * width_;
    const bool isGated = std::ranges::any_of(
        axes_, [](const TileAxis& a) { return std::ranges::find(a.gates, true) != a.gates.end(); });
    return (isGated ? mostTileRegisters(registers_) : mostProductRegisters(registers_)) * width_;
  }

  static constexpr double kNever = std::numeric_limits<double>::infinity();

private:
  static constexpr double kLatency = 4;           ///< cycles until an accumulator may be added to again
  static constexpr double kStepOverhead = 1.5;    ///< cycles of a step of the loop
  static constexpr double kFirstCache = 8 << 10;  ///< elements in the first cache
  static constexpr double kSharedCache = 1 << 20; ///< elements that a last cache keeps: 4 MB of floats
  static constexpr double kStreamCycles = 3;      ///< cycles until memory has delivered a vector, at best
  static constexpr double kElsewhere = 24;  ///< cycles more where each step reads another place of memory
  static constexpr double kLongStream = 64; ///< steps from which on rows are streams of their own
  static constexpr double kNextCache = 8,
                          kLastCache = 2.5; ///< elements a cycle that come from behind the first cache
  static constexpr double kLine = 16;       ///< elements that come together
  static constexpr double kTouch =
      0.02; ///< cycles of a load hidden behind arithmetic: of equal tiles the one with fewer loads wins
  /// Cycles of a vector that lies in two lines, more than of one that lies in one: measured with registers of 8 lanes.
  static constexpr double kCrossing = 2;
  static constexpr double kOtherLine =
      0.05; ///< part of that for a row in a line of its own, where neighbours would share lines
  static constexpr int64_t kApart = 4; ///< terms from which on their lines are not shared from step to step
  static constexpr double kOverlappedSteps =
      128; ///< steps of a row that the processor runs beside those of the next rows
  static constexpr double kLeftOver =
      8; ///< terms that take as long as those that are left over behind a loop
  static constexpr double kAddressing = 6;  ///< operations of an address with divisions
  static constexpr double kFewTerms = 16;   ///< of sums whose results are half a register
  static constexpr double kFewFactors = 64; ///< after which a product of random numbers becomes subnormal
  /// Cycles of the subnormal products of an accumulator: some 25, each of 150, until it is 0.
  static constexpr double kSubnormals = 25 * 150;
  static constexpr int64_t kStepInVectors =
      4;                                ///< lanes that lie up to so far apart are picked out of vectors
  static constexpr double kThere = 0.4; ///< part of the lanes of a strided window that is read; the rest is 0
  static constexpr double kPanelCare =
      1.08;                          ///< factor on the cost of a panel: at equal cost, contiguous memory
                                     ///< is read without a panel
  static constexpr double kMask = 2; ///< shuffles that take as long as to make the mask of a vector
  static constexpr int64_t kUnrolledWindow =
      5; ///< a sum of at most this length is unrolled, and its gates fold

  /// Registers available for accumulators.
  double accumulators() const { return registers_ < 32 ? 13 : 28; }

  /// Whether a read gives the same for all terms, without a question: registers may keep it.
  bool isKept(size_t read) const {
    return std::ranges::none_of(
        axes_, [&](const TileAxis& a) { return a.gates[read] || (a.isTerm && a.strides[read] != 0); });
  }
  /// Whether the vectors of a read move by less than their length from term to term, as those of windows do.
  bool isShifted(size_t read, AxisPart lanes) const {
    if (width_ != 8 || axes_[lanes.axis].isTerm) return false;
    return std::ranges::any_of(axes_, [&](const TileAxis& a) {
      return a.isTerm && a.strides[read] > 0 && a.strides[read] < width_;
    });
  }
  /// Whether the rows of a read lie in lines of their own, and places along another axis share lines.
  bool hasNeighbours(size_t read, AxisPart row) const {
    if (axes_[row.axis].strides[read] <= kApart) return false;
    return std::ranges::any_of(axes_, [&](const TileAxis& a) {
      return !a.isTerm && a.strides[read] > 0 && a.strides[read] <= kApart && a.extent >= row.amount;
    });
  }
  /// Whether the read along the lanes has rows of its own: no panel brings its terms together.
  bool areRowsOfLanes(AxisPart lanes, const std::vector<AxisPart>& rows) const {
    for (size_t r = 0; r < reads_; ++r)
      if (axes_[lanes.axis].strides[r] != 0 && !axes_[lanes.axis].isTerm &&
          std::ranges::any_of(rows,
                              [&](AxisPart c) { return c.amount > 1 && axes_[c.axis].strides[r] != 0; }))
        return true;
    return false;
  }
  bool isInside(AxisPart lanes, const std::vector<AxisPart>& rows) const {
    return !rows.empty() && !axes_[lanes.axis].isTerm && rows.back().axis < lanes.axis;
  }
  /// The axis of the i-th loop from outside. The loop over the lanes may be placed outside of the loop over the
  /// rows (heuristic.cpp).
  size_t place(size_t i, AxisPart lanes, const std::vector<AxisPart>& rows, bool lanesOutside = true) const {
    if (!lanesOutside || !isInside(lanes, rows)) return i;
    return i == lanes.axis ? rows.back().axis : i == rows.back().axis ? lanes.axis : i;
  }
  static int64_t partOf(size_t axis, AxisPart lanes, const std::vector<AxisPart>& rows) {
    if (axis == lanes.axis) return lanes.amount;
    for (AxisPart r : rows)
      if (r.axis == axis) return r.amount;
    return 1;
  }

  /// How many times a result is computed on average: more than once where tiles overlap. Terms that are left over stand
  /// behind the loop, in vectors of several lengths.
  double repeated(AxisPart lanes, const std::vector<AxisPart>& rows) const {
    auto of = [&](AxisPart c) {
      int64_t extent = axes_[c.axis].extent, rest = extent % c.amount;
      if (rest && axes_[c.axis].isTerm) return 1 + kLeftOver / static_cast<double>(extent);
      return rest ? static_cast<double>(extent - rest + c.amount) / static_cast<double>(extent) : 1.0;
    };
    double times = of(lanes);
    for (AxisPart r : rows) times *= of(r);
    return times;
  }

  /// How many times as long the kernel takes if its tiles leave no loop that threads can share.
  double inOneThread(AxisPart lanes, const std::vector<AxisPart>& rows) const {
    if (threads_ < 2) return 1;
    for (size_t i = 0; i < axes_.size(); ++i) {
      const int64_t part = partOf(i, lanes, rows), steps = (axes_[i].extent + part - 1) / part;
      if (!axes_[i].isTerm && (steps % threads_ == 0 || steps >= kOverlapFrom * threads_)) return 1;
    }
    return static_cast<double>(threads_);
  }

  /// Whether gates and divisions in the address of a read fold at compile time: the lanes are the whole axis,
  /// and the sums that decide with them are short enough to be unrolled.
  bool isKnownInAdvance(size_t read, AxisPart lanes, int64_t all) const {
    if (lanes.amount != axes_[lanes.axis].extent) return false;
    for (const TileAxis& a : axes_) {
      if (!a.isTerm || (!a.gates[read] && a.strides[read] != TileAxis::kNotLinear)) continue;
      const auto& with = axes_[lanes.axis].knownWith;
      if (!with.empty() && &a != &axes_[lanes.axis] &&
          std::ranges::find(with[read], a.range) == with[read].end())
        continue;
      if (a.extent > kUnrolledWindow) return false;
      all *= a.extent;
    }
    return all <= mostWrittenOut(width_) * (axes_[lanes.axis].isTerm ? 1 : written_.steps) &&
           all * written_.steps <= kMostPlaces;
  }

  /// Elements that lie in the fetched lines for each one that a tile reads, in one step or in those that follow.
  double fetchedForEach(size_t read, AxisPart lanes, const std::vector<AxisPart>& rows) const {
    double run = 1;
    for (size_t at = 0; at < axes_.size(); ++at)
      if (!axes_[at].isTerm && axes_[at].strides[read] == 1)
        run = static_cast<double>(partOf(at, lanes, rows));
    double fetched = kLine / std::min(kLine, run);
    for (const TileAxis& a : axes_)
      if (a.isTerm && a.strides[read] > 0 && a.strides[read] < kApart)
        fetched = std::min(fetched, std::max(1.0, static_cast<double>(a.strides[read]) / run));
    return fetched;
  }

  /// Cycles until the caches have delivered the elements of a step. Take the innermost loop that a read does
  /// not depend on: if the elements of one iteration fit in a cache, the next iteration finds them there;
  /// else they come from the next cache.
  double fromCaches(AxisPart lanes, const std::vector<AxisPart>& rows, bool lanesOutside) const {
    double cycles = 0;
    for (size_t r = 0; r < reads_; ++r) {
      double step = 1, turn = 1; // elements of a step of the tile, and of an iteration of that loop
      const double unused = panelReuse(r, lanes, rows) > 0 ? 1 : fetchedForEach(r, lanes, rows);
      bool again = false;
      for (size_t i = axes_.size(); i-- > 0;) {
        size_t at = place(i, lanes, rows, lanesOutside);
        const TileAxis& a = axes_[at];
        auto part = static_cast<double>(partOf(at, lanes, rows)), extent = static_cast<double>(a.extent);
        if (a.strides[r]) {
          step *= part;
          turn *= again ? part : extent;
        } else if (!a.isTerm && part < extent) {
          again = true;
        }
      }
      if (!again || turn * unused <= kFirstCache) continue; // a cache holds whole lines
      cycles += step * unused / (turn <= kCached ? kNextCache : kLastCache);
    }
    return cycles;
  }

  const std::vector<TileAxis>& axes_;
  size_t reads_;
  int64_t width_;
  bool hasMasks_, keepsOrder_, turnsTerms_, multiplies_;
  int64_t sums_, threads_, registers_;
  WrittenOut written_;
  double steps_ = 1, results_ = 1;
  double streams_ = 0;             ///< reads that come from memory, each element once
  double jumps_ = 0;               ///< of them those whose terms lie apart
  std::vector<size_t> fromMemory_; ///< reads that no cache keeps
};

} // namespace uopscope
