// The search for the cheapest tile.
#include "engine/codegen/tiling.h"

#include "engine/base/integers.h"
#include "engine/codegen/tile_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// The amounts to try for an axis: its divisors and, where tiles may overlap, multiples of `whole`. A longer axis may be taken whole
/// where its gates are then known.
std::vector<int64_t> amounts(const TileAxis& axis, int64_t upTo, int64_t whole) {
  std::vector<int64_t> found;
  if (axis.oneByOne) upTo = 1;
  for (int64_t d = 1; d <= std::min(axis.extent, upTo); ++d)
    if (axis.extent % d == 0 || (axis.mayOverlap && d % whole == 0)) found.push_back(d);
  const bool isGated = std::ranges::find(axis.gates, true) != axis.gates.end();
  if (!axis.oneByOne && isGated && axis.extent > upTo && axis.extent <= 2 * upTo)
    found.push_back(axis.extent);
  return found;
}

constexpr size_t kOthersKept = 3;
constexpr double kGain = 0.97,
                 kFillingGain = 0.99; ///< parts of another tile's price below which a tile is chosen

void keepOthers(Tile& tile, const std::vector<TileAxis>& axes,
                std::vector<std::pair<double, std::vector<AxisPart>>> tried) {
  std::stable_sort(tried.begin(), tried.end(), [](auto& a, auto& b) { return a.first < b.first; });
  for (const auto& [cycles, parts] : tried) {
    if (tile.others.size() == kOthersKept) return;
    if (cycles == tile.cycles) continue;
    std::string what;
    for (AxisPart c : parts)
      what += fmt::format("{}{} of {}", what.empty() ? "" : " with ", c.amount, axes[c.axis].range.render());
    tile.others.push_back({what, cycles});
  }
}

} // namespace

Tile chooseTile(const std::vector<TileAxis>& axes, const TileMachine& machine, const WrittenOut& written,
                bool listOthers) {
  const TileModel model(axes, machine, written);
  const int64_t registerLanes = machine.registerLanes;
  std::vector<std::vector<int64_t>> few, many;
  for (const TileAxis& a : axes) {
    few.push_back(a.isTerm ? std::vector<int64_t>{1}
                           : amounts(a, TileModel::kMaxRows, model.shareLines(a) ? 4 : a.wholeRows));
    // Terms that no whole vectors divide: the part that is left over counts less in longer vectors.
    const bool isRagged = model.isJoined(a) && a.extent % registerLanes && a.extent >= TileModel::kLongSum;
    many.push_back(amounts(a, isRagged ? 2 * TileModel::kMaxVector : TileModel::kMaxVector, registerLanes));
    // Results may be up to four whole vectors.
    for (int64_t d = TileModel::kMaxVector + registerLanes; !a.isTerm && d <= 4 * registerLanes;
         d += registerLanes)
      if (!a.oneByOne && d <= a.extent && (a.extent % d == 0 || a.mayOverlap)) many.back().push_back(d);
    // 49 columns are two tiles of 32, or one of 64: either computes 64, and the one reads the other operand once.
    const int64_t whole = roundUp(a.extent, registerLanes);
    const bool isInOrder = std::ranges::all_of(a.strides, [](int64_t s) { return s == 0 || s == 1; });
    if (machine.hasMasks && written.steps == 1 && !a.isTerm && !a.oneByOne && a.mayOverlap && isInOrder &&
        whole > a.extent && whole > 2 * registerLanes && whole <= 4 * registerLanes)
      many.back().push_back(whole);
  }
  struct Best {
    double cycles = TileModel::kNever;
    AxisPart lanes{0, 1};
    std::vector<AxisPart> rows = {};
    bool fills = false; // its results take more than mostTileRegisters
  } any, filling;
  std::vector<std::pair<double, std::vector<AxisPart>>> tried;
  auto consider = [&](AxisPart v, const std::vector<AxisPart>& along) {
    double c = model.cost(v, along);
    if (listOthers && c < TileModel::kNever) {
      tried.push_back({c, {v}});
      tried.back().second.insert(tried.back().second.end(), along.begin(), along.end());
    }
    int64_t all = v.amount;
    for (AxisPart r : along) all *= r.amount;
    const bool fills = all > mostTileRegisters(machine.registers) * registerLanes;
    // Larger tiles come later and must gain something.
    if (c < any.cycles * kGain) any = {c, v, along, fills};
    if (fills && c < filling.cycles * kGain) filling = {c, v, along, fills};
  };
  for (size_t v = 0; v < axes.size(); ++v)
    for (int64_t n : many[v]) {
      consider({v, n}, {});
      for (size_t a = 0; a < axes.size(); ++a)
        if (a != v)
          for (int64_t m : few[a])
            if (m > 1) {
              consider({v, n}, {{a, m}});
              // Lanes of terms can share their loads with rows of both operands.
              if (axes[v].isTerm && n % registerLanes == 0)
                for (size_t b = a + 1; b < axes.size(); ++b)
                  if (b != v)
                    for (int64_t o : few[b])
                      if (o > 1) consider({v, n}, {{a, m}, {b, o}});
            }
    }
  for (size_t v = 0; v < axes.size() && model.wantsLongRuns(); ++v)
    for (int64_t n = 2 * TileModel::kMaxVector; n <= model.mostLanes(); n *= 2)
      if (!axes[v].isTerm && !axes[v].oneByOne && axes[v].extent % n == 0) consider({v, n}, {});
  // A tile that fills the registers gains more where another thread of the core takes half of the instructions that it begins.
  if (!any.fills && filling.cycles < any.cycles * kFillingGain) any = filling;
  // A third axis, where it makes the tile cheaper.
  if (any.rows.size() == 1) {
    AxisPart v = any.lanes, row = any.rows[0];
    for (size_t b = 0; b < axes.size(); ++b)
      if (b != v.axis && b != row.axis)
        for (int64_t m : few[b])
          if (m > 1) consider(v, {{b, m}, row});
  }
  const auto& [cycles, lanes, rows, fills] = any;
  Tile tile;
  tile.cycles = cycles;
  tile.together = model.together(lanes, rows);
  tile.lanesOutside = model.areLanesOutside(lanes, rows);
  keepOthers(tile, axes, std::move(tried));
  for (AxisPart r : rows) tile.parts.push_back({axes[r.axis].range, r.amount, false});
  if (lanes.amount > 1) tile.parts.push_back({axes[lanes.axis].range, lanes.amount, axes[lanes.axis].isTerm});
  for (const Tile::Part& p : tile.parts) tile.lanes *= p.amount;
  const std::vector<int64_t>& strides = axes[lanes.axis].strides;
  tile.vectors = lanes.amount > 1;
  for (size_t r = 0; r < machine.reads; ++r)
    tile.vectors &= strides[r] == 0 || strides[r] == 1 || model.panelReuse(r, lanes, rows) > 0;
  return tile;
}

std::optional<double> priceOfTile(const std::vector<TileAxis>& axes, const TileMachine& machine,
                                  const std::vector<Tile::Part>& parts) {
  std::vector<AxisPart> chosen;
  for (const Tile::Part& p : parts) {
    const auto at = std::ranges::find(axes, p.range, &TileAxis::range);
    if (at == axes.end() || p.amount < 1 || p.amount > at->extent) return std::nullopt;
    chosen.push_back({static_cast<size_t>(at - axes.begin()), p.amount});
  }
  if (axes.empty()) return std::nullopt;
  const AxisPart lanes = chosen.empty() ? AxisPart{0, 1} : chosen.back();
  if (!chosen.empty()) chosen.pop_back();
  const double cost = TileModel(axes, machine, {}).cost(lanes, chosen);
  return cost < TileModel::kNever ? std::optional(cost) : std::nullopt;
}

} // namespace uopscope
