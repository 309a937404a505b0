// Operations and sets of them. The table itself, with a line on each operation, is ops.def.
//
//   constexpr OpSet kCompare{Op::CMPLT, Op::CMPNE, Op::CMPEQ};
//   if (kCompare.has(uop.op())) ...
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace uopscope {

enum class Op : uint8_t {
#define X(name, fewest, most, args, doc) name,
#include "engine/uop/ops.def"
#undef X
};

constexpr int kOpCount = static_cast<int>(Op::PTRCAT) + 1;
static_assert(kOpCount <= 128, "OpSet holds 128 operations");

/// Name as the reference spells it, without the "Ops." in front: "ADD".
std::string_view opName(Op op);
/// The operation in one line.
std::string_view opDoc(Op op);
std::optional<Op> opFromName(std::string_view name);
/// The sign of a binary operation between its operands: "+", "//", "<"; empty if the operation has none.
std::string_view opSymbol(Op op);

/// A set of operations as 128 bits.
class OpSet {
public:
  constexpr OpSet() = default;
  constexpr OpSet(Op op) { add(op); }
  constexpr OpSet(std::initializer_list<Op> ops) {
    for (Op op : ops) add(op);
  }
  constexpr void add(Op op) { words_[index(op) >> 6] |= uint64_t{1} << (index(op) & 63); }
  constexpr bool has(Op op) const { return words_[index(op) >> 6] >> (index(op) & 63) & 1; }
  constexpr bool empty() const { return !(words_[0] | words_[1]); }
  constexpr bool contains(const OpSet& o) const {
    return !((o.words_[0] & ~words_[0]) | (o.words_[1] & ~words_[1]));
  }
  constexpr bool intersects(const OpSet& o) const {
    return (o.words_[0] & words_[0]) | (o.words_[1] & words_[1]);
  }
  constexpr OpSet operator|(const OpSet& o) const {
    return fromWords(words_[0] | o.words_[0], words_[1] | o.words_[1]);
  }
  constexpr OpSet operator&(const OpSet& o) const {
    return fromWords(words_[0] & o.words_[0], words_[1] & o.words_[1]);
  }
  constexpr OpSet operator-(const OpSet& o) const {
    return fromWords(words_[0] & ~o.words_[0], words_[1] & ~o.words_[1]);
  }
  constexpr bool operator==(const OpSet&) const = default;
  constexpr int size() const { return __builtin_popcountll(words_[0]) + __builtin_popcountll(words_[1]); }
  /// Calls f(Op) for each member, in the order of the table.
  template <typename F>
  constexpr void forEach(F f) const {
    for (unsigned word = 0; word < 2; ++word)
      for (uint64_t bits = words_[word]; bits; bits &= bits - 1)
        f(static_cast<Op>(word * 64 + static_cast<unsigned>(std::countr_zero(bits))));
  }
  /// The first member. The set must not be empty.
  constexpr Op first() const {
    return static_cast<Op>(words_[0] ? std::countr_zero(words_[0]) : 64 + std::countr_zero(words_[1]));
  }
  static constexpr OpSet all() {
    OpSet s;
    for (int i = 0; i < kOpCount; ++i) s.add(static_cast<Op>(i));
    return s;
  }

private:
  static constexpr unsigned index(Op op) { return static_cast<unsigned>(op); }
  static constexpr OpSet fromWords(uint64_t low, uint64_t high) {
    OpSet s;
    s.words_ = {low, high};
    return s;
  }
  std::array<uint64_t, 2> words_{};
};

/// The groups of operations that rules use, with the names of the reference's GroupOp.
namespace group {
constexpr OpSet kUnary{Op::EXP2, Op::LOG2, Op::SIN, Op::SQRT, Op::RECIPROCAL, Op::NEG, Op::TRUNC};
constexpr OpSet kBinary{Op::ADD,   Op::MUL,   Op::IDIV, Op::MAX, Op::MOD,     Op::CMPLT,
                        Op::CMPNE, Op::CMPEQ, Op::XOR,  Op::SHL, Op::SHR,     Op::OR,
                        Op::AND,   Op::SUB,   Op::FDIV, Op::POW, Op::THREEFRY};
constexpr OpSet kTernary{Op::WHERE, Op::MULACC};
constexpr OpSet kAlu = kUnary | kBinary | kTernary;
constexpr OpSet kElementwise = kAlu | OpSet{Op::CAST, Op::BITCAST};
constexpr OpSet kDefines{Op::DEFINE_GLOBAL, Op::DEFINE_LOCAL, Op::DEFINE_REG};
constexpr OpSet kIrreducible{Op::CONST, Op::DEFINE_VAR, Op::SPECIAL, Op::RANGE};
constexpr OpSet kMovement{Op::RESHAPE, Op::EXPAND, Op::PERMUTE, Op::PAD, Op::SHRINK, Op::FLIP};
/// Operations that mark a tensor and give its elements as they are.
constexpr OpSet kMarkers{Op::DETACH, Op::CONTIGUOUS_BACKWARD};
constexpr OpSet kCommutative{Op::ADD, Op::MUL, Op::MAX, Op::CMPNE, Op::CMPEQ, Op::XOR, Op::AND, Op::OR};
constexpr OpSet kAssociative{Op::ADD, Op::MUL, Op::AND, Op::OR, Op::MAX};
constexpr OpSet kIdempotent{Op::OR, Op::AND, Op::MAX};
constexpr OpSet kComparison{Op::CMPLT, Op::CMPNE, Op::CMPEQ};
} // namespace group

} // namespace uopscope
