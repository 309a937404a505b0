// Parses by precedence. The canonical form folds no constants except signs, since the folding of constants
// may be the very subject of a question.
#include "replay/teach/formula.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace uopscope {

namespace {

using Node = Formula::Node;
using NodePtr = std::shared_ptr<const Node>;
using Kind = Node::Kind;

constexpr int kDeepest = 200; // deepest nesting of brackets; a student's answer needs less

struct Level {
  std::vector<std::string_view> operators;
};
// Operators from the loosest to the tightest.
const std::vector<Level>& levels() {
  static const std::vector<Level> all = {
      {{"|", "or"}},  {{"^"}},      {{"&", "and"}},         {{"<=", ">=", "==", "!=", "<", ">"}},
      {{"<<", ">>"}}, {{"+", "-"}}, {{"*", "//", "/", "%"}}};
  return all;
}

class Reader {
public:
  explicit Reader(std::string_view text) : text_(text) {}
  NodePtr all() {
    NodePtr out = binary(0);
    blanks();
    if (at_ < text_.size()) fail("an operator or the end");
    return out;
  }

private:
  [[noreturn]] void fail(const char* wanted) const {
    throw Error(ErrorKind::Value,
                fmt::format("\"{}\" is no expression: {} is expected at \"{}\"", text_, wanted,
                            at_ < text_.size() ? text_.substr(at_, 12) : "the end"));
  }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view sign) {
    blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    if (std::isalpha(static_cast<unsigned char>(sign[0])) && at_ + sign.size() < text_.size() &&
        (std::isalnum(static_cast<unsigned char>(text_[at_ + sign.size()])) ||
         text_[at_ + sign.size()] == '_'))
      return false;
    // "<" must not match the first half of "<<" or "<=".
    const char next = at_ + sign.size() < text_.size() ? text_[at_ + sign.size()] : '\0';
    if ((sign == "<" || sign == ">") && (next == sign[0] || next == '=')) return false;
    if (sign == "/" && next == '/') return false;
    at_ += sign.size();
    return true;
  }
  static NodePtr make(Kind kind, std::string what, std::vector<NodePtr> of = {}) {
    auto node = std::make_shared<Node>();
    node->kind = kind, node->what = std::move(what), node->of = std::move(of);
    return node;
  }
  NodePtr binary(size_t level) {
    if (level == levels().size()) return unary();
    NodePtr left = binary(level + 1);
    for (bool more = true; more;) {
      more = false;
      for (std::string_view op : levels()[level].operators)
        if (take(op)) {
          left = make(Kind::Operator,
                      std::string(op == "or"    ? "|"
                                  : op == "and" ? "&"
                                                : op),
                      {left, binary(level + 1)});
          more = true;
          break;
        }
    }
    return left;
  }
  NodePtr unary() {
    if (++depth_ > kDeepest) fail("fewer brackets");
    NodePtr out;
    if (take("-"))
      out = make(Kind::Operator, "neg", {unary()});
    else if (take("!") || take("not"))
      out = make(Kind::Operator, "not", {unary()});
    else
      out = postfix(primary());
    --depth_;
    return out;
  }
  std::vector<NodePtr> list(std::string_view close) {
    std::vector<NodePtr> out;
    if (take(close)) return out;
    do out.push_back(binary(0));
    while (take(","));
    if (!take(close)) fail("a closing bracket");
    return out;
  }
  NodePtr postfix(NodePtr node) {
    for (;;) {
      if (take("[")) {
        std::vector<NodePtr> of = list("]");
        of.insert(of.begin(), node);
        node = make(Kind::Call, "[]", std::move(of));
      } else if (at_ < text_.size() && text_[at_] == '.' && at_ + 1 < text_.size() &&
                 std::isalpha(static_cast<unsigned char>(text_[at_ + 1]))) {
        ++at_;
        node = make(Kind::Call, "." + word(), {node});
      } else if (at_ < text_.size() && text_[at_] == '(') {
        ++at_;
        std::vector<NodePtr> of = list(")");
        if (node->kind == Kind::Name && node->of.empty()) {
          node = make(Kind::Call, node->what, std::move(of));
        } else {
          of.insert(of.begin(), node);
          node = make(Kind::Call, "()", std::move(of));
        }
      } else {
        return node;
      }
    }
  }
  std::string word() {
    const size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(from, at_ - from));
  }
  NodePtr primary() {
    blanks();
    if (take("(")) {
      NodePtr inside = binary(0);
      if (!take(")")) fail("a closing bracket");
      return inside;
    }
    if (at_ >= text_.size()) fail("a name or a number");
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (std::isdigit(c) ||
        (c == '.' && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1])))) {
      const size_t from = at_;
      while (at_ < text_.size() &&
             (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.' ||
              text_[at_] == 'e' || (text_[at_] == '-' && text_[at_ - 1] == 'e')))
        ++at_;
      std::string number(text_.substr(from, at_ - from));
      if (number.find('.') != std::string::npos && number.find('e') == std::string::npos) {
        while (number.ends_with('0')) number.pop_back();
        if (number.ends_with('.')) number += '0';
      }
      return make(Kind::Number, number);
    }
    if (!std::isalpha(c) && c != '_') fail("a name or a number");
    return make(Kind::Name, word());
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

bool commutes(const std::string& op) {
  return op == "+" || op == "*" || op == "&" || op == "|" || op == "^" || op == "==" || op == "!=";
}
bool chains(const std::string& op) {
  return op == "+" || op == "*" || op == "&" || op == "|" || op == "^";
}

void flatten(const NodePtr& n, const std::string& op, std::vector<NodePtr>& out) {
  if (n->kind == Kind::Operator && n->what == op)
    for (const NodePtr& s : n->of) flatten(s, op, out);
  else
    out.push_back(n);
}

std::string written(const NodePtr& n) {
  if (n->kind == Kind::Number || n->kind == Kind::Name) return n->what;
  // a - b becomes a + -b, a > b becomes b < a, and -3 becomes a number.
  if (n->kind == Kind::Operator) {
    auto made = [](const char* op, std::vector<NodePtr> of) {
      auto node = std::make_shared<Node>();
      node->kind = Kind::Operator, node->what = op, node->of = std::move(of);
      return NodePtr(node);
    };
    if (n->what == "-") return written(made("+", {n->of[0], made("neg", {n->of[1]})}));
    if (n->what == ">") return written(made("<", {n->of[1], n->of[0]}));
    if (n->what == "neg") {
      const std::string inside = written(n->of[0]);
      return inside.starts_with('-') ? inside.substr(1) : "-" + inside;
    }
    std::vector<NodePtr> of = n->of;
    if (chains(n->what)) of.clear(), flatten(n, n->what, of);
    std::vector<std::string> texts;
    for (const NodePtr& s : of) texts.push_back(written(s));
    if (commutes(n->what)) std::sort(texts.begin(), texts.end());
    if (n->what == "not") return "!" + texts[0];
    return fmt::format("({})", fmt::join(texts, n->what));
  }
  std::vector<std::string> texts;
  for (const NodePtr& s : n->of) texts.push_back(written(s));
  if (n->what == "max" || n->what == "min") std::sort(texts.begin(), texts.end());
  return fmt::format("{}({})", n->what, fmt::join(texts, ","));
}

void names(const NodePtr& n, std::set<std::string>& out) {
  if (n->kind == Kind::Name) out.insert(n->what);
  for (const NodePtr& s : n->of) names(s, out);
}

/// None where the value cannot be computed: a call, a division by zero, a number that is not whole.
std::optional<int64_t> value(const NodePtr& n, const std::map<std::string, int64_t>& of) {
  if (n->kind == Kind::Number) {
    if (n->what.find_first_not_of("0123456789") != std::string::npos || n->what.size() > 15) return {};
    return std::stoll(n->what);
  }
  if (n->kind == Kind::Name) {
    if (n->what == "True" || n->what == "False") return n->what == "True";
    return of.at(n->what);
  }
  std::vector<int64_t> x;
  for (const NodePtr& s : n->of) {
    const auto v = value(s, of);
    if (!v || *v > (int64_t{1} << 40) || *v < -(int64_t{1} << 40)) return {};
    x.push_back(*v);
  }
  const std::string& w = n->what;
  if (n->kind == Kind::Call) {
    if (w == "max" && x.size() == 2) return std::max(x[0], x[1]);
    if (w == "min" && x.size() == 2) return std::min(x[0], x[1]);
    if (w == "where" && x.size() == 3) return x[0] ? x[1] : x[2];
    if (w == ".where" && x.size() == 1) return {};
    return {};
  }
  if (w == "neg") return -x[0];
  if (w == "not") return !x[0];
  if (w == "+") return x[0] + x[1];
  if (w == "-") return x[0] - x[1];
  if (w == "*")
    return std::abs(x[0]) < (1 << 20) && std::abs(x[1]) < (1 << 20) ? std::optional(x[0] * x[1])
                                                                    : std::nullopt;
  if (w == "<") return x[0] < x[1];
  if (w == ">") return x[0] > x[1];
  if (w == "<=") return x[0] <= x[1];
  if (w == ">=") return x[0] >= x[1];
  if (w == "==") return x[0] == x[1];
  if (w == "!=") return x[0] != x[1];
  if (w == "&") return x[0] & x[1];
  if (w == "|") return x[0] | x[1];
  if (w == "^") return x[0] ^ x[1];
  if ((w == "<<" || w == ">>") && x[1] >= 0 && x[1] < 20 && std::abs(x[0]) < (1 << 20))
    return w == "<<" ? x[0] * (1 << x[1]) : x[0] >> x[1];
  if ((w == "//" || w == "%") && x[1]) { // rounds as Python does
    int64_t q = x[0] / x[1], r = x[0] % x[1];
    if (r && (r < 0) != (x[1] < 0)) --q, r += x[1];
    return w == "%" ? r : q;
  }
  return {};
}

UOp built(const NodePtr& n, DType dtype) {
  if (n->kind == Kind::Number) {
    if (n->what.find_first_of(".e") != std::string::npos) return UOp::constant(dtype, std::stod(n->what));
    if (n->what.size() > 18) throw Error(ErrorKind::Value, fmt::format("{} is too large a number", n->what));
    return dtype.isFloat() ? UOp::constant(dtype, std::stod(n->what))
                           : UOp::constant(dtype, static_cast<int64_t>(std::stoll(n->what)));
  }
  if (n->kind == Kind::Name) {
    if (n->what == "True" || n->what == "False") return UOp::boolean(n->what == "True");
    return UOp::variable(n->what, 0, 1023, dtype);
  }
  if (n->what == "neg" && n->of[0]->kind == Kind::Number) {
    auto negative = std::make_shared<Node>(*n->of[0]);
    negative->what.insert(0, "-");
    return built(negative, dtype);
  }
  std::vector<UOp> x;
  for (const NodePtr& s : n->of) x.push_back(built(s, dtype));
  if (x.empty())
    throw Error(ErrorKind::Value, fmt::format("\"{}\" cannot be built without arguments", n->what));
  auto alu = [&](Op op, DType type, std::vector<UOp> of) { return UOp::make(op, type, of); };
  const std::string& w = n->what;
  const DType type = x[0].dtype();
  if (w == "+") return alu(Op::ADD, type, x);
  if (w == "*") return alu(Op::MUL, type, x);
  if (w == "neg") return alu(Op::MUL, type, {x[0], UOp::constant(type, int64_t{-1})});
  if (w == "-")
    return alu(Op::ADD, type, {x[0], alu(Op::MUL, type, {x[1], UOp::constant(type, int64_t{-1})})});
  if (w == "//") return alu(Op::IDIV, type, x);
  if (w == "%") return alu(Op::MOD, type, x);
  if (w == "<") return alu(Op::CMPLT, dtypes::bool_, x);
  if (w == ">") return alu(Op::CMPLT, dtypes::bool_, {x[1], x[0]});
  if (w == "!=") return alu(Op::CMPNE, dtypes::bool_, x);
  if (w == "&") return alu(Op::AND, type, x);
  if (w == "|") return alu(Op::OR, type, x);
  if (w == "^") return alu(Op::XOR, type, x);
  if (w == "max" && x.size() == 2) return alu(Op::MAX, type, x);
  if (w == "where" && x.size() == 3) return alu(Op::WHERE, x[1].dtype(), x);
  throw Error(ErrorKind::Value,
              fmt::format("\"{}\" cannot be built here; there are + - * // % < > != & | ^ max where", w));
}

} // namespace

Formula Formula::parse(std::string_view text) {
  return Formula(Reader(text).all());
}

std::string Formula::canonical() const {
  return written(root_);
}

std::optional<bool> Formula::sameValueAs(const Formula& other) const {
  std::set<std::string> all;
  names(root_, all), names(other.root_, all);
  uint64_t state = 88172645463325252ull;
  int computed = 0;
  for (int round = 0; round < 100; ++round) {
    std::map<std::string, int64_t> at;
    for (const std::string& name : all) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      at[name] = round == 0 ? 0 : static_cast<int64_t>(state % 1024);
    }
    const auto a = value(root_, at), b = value(other.root_, at);
    if (!a || !b) continue;
    ++computed;
    if (*a != *b) return false;
  }
  return computed ? std::optional(true) : std::nullopt;
}

UOp Formula::build(DType dtype) const {
  return built(root_, dtype);
}

} // namespace uopscope
