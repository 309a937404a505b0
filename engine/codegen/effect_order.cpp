// Each store is attached to the earlier one with which it shares most vectors; the stores then follow one another along the
// trees that this makes, those that share most first.
#include "engine/codegen/effect_order.h"

#include "engine/base/id_map.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/live_ranges.h"
#include "engine/rewrite/replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace uopscope {

namespace {

constexpr size_t kFewestStores = 4; ///< stores whose order can matter
constexpr int64_t kSpare = 4;       ///< one register in so many is left to constants, copies and shuffles
/// The part of the registers that are too many, summed over the program, which a new order may leave.
constexpr double kFewerSpills = 0.95;

/// The place of a store: an array, a term of the index, and the elements from an offset on.
struct Place {
  UOp array, term;
  int64_t first = 0, count = 1;
};

std::optional<Place> placeOf(UOp store) {
  UOp index = store.src(0);
  while (index.is(Op::CAST)) index = index.src(0);
  if (!index.is(Op::INDEX) || index.srcCount() != 2)
    return {}; // a gate opens a block, which neighbours share
  UOp at = index.src(1);
  Place p{index.bufferOf(), at, 0, store.src(1).dtype().count()};
  if (at.is(Op::CONST)) p.term = {}, p.first = at.constValue().i;
  if (at.is(Op::ADD) && at.src(1).is(Op::CONST)) p.term = at.src(0), p.first = at.src(1).constValue().i;
  return p;
}

/// Whether no two of the stores can meet.
bool lieApart(const std::vector<UOp>& stores) {
  std::map<uint64_t, std::vector<Place>> byArray;
  for (UOp s : stores) {
    const auto place = placeOf(s);
    if (!place) return false;
    byArray[place->array.id()].push_back(*place);
  }
  for (auto& [id, places] : byArray) {
    std::ranges::sort(places, {}, &Place::first);
    for (size_t i = 1; i < places.size(); ++i)
      if (places[i].term != places[0].term || places[i - 1].first + places[i - 1].count > places[i].first)
        return false;
  }
  return true;
}

/// The stores of one GROUP in a new order; empty where they have to stay.
class Trees {
public:
  explicit Trees(UOp group) : stores_(group.src().begin(), group.src().end()) {}

  std::vector<UOp> order() {
    if (stores_.size() < kFewestStores ||
        !std::ranges::all_of(stores_, [](UOp s) { return s.is(Op::STORE); }) || !lieApart(stores_))
      return {};
    for (UOp s : stores_)
      if (UOp array = s.src(0).bufferOf(); !array.is(Op::DEFINE_GLOBAL)) own_.set(array.slot(), true);
    children_.resize(stores_.size());
    std::vector<uint32_t> roots;
    for (uint32_t i = 0; i < stores_.size(); ++i) {
      shared_.clear();
      if (!claim(stores_[i].src(1), i)) return {};
      const auto most =
          std::ranges::max_element(shared_, {}, [](auto& s) { return std::pair(s.second, s.first); });
      if (most == shared_.end())
        roots.push_back(i);
      else
        children_[most->first].push_back({most->second, i});
    }
    std::vector<UOp> ordered;
    for (uint32_t r : roots) append(r, ordered);
    return ordered == stores_ ? std::vector<UOp>() : ordered;
  }

private:
  /// Walks the values of a store; those that an earlier one computes are shared with it. False: it reads an array that the
  /// stores write, whose contents depend on their order.
  bool claim(UOp value, uint32_t store) {
    std::vector<UOp> stack{value};
    while (!stack.empty()) {
      UOp u = stack.back();
      stack.pop_back();
      if (u.dtype().isVoid() || u.isConst() || u.in(OpSet{Op::VCONST, Op::RANGE})) continue;
      if (const uint32_t* owner = owner_.find(u.slot())) {
        if (*owner != store && u.dtype().count() > 1 && !u.dtype().isPtr()) ++shared_[*owner];
        continue;
      }
      if (u.is(Op::LOAD) && own_.contains(u.src(0).bufferOf().slot())) return false;
      owner_.set(u.slot(), store);
      stack.insert(stack.end(), u.src().begin(), u.src().end());
    }
    return true;
  }

  void append(uint32_t root, std::vector<UOp>& ordered) {
    std::vector<uint32_t> stack{root};
    while (!stack.empty()) {
      const uint32_t at = stack.back();
      stack.pop_back();
      ordered.push_back(stores_[at]);
      // The last on the stack comes first: the one that shares most, of equals the earliest.
      std::ranges::sort(children_[at], [](auto& a, auto& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
      });
      for (auto [weight, child] : children_[at]) stack.push_back(child);
    }
  }

  std::vector<UOp> stores_;
  IdMap<uint32_t> owner_; ///< the store for which a value is computed first
  IdMap<bool> own_;       ///< arrays of the kernel's own that the stores write
  std::map<uint32_t, int64_t> shared_;
  std::vector<std::vector<std::pair<int64_t, uint32_t>>> children_; ///< with the number of shared values
};

struct Pressure {
  int64_t most = 0, beyond = 0; ///< vectors in use at the peak; beyond the file, summed over all instructions
  Pressure() = default;
  Pressure(UOp sink, const RegisterFile& file) {
    const LiveRanges live = liveRanges(linearize(sink), file);
    most = live.vectors.registers;
    for (const LiveRanges::Alive& a : live.alive)
      beyond += std::max<int64_t>(0, a.vectors - file.vectors + file.vectors / kSpare);
  }
};

constexpr RuleDef kOrder[] = {RULE("order-stores-by-liveness", pat::any(Op::GROUP), pat::entry())};
const KnownRules kOrderKnown(kOrder);

} // namespace

std::span<const RuleDef> effectOrderRules() {
  return kOrder;
}

UOp orderEffects(UOp sink, const Target& target, const PatternMatcher& rules, std::string_view pass) {
  if (target.aluLanes <= 1 || !sink.below().has(Op::GROUP)) return sink;
  UOpMap<UOp> ordered;
  for (UOp u : sink.toposort())
    if (u.is(Op::GROUP))
      if (std::vector<UOp> stores = Trees(u).order(); !stores.empty()) ordered[u] = UOp::groupOf(stores);
  if (ordered.empty()) return sink;
  const RegisterFile file = registerFileOf(target);
  const Pressure before(sink, file);
  if (!before.beyond) return sink;
  Pressure after;
  {
    ObserverScope unseen(nullptr); // a trial
    after = Pressure(replaceNodes(sink, ordered, rules, pass), file);
  }
  if (static_cast<double>(after.beyond) > kFewerSpills * static_cast<double>(before.beyond)) return sink;
  because([&] {
    return Decision{.reason =
                        fmt::format("stores that share values follow one another: at most {} vectors are in "
                                    "use at once in the kernel, of {} registers",
                                    after.most, file.vectors),
                    .price = static_cast<double>(after.beyond),
                    .unit = "registers too many, summed over the instructions",
                    .others = {{fmt::format("as they stand, with at most {} in use", before.most),
                                static_cast<double>(before.beyond)}}};
  });
  return replaceNodes(sink, ordered, rules, pass);
}

} // namespace uopscope
