// Local memory: BUFFERIZE to DEFINE_LOCAL, store, BARRIER and read.
#include "engine/codegen/locals.h"

#include "engine/base/error.h"
#include "engine/codegen/lanes.h"
#include "engine/rules/variables.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

using namespace pat;
using rules::buffer;

UOp flatten(std::span<const UOp> index, std::span<const UOp> ranges) {
  UOp flat;
  for (size_t i = 0; i < index.size(); ++i) {
    UOp extent = ranges[i].src(0);
    int n = laneCount(index[i]);
    flat = flat ? flat * extent.broadcast(n) + index[i] : index[i];
  }
  return flat ? flat : UOp::index(0);
}

/// INDEX(BUFFERIZE(value, ranges), index) -> a read of the local memory that comes after its store.
UOp toLocalMemory(Match& m) {
  UOp read = m.root(), b = m[buffer];
  if (b.arg().kind() != ArgKind::Bufferize) return {};
  if (b.arg().as<BufferizeOpts>().addrspace == AddrSpace::Global)
    throw Error(ErrorKind::Compile,
                "a BUFFERIZE in global memory is left inside a kernel: the schedule must split it off");
  std::span<const UOp> ranges = b.src().subspan(1), index = read.src().subspan(1);
  if (ranges.size() != index.size())
    throw Error(ErrorKind::Compile,
                fmt::format("local buffer of {} axes is read with {} indices", ranges.size(), index.size()));
  UOp value = b.src(0);
  int width = laneCount(value);
  int64_t size = width;
  std::vector<UOp> loops;
  for (UOp r : ranges) {
    if (!r.src(0).isConst())
      throw Error(ErrorKind::Compile,
                  fmt::format("local memory over {} needs a constant extent", r.render()));
    size *= r.src(0).arg().i();
    if (r.axisType() != AxisType::Local && r.axisType() != AxisType::Warp &&
        r.axisType() != AxisType::GroupReduce)
      loops.push_back(r);
  }
  auto& memoryOf = m.ctx<LocalsContext>().memoryOf;
  AddrSpace space = b.arg().as<BufferizeOpts>().addrspace;
  Op define = space == AddrSpace::Reg ? Op::DEFINE_REG : Op::DEFINE_LOCAL;
  UOp& memory = memoryOf[b];
  if (!memory)
    memory = UOp::make(define, value.dtype().scalar().ptr(size, space), {},
                       Arg::of(m.ctx<LocalsContext>().first + static_cast<int64_t>(memoryOf.size()) - 1));
  auto address = [&](std::span<const UOp> at, UOp from) {
    UOp flat = flatten(at, ranges);
    if (width > 1) {
      UOp one = laneCount(flat) == 1 ? flat.broadcast(width) : flat;
      flat = one * UOp::index(width).broadcast(width) + laneNumbers(width);
    }
    return std::pair(from, flat);
  };
  auto [to, where] = address(ranges, memory);
  UOp stored = to.indexed({where}, withLanes(memory.dtype(), width)).store(value).end(loops);
  UOp ready = space == AddrSpace::Local ? UOp::make(Op::BARRIER, dtypes::void_, {stored}) : stored;
  UOp after = memory.after(std::span<const UOp>(&ready, 1));
  auto [source, place] = address(index, after);
  return source.indexed({place}, read.dtype());
}

constexpr RuleDef kLocals[] = {
    RULE("bufferize-to-local", op(Op::INDEX, any(Op::BUFFERIZE).named(buffer)).more(), toLocalMemory),
};
const KnownRules kLocalsKnown(kLocals);

} // namespace

std::span<const RuleDef> localBufferRules() {
  return kLocals;
}

} // namespace uopscope
