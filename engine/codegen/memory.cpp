// The rules of loads and wide accesses.
#include "engine/codegen/memory.h"

#include "engine/base/error.h"
#include "engine/base/integers.h"
#include "engine/codegen/images.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/tile_cores.h"
#include "engine/rules/variables.h"
#include "engine/uop/eval.h"
#include "engine/uop/visit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace uopscope {

int aluLanes(const Target& target, DType d) {
  if (d.kind() == Scalar::Index || d.isBool() || d.isVoid()) return 1;
  return target.aluLanes;
}

int registerLanes(const Target& target, DType d) {
  return std::max(1, aluLanes(target, d) * 4 / std::max(4, d.scalar().itemsize()));
}

int64_t vectorRegisters(const Target& target) {
  return target.aluLanes >= 16 ? 32 : 16;
}

int accessLanes(const Target& target, DType d, AddrSpace space) {
  if (!target.supportsVectors) return 1;
  if (d.isBool() && target.aluLanes == 1) return 1; // no GPU has vectors of bools
  if (space == AddrSpace::Reg)
    return d.isBool() ? target.aluLanes : aluLanes(target, d); // as wide as the arithmetic
  int bytes = target.maxVectorLanes * 4;
  return std::max(1, std::min(bytes / std::max(1, d.scalar().itemsize()), target.vectorLimit));
}

namespace {
/// Lanes and bytes of a masked load. LLVM 19 does not end its work on some of two and of four lanes.
constexpr int64_t kFewestMasked = 8, kLeastMasked = 16;
} // namespace

bool hasMasks(const Target& target, DType pointer) {
  return target.maskedLoads && pointer.addrspace() == AddrSpace::Global &&
         pointer.base().scalar().itemsize() >= target.maskedLoads;
}

namespace {

using namespace pat;
using rules::x, rules::at, rules::value;

// --- add loads ---

UOp addLoad(Match& m) {
  UOp index = m.root();
  if (index.dtype().isPtr() || !index.src(0).dtype().isPtr()) return m.decline("an address, or no memory");
  int n = laneCount(index);
  UOp address = index.withDtype(withLanes(index.src(0).dtype(), n));
  return address.load({}, index.dtype());
}
constexpr RuleDef kAddLoads[] = {
    RULE("add-load", any(Op::INDEX), addLoad),
    RULE("store-through-load", op(Op::STORE, op(Op::LOAD, at).more()).more(), rootWith(at)),
};
const KnownRules kAddLoadsKnown(kAddLoads);

// --- wide accesses ---

struct LaneAddress {
  UOp gate, base; ///< null gate: always accessed; null base: a constant address
  int64_t offset;
};

/// Takes "valid ? base + offset : Invalid" apart. Returns false if the lane is never accessed.
bool takeApart(UOp index, UOp gate, LaneAddress& out) {
  out = {gate, index, 0};
  if (index.isInvalidConst()) return false;
  if (index.is(Op::WHERE) && index.src(2).isInvalidConst()) {
    out.gate = gate ? gate & index.src(0) : index.src(0);
    out.base = index.src(1);
  }
  if (out.base.is(Op::ADD)) {
    for (size_t k = 0; k < 2; ++k)
      if (out.base.src(k).isConst() && !out.base.src(k).isInvalidConst()) {
        out.offset = out.base.src(k).arg().i();
        out.base = out.base.src(1 - k);
        break;
      }
  } else if (out.base.isConst()) {
    out.offset = out.base.arg().i();
    out.base = {};
  }
  if (out.gate && out.gate.isConst()) {
    if (!out.gate.arg().i()) return false;
    out.gate = {};
  }
  return true;
}

/// The largest power of two up to `limit` that divides u.
int64_t powerOfTwoIn(UOp u, int64_t limit) {
  auto ofNumber = [&](int64_t v) {
    int64_t p = limit;
    while (p > 1 && v % p) p /= 2;
    return p;
  };
  switch (u.op()) {
  case Op::CONST: return u.arg().isNumber() ? ofNumber(u.arg().i()) : 1;
  case Op::ADD: return std::min(powerOfTwoIn(u.src(0), limit), powerOfTwoIn(u.src(1), limit));
  case Op::MUL: return std::min(limit, powerOfTwoIn(u.src(0), limit) * powerOfTwoIn(u.src(1), limit));
  case Op::WHERE: return std::min(powerOfTwoIn(u.src(1), limit), powerOfTwoIn(u.src(2), limit));
  default: return 1;
  }
}

/// A run of lanes that are contiguous in memory.
struct PlannedAccess {
  int64_t lanes;
  UOp address; ///< the pointer of the load or store
};

/// An access of many lanes, cut into accesses of widths that the target has.
struct AccessPlan {
  std::vector<PlannedAccess> accesses;
  std::vector<int64_t>
      laneAt; ///< position of each original lane among all lanes of the accesses; -1: not accessed
  std::vector<UOp>
      gateOf; ///< of each original lane that is accessed whatever its gate says; empty: there are none
};

/// Lanes with one gate and one base, by their offsets.
struct LaneGroup {
  UOp gate, base;
  std::map<int64_t, std::vector<int>> lanesAtOffset;
  std::map<int64_t, UOp> gateAtOffset =
      {}; ///< where lanes have gates of their own, which a vector of gates masks
};

/// The places of a group that follow one another, at most.
int64_t longestRun(const LaneGroup& g) {
  int64_t longest = 0, run = 0, last = 0;
  for (const auto& [offset, lanes] : g.lanesAtOffset) {
    run = run && offset == last + 1 ? run + 1 : 1;
    longest = std::max(longest, run);
    last = offset;
  }
  return longest;
}

/// Lanes whose gates differ, of one base, are read as a vector. Each lane would else be a branch of its own. Where each place is inside
/// of the buffer, it is read whatever its gate says, and the gates choose between what was read and zero; elsewhere the
/// gates become a mask, where the target has masks. Lanes that agree about their gate keep it.
void readTogether(const Target& target, std::vector<LaneGroup>& groups, UOp buffer, AccessPlan& plan) {
  constexpr size_t kFewest = 4, kFewestUnderMask = 2; // gates
  const int64_t size = buffer.dtype().size();
  // In order of first appearance: an order of addresses would differ from run to run.
  std::vector<std::vector<size_t>> ofBase;
  std::map<const Node*, size_t> known;
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto [at, isNew] = known.try_emplace(groups[g].base.node(), ofBase.size());
    if (isNew) ofBase.emplace_back();
    ofBase[at->second].push_back(g);
  }
  auto areInside = [&](const std::vector<size_t>& members) {
    const UOp base = groups[members[0]].base;
    const int64_t low = base ? base.vmin() : 0, high = base ? base.vmax() : 0;
    return std::ranges::all_of(members, [&](size_t g) {
      const auto& at = groups[g].lanesAtOffset;
      return low + at.begin()->first >= 0 && high + at.rbegin()->first < size;
    });
  };
  const UOp always = UOp::constant(dtypes::bool_, int64_t{1});
  std::vector<bool> joined(groups.size());
  std::vector<LaneGroup> together;
  for (const std::vector<size_t>& members : ofBase) {
    const bool isInside = members.size() >= kFewest && areInside(members);
    LaneGroup all{{}, groups[members[0]].base, {}};
    bool areChosen = isInside; // by their gates, after the read
    for (size_t g : members)
      for (const auto& [offset, lanes] : groups[g].lanesAtOffset) {
        auto& there = all.lanesAtOffset[offset];
        there.insert(there.end(), lanes.begin(), lanes.end());
        if (isInside) continue;
        const UOp gate = groups[g].gate ? groups[g].gate : always;
        UOp& mask = all.gateAtOffset[offset];
        areChosen |= static_cast<bool>(mask); // lanes with different gates read one place
        mask = mask ? mask | gate : gate;
      }
    const bool isMasked = members.size() >= kFewestUnderMask && hasMasks(target, buffer.dtype()) &&
                          longestRun(all) >= kFewestMasked;
    if (!isInside && !isMasked) continue;
    if (areChosen) plan.gateOf.resize(plan.laneAt.size());
    for (size_t g : members) {
      joined[g] = true;
      for (const auto& [offset, lanes] : groups[g].lanesAtOffset)
        for (int lane : lanes)
          if (areChosen) plan.gateOf[static_cast<size_t>(lane)] = groups[g].gate;
    }
    together.push_back(std::move(all));
  }
  for (size_t g = groups.size(); g-- > 0;)
    if (joined[g]) groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
  std::ranges::move(together, std::back_inserter(groups));
}

/// The places between short pieces become places of the group, so that lanes which lie 2 to 4 apart are read as vectors and picked
/// out of them: 16 lanes, every other place, are two loads and a shuffle in place of 16 loads. All of it lies between the first and the last place
/// that the program reads, and has their gate.
void readBetween(LaneGroup& g, int64_t widest) {
  constexpr int64_t kLongest = 3, kGap = 3; // places of a piece, and between two
  constexpr size_t kFewest = 4;             // pieces
  if (!g.gateAtOffset.empty()) return;
  struct Piece {
    int64_t first, last;
  };
  std::vector<Piece> pieces;
  for (const auto& [offset, lanes] : g.lanesAtOffset)
    if (!pieces.empty() && pieces.back().last + 1 == offset)
      pieces.back().last = offset;
    else
      pieces.push_back({offset, offset});
  auto isShort = [](Piece p) { return p.last - p.first < kLongest; };
  for (size_t from = 0, to; from < pieces.size(); from = to) {
    to = from + 1;
    if (!isShort(pieces[from])) continue;
    while (to < pieces.size() && isShort(pieces[to]) && pieces[to].first - pieces[to - 1].last - 1 <= kGap)
      ++to;
    const int64_t places = pieces[to - 1].last - pieces[from].first + 1;
    if (to - from < kFewest || 2 * ceilDiv(places, widest) > static_cast<int64_t>(to - from)) continue;
    for (size_t p = from + 1; p < to; ++p)
      for (int64_t o = pieces[p - 1].last + 1; o < pieces[p].first; ++o) g.lanesAtOffset[o];
  }
}

/// Whether the lanes of a group are its places one after another, as those of a copy are. What is picked out of vectors, as windows are, has
/// few vectors instead: the last one ends with the run, and reads again what the one before has.
bool isInOrder(const LaneGroup& g) {
  int before = -1;
  for (const auto& [offset, lanes] : g.lanesAtOffset) {
    if (lanes.size() != 1 || (before >= 0 && lanes[0] != before + 1)) return false;
    before = lanes[0];
  }
  return true;
}

/// The gate of `width` places from `first` on: one where all have the same, null if it always holds, else a mask.
UOp gateAt(const LaneGroup& g, int64_t first, int64_t width) {
  if (g.gateAtOffset.empty()) return g.gate;
  std::vector<UOp> gates;
  for (int64_t k = 0; k < width; ++k) gates.push_back(g.gateAtOffset.at(first + k));
  if (std::ranges::count(gates, gates[0]) < width) return joinLanes(gates);
  return gates[0].isConst(1) ? UOp() : gates[0];
}

/// Whether a load may have this gate. What may not is cut in two.
bool suitsMask(UOp gate, int64_t width, DType element) {
  return !gate || laneCount(gate) == 1 ||
         (width >= kFewestMasked && width * element.itemsize() >= kLeastMasked);
}

AccessPlan planAccess(const TargetContext& context, UOp index, bool isLoad) {
  const Target& target = context.target;
  UOp buffer = index.src(0), gate = index.srcCount() == 3 ? index.src(2) : UOp();
  int n = laneCount(index.src(1));
  DType element = buffer.dtype().base().scalar();
  AddrSpace space = buffer.dtype().addrspace();
  int64_t widest = accessLanes(target, element, space);
  // Results are stored as tiles as well; operands are copied by vectors.
  if (context.tileMemory.contains(index.bufferOf()) && (isLoad || element.itemsize() == 4))
    widest = kTileBytes / element.itemsize();

  // Lanes are grouped by base in order of first appearance, and by offset within a base.
  std::vector<LaneGroup> groups;
  std::map<std::pair<const Node*, const Node*>, size_t> groupOf;
  AccessPlan plan;
  plan.laneAt.assign(static_cast<size_t>(n), -1);
  for (int i = 0; i < n; ++i) {
    LaneAddress a;
    if (!takeApart(lane(index.src(1), i), gate ? lane(gate, i) : UOp(), a)) continue;
    auto [hit, fresh] = groupOf.emplace(std::pair(a.gate.node(), a.base.node()), groups.size());
    if (fresh) groups.push_back({a.gate, a.base, {}});
    groups[hit->second].lanesAtOffset[a.offset].push_back(i);
  }
  if (isLoad && target.aluLanes > 1 && !buffer.dtype().isImage()) {
    readTogether(target, groups, buffer, plan);
    if (!target.alignedVectors)
      for (LaneGroup& g : groups) readBetween(g, widest);
  }
  int64_t place = 0;
  for (LaneGroup& g : groups) {
    std::vector<int64_t> offsets;
    for (auto& [offset, lanes] : g.lanesAtOffset) offsets.push_back(offset);
    const bool isPicked = isLoad && !target.alignedVectors && !buffer.dtype().isImage() && !isInOrder(g);
    for (size_t first = 0; first < offsets.size();) {
      size_t run = 1;
      while (first + run < offsets.size() &&
             offsets[first + run] == offsets[first] + static_cast<int64_t>(run))
        ++run;
      const int64_t whole = std::min(widest, static_cast<int64_t>(std::bit_floor(run)));
      bool mayOverlap = isPicked;
      while (run) {
        if (mayOverlap && static_cast<int64_t>(run) < whole) {
          first -= static_cast<size_t>(whole) - run;
          run = static_cast<size_t>(whole);
          mayOverlap = false;
        }
        int64_t width = 1;
        while (width * 2 <= widest && width * 2 <= static_cast<int64_t>(run)) width *= 2;
        const bool isImage = buffer.dtype().isImage();
        if (isImage) width = run >= 4 ? 4 : 1;
        if ((isImage || target.alignedVectors) && width > 1) {
          int64_t aligned = g.base ? powerOfTwoIn(g.base, width) : width;
          while (width > 1 && (aligned < width || offsets[first] % width)) width = isImage ? 1 : width / 2;
        }
        UOp flat = g.base ? (offsets[first] ? g.base + offsets[first] : g.base)
                          : UOp::constant(index.src(1).dtype().scalar(), offsets[first]);
        UOp gate = gateAt(g, offsets[first], width);
        for (; !suitsMask(gate, width, element); gate = gateAt(g, offsets[first], width)) width /= 2;
        const bool isIndex = flat.dtype() == dtypes::index && (!gate || laneCount(gate) == 1);
        UOp address = buffer.indexed({gate && isIndex ? flat.validWhere(gate) : flat});
        if (gate && !isIndex) address = buffer.indexed({flat, gate});
        if (isImage && width > 1)
          address = pixelAddress(buffer, flat, gate);
        else if (width > 1)
          address = address.cast(element.vec(static_cast<int>(width)).ptr(buffer.dtype().size(), space));
        plan.accesses.push_back({width, address});
        for (int64_t k = 0; k < width; ++k)
          for (int i : g.lanesAtOffset[offsets[first + static_cast<size_t>(k)]])
            plan.laneAt[static_cast<size_t>(i)] = place + k;
        place += width;
        first += static_cast<size_t>(width);
        run -= static_cast<size_t>(width);
      }
    }
  }
  return plan;
}

bool manyLanes(UOp index) {
  return index.is(Op::INDEX) && laneCount(index.src(1)) > 1 && !isPixelIndex(index);
}

UOp splitLoad(Match& m) {
  UOp load = m.root(), index = m[at];
  if (!manyLanes(index)) return m.decline("one lane");
  AccessPlan plan = planAccess(m.ctx<TargetContext>(), index, true);
  DType element = load.dtype().scalar();
  std::vector<UOp> rest;
  if (load.srcCount() > 1 && !load.src(1).dtype().isVoid())
    throw Error(ErrorKind::Compile,
                "a load of many lanes cannot have an alternative value yet when it is split");
  for (UOp s : load.src().subspan(1)) rest.push_back(s);
  std::vector<UOp> parts, lanes;
  for (const PlannedAccess& a : plan.accesses)
    parts.push_back(a.address.load(rest, element.vec(static_cast<int>(a.lanes))));
  UOp zero = UOp::constant(element, int64_t{0});
  if (parts.empty()) return zero.broadcast(laneCount(load));
  UOp all = joinLanes(parts);
  for (int64_t p : plan.laneAt) lanes.push_back(p < 0 ? zero : lane(all, p));
  UOp read = joinLanes(lanes);
  if (plan.gateOf.empty()) return read;
  for (UOp& gate : plan.gateOf)
    if (!gate) gate = UOp::constant(dtypes::bool_, int64_t{1});
  return joinLanes(plan.gateOf).where(read, zero.broadcast(laneCount(load)));
}

UOp splitStore(Match& m) {
  UOp store = m.root(), index = m[at];
  if (!manyLanes(index)) return m.decline("one lane");
  AccessPlan plan = planAccess(m.ctx<TargetContext>(), index, false);
  // If several lanes write to the same place, the last lane wins.
  int64_t total = 0;
  for (const PlannedAccess& a : plan.accesses) total += a.lanes;
  std::vector<UOp> written(static_cast<size_t>(total));
  for (size_t i = 0; i < plan.laneAt.size(); ++i)
    if (plan.laneAt[i] >= 0)
      written[static_cast<size_t>(plan.laneAt[i])] = lane(m[value], static_cast<int64_t>(i));
  std::vector<UOp> stores;
  size_t from = 0;
  for (const PlannedAccess& a : plan.accesses) {
    std::vector<UOp> part(written.begin() + static_cast<std::ptrdiff_t>(from),
                          written.begin() + static_cast<std::ptrdiff_t>(from + static_cast<size_t>(a.lanes)));
    from += static_cast<size_t>(a.lanes);
    std::vector<UOp> rest(store.src().begin() + 2, store.src().end());
    stores.push_back(a.address.store(joinLanes(part), rest).withArg(store.arg()));
  }
  return UOp::make(Op::GROUP, dtypes::void_, stores);
}

/// A scalar access with an Invalid index: a load gives 0, a store does nothing.
UOp gateOfLoad(Match& m) {
  UOp load = m.root(), index = m[at];
  if (index.srcCount() < 2 || laneCount(index.src(1)) != 1 || !index.src(1).isInvalidConst())
    return m.decline("the index may be valid");
  return load.is(Op::STORE) ? UOp::make(Op::GROUP, dtypes::void_, std::initializer_list<UOp>{})
                            : UOp::constant(load.dtype(), int64_t{0});
}
UOp noEffect(Match& m) {
  // Effects that were removed leave an empty GROUP inside a GROUP or END.
  UOp root = m.root();
  std::vector<UOp> kept;
  for (UOp s : root.src()) {
    if (s.is(Op::GROUP))
      kept.insert(kept.end(), s.src().begin(), s.src().end());
    else
      kept.push_back(s);
  }
  if (kept.size() == root.srcCount() && std::equal(kept.begin(), kept.end(), root.src().begin()))
    return m.decline("no effect came to nothing");
  return kept.size() == 1 && root.is(Op::GROUP) ? kept[0] : root.withSrc(kept);
}

constexpr RuleDef kAccess[] = {
    RULE("split-load", op(Op::LOAD, any(Op::INDEX).named(at)).more(), splitLoad),
    RULE("split-store", op(Op::STORE, any(Op::INDEX).named(at), value).more(), splitStore),
    RULE("never-accessed", op(OpSet{Op::LOAD, Op::STORE}, any(Op::INDEX).named(at)).more(), gateOfLoad),
    RULE("index-gate-true", op(Op::INDEX, x, at, Pat(true)), rootOf(x, at)),
    RULE("flatten-group", any({Op::GROUP, Op::SINK}), noEffect),
};
const KnownRules kAccessKnown(kAccess);

} // namespace

std::span<const RuleDef> addLoadRules() {
  return kAddLoads;
}
std::span<const RuleDef> accessRules() {
  return kAccess;
}

} // namespace uopscope
