// Gives tile products their operands: panels where 1,024 bytes are a tile, or rows of a left operand where they lie.
//
//   for n: for m: for k: WMMA(a[m*16 + PLACEHOLDER ...], b[...], sum)
//     ->  for n: { for k: panel[k*512 ..] = the tile of b;  for m: for k: WMMA(16 rows of a, panel[k*512 ..], sum) }
#include "engine/codegen/panels.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/tile_cores.h"
#include "engine/rewrite/replacement.h"

#include <algorithm>

namespace uopscope {

namespace {

constexpr RuleDef kOperands[] = {RULE("operands-of-tiles", pat::any(Op::WMMA), pat::entry())};
const KnownRules kOperandsKnown(kOperands);

using Axes = std::vector<std::pair<int64_t, int64_t>>; ///< id and extent, the slowest first

/// An operand of a tile product: its elements at two PLACEHOLDER coordinates, and where each lies in a tile.
struct TileOperand {
  UOp value, line, term; ///< line: the row of a left operand, the column of a right one
  bool isRight;

  int64_t together() const { return isRight ? 4 / value.dtype().itemsize() : 1; }
  int64_t elements() const { return extentOf(line) * extentOf(term); }
};

bool isLaid(UOp read, UOp range) {
  return read.is(Op::INDEX) && read.srcCount() == 2 && coefficientOf(read.src(1), range) == 1;
}

class TilePacker {
public:
  TilePacker(const std::vector<UOp>& nodes, int64_t nextId)
      : nextId_(nextId), number_(nextRegister(nodes)), space_(kCopyBytes - registerBytes(nodes)) {}

  /// The product with operands that are vectors of a tile's elements.
  UOp packed(UOp product) {
    const TileOperand left{product.src(0), product.src(3), product.src(4), false},
        right{product.src(1), product.src(6), product.src(5), true};
    WmmaArg arg = product.arg().as<WmmaArg>();
    std::vector<UOp> sources{{}, {}, product.src(2)};
    for (const TileOperand* operand : {&left, &right}) {
      Axes& axes = arg.upcastAxes[operand->isRight ? 1 : 0];
      const bool inRows = !operand->isRight && liesInRows(operand->value, operand->line, operand->term);
      UOp memory = inRows ? UOp() : panel(*operand, product, axes);
      sources[operand->isRight ? 1 : 0] = memory ? memory : inPlace(*operand, axes);
      for (auto [id, extent] : axes) sources.push_back(UOp::range(extent, id, AxisType::Unroll));
    }
    return product.withSrc(sources).withArg(Arg::of(arg));
  }

private:
  UOp contracted(UOp value, const Axes& axes) const {
    std::vector<int64_t> flat;
    int64_t count = 1;
    for (auto [id, extent] : axes) {
      flat.insert(flat.end(), {id, extent});
      count *= extent;
    }
    return UOp::make(Op::CONTRACT, value.dtype().vec(static_cast<int>(count)), {value}, Arg::of(flat));
  }
  UOp fresh(int64_t extent, AxisType type, Axes* axes = nullptr) {
    if (axes) axes->emplace_back(nextId_, extent);
    return UOp::range(extent, nextId_++, type);
  }

  /// The coordinates as ranges in the order of the tile's elements, the slowest first.
  struct Coordinates {
    std::vector<UOp> ranges;
    UOp line, term;
  };
  Coordinates coordinates(const TileOperand& o, std::span<const AxisType> types, Axes* axes = nullptr) {
    Coordinates c;
    auto next = [&](int64_t extent) {
      c.ranges.push_back(fresh(extent, types[c.ranges.size()], axes));
      return c.ranges.back();
    };
    if (!o.isRight) {
      c.line = next(extentOf(o.line));
      c.term = next(extentOf(o.term));
      return c;
    }
    const int64_t together = o.together();
    UOp step = next(extentOf(o.term) / together);
    c.line = next(extentOf(o.line));
    c.term = step * together + next(together);
    return c;
  }
  UOp inPlace(const TileOperand& o, Axes& axes) {
    constexpr AxisType kEach[] = {AxisType::Unroll, AxisType::Unroll, AxisType::Unroll};
    const Coordinates c = coordinates(o, kEach, &axes);
    return contracted(o.value.substitute({{o.line, c.line}, {o.term, c.term}}), axes);
  }

  /// The operand from a panel that is made in front of the outermost loop which reads it again; null if it would not fit, or if
  /// a loop has no fixed number of steps.
  UOp panel(const TileOperand& o, UOp product, Axes& axes) {
    int64_t outermostFree = INT64_MAX, count = o.elements();
    for (UOp r : product.ranges())
      if (r.axisType() == AxisType::Loop && !o.value.dependsOn(r))
        outermostFree = std::min(outermostFree, idOf(r));
    std::vector<UOp> spanned, loops;
    for (UOp r : product.ranges()) {
      const bool isOutside =
          r.axisType() == AxisType::Thread || (r.axisType() == AxisType::Loop && idOf(r) < outermostFree);
      if (!o.value.dependsOn(r) || isOutside) continue;
      spanned.push_back(r);
      count *= extentOf(r);
      if (extentOf(r) < 1 || count * o.value.dtype().itemsize() > space_) return {};
    }
    // Tiles that a step of the loops reads lie together: loops, then terms, then tiles side by side.
    auto order = [](UOp r) {
      return std::pair(r.axisType() == AxisType::Upcast   ? 2
                       : r.axisType() == AxisType::Reduce ? 1
                                                          : 0,
                       idOf(r));
    };
    std::ranges::sort(spanned, {}, order);
    UOpMap<UOp> copied;
    UOp tileRead = UOp::index(0), tileWritten = UOp::index(0);
    for (UOp r : spanned) {
      loops.push_back(copied[r] = fresh(extentOf(r), AxisType::Loop));
      tileRead = tileRead * extentOf(r) + r;
      tileWritten = tileWritten * extentOf(r) + loops.back();
    }
    space_ -= count * o.value.dtype().itemsize();
    // What lies side by side in memory and in the tile is copied by vectors. Where terms of a right operand lie side by side, so
    // that columns lie apart, a tile is transposed in registers.
    const bool byTerms = isLaid(o.value, o.term), byLines = isLaid(o.value, o.line);
    const bool squares = o.isRight ? byTerms : byLines;
    std::vector<AxisType> types(o.isRight ? 3 : 2, AxisType::Upcast);
    if (!squares) types[0] = AxisType::Loop;
    const Coordinates c = coordinates(o, types);
    copied[o.line] = c.line;
    copied[o.term] = c.term;
    UOp at = UOp::index(0);
    for (UOp r : c.ranges) {
      loops.push_back(r);
      at = at * extentOf(r) + r;
    }
    UOp memory = registersOf(o.value.dtype(), count, number_++);
    UOp copy = memory.indexed({tileWritten * o.elements() + at}).store(o.value.substitute(copied)).end(loops);
    UOp element = fresh(o.elements(), AxisType::Unroll, &axes);
    return contracted(memory.after(std::span<const UOp>(&copy, 1))
                          .indexed({tileRead * o.elements() + element}, o.value.dtype()),
                      axes);
  }

  int64_t nextId_, number_, space_;
};

} // namespace

bool liesInRows(UOp read, UOp row, UOp term) {
  return isLaid(read, term) && read.src(0).is(Op::DEFINE_GLOBAL) && !read.src(1).is(Op::WHERE) &&
         coefficientOf(read.src(1), row).has_value();
}

UOp packTiles(UOp ast, int64_t nextId) {
  if (!ast.below().has(Op::WMMA)) return ast;
  const std::vector<UOp> nodes = ast.toposort();
  TilePacker packer(nodes, nextId);
  UOpMap<UOp> products;
  for (UOp u : nodes)
    if (isTileProduct(u) && u.srcCount() > 3) products[u] = packer.packed(u);
  if (products.empty()) return ast;
  static const PatternMatcher useOperands({kOperands});
  return replaceNodes(ast, products, useOperands, "operands of tiles");
}

} // namespace uopscope
