// An expression, typed by a student or printed by the compiler. It can be parsed, brought to a canonical
// form, evaluated, and turned into nodes.
//
//   Formula a = Formula::parse("4*i + j"), b = Formula::parse("(j+(i*4))");
//   a.canonical() == b.canonical()          // sums and products in one order, brackets gone
//   a.sameValueAs(Formula::parse("j+i*4"))  // compares a hundred assignments; none where that is impossible
//
// It parses everything that expression() prints: names, numbers, calls such as LOAD(...) or max(a, b),
// indices, operators with the precedence of Python. For text that is no expression, Error(Value) points at
// the place.
#pragma once
#include "engine/uop/uop.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

class Formula {
public:
  static Formula parse(std::string_view text);
  std::string canonical() const;
  /// None where either formula contains a call or a number that is not whole.
  std::optional<bool> sameValueAs(const Formula& other) const;
  /// Builds nodes in the current pool; names become variables from 0 to 1023. Throws Error(Value) for calls
  /// other than min, max and where.
  UOp build(DType dtype = dtypes::index) const;

  struct Node {
    std::string what; ///< operator, name, number or function
    enum class Kind : uint8_t { Number, Name, Operator, Call } kind = Kind::Name;
    std::vector<std::shared_ptr<const Node>> of;
  };

private:
  explicit Formula(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

} // namespace uopscope
