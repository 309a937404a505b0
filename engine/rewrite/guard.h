// Guards: tests on the variables of a rule, as data, which the structure of the pattern cannot express.
// Guards are written after the result and printed with the rule. A guard that fails gives the reason why the
// rule declines.
//
//   RULE("max-const-last", pat::op(Op::MAX, c0, xn), pat::max(x, c0), notConst(x)),
//
// A rule applies if all its guards hold. Guards read the bound nodes and their bounds, and make no nodes. A
// condition that a single table needs is a function with a name and a reason:
//
//   RULE("gep-in-order", gepOf(x), x, guard::when(takesAllInOrder, "the lanes change order")),
#pragma once
#include "engine/rewrite/pattern.h"

namespace uopscope {

/// One test on one or two variables of a pattern, made by the functions below. `why` is the text of a
/// refusal: "x is a constant".
struct Guard {
  enum class Kind : uint8_t {
    Const,      ///< a CONST
    NotConst,   ///< neither a CONST nor a vector with the same CONST in every lane
    NotInvalid, ///< not Invalid
    NotPointer, ///< its dtype is no pointer
    Signed,     ///< its dtype is no unsigned integer
    NotZero,    ///< a constant integer other than 0
    Positive,   ///< a constant integer above 0
    AtLeast,    ///< its lower bound is `number` or more
    AtMost,     ///< its upper bound is `number` or less
    Different,  ///< a different node from the second variable
    MayRound,   ///< the node is no float, or STRICT_FLOAT is not set
    Unlike,     ///< its dtype differs from that of the root
    Alike,      ///< its dtype is that of the root
    Divides,    ///< constant integers: the second is a multiple of the first
    Test        ///< a function decides
  };
  Kind kind = Kind::Const;
  std::array<char, 16> name{}, otherName{};
  int8_t var = -1, other = -1; ///< positions among the pattern's variables, found when the rule is made
  int64_t number = 0;
  std::array<char, 64> why{};
  bool (*test)(const Match&) = nullptr;
  const char* reason = nullptr; ///< of a test, in place of `why`
};

namespace guard {

consteval Guard make(Guard::Kind kind, PatVar v, std::string_view text) {
  Guard g;
  g.kind = kind;
  size_t n = 0;
  for (size_t i = 0; v.name[i]; ++i) g.name[i] = g.why[n++] = v.name[i];
  for (char c : text) g.why[n++] = c;
  return g;
}
consteval Guard isConst(PatVar v) {
  return make(Guard::Kind::Const, v, " is no constant");
}
consteval Guard notConst(PatVar v) {
  return make(Guard::Kind::NotConst, v, " is a constant");
}
consteval Guard notInvalid(PatVar v) {
  return make(Guard::Kind::NotInvalid, v, " is Invalid");
}
consteval Guard notPointer(PatVar v) {
  return make(Guard::Kind::NotPointer, v, " is a pointer");
}
consteval Guard isSigned(PatVar v) {
  return make(Guard::Kind::Signed, v, " is unsigned");
}
consteval Guard notZero(PatVar v) {
  return make(Guard::Kind::NotZero, v, " is 0 or no integer constant");
}
consteval Guard positive(PatVar v) {
  return make(Guard::Kind::Positive, v, " is no positive integer constant");
}
consteval Guard notNegative(PatVar v) {
  return make(Guard::Kind::AtLeast, v, " may be negative");
}
consteval Guard atMost(PatVar v, int64_t number) {
  Guard g = make(Guard::Kind::AtMost, v, " may be too large");
  g.number = number;
  return g;
}
consteval Guard different(PatVar v, PatVar other) {
  Guard g = make(Guard::Kind::Different, v, " and the other node are one");
  for (size_t i = 0; other.name[i]; ++i) g.otherName[i] = other.name[i];
  return g;
}
/// For rules that change the bits of floats, which are listed in engine/rules/rounding.h.
consteval Guard mayRound() {
  Guard g;
  g.kind = Guard::Kind::MayRound;
  constexpr std::string_view kWhy = "STRICT_FLOAT keeps the bits of floats";
  for (size_t i = 0; i < kWhy.size(); ++i) g.why[i] = kWhy[i];
  return g;
}
consteval Guard unlikeRoot(PatVar v) {
  return make(Guard::Kind::Unlike, v, " has the dtype of the result already");
}
consteval Guard likeRoot(PatVar v) {
  return make(Guard::Kind::Alike, v, " has another dtype than the result");
}
/// `why` is the reason for declining. It must be a literal, which lives forever.
consteval Guard when(bool (*test)(const Match&), const char* why) {
  Guard g;
  g.kind = Guard::Kind::Test;
  g.test = test;
  g.reason = why;
  return g;
}
/// Holds if `factor` divides `multiple`.
consteval Guard divides(PatVar factor, PatVar multiple) {
  Guard g = make(Guard::Kind::Divides, factor, " does not divide the other constant");
  for (size_t i = 0; multiple.name[i]; ++i) g.otherName[i] = multiple.name[i];
  return g;
}

} // namespace guard
} // namespace uopscope
