// The places that an expression of memory names: a pointer for each lane, with the gate that allows it.
//
//   pointers(INDEX(buffer, i + 4))              // {buffer, 7, true} where i is 3
#include "engine/uop/eval.h"
#include "replay/compare/graph_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// Whether a single address has a gate for each of the elements that begin there.
bool isMasked(UOp u) {
  return u.is(Op::INDEX) && u.srcCount() == 3 && u.src(2).dtype().isBool() && u.src(2).dtype().count() > 1 &&
         u.src(1).dtype().count() == 1;
}

} // namespace

std::vector<Pointer> GraphValues::pointers(UOp u) {
  switch (u.op()) {
  case Op::INDEX: return indexPointers(u);
  case Op::CAST:
  case Op::BITCAST: {
    auto out = pointers(u.src(0));
    if (u.dtype().scalar() != u.src(0).dtype().scalar()) cannotEvaluate("memory is read as another type");
    if (!isMasked(u.src(0)) && (out.size() == 1 || u.dtype().isPtr()))
      for (Pointer& p : out) p.width = u.dtype().isPtr() ? u.dtype().base().count() : p.width;
    return out;
  }
  case Op::VECTORIZE:
  case Op::PTRCAT:
  case Op::CAT: {
    std::vector<Pointer> out;
    for (const UOp s : u.src())
      for (const Pointer& p : pointers(s)) out.push_back(p);
    return out;
  }
  case Op::GEP: {
    const auto from = pointers(u.src(0));
    std::vector<Pointer> out;
    for (const int64_t i : u.arg().ints()) {
      if (i < 0 || static_cast<size_t>(i) >= from.size()) cannotEvaluate("an address that is not there");
      out.push_back(from[static_cast<size_t>(i)]);
    }
    return out;
  }
  case Op::UNROLL: {
    const auto wide = pointers(u.src(0));
    size_t at = 0, total = 1;
    for (const auto& [id, size] : laneAxes(u)) {
      const auto k = get(ctx_.variables.keyOfAxis(id));
      if (!k) cannotEvaluate("an axis of UNROLL outside of its loop");
      at = at * static_cast<size_t>(size) + static_cast<size_t>(*k);
      total *= static_cast<size_t>(size);
    }
    const size_t width = std::max<size_t>(1, wide.size() / std::max<size_t>(1, total));
    if (wide.size() < (at + 1) * width) cannotEvaluate("an UNROLL of another number of addresses");
    return {wide.begin() + static_cast<std::ptrdiff_t>(at * width),
            wide.begin() + static_cast<std::ptrdiff_t>((at + 1) * width)};
  }
  case Op::AFTER:
    if (u.src(0).is(Op::INDEX) || u.src(0).is(Op::CAST)) {
      for (const UOp s : u.src().subspan(1))
        if (s.dtype().isVoid()) ensureRan(s);
      return pointers(u.src(0));
    }
    return {Pointer{u, 0, true, std::max(1, u.dtype().base().count())}};
  case Op::LOAD: // a store through a loaded address
    return pointers(u.src(0));
  default:
    if (u.in(group::kDefines | kScheduleMemory))
      return {Pointer{u, 0, true, std::max(1, u.dtype().base().count())}};
    cannotEvaluate(fmt::format("{} is no address", opName(u.op())));
  }
}

std::vector<Pointer> GraphValues::indexPointers(UOp u) {
  UOp memory = u.src(0);
  Lanes at, gate;
  size_t indices = u.srcCount() - 1;
  if (indices > 1 && u.src(indices).dtype().isBool()) gate = value(u.src(indices--));
  if (indices == 0) {
    at.push_back(ConstValue::ofInt(0));
  } else if (indices == 1 && !memory.in(group::kMovement)) {
    at = value(u.src(1));
  } else if (memory.in(group::kMovement)) {
    TensorIndex index;
    bool valid = true;
    for (size_t k = 0; k < indices; ++k) {
      const ConstValue v = value(u.src(k + 1)).front();
      valid = valid && !v.isInvalid();
      index.push_back(v.i);
    }
    for (; valid && memory.in(group::kMovement); memory = memory.src(0))
      valid = throughMovement(memory, index);
    if (valid && index.size() != 1)
      cannotEvaluate("memory is read by several indices, and its layout is not known");
    while (memory.in(group::kMovement)) memory = memory.src(0);
    at.push_back(valid ? ConstValue::ofInt(index[0]) : ConstValue::invalid());
  } else {
    TensorIndex layout;
    if (const auto it = ctx_.layouts.find(memory); it != ctx_.layouts.end())
      layout = it->second;
    else
      cannotEvaluate("memory is read by several indices, and its layout is not known");
    if (layout.size() != indices) cannotEvaluate("memory is read by another number of indices");
    int64_t flat = 0;
    bool valid = true;
    for (size_t k = 0; k < indices; ++k) {
      const ConstValue v = value(u.src(k + 1)).front();
      valid = valid && !v.isInvalid();
      flat = flat * layout[k] + v.i;
    }
    at.push_back(valid ? ConstValue::ofInt(flat) : ConstValue::invalid());
  }
  const auto lanes = static_cast<size_t>(u.dtype().isPtr() ? u.dtype().vcount() : u.dtype().count());
  const bool consecutive = !u.dtype().isPtr() && at.size() == 1 && lanes > 1;
  std::vector<Pointer> out;
  std::vector<Pointer> bases;
  if (memory.is(Op::VECTORIZE)) bases = pointers(memory);
  for (size_t l = 0; l < std::max({at.size(), gate.size(), bases.size()}); ++l) {
    const ConstValue& i = at[l % at.size()];
    const bool open = gate.empty() || gate[l % gate.size()].i != 0;
    const UOp base = bases.empty() ? memory : bases[l % bases.size()].memory;
    const int64_t place = isMasked(u) ? i.i + static_cast<int64_t>(l) : i.i;
    out.push_back({base, place, open && !i.isInvalid(), consecutive ? static_cast<int>(lanes) : 1});
  }
  if (u.dtype().isPtr() && u.dtype().base().count() > 1)
    for (Pointer& p : out) p.width = u.dtype().base().count();
  return out;
}

} // namespace uopscope
