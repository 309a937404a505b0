// A graph as Python assignments that build it again. A node with one use is written inside the expression of
// its user, up to a depth and length a person can read. Any other node gets a name; sources come before
// users:
//
//   c0 = UOp.range(4, 0, AxisType.LOOP)
//   c1 = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4), (), 0)
//   c2 = c1.index(c0).load()
//   ast = c1.index(c0).store(c2*2.0).end(c0).sink(arg=KernelInfo(...))
#include "engine/uop/print.h"
#include "engine/uop/text.h"

#include <fmt/format.h>

#include <cmath>

namespace uopscope {

namespace {

constexpr int kInlineDepth = 12;
constexpr size_t kInlineLength = 120;
constexpr OpSet kAlwaysNamed{Op::DEFINE_GLOBAL, Op::DEFINE_LOCAL, Op::DEFINE_REG, Op::RANGE,
                             Op::SPECIAL,       Op::LOAD,         Op::BUFFER,     Op::WHERE,
                             Op::END,           Op::COPY,         Op::CONTIGUOUS};
constexpr OpSet kNeverNamed{Op::CONST, Op::DEVICE};

struct Text {
  std::string text;
  int depth = 0;
  int binds = 0; ///< precedence of the outermost operator, 0 for a call or a name
};

std::string_view operatorOf(Op op, int& binds) {
  switch (op) {
  case Op::MUL: binds = 1; return "*";
  case Op::IDIV: binds = 1; return "//";
  case Op::MOD: binds = 1; return "%";
  case Op::ADD: binds = 2; return "+";
  case Op::SHL: binds = 3; return "<<";
  case Op::SHR: binds = 3; return ">>";
  case Op::AND: binds = 4; return "&";
  case Op::XOR: binds = 5; return "^";
  case Op::OR: binds = 6; return "|";
  case Op::CMPLT: binds = 7; return "<";
  case Op::CMPNE: binds = 7; return "!=";
  default: return {};
  }
}

std::string_view methodOf(Op op) {
  switch (op) {
  case Op::EXP2: return "exp2";
  case Op::LOG2: return "log2";
  case Op::SIN: return "sin";
  case Op::SQRT: return "sqrt";
  case Op::RECIPROCAL: return "reciprocal";
  case Op::TRUNC: return "trunc";
  case Op::MAX: return "maximum";
  case Op::WHERE: return "where";
  default: return {};
  }
}

/// Whether the constant can be written as a plain number of its type.
bool isPlainConst(UOp u) {
  if (!u.isConst() || u.srcCount() || u.tag()) return false;
  switch (u.arg().kind()) {
  case ArgKind::Bool: return u.dtype() == dtypes::bool_;
  case ArgKind::Int: return u.dtype().isInt() && u.dtype().count() == 1 && !u.dtype().isPtr();
  case ArgKind::Float: return u.dtype().isFloat() && u.dtype().count() == 1 && !u.dtype().isPtr();
  default: return false;
  }
}
std::string numberText(Arg a) {
  if (a.kind() == ArgKind::Float && !std::isfinite(a.f()))
    return fmt::format("float(\"{}\")", pyFloat(a.f()));
  return a.repr();
}
std::string argText(UOp u) {
  Arg a = u.arg();
  if (a.kind() == ArgKind::Float) return numberText(a);
  if (a.kind() == ArgKind::Wmma) return fmt::format("Arg.decode({})", pyString(a.encode()));
  return a.repr();
}

class Renderer {
public:
  std::string run(UOp root) {
    std::vector<UOp> order = root.toposort();
    UOpMap<size_t> uses;
    for (UOp u : order)
      for (UOp s : u.src()) ++uses[s];
    for (UOp u : order) {
      Text t = write(u);
      if (u.tag()) t = {wrapped(t, 0) + fmt::format(".rtag({})", tagText(u.tag())), t.depth, 0};
      bool isRoot = u == root;
      bool named =
          isRoot || (!u.in(kNeverNamed) && (uses[u] > 1 || u.in(kAlwaysNamed) || t.depth >= kInlineDepth ||
                                            t.text.size() > kInlineLength));
      if (!named) {
        texts_[u] = std::move(t);
        continue;
      }
      std::string name = isRoot ? "ast" : fmt::format("c{}", count_++);
      out_ += fmt::format("{}{} = {}", out_.empty() ? "" : "\n", name, t.text);
      texts_[u] = {name, 0, 0};
    }
    return std::move(out_);
  }

private:
  static std::string tagText(Arg tag) {
    bool simple = tag.kind() <= ArgKind::Ints && tag.kind() != ArgKind::Float;
    return simple ? tag.repr() : fmt::format("Arg.decode({})", pyString(tag.encode()));
  }
  const Text& of(UOp u) const { return texts_.at(u); }
  static std::string wrapped(const Text& t, int around, bool right = false) {
    bool parens = t.binds && (t.binds > around || (t.binds == around && (right || around == 7)));
    return parens ? "(" + t.text + ")" : t.text;
  }
  /// Sources from `first` on, separated by commas. A constant is written as a plain number where the reader
  /// knows its type from `like`.
  std::string list(UOp u, size_t first, DType like = {}) const {
    std::string s;
    for (size_t i = first; i < u.srcCount(); ++i) {
      bool number = like != dtypes::void_ && isPlainConst(u.src(i)) && u.src(i).dtype() == like &&
                    std::isfinite(u.src(i).arg().number());
      s += (i > first ? ", " : "") + (number ? u.src(i).arg().repr() : of(u.src(i)).text);
    }
    return s;
  }
  int depthBelow(UOp u) const {
    int d = 0;
    for (UOp s : u.src()) d = std::max(d, of(s).depth);
    return d + 1;
  }
  std::string self(UOp u) const { return wrapped(of(u.src(0)), 0); }

  Text write(UOp u) {
    Text t{special(u), u.srcCount() ? depthBelow(u) : 0, 0};
    if (!t.text.empty()) return t;
    if (alu(u, t)) return t;
    std::string src = list(u, 0);
    if (u.srcCount() == 1) src += ',';
    t.text = fmt::format("UOp(Ops.{}, {}, ({}){})", opName(u.op()), u.dtype().name(), src,
                         u.arg() ? ", " + argText(u) : "");
    return t;
  }

  bool alu(UOp u, Text& t) {
    if (!u.in(group::kAlu) || u.arg() || u.dtype().isPtr()) return false;
    DType last = u.src(u.srcCount() - 1).dtype();
    DType expected = group::kComparison.has(u.op()) ? dtypes::bool_.vec(last.count()) : last;
    if (u.dtype() != expected) return false;
    int binds = 0;
    if (auto symbol = operatorOf(u.op(), binds); !symbol.empty()) {
      UOp left = u.src(0), right = u.src(1);
      bool number = isPlainConst(right) && right.dtype() == left.dtype() &&
                    std::isfinite(right.arg().number()) && !isPlainConst(left);
      std::string r = number ? right.arg().repr() : wrapped(of(right), binds, true);
      t.text = fmt::format("{}{}{}", wrapped(of(left), binds), symbol, r);
      t.binds = binds;
      return true;
    }
    if (auto method = methodOf(u.op()); !method.empty())
      t.text = fmt::format("{}.{}({})", self(u), method, list(u, 1));
    else
      t.text = fmt::format("{}.alu(Ops.{}{}{})", self(u), opName(u.op()), u.srcCount() > 1 ? ", " : "",
                           list(u, 1));
    return true;
  }

  /// The text of operations that have a constructor of their own; empty where the general form is needed.
  std::string special(UOp u) const {
    std::string dtype = u.dtype() == dtypes::index ? "" : ", dtype=" + u.dtype().name();
    switch (u.op()) {
    case Op::CONST:
      if (u.isInvalidConst() && u == UOp::invalid() && !u.tag()) return "UOp.invalid()";
      if (isPlainConst(u.tag() ? u.withTag({}) : u))
        return fmt::format("UOp.const({}, {})", u.dtype().name(), numberText(u.arg()));
      return {};
    case Op::DEFINE_VAR: {
      if (u.srcCount() || u.arg().kind() != ArgKind::Var) return {};
      const auto& v = u.arg().as<VarArg>();
      return fmt::format("UOp.variable({}, {}, {}{})", pyString(v.name), v.vmin, v.vmax, dtype);
    }
    case Op::RANGE: {
      if (u.srcCount() == 0 || u.arg().kind() != ArgKind::Range || u.src(0).dtype() != u.dtype()) return {};
      std::string ids;
      for (int64_t id : u.arg().as<RangeArg>().ids) ids += fmt::format("{}, ", id);
      std::string more =
          u.srcCount() > 1 ? fmt::format(", src=({}{})", list(u, 1), u.srcCount() == 2 ? "," : "") : "";
      return fmt::format("UOp.range({}, {}AxisType.{}{}{})", extent(u), ids, axisTypeName(u.axisType()),
                         dtype, more);
    }
    case Op::SPECIAL:
      if (u.srcCount() != 1 || u.arg().kind() != ArgKind::String || u.src(0).dtype() != u.dtype()) return {};
      return fmt::format("UOp.special({}, {}{})", extent(u), u.arg().repr(), dtype);
    case Op::CAST:
    case Op::BITCAST:
      if (u.arg() || u.dtype() == u.src(0).dtype()) return {};
      return fmt::format("{}.{}({})", self(u), u.is(Op::CAST) ? "cast" : "bitcast", u.dtype().name());
    case Op::VECTORIZE: {
      if (u.srcCount() < 2 || u.arg() ||
          u.dtype() != u.src(0).dtype().scalar().vec(static_cast<int>(u.srcCount())))
        return {};
      for (UOp s : u.src())
        if (s != u.src(0)) return {};
      if (isPlainConst(u.src(0)))
        return fmt::format("UOp.const({}, {})", u.dtype().name(), numberText(u.src(0).arg()));
      return u.src(0).dtype().count() == 1 ? fmt::format("{}.broadcast({})", self(u), u.srcCount())
                                           : std::string();
    }
    case Op::INDEX:
      return !u.arg() && u.srcCount() > 1 && u.dtype() == u.src(0).dtype()
                 ? fmt::format("{}.index({})", self(u), list(u, 1))
                 : "";
    case Op::LOAD:
      return !u.arg() && u.dtype() == u.src(0).dtype().base()
                 ? fmt::format("{}.load({})", self(u), list(u, 1))
                 : "";
    case Op::STORE:
      return !u.arg() && u.srcCount() > 1 && u.dtype().isVoid()
                 ? fmt::format("{}.store({})", self(u), list(u, 1))
                 : "";
    case Op::END:
      return !u.arg() && u.srcCount() > 1 && u.dtype().isVoid()
                 ? fmt::format("{}.end({})", self(u), list(u, 1))
                 : "";
    case Op::AFTER:
      return !u.arg() && u.srcCount() > 1 && u.dtype() == u.src(0).dtype()
                 ? fmt::format("{}.after({})", self(u), list(u, 1))
                 : "";
    case Op::REDUCE:
      if (u.arg().kind() != ArgKind::Op || u.srcCount() < 2 || u.dtype() != u.src(0).dtype()) return {};
      return fmt::format("{}.reduce({}, arg={})", self(u), list(u, 1), u.arg().repr());
    case Op::SINK: {
      if (u.srcCount() == 0 || !u.dtype().isVoid()) return {};
      std::string more = list(u, 1), arg = u.arg() ? "arg=" + argText(u) : "";
      return fmt::format("{}.sink({}{}{})", self(u), more, !more.empty() && !arg.empty() ? ", " : "", arg);
    }
    default: return {};
    }
  }
  std::string extent(UOp u) const {
    UOp n = u.src(0);
    return isPlainConst(n) ? n.arg().repr() : of(n).text;
  }

  UOpMap<Text> texts_;
  std::string out_;
  size_t count_ = 0;
};

} // namespace

std::string pyrender(UOp u) {
  return Renderer().run(u);
}

} // namespace uopscope
