// An expression as a student types it and as the compiler prints it: read, brought to one form, evaluated,
// made nodes.
//
//   Formula a = Formula::parse("4*i + j"), b = Formula::parse("(j+(i*4))");
//   a.canonical() == b.canonical()          // sums and products in one order, brackets gone
//   a.sameValueAs(Formula::parse("j+i*4"))  // on a hundred assignments of the names; none where it cannot be
//   evaluated
//
// Anything printed by expression() is read: names, numbers, calls such as LOAD(...) or max(a, b), indices,
// operators with the precedence of Python. What is no expression is Error(Value) that points at the place.
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
  /// None where one of them calls something, or has a number that is not whole.
  std::optional<bool> sameValueAs(const Formula& other) const;
  /// In the current pool; names become variables from 0 to 1023. Error(Value) for calls other than min, max
  /// and where.
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
