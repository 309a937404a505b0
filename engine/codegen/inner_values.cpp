// Where an element lies, and the store that fills the memory.
#include "engine/codegen/inner_values.h"

#include "engine/codegen/ranges.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/movement_index.h"
#include "engine/rules/variables.h"

#include <algorithm>

namespace uopscope {

namespace {

using namespace pat;
using rules::buffer;

struct InnerContext {
  int64_t next; ///< number of the next DEFINE_REG
  UOpMap<UOp> memoryOf;
};

/// Ranges around the value that become lanes: its loops apart.
std::vector<UOp> lanesAround(UOp value, const std::vector<UOp>& loops) {
  std::vector<UOp> lanes;
  for (UOp r : value.ranges()) {
    bool isLane = r.axisType() == AxisType::Upcast || r.axisType() == AxisType::Unroll;
    if (isLane && std::find(loops.begin(), loops.end(), r) == loops.end()) lanes.push_back(r);
  }
  return lanes;
}

UOp toRegisters(Match& m) {
  UOp read = m.root(), b = m[buffer], value = b.src(0);
  auto own = b.src().subspan(1);
  std::vector<UOp> loops = rangesIn(own), lanes = lanesAround(value, loops);
  int64_t size = 1;
  for (UOp e : own) size *= e.vmax() + 1;
  for (UOp l : lanes) size *= extentOf(l);
  auto place = [&](std::span<const UOp> index) {
    UOp flat = UOp::index(0), valid;
    for (size_t k = 0; k < own.size(); ++k) {
      GatedIndex g = ungate(index[k]);
      if (g.valid) valid = allOf(valid, g.valid);
      flat = flat * UOp::index(own[k].vmax() + 1) + g.index;
    }
    for (UOp l : lanes) flat = flat * UOp::index(extentOf(l)) + l;
    return valid ? gated(flat, valid) : flat;
  };
  auto& ctx = m.ctx<InnerContext>();
  UOp& memory = ctx.memoryOf[b];
  if (!memory) memory = registersOf(value.dtype(), size, ctx.next++);
  UOp filled = memory.indexed({place(own)}, memory.dtype()).store(value).end(loops);
  return memory.after(std::vector<UOp>{filled}).indexed({place(read.src().subspan(1))}, read.dtype());
}

bool isInner(const Match& m) {
  UOp b = m[buffer];
  return b.arg().kind() == ArgKind::Bufferize && b.arg().as<BufferizeOpts>().addrspace == AddrSpace::Reg;
}

constexpr RuleDef kInner[] = {
    RULE("value-in-registers", op(Op::INDEX, any(Op::BUFFERIZE).named(buffer)).more(), toRegisters,
         guard::when(isInner, "it is shared by threads")),
};
const KnownRules kInnerKnown(kInner);

} // namespace

UOp storeInnerValues(UOp ast) {
  if (!ast.below().has(Op::BUFFERIZE)) return ast;
  InnerContext ctx{nextRegister(ast), {}};
  static const PatternMatcher rules({kInner});
  return graphRewrite(ast, rules, {.name = "inner values", .ctx = ctx});
}

} // namespace uopscope
