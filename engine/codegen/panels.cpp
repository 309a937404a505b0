// Which reads of a product are worth a panel, and the copy.
#include "engine/codegen/panels.h"

#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"

#include <algorithm>

namespace uopscope {

namespace {

/// Bytes between rows; nearer ones do not fight for places in the cache.
constexpr int64_t kMinDistance = 2048;

bool isLoop(UOp range) {
  return range.axisType() == AxisType::Loop || range.axisType() == AxisType::Thread;
}
int64_t idOf(UOp range) {
  return range.arg().as<RangeArg>().ids[0];
}

/// The range along which the read becomes a panel, null where it is not worth one.
UOp rowsOf(UOp read, UOp reduction) {
  UOp index = read.src(1);
  if (read.srcCount() != 2 || index.is(Op::WHERE)) return {};
  UOp rows, lanes;
  int64_t outermostInside = -1, innermostOutside = -1, reuse = 1;
  for (UOp r : reduction.ranges()) { // loops around the reduction
    bool used = index.dependsOn(r);
    if (isLoop(r)) {
      if (extentOf(r) < 0) return {};
      if (used && r.axisType() == AxisType::Loop) innermostOutside = std::max(innermostOutside, idOf(r));
      if (!used && r.axisType() == AxisType::Loop) {
        reuse *= extentOf(r);
        outermostInside = outermostInside < 0 ? idOf(r) : std::min(outermostInside, idOf(r));
      }
    } else if (r.axisType() == AxisType::Upcast && used) {
      if (lanes || !coefficientOf(index, r)) return {};
      lanes = r;
    }
  }
  for (UOp r : rangesIn(reduction.src().subspan(1))) {
    if (r.axisType() != AxisType::Reduce || rows || !coefficientOf(index, r)) return {};
    rows = r;
  }
  if (!rows || !lanes || reuse < kPanelReuse || innermostOutside > outermostInside) return {};
  int64_t size = read.dtype().itemsize();
  if (extentOf(rows) < kPanelRows || extentOf(rows) * extentOf(lanes) * size > kPanelBytes) return {};
  bool apart = *coefficientOf(index, lanes) != 1;
  return apart || *coefficientOf(index, rows) * size >= kMinDistance ? rows : UOp();
}

constexpr RuleDef kPanels[] = {RULE("read-from-panel", pat::any(Op::INDEX), pat::entry())};

} // namespace

UOp packPanels(UOp ast, const Target& target, int64_t nextId) {
  if (target.hasLocal || target.aluLanes < 4) return ast;
  UOp reduction;
  std::vector<UOp> nodes = ast.toposort();
  for (UOp u : nodes)
    if (u.is(Op::REDUCE)) {
      if (reduction) return ast;
      reduction = u;
    }
  if (!reduction) return ast;
  UOpMap<UOp> panels;
  for (UOp read : nodes) {
    if (!read.is(Op::INDEX) || !read.src(0).is(Op::DEFINE_GLOBAL) || !reduction.src(0).dependsOn(read))
      continue;
    UOp rows = rowsOf(read, reduction);
    if (!rows) continue;
    UOp row = UOp::range(rows.src(0), {nextId++}, AxisType::Loop, rows.dtype());
    UOpMap<UOp> replace;
    replace[rows] = row;
    BufferizeOpts opts{{}, AddrSpace::Reg, false};
    UOp panel = UOp::make(Op::BUFFERIZE, read.dtype(), std::vector<UOp>{read.substitute(replace), row},
                          Arg::of(opts));
    panels[read] = panel.indexed({rows}, read.dtype());
  }
  static const PatternMatcher usePanels({kPanels});
  return replaceNodes(ast, panels, usePanels, "panels");
}

} // namespace uopscope
