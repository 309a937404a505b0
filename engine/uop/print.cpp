// Expressions and trees of nodes as text, as print.h describes them; pyrender and its reader have own files.
#include "engine/uop/print.h"

#include "engine/uop/eval.h"

#include <fmt/format.h>

#include <string>

namespace uopscope {

namespace {

/// Binding strength of an operator in Python: a smaller number binds tighter, 0 is no operator.
int precedence(Op op) {
  switch (op) {
  case Op::MUL:
  case Op::IDIV:
  case Op::FDIV:
  case Op::MOD: return 1;
  case Op::ADD:
  case Op::SUB: return 2;
  case Op::SHL:
  case Op::SHR: return 3;
  case Op::AND: return 4;
  case Op::XOR: return 5;
  case Op::OR: return 6;
  case Op::CMPLT:
  case Op::CMPNE:
  case Op::CMPEQ: return 7;
  default: return 0;
  }
}

std::string rangeName(UOp r) {
  std::string s = "r";
  const auto& ids = r.arg().as<RangeArg>().ids;
  for (size_t i = 0; i < ids.size(); ++i)
    s += (i ? "_" : "") + (ids[i] < 0 ? "m" + std::to_string(-ids[i]) : std::to_string(ids[i]));
  return s;
}

/// Builds the text of an expression from left to right.
class ExpressionWriter {
public:
  ExpressionWriter(int maxDepth, size_t maxLength, bool closed = false)
      : maxDepth_(maxDepth), maxLength_(maxLength), closed_(closed) {}

  std::string write(UOp root) {
    todo_.push_back({root, {}, 0, 99, false});
    while (!todo_.empty()) {
      Piece p = std::move(todo_.back());
      todo_.pop_back();
      if (p.node)
        open(p);
      else
        out_ += p.text;
    }
    return std::move(out_);
  }

private:
  struct Piece {
    UOp node; ///< null: the piece is text
    std::string text;
    int depth = 0;
    int around = 99; ///< precedence of the enclosing operator; a looser operator inside needs parentheses
    bool right = false;
  };

  Piece text(std::string s) { return {{}, std::move(s), 0, 0, false}; }
  Piece sub(const Piece& p, size_t i, int around = 99, bool right = false) {
    return {p.node.src(i), {}, p.depth + 1, around, right};
  }
  /// Pushes pieces given in reading order; the stack holds them in reverse.
  void push(std::vector<Piece> pieces) {
    for (size_t i = pieces.size(); i-- > 0;) todo_.push_back(std::move(pieces[i]));
  }
  void call(const Piece& p, const std::string& name, const std::string& close = ")",
            const std::string& between = ", ") {
    std::vector<Piece> pieces{text(name)};
    for (size_t i = 0; i < p.node.srcCount(); ++i) {
      if (i) pieces.push_back(text(between));
      pieces.push_back(sub(p, i));
    }
    pieces.push_back(text(close));
    push(std::move(pieces));
  }

  void open(const Piece& p) {
    UOp u = p.node;
    if (u.srcCount() && (p.depth >= maxDepth_ || out_.size() > maxLength_)) {
      out_ += fmt::format("#{}", u.id());
      return;
    }
    if (int own = precedence(u.op())) {
      bool parens =
          own > p.around || (closed_ && p.around == 99) || (own == p.around && (p.right || own == 7));
      push({text(parens ? "(" : ""), sub(p, 0, own), text(std::string(opSymbol(u.op()))),
            sub(p, 1, own, true), text(parens ? ")" : "")});
      return;
    }
    switch (u.op()) {
    case Op::CONST: out_ += u.arg().repr(); return;
    case Op::VCONST: out_ += u.arg().repr(); return;
    case Op::DEFINE_VAR: out_ += u.arg().kind() == ArgKind::Var ? u.arg().as<VarArg>().name : "var"; return;
    case Op::SPECIAL: out_ += u.arg().kind() == ArgKind::String ? u.arg().str() : "special"; return;
    case Op::RANGE: out_ += u.arg().kind() == ArgKind::Range ? rangeName(u) : "range"; return;
    case Op::DEFINE_GLOBAL: out_ += fmt::format("data{}", u.arg().repr()); return;
    case Op::DEFINE_LOCAL: out_ += fmt::format("local{}", u.arg().repr()); return;
    case Op::DEFINE_REG: out_ += fmt::format("reg{}", u.arg().repr()); return;
    case Op::BIND: push({sub(p, 0, p.around, p.right)}); return;
    case Op::NEG: push({text("-"), sub(p, 0, 0)}); return;
    case Op::RECIPROCAL: push({text("1/"), sub(p, 0, 0)}); return;
    case Op::MAX: call(p, "max("); return;
    case Op::WHERE:
      push({text("("), sub(p, 1), text(" if "), sub(p, 0), text(" else "), sub(p, 2), text(")")});
      return;
    case Op::MULACC:
      push(
          {text("("), sub(p, 0, 1), text("*"), sub(p, 1, 1, true), text("+"), sub(p, 2, 2, true), text(")")});
      return;
    case Op::CAST:
    case Op::BITCAST:
      push({text(fmt::format("{}({})(", u.is(Op::BITCAST) ? "bitcast" : "", u.dtype().name().substr(7))),
            sub(p, 0), text(")")});
      return;
    case Op::INDEX: {
      std::vector<Piece> pieces{sub(p, 0, 0)};
      for (size_t i = 1; i < u.srcCount(); ++i) {
        pieces.push_back(text(i == 1 ? "[" : ", "));
        pieces.push_back(sub(p, i));
      }
      if (u.srcCount() > 1) pieces.push_back(text("]"));
      push(std::move(pieces));
      return;
    }
    case Op::VECTORIZE: {
      bool same = u.srcCount() > 1;
      for (UOp s : u.src()) same &= s == u.src(0);
      if (same)
        push({text("{"), sub(p, 0), text(", ...}")});
      else
        call(p, "{", "}", closed_ ? "," : ", ");
      return;
    }
    case Op::GEP: push({sub(p, 0, 0), text(fmt::format(".gep{}", u.arg().repr()))}); return;
    default: {
      std::string name(opName(u.op()));
      bool isAlu = u.in(group::kAlu | OpSet{Op::LOAD, Op::STORE});
      if (isAlu)
        for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      if (u.arg()) name += fmt::format("<{}>", u.arg().repr());
      call(p, name + "(");
    }
    }
  }

  int maxDepth_;
  size_t maxLength_;
  bool closed_; ///< whether an operator without an enclosing operator gets parentheses too
  std::string out_;
  std::vector<Piece> todo_;
};

} // namespace

std::string expression(UOp u, int maxDepth, size_t maxLength) {
  return u ? ExpressionWriter(maxDepth, maxLength).write(u) : "null";
}

std::string closedExpression(UOp u) {
  return ExpressionWriter(1 << 20, size_t{1} << 20, true).write(u);
}

std::string brief(UOp u) {
  if (!u) return "null";
  std::string s = fmt::format("{} {}", opName(u.op()), u.dtype().name());
  if (u.arg()) s += " " + u.arg().repr();
  s += " (";
  for (size_t i = 0; i < u.srcCount(); ++i) s += fmt::format("{}{}", i ? ", " : "", u.src(i).id());
  return s + ")";
}

// The limits fit any expression a person reads. Sharing can blow a tree up beyond them: it is then cut at
// #id.
std::string UOp::render() const {
  return expression(*this, 1 << 20, size_t{1} << 20);
}

namespace {

/// The argument as people write it: constants with the fewest digits that their type tells apart.
Arg written(UOp u) {
  if (u.is(Op::CONST)) return Arg::of(asWritten(u.dtype(), u.constValue()));
  if (!u.is(Op::VCONST)) return u.arg();
  auto lanes = u.arg().as<std::vector<ConstValue>>();
  for (ConstValue& lane : lanes) lane = asWritten(u.dtype(), lane);
  return Arg::of(std::move(lanes));
}

} // namespace

std::string UOp::str() const {
  // The first pass counts the uses of each node and numbers nodes in the order the tree is written.
  struct Use {
    size_t number = 0, count = 0;
    bool written = false;
  };
  UOpMap<Use> uses;
  std::vector<UOp> stack{*this};
  uses[*this] = {0, 0, false};
  while (!stack.empty()) {
    UOp u = stack.back();
    stack.pop_back();
    for (size_t i = u.srcCount(); i-- > 0;) {
      auto [it, fresh] = uses.try_emplace(u.src(i), Use{uses.size(), 0, false});
      if (++it->second.count == 1 && u.src(i) != *this) stack.push_back(u.src(i));
    }
  }
  struct Line {
    UOp node; ///< null: closes a node
    size_t indent;
    bool isRoot;
  };
  std::string out;
  std::vector<Line> todo{{*this, 0, true}};
  size_t number = 0;
  while (!todo.empty()) {
    Line l = todo.back();
    todo.pop_back();
    if (!l.node) {
      out += l.isRoot ? "))" : ")),";
      continue;
    }
    if (!l.isRoot) out += '\n';
    // Indentation stops growing at 200: a chain of 50,000 nodes would otherwise print gigabytes of blanks.
    out.append(l.indent < 200 ? l.indent : 200, ' ');
    Use& use = uses[l.node];
    if (use.written) {
      out += fmt::format("x{},", use.number);
      continue;
    }
    use.written = true;
    if (use.count > 1) use.number = number++;
    std::string tag = l.node.tag() ? ", tag=" + l.node.tag().repr() : "";
    out += fmt::format("{}UOp(Ops.{}, {}, arg={}{}, src=(",
                       use.count > 1 ? fmt::format("x{}:=", use.number) : "", opName(l.node.op()),
                       l.node.dtype().name(), written(l.node).repr(), tag);
    todo.push_back({{}, l.indent, l.isRoot});
    for (size_t i = l.node.srcCount(); i-- > 0;) todo.push_back({l.node.src(i), l.indent + 2, false});
  }
  return out;
}

} // namespace uopscope
