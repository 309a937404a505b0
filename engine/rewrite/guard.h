// Guards: tests of the variables of a rule beyond the structure of a match, as data. A guard is written
// after the result, is printed with the rule, and gives the reason where the rule declines.
//
//   RULE("max-const-last", pat::op(Op::MAX, c0, xn), pat::max(x, c0), notConst(x)),
//
// A rule applies where all its guards hold. Guards look at the nodes bound and at their bounds; they make no
// node. A condition that is one table's own is a function with a name and a reason:
//
//   RULE("gep-in-order", gepOf(x), x, guard::when(takesAllInOrder, "the lanes change order")),
#pragma once
#include "engine/rewrite/pattern.h"

namespace uopscope {

/// One test on one or two variables of a pattern. Made by the functions below; `why` is the text of a
/// refusal: "x is a constant".
struct Guard {
  enum class Kind : uint8_t {
    Const,      ///< a CONST
    NotConst,   ///< neither a CONST nor the same CONST in every lane
    NotInvalid, ///< not the index that must not be accessed
    NotPointer, ///< its dtype is no pointer
    Signed,     ///< its dtype is no unsigned integer
    NotZero,    ///< a constant integer but 0
    Positive,   ///< a constant integer above 0
    AtLeast,    ///< its lower bound is `number` or more
    AtMost,     ///< its upper bound is `number` or less
    Different,  ///< another node than the second variable
    MayRound,   ///< the node is no float, or STRICT_FLOAT is not set
    Unlike,     ///< another dtype than the node that is rewritten
    Alike,      ///< the dtype of the node that is rewritten
    Divides,    ///< constant integers: the second is a multiple of the first
    Test        ///< a function says so
  };
  Kind kind = Kind::Const;
  std::array<char, 16> name{}, otherName{};
  int8_t var = -1, other = -1; ///< places in the pattern's variables, found when the rule is made
  int64_t number = 0;
  std::array<char, 64> why{};
  bool (*test)(const Match&) = nullptr;
  const char* reason = nullptr; ///< of a test, instead of `why`
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
/// For rules that change the bits of floats; they stand in the list of engine/rules/rounding.h.
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
/// `why` lives for ever (a literal): the words of the rule that declines.
consteval Guard when(bool (*test)(const Match&), const char* why) {
  Guard g;
  g.kind = Guard::Kind::Test;
  g.test = test;
  g.reason = why;
  return g;
}
/// `factor` divides `multiple`.
consteval Guard divides(PatVar factor, PatVar multiple) {
  Guard g = make(Guard::Kind::Divides, factor, " does not divide the other constant");
  for (size_t i = 0; multiple.name[i]; ++i) g.otherName[i] = multiple.name[i];
  return g;
}

} // namespace guard
} // namespace uopscope
