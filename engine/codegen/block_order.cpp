// Counts the bytes that each order of blocks reads from memory, and splits the range of the rows.
#include "engine/codegen/block_order.h"

#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace uopscope {

namespace {

// Threads of a product that the registers of a processor suffice for: 65,536 of them, 128 or 256 a thread.
constexpr int64_t kThreadsAtOnce = 512, kThreadsWithManyResults = 256;
constexpr int64_t kManyResults = 64; ///< of a thread; more of them take 256 registers
constexpr int64_t kBands[] = {2, 4, 8, 16, 32};
constexpr int64_t kMostRuns =
    64; ///< of groups at a time that are counted; longer launches go on in the same way

constexpr RuleDef kBand[] = {RULE("band-of-blocks", pat::any(Op::RANGE), pat::entry())};
const KnownRules kBandKnown(kBand);

struct Blocks {
  UOp rows, columns;
  BlockGrid grid;
  int64_t atOnce = 1;
};

/// The last two GLOBAL ranges of a kernel with a reduction, if each of them has operands of its own.
std::optional<Blocks> blocksOf(UOp ast, const Target& target) {
  std::vector<UOp> nodes = ast.toposort(), globals;
  int64_t threads = 1, results = 1;
  bool sums = false;
  for (UOp u : nodes) {
    sums = sums || u.is(Op::REDUCE);
    if (!u.is(Op::RANGE)) continue;
    if (extentOf(u) < 1) return {};
    if (u.axisType() == AxisType::Global) globals.push_back(u);
    if (isThread(u)) threads *= extentOf(u);
    if (u.axisType() == AxisType::Upcast) results *= extentOf(u);
  }
  if (!sums || globals.size() < 2) return {};
  std::sort(globals.begin(), globals.end(),
            [](UOp a, UOp b) { return a.arg().as<RangeArg>().ids < b.arg().as<RangeArg>().ids; });
  Blocks b;
  b.rows = globals[globals.size() - 2];
  b.columns = globals.back();
  b.grid = {.rows = extentOf(b.rows), .columns = extentOf(b.columns)};
  b.atOnce = target.processors * groupsAtOnce(threads, results);
  for (UOp read : nodes) {
    if (!read.is(Op::INDEX) || !read.src(0).is(Op::DEFINE_GLOBAL)) continue;
    bool ofRow = read.dependsOn(b.rows), ofColumn = read.dependsOn(b.columns);
    if (ofRow == ofColumn) continue; // the same bytes in any order: read by all blocks, or by one
    int64_t bytes = read.dtype().itemsize();
    for (UOp r : rangesIn(read.src().subspan(1)))
      if (r.axisType() != AxisType::Global) bytes *= extentOf(r);
    (ofRow ? b.grid.rowBytes : b.grid.columnBytes) += bytes;
  }
  if (!b.grid.rowBytes || !b.grid.columnBytes) return {};
  return b;
}

double megabytes(int64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

} // namespace

int64_t groupsAtOnce(int64_t threads, int64_t results) {
  const int64_t together = results > kManyResults ? kThreadsWithManyResults : kThreadsAtOnce;
  return std::max<int64_t>(1, together / threads);
}

int64_t bytesRead(const BlockGrid& grid, int64_t atOnce, int64_t band) {
  const int64_t blocks = grid.rows * grid.columns, runs = (blocks + atOnce - 1) / atOnce;
  int64_t bytes = 0, counted = std::min(runs, kMostRuns);
  for (int64_t run = 0; run < counted; ++run) {
    std::set<int64_t> rows, columns;
    for (int64_t n = run * atOnce; n < std::min(blocks, (run + 1) * atOnce); ++n) {
      rows.insert(n / (band * grid.columns) * band + n % band);
      columns.insert(n / band % grid.columns);
    }
    bytes += static_cast<int64_t>(rows.size()) * grid.rowBytes +
             static_cast<int64_t>(columns.size()) * grid.columnBytes;
  }
  return counted == runs ? bytes : bytes / counted * runs;
}

UOp orderBlocks(UOp ast, const Target& target, int64_t nextId) {
  if (!target.hasLocal || target.processors < 1 || target.cacheBytes < 1) return ast;
  std::optional<Blocks> found = blocksOf(ast, target);
  if (!found) return ast;
  const BlockGrid& grid = found->grid;
  const int64_t operands = grid.rows * grid.rowBytes + grid.columns * grid.columnBytes;
  if (operands <= target.cacheBytes) return ast; // read from memory once, in any order
  const int64_t inRows = bytesRead(grid, found->atOnce, 1);
  int64_t band = 1, least = inRows;
  std::vector<Decision::Alternative> others{{"in rows", megabytes(inRows)}};
  for (int64_t rows : kBands) {
    if (rows >= grid.rows || grid.rows % rows) continue;
    const int64_t bytes = bytesRead(grid, found->atOnce, rows);
    if (bytes < least) {
      band = rows;
      least = bytes;
    }
    others.push_back({fmt::format("in bands of {}", rows), megabytes(bytes)});
  }
  if (band == 1) return ast;
  because([&] {
    std::erase_if(others, [&](const auto& o) { return o.what == fmt::format("in bands of {}", band); });
    std::stable_sort(others.begin(), others.end(),
                     [](const auto& a, const auto& b) { return a.price < b.price; });
    return Decision{.reason = fmt::format("{} blocks run at once: in bands of {} rows {:.0f} MB come from "
                                          "memory, in rows {:.0f} MB; the cache holds {:.0f} MB of {:.0f}",
                                          found->atOnce, band, megabytes(least), megabytes(inRows),
                                          megabytes(target.cacheBytes), megabytes(operands)),
                    .price = megabytes(least),
                    .unit = "MB from memory",
                    .others = others};
  });
  UOp rows = found->rows, bands = rows.withSrc({UOp::constant(rows.dtype(), grid.rows / band)}),
      inBand = UOp::range(UOp::constant(rows.dtype(), band), {nextId}, AxisType::Global, rows.dtype());
  static const PatternMatcher bandOfBlocks({kBand});
  return replaceNodes(ast, {{rows, bands * band + inBand}}, bandOfBlocks, "order of blocks");
}

} // namespace uopscope
