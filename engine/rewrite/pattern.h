// Patterns: the shape of the graph that a rule matches, as data. Rules written in C++ make patterns at
// compile time, with the operators below. Rules written in Python make them at run time (pattern_builder.h).
// Patterns are printed, stored in traces, and compiled to straight-line checks by matcher.cpp.
//
//   constexpr PatVar x{"x"}, c0{"c0", PatVar::Const};
//   (x + 0), (x * c0) / c0, op(Op::CAST, x).named(y), op({Op::ADD, Op::MUL}, x, c0)
//
// Commutative operators match their operands in either order. A variable that occurs twice must bind the same
// node. A number matches a CONST of that value and of any type.
//
// The result of a rule uses the same notation. result_words.h adds words for "the operation of the root", "a
// cast to the dtype of the root" and so on.
#pragma once
#include "engine/uop/uop.h"

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace uopscope {

class Match;
/// The function of a rule, or of a part of its result. Null declines.
using RuleFn = UOp (*)(Match&);

/// The scalar kinds that a pattern accepts, a bit per Scalar; 0 accepts all. Lanes do not matter.
using DTypeMask = uint32_t;
constexpr DTypeMask maskOf(DType d) {
  return 1u << static_cast<unsigned>(d.kind());
}
constexpr DTypeMask kMaskInts = [] {
  DTypeMask m = 0;
  for (int k = 0; k < kScalarCount; ++k)
    if (DType(static_cast<Scalar>(k)).isInt()) m |= 1u << k;
  return m;
}();
constexpr DTypeMask kMaskFloats = [] {
  DTypeMask m = 0;
  for (int k = 0; k < kScalarCount; ++k)
    if (DType(static_cast<Scalar>(k)).isFloat()) m |= 1u << k;
  return m;
}();
constexpr DTypeMask kMaskBool = 1u << static_cast<unsigned>(Scalar::Bool),
                    kMaskIndex = 1u << static_cast<unsigned>(Scalar::Index),
                    kMaskVoid = 1u << static_cast<unsigned>(Scalar::Void),
                    kMaskIntsBool = kMaskInts | kMaskBool;

enum class SrcMode : uint8_t {
  Any,      ///< sources are not tested
  Exact,    ///< as many sources as children, in order
  AnyOrder, ///< as many sources as children, in any order
  Prefix,   ///< at least as many sources as children, the first ones in order
  Repeat    ///< every source matches the one child (no source also matches)
};

/// How a node of a result is made (result_words.h has a word for each way). All nodes of patterns are Plain.
enum class Making : uint8_t {
  Plain,    ///< the operation on its operands; without operands a variable, a number, Invalid or NOOP
  ToRoot,   ///< CAST or BITCAST to the dtype of the root; the operand itself if it has that dtype
  ToVar,    ///< the same to the dtype of a variable
  ToType,   ///< the same to `exactDtype`, with as many lanes as the operand
  SameOp,   ///< the operation of the root on these operands
  Alike,    ///< the root, or the variable's node, with these sources
  First,    ///< the root, or the variable's node, with these as its first sources
  Sources,  ///< GROUP of an answer for each source of the root: these for the first, NOOP for the rest
  Entry,    ///< the replacement of the root (replacement.h)
  Accepted, ///< the root is valid (rules of a spec)
  Call      ///< the result of a function of the match
};

/// One node of a pattern. Children follow as indices into the pattern's array.
struct PatNode {
  static constexpr int kMaxChildren = 16;
  OpSet ops;               ///< empty: any operation
  DTypeMask dtypes = 0;    ///< 0: any
  uint64_t exactDtype = 0; ///< bits of the required DType; 0: not tested
  ArgKind argKind = ArgKind::None;
  uint64_t argBits = 0;
  enum class ArgTest : uint8_t { None, Equal, Number } argTest = ArgTest::None;
  double number = 0; ///< for ArgTest::Number; in a result, the value of a literal
  int8_t var = -1;   ///< the variable bound here (in a result: read here), or -1
  SrcMode mode = SrcMode::Any;
  bool oneOf = false;   ///< children are alternatives for this node itself
  bool literal = false; ///< written as a number
  Making making = Making::Plain;
  bool fold = false;    ///< in a result: the operation is evaluated on constants
  bool tensors = false; ///< in a result: numbers take the shape and device of the operand beside them
  uint8_t call = 0;     ///< for Making::Call: the number of the pattern's function
  uint8_t childCount = 0;
  std::array<uint8_t, kMaxChildren> children{};
};

/// A variable of a pattern. Variables of a rule with equal names are the same variable.
struct PatVar {
  enum Kind : uint8_t { Any, Const, Ints, Index, Bool, Floats };
  char name[16]{};
  Kind kind = Any;
  consteval PatVar(const char* text, Kind k = Any) : kind(k) {
    int i = 0;
    for (; text[i]; ++i) {
      if (i == 15) throw "a variable's name has at most 15 letters";
      name[i] = text[i];
    }
  }
  constexpr std::string_view view() const { return name; }
};

/// A pattern under construction: a tree in an array, with the root last.
struct Pat {
  static constexpr int kMaxNodes = 32, kMaxVars = 12, kMaxCalls = 6;
  std::array<PatNode, kMaxNodes> nodes{};
  std::array<std::array<char, 16>, kMaxVars> vars{};
  std::array<RuleFn, kMaxCalls> calls{}; ///< functions of a result
  uint8_t count = 0, varCount = 0, callCount = 0;

  constexpr Pat() = default;
  constexpr Pat(PatVar v) {
    PatNode n;
    if (v.kind == PatVar::Const) n.ops = OpSet{Op::CONST, Op::VCONST};
    if (v.kind == PatVar::Ints) n.dtypes = kMaskInts;
    if (v.kind == PatVar::Index) n.dtypes = kMaskIndex;
    if (v.kind == PatVar::Bool) n.dtypes = kMaskBool;
    if (v.kind == PatVar::Floats) n.dtypes = kMaskFloats;
    n.var = bindVar(v.view());
    push(n);
  }
  constexpr Pat(int value) { pushNumber(value); }
  constexpr Pat(double value) { pushNumber(value); }
  template <std::same_as<bool> B> // excludes pointers, which would convert to bool
  constexpr Pat(B value) {
    pushNumber(value ? 1 : 0);
  }

  constexpr PatNode& root() { return nodes[count - 1u]; }
  constexpr const PatNode& root() const { return nodes[count - 1u]; }

  /// Binds the matched node to a variable.
  constexpr Pat named(PatVar v) const {
    Pat p = *this;
    p.root().var = p.bindVar(v.view());
    return p;
  }
  constexpr Pat withDtype(DTypeMask mask) const {
    Pat p = *this;
    p.root().dtypes = mask;
    return p;
  }
  constexpr Pat withDtype(DType d) const { return withDtype(maskOf(d)); }
  /// Requires an argument that equals an inline one (number, Op, none).
  constexpr Pat withArg(Arg a) const {
    Pat p = *this;
    p.root().argTest = PatNode::ArgTest::Equal;
    p.root().argKind = a.kind();
    p.root().argBits = a.bits();
    return p;
  }
  /// Allows further sources after the named ones.
  constexpr Pat more() const {
    Pat p = *this;
    p.root().mode = SrcMode::Prefix;
    return p;
  }
  constexpr Pat anyOrder() const {
    Pat p = *this;
    p.root().mode = SrcMode::AnyOrder;
    return p;
  }

  constexpr void push(const PatNode& n) {
    if (count == kMaxNodes) throw "a pattern has at most 32 nodes";
    nodes[count++] = n;
  }
  constexpr int8_t bindVar(std::string_view name) {
    for (int i = 0; i < varCount; ++i)
      if (std::string_view(vars[static_cast<size_t>(i)].data()) == name) return static_cast<int8_t>(i);
    if (varCount == kMaxVars) throw "a pattern has at most 12 variables";
    for (size_t k = 0; k < name.size(); ++k) vars[varCount][k] = name[k];
    return static_cast<int8_t>(varCount++);
  }
  constexpr uint8_t addCall(RuleFn fn) {
    for (uint8_t i = 0; i < callCount; ++i)
      if (calls[i] == fn) return i;
    if (callCount == kMaxCalls) throw "a result calls at most 6 functions";
    calls[callCount] = fn;
    return callCount++;
  }
  /// Appends the nodes of a second pattern, with its variables mapped by name; returns the index of its root.
  constexpr uint8_t append(const Pat& p) {
    std::array<int8_t, kMaxVars> map{};
    for (int i = 0; i < p.varCount; ++i)
      map[static_cast<size_t>(i)] = bindVar(p.vars[static_cast<size_t>(i)].data());
    uint8_t base = count;
    for (int i = 0; i < p.count; ++i) {
      PatNode n = p.nodes[static_cast<size_t>(i)];
      if (n.making == Making::Call) n.call = addCall(p.calls[n.call]);
      if (n.var >= 0) n.var = map[static_cast<size_t>(n.var)];
      for (uint8_t k = 0; k < n.childCount; ++k) n.children[k] = static_cast<uint8_t>(n.children[k] + base);
      push(n);
    }
    return static_cast<uint8_t>(count - 1);
  }

private:
  constexpr void pushNumber(double value) {
    PatNode n;
    n.ops = OpSet{Op::CONST};
    n.argTest = PatNode::ArgTest::Number;
    n.number = value;
    n.literal = true;
    push(n);
  }
};

namespace pat {

template <typename... P>
constexpr Pat makeNode(OpSet ops, SrcMode mode, const P&... children) {
  static_assert(sizeof...(P) <= PatNode::kMaxChildren);
  Pat p;
  PatNode n;
  n.ops = ops;
  n.mode = mode;
  ((n.children[n.childCount++] = p.append(Pat(children))), ...);
  p.push(n);
  return p;
}
/// A node of one of the operations with exactly these sources.
template <typename... P>
constexpr Pat op(OpSet ops, const P&... children) {
  return makeNode(ops, SrcMode::Exact, children...);
}
/// A node of one of the operations, with any sources.
constexpr Pat any(OpSet ops) {
  return makeNode(ops, SrcMode::Any);
}
/// A node of any operation.
constexpr Pat anything() {
  return makeNode(OpSet{}, SrcMode::Any);
}
/// A node all of whose sources match.
template <typename P>
constexpr Pat each(OpSet ops, const P& child) {
  return makeNode(ops, SrcMode::Repeat, child);
}
/// One of several patterns, tried in order.
template <typename... P>
constexpr Pat oneOf(const P&... alternatives) {
  Pat p = makeNode(OpSet{}, SrcMode::Any, alternatives...);
  p.root().oneOf = true;
  return p;
}
template <typename P>
constexpr Pat orCasted(const P& inner) {
  return oneOf(Pat(inner), op(Op::CAST, inner));
}
constexpr Pat binary(Op o, const Pat& a, const Pat& b) {
  return makeNode(o, group::kCommutative.has(o) ? SrcMode::AnyOrder : SrcMode::Exact, a, b);
}

} // namespace pat

// The notation of rules. At least one side is a Pat or PatVar.
template <typename T>
concept PatLike = std::is_same_v<T, Pat> || std::is_same_v<T, PatVar>;
template <typename A, typename B>
concept PatPair =
    (PatLike<A> && (PatLike<B> || std::is_arithmetic_v<B>)) || (PatLike<B> && std::is_arithmetic_v<A>);

#define UOPSCOPE_PAT_OPERATOR(symbol, name)                                                                  \
  template <typename A, typename B>                                                                          \
    requires PatPair<A, B>                                                                                   \
  constexpr Pat operator symbol(const A& a, const B& b) {                                                    \
    return pat::binary(Op::name, Pat(a), Pat(b));                                                            \
  }
UOPSCOPE_PAT_OPERATOR(+, ADD)
UOPSCOPE_PAT_OPERATOR(*, MUL)
UOPSCOPE_PAT_OPERATOR(/, IDIV)
UOPSCOPE_PAT_OPERATOR(%, MOD)
UOPSCOPE_PAT_OPERATOR(&, AND)
UOPSCOPE_PAT_OPERATOR(|, OR)
UOPSCOPE_PAT_OPERATOR(^, XOR)
UOPSCOPE_PAT_OPERATOR(<, CMPLT)
UOPSCOPE_PAT_OPERATOR(!=, CMPNE)
UOPSCOPE_PAT_OPERATOR(<<, SHL)
UOPSCOPE_PAT_OPERATOR(>>, SHR)
#undef UOPSCOPE_PAT_OPERATOR

namespace pat {
template <typename A, typename B>
constexpr Pat max(const A& a, const B& b) {
  return binary(Op::MAX, Pat(a), Pat(b));
}
template <typename C, typename A, typename B>
constexpr Pat where(const C& c, const A& a, const B& b) {
  return op(Op::WHERE, Pat(c), Pat(a), Pat(b));
}
template <typename A>
constexpr Pat recip(const A& a) {
  return op(Op::RECIPROCAL, Pat(a));
}
/// "not x" in the engine's form: x != true
template <typename A>
constexpr Pat logicalNot(const A& a) {
  return binary(Op::CMPNE, Pat(a), Pat(true));
}
} // namespace pat

} // namespace uopscope
