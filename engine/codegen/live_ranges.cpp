// A first walk finds loops and users; a second one decides which values take registers and extends each to its last user;
// the sums of beginnings and ends are the values alive.
#include "engine/codegen/live_ranges.h"

#include "engine/base/id_map.h"
#include "engine/codegen/memory.h"

#include <algorithm>
#include <optional>

namespace uopscope {

namespace {

constexpr int64_t kBytesOfMaskLane =
    4; ///< AVX2 keeps the result of a comparison as wide as its float32 operands

UOp addressNode(UOp access) {
  UOp at = access.src(0);
  while (at.in(OpSet{Op::CAST, Op::AFTER}) && at.srcCount()) at = at.src(0);
  return at;
}

bool isAccess(UOp u) {
  return u.in(OpSet{Op::LOAD, Op::STORE}) && addressNode(u).is(Op::INDEX);
}

class Walk {
public:
  Walk(std::span<const UOp> program, const RegisterFile& file) : program_(program) { live_.file = file; }

  LiveRanges run() {
    const size_t n = program_.size();
    about_.resize(n);
    for (size_t i = 0; i < n; ++i) place_.set(program_[i].slot(), static_cast<uint32_t>(i));
    findLoops();
    findUsers();
    for (size_t i = 0; i < n; ++i) visit(static_cast<uint32_t>(i));
    sum();
    return std::move(live_);
  }

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Loop {
    uint32_t begin = 0, end = 0, parent = kNone;
  };
  struct About { ///< what the first walk finds about an instruction
    uint32_t loop = kNone, users = 0, firstUser = kNone;
    bool onlyLanes = true, onlyAddresses = true; ///< of its users
    uint32_t value = kNone;                      ///< its place in live_.values
  };
  struct Variable { ///< a part of an array that is indexed by constants alone, so that it lives in registers
    UOp array;
    int64_t first, count;
    uint32_t value, lastRead;
  };

  void findLoops() {
    uint32_t open = kNone;
    for (uint32_t i = 0; i < program_.size(); ++i) {
      UOp u = program_[i];
      if (u.is(Op::RANGE)) {
        loops_.push_back({i, i, open});
        open = static_cast<uint32_t>(loops_.size() - 1);
      }
      about_[i].loop = open;
      for (size_t k = 1; u.is(Op::END) && k < u.srcCount() && open != kNone; ++k) {
        loops_[open].end = i;
        open = loops_[open].parent;
      }
    }
  }

  void findUsers() {
    for (uint32_t i = 0; i < program_.size(); ++i) {
      UOp u = program_[i];
      for (UOp s : u.src()) {
        const uint32_t* from = place_.find(s.slot());
        if (!from) continue;
        About& a = about_[*from];
        ++a.users;
        a.firstUser = std::min(a.firstUser, i);
        a.onlyLanes &= u.is(Op::GEP) && u.dtype().count() == 1;
        a.onlyAddresses &= u.is(Op::INDEX) && u.src(0) != s;
      }
      if (u.is(Op::VECTORIZE)) readWhole(u);
      if (!isAccess(u)) continue;
      UOp index = addressNode(u), array = index.bufferOf();
      if (array.is(Op::DEFINE_REG) && !index.src(1).is(Op::CONST)) inMemory_.set(array.slot(), true);
      if (u.is(Op::STORE)) stores_.push_back({i, array});
    }
  }

  /// Lanes that are put together in another order are shuffled, out of whole vectors. One lane in all places is read alone.
  void readWhole(UOp vector) {
    if (std::ranges::all_of(vector.src(), [&](UOp s) { return s == vector.src(0); })) return;
    for (UOp s : vector.src())
      if (const uint32_t* from = s.is(Op::GEP) ? place_.find(s.src(0).slot()) : nullptr)
        about_[*from].onlyLanes = false;
  }

  bool isKept(UOp access) { ///< in a register that belongs to an array
    if (!isAccess(access)) return false;
    UOp array = addressNode(access).bufferOf();
    return array.is(Op::DEFINE_REG) && !inMemory_.contains(array.slot());
  }

  /// Whether the one user of a load can take it from memory: it stands in the same block, and nothing is stored there before.
  bool readByItsUser(uint32_t i) {
    const About& a = about_[i];
    if (!live_.file.hasVectors() || a.users != 1) return false;
    UOp user = program_[a.firstUser], array = addressNode(program_[i]).bufferOf();
    if (!user.in(group::kAlu) || about_[a.firstUser].loop != a.loop) return false;
    auto next = std::ranges::upper_bound(stores_, i, {}, &Stored::at);
    for (; next != stores_.end() && next->at < a.firstUser; ++next)
      if (next->array == array) return false;
    return true;
  }

  /// Whether the instruction needs no register; a use of it is then a use of its sources.
  bool isFolded(uint32_t i) {
    UOp u = program_[i];
    if (u.dtype().isVoid() || u.in(OpSet{Op::CONST, Op::VCONST, Op::DEFINE_LOCAL, Op::DEFINE_REG, Op::INDEX,
                                         Op::AFTER, Op::NOOP, Op::GROUP}))
      return true;
    if (u.is(Op::DEFINE_GLOBAL)) return !live_.file.hasVectors(); // parameters of a GPU are constants
    if (u.dtype().isPtr() || (u.is(Op::GEP) && u.dtype().count() == 1)) return true;
    if (u.is(Op::VECTORIZE)) return std::ranges::all_of(u.src(), [](UOp s) { return s.isConst(); });
    if (u.is(Op::ADD) && u.src(1).is(Op::CONST) && about_[i].users && about_[i].onlyAddresses) return true;
    if (!isAccess(u)) return false;
    return isKept(u) || readByItsUser(i) ||
           (live_.file.hasVectors() && about_[i].users && about_[i].onlyLanes);
  }

  LiveValue registersFor(DType type) const {
    const RegisterFile& file = live_.file;
    auto whole = [](int64_t bytes, int64_t each) { return static_cast<int32_t>((bytes + each - 1) / each); };
    LiveValue v;
    if (!file.hasVectors()) {
      v.registers = whole(type.itemsize(), file.generalBytes);
    } else if (type.isBool()) {
      // The result of a single comparison is in the flags, and AVX-512 has registers of its own for masks.
      v.isVector = type.count() > 1;
      const bool masksApart = file.vectorBytes > 32;
      v.registers = v.isVector && !masksApart ? whole(type.count() * kBytesOfMaskLane, file.vectorBytes) : 0;
    } else if (!type.isPtr() && (type.count() > 1 || type.isFloat())) {
      v.isVector = true;
      v.registers = whole(type.itemsize(), file.vectorBytes);
    } else {
      v.registers = 1;
    }
    return v;
  }

  uint32_t addValue(uint32_t made, DType type) {
    LiveValue v = registersFor(type);
    v.made = v.until = made;
    live_.values.push_back(v);
    return static_cast<uint32_t>(live_.values.size() - 1);
  }

  /// A value of an earlier block stays alive until the loops that use it end.
  void extend(uint32_t value, uint32_t user) {
    LiveValue& v = live_.values[value];
    uint32_t until = user;
    for (uint32_t l = about_[user].loop; l != kNone && loops_[l].begin > v.made; l = loops_[l].parent)
      until = std::max(until, loops_[l].end);
    v.until = std::max(v.until, until);
  }

  Variable& variableOf(UOp access, uint32_t at) {
    UOp index = addressNode(access), array = index.bufferOf();
    const DType type = access.is(Op::STORE) ? access.src(1).dtype() : access.dtype();
    const int64_t first = index.src(1).constValue().i, count = type.count();
    auto known = std::ranges::find_if(variables_, [&](const Variable& v) {
      return v.array == array && v.first <= first && first + count <= v.first + v.count;
    });
    if (known != variables_.end()) return *known;
    variables_.push_back({array, first, count, addValue(at, type), at});
    return variables_.back();
  }

  void use(UOp source, uint32_t user) {
    const uint32_t* from = place_.find(source.slot());
    if (!from) return;
    if (about_[*from].value != kNone) return extend(about_[*from].value, user);
    if (source.is(Op::LOAD) && isKept(source)) {
      Variable& v = variableOf(source, *from);
      v.lastRead = std::max(v.lastRead, user);
      return extend(v.value, user);
    }
    for (UOp s : source.src())
      if (!s.dtype().isVoid()) use(s, user); // effects order instructions and are in no register
  }

  /// A value that only goes into a variable is computed in the variable's register, if its old value is not read any more.
  void storeInto(UOp store, uint32_t at) {
    const size_t before = variables_.size();
    Variable& v = variableOf(store, at);
    const bool isNew = variables_.size() > before;
    if (const uint32_t* from = place_.find(store.src(1).slot())) {
      const About& a = about_[*from];
      if (a.value != kNone && a.users == 1 && (isNew || v.lastRead <= *from)) {
        live_.values[a.value].registers = 0;
        if (isNew) live_.values[v.value].made = live_.values[a.value].made;
      }
    }
    extend(v.value, at);
  }

  void visit(uint32_t i) {
    UOp u = program_[i];
    if (u.is(Op::END)) { // the loop's counter is counted up once more
      for (size_t k = 1; k < u.srcCount(); ++k) use(u.src(k), i);
      return;
    }
    const bool folded = isFolded(i);
    if (u.in(OpSet{Op::STORE, Op::IF}) || !folded) {
      for (UOp s : u.src())
        if (!s.dtype().isVoid()) use(s, i);
    }
    if (u.is(Op::STORE) && isKept(u)) storeInto(u, i);
    if (!folded) about_[i].value = addValue(i, u.dtype());
  }

  void sum() {
    const size_t n = program_.size();
    live_.alive.resize(n);
    std::ranges::stable_sort(live_.values, {}, &LiveValue::made);
    std::vector<LiveRanges::Alive> change(n + 1);
    for (const LiveValue& v : live_.values) {
      (v.isVector ? change[v.made].vectors : change[v.made].general) += v.registers;
      (v.isVector ? change[v.until].vectors : change[v.until].general) -= v.registers;
    }
    LiveRanges::Alive now;
    for (uint32_t i = 0; i < n; ++i) {
      now.vectors += change[i].vectors;
      now.general += change[i].general;
      live_.alive[i] = now;
      if (now.vectors > live_.vectors.registers) live_.vectors = {i, now.vectors};
      if (now.general > live_.general.registers) live_.general = {i, now.general};
    }
    const RegisterFile& file = live_.file;
    live_.spilledBytes = std::max<int64_t>(0, live_.vectors.registers - file.vectors) * file.vectorBytes +
                         std::max<int64_t>(0, live_.general.registers - file.general) * file.generalBytes;
  }

  struct Stored {
    uint32_t at;
    UOp array;
  };
  std::span<const UOp> program_;
  LiveRanges live_;
  IdMap<uint32_t> place_;
  IdMap<bool> inMemory_; ///< arrays that a variable indexes
  std::vector<About> about_;
  std::vector<Loop> loops_;
  std::vector<Stored> stores_;
  std::vector<Variable> variables_;
};

} // namespace

RegisterFile registerFileOf(const Target& target) {
  if (target.hasLocal) return kThreadRegisters;
#if defined(__x86_64__)
  const int64_t vectors = vectorRegisters(target), general = 15; // and the stack pointer
#else
  const int64_t vectors = 32, general = 28;
#endif
  return {vectors, std::max(4, target.aluLanes) * int64_t{4}, general, 8};
}

std::vector<LiveValue> LiveRanges::aliveBehind(size_t instruction) const {
  std::vector<LiveValue> found;
  for (const LiveValue& v : values)
    if (v.registers && v.made <= instruction && instruction < v.until) found.push_back(v);
  std::ranges::stable_sort(found, std::greater{}, [](const LiveValue& v) { return v.until - v.made; });
  return found;
}

LiveRanges liveRanges(std::span<const UOp> program, const RegisterFile& file) {
  return Walk(program, file).run();
}

} // namespace uopscope
