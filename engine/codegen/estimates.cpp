// Costs of a kernel. Arithmetic that only computes addresses and gates is left out. So is arithmetic on loop
// counters: whether a value shares it with an address depends on how loops are split. Reads and writes of one
// buffer count as two transfers, each of at most the whole buffer.
#include "engine/codegen/estimates.h"

#include "engine/base/id_map.h"
#include "engine/codegen/async_boxes.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/machine_functions.h"
#include "engine/uop/visit.h"

#include <algorithm>
#include <map>

namespace uopscope {

namespace {

constexpr OpSet kCounters{Op::RANGE, Op::SPECIAL, Op::CONST, Op::VCONST, Op::DEFINE_VAR};

/// Whether a node is an integer computed from loop counters, variables and constants alone.
bool countsLoops(UOp u, IdMap<bool>& counters) {
  if (u.in(kCounters)) return true;
  if (!u.in(group::kAlu | OpSet{Op::CAST, Op::VECTORIZE, Op::GEP}) || u.dtype().isFloat()) return false;
  return std::all_of(u.src().begin(), u.src().end(), [&](UOp s) { return counters.contains(s.slot()); });
}

} // namespace

int64_t threadsBy(UOp u) {
  if (!u.is(Op::DEFINE_VAR) || u.arg().as<VarArg>().name != "core_id") return 0;
  return std::clamp<int64_t>(u.arg().as<VarArg>().vmax, 0, 1 << 20) + 1; // a trace may claim anything
}

std::optional<int64_t> usualSteps(UOp extent) {
  const bool isKnown = visitBelow(extent, [](UOp u) {
    return threadsBy(u) || u.in({Op::RANGE, Op::SPECIAL, Op::LOAD}) ? Visit::Stop : Visit::Below;
  });
  if (isKnown) return {};
  if (extent.vmax() == 1 && extent.below().has(Op::LOAD)) return 0; // seldom values: guarded_values.h
  return (std::max<int64_t>(0, extent.vmin()) + extent.vmax() + 1) / 2;
}

Estimates estimate(std::span<const UOp> program) {
  IdMap<bool> address;
  // A loop comes after loops before it, whose arithmetic is no part of the address.
  auto isBeside = [&](UOp x) { return x.in({Op::LOAD, Op::RANGE, Op::AFTER}) || address.contains(x.slot()); };
  auto markAddress = [&](UOp u) {
    for (UOp n : u.toposort([&](UOp x) { return !isBeside(x); })) address.set(n.slot(), true);
  };
  for (UOp u : program) {
    if (u.is(Op::INDEX))
      for (UOp s : u.src().subspan(1)) markAddress(s);
    if (u.is(Op::RANGE) || u.is(Op::IF)) markAddress(u.src(0));
  }
  Estimates e;
  Sint times = 1;
  std::vector<Sint> outer;
  std::map<std::pair<int64_t, Op>, std::pair<int64_t, Sint>> perBuffer; // size in bytes, bytes moved
  IdMap<bool> counters;
  int64_t groupThreads = 1, opsOfStep = 0; // operations of a step of the open loops, not yet in e.ops
  auto addOps = [&] {
    if (opsOfStep > 0) e.ops = e.ops + times * Sint(opsOfStep);
    opsOfStep = 0;
  };
  for (UOp u : program) {
    if (countsLoops(u, counters)) counters.set(u.slot(), true);
    if (u.in({Op::RANGE, Op::END, Op::SPECIAL, Op::DEFINE_VAR})) addOps();
    switch (u.op()) {
    case Op::RANGE: {
      outer.push_back(times);
      const auto usual = usualSteps(u.src(0));
      times = times * (usual ? Sint(*usual) : Sint(u.src(0)));
      break;
    }
    case Op::END:
      if (!outer.empty()) {
        times = outer.back();
        outer.pop_back();
      }
      break;
    case Op::SPECIAL:
      times = times * Sint(u.src(0));
      if (u.arg().str()[0] == 'l' && u.src(0).isConst()) groupThreads *= u.src(0).arg().i();
      break;
    case Op::DEFINE_VAR:
      if (const int64_t threads = threadsBy(u)) times = times * Sint(threads);
      break;
    case Op::LOAD:
    case Op::STORE: {
      UOp buffer = (isBox(u) ? u.src(1) : u.src(0)).bufferOf();
      if (buffer.dtype().addrspace() == AddrSpace::Reg) break;
      DType moved = u.is(Op::LOAD) ? u.dtype() : u.src(1).dtype();
      Sint bytes = times * Sint(moved.itemsize());
      if (isBox(u)) { // one thread of the group copies it
        const Box box = boxOf(u);
        bytes = bytes * Sint(box.lines * box.columns) / Sint(groupThreads);
      }
      e.lds = e.lds + bytes;
      if (buffer.is(Op::DEFINE_GLOBAL)) {
        auto& [size, sum] = perBuffer[{buffer.arg().i(), isBox(u) ? Op::LOAD : u.op()}];
        size = buffer.dtype().size() * buffer.dtype().base().itemsize();
        sum = sum + bytes;
      }
      break;
    }
    case Op::WMMA: {
      int64_t n = 2;
      for (int64_t d : u.arg().as<WmmaArg>().dims) n *= d;
      if (isDotProduct(u)) n *= u.dtype().count(); // results, each in a lane
      opsOfStep += n / u.arg().as<WmmaArg>().threads;
      break;
    }
    default:
      if ((u.in(group::kAlu) || machineFunctionOf(u)) && !address.contains(u.slot()) &&
          !counters.contains(u.slot()))
        opsOfStep += (u.is(Op::MULACC) ? 2 : 1) * u.dtype().count();
    }
  }
  addOps();
  for (auto& [position, entry] : perBuffer) {
    auto& [size, moved] = entry;
    bool whole = size >= 0 && (!moved.isInt() || moved.i() > size);
    e.mem = e.mem + (whole ? Sint(size) : moved);
  }
  return e;
}

} // namespace uopscope
