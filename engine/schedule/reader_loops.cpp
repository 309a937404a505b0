// Replaces the loops of a stored value by the indices of a reader.
#include "engine/schedule/reader_loops.h"

#include "engine/base/id_map.h"
#include "engine/rules/movement_index.h"
#include "engine/uop/visit.h"

namespace uopscope::sched {

namespace {

/// `with`: range -> index; `gates`: range -> condition of its index.
UOp replaceRanges(UOp root, const UOpMap<UOp>& with, const UOpMap<UOp>& gates) {
  IdMap<const Node*> done;
  std::vector<std::pair<UOp, bool>> stack{{root, false}};
  std::vector<UOp> src;
  while (!stack.empty()) {
    auto [u, ready] = stack.back();
    stack.pop_back();
    if (done.contains(u.slot())) continue;
    if (auto it = with.find(u); it != with.end()) {
      done.set(u.slot(), it->second.node());
      continue;
    }
    bool closed = u.ranges().empty() && !u.is(Op::REDUCE); // none of the value's loops occurs inside
    if (closed || u.is(Op::BUFFERIZE) || u.is(Op::BUFFER)) {
      done.set(u.slot(), u.node());
      continue;
    }
    if (!ready) {
      stack.emplace_back(u, true);
      for (UOp s : u.src())
        if (!done.contains(s.slot())) stack.emplace_back(s, false);
      continue;
    }
    src.clear();
    for (UOp s : u.src()) src.emplace_back(*done.find(s.slot()));
    if (u.is(Op::INDEX) && !gates.empty()) // reads get the reader's gates
      for (size_t k = 1; k < src.size(); ++k) {
        UOp valid;
        for (UOp r : u.src(k).ranges())
          if (auto it = gates.find(r); it != gates.end()) valid = allOf(valid, it->second);
        if (valid) src[k] = gated(src[k], valid);
      }
    done.set(u.slot(), u.withSrc(src).node());
  }
  return UOp(*done.find(root.slot()));
}

} // namespace

UOp valueAt(UOp buffer, UOp value, UOp reader, int64_t& nextRange) {
  UOpMap<UOp> with, gates;
  for (size_t k = 1; k < buffer.srcCount(); ++k) {
    if (!buffer.src(k).is(Op::RANGE)) continue;
    GatedIndex g = ungate(reader.src(k));
    with[buffer.src(k)] = g.index;
    if (g.valid) gates[buffer.src(k)] = g.valid;
  }
  visitBelow(value, [&](UOp u) {
    if (u.is(Op::BUFFERIZE)) return Visit::Past;
    if (u.is(Op::REDUCE))
      for (UOp r : u.src().subspan(1))
        if (r.is(Op::RANGE) && !with.contains(r)) with[r] = UOp::range(r.src(0), {nextRange++}, r.axisType());
    return Visit::Below;
  });
  return replaceRanges(value, with, gates);
}

} // namespace uopscope::sched
