// Writes C from a linear program: one walk over the instructions, expressions kept as text until they are
// used.
#include "engine/render/c_renderer.h"

#include "engine/base/error.h"
#include "engine/render/c_prelude.h"
#include "engine/render/c_text.h"
#include "engine/render/signature.h"

#include <fmt/format.h>

#include <map>

namespace uopscope {

namespace {

constexpr size_t kLongExpression = 100;
constexpr OpSet kVectorNative{Op::ADD, Op::SUB, Op::MUL, Op::FDIV, Op::NEG,    Op::AND,
                              Op::OR,  Op::XOR, Op::SHL, Op::SHR,  Op::MULACC, Op::RECIPROCAL};

/// Whether the text of an operation repeats an operand, to test it: that operand gets a name.
bool repeatsOperands(UOp u) {
  constexpr OpSet kTested{Op::IDIV, Op::MOD, Op::FDIV, Op::RECIPROCAL, Op::SHL, Op::SHR};
  return u.is(Op::MAX) || (kTested.has(u.op()) && !u.dtype().isFloat());
}

class Writer {
public:
  explicit Writer(const LoweredKernel& kernel) : kernel_(kernel), signature_(signatureOf(kernel)) {}

  std::string write() {
    countUses();
    for (UOp u : kernel_.uops) visit(u);
    if (depth_ != 1)
      throw Error(
          ErrorKind::Compile,
          fmt::format(
              "kernel {}: {} RANGE or IF without its END: close every range with .end(range) before .sink()",
              kernel_.name, depth_ - 1));
    std::string head = types_.declarations() + cPrelude(types_.helpers());
    if (!head.empty()) head += '\n';
    return fmt::format("{}void {}({}) {{\n{}}}\n", head, identifier(kernel_.name), parameters(), body_);
  }

private:
  /// How often the text of each value will be written, and which must have a name for it.
  void countUses() {
    for (auto it = kernel_.uops.rbegin(); it != kernel_.uops.rend(); ++it) {
      UOp u = *it;
      if (u.is(Op::SINK)) continue;
      bool address = u.is(Op::INDEX) || (u.is(Op::CAST) && u.dtype().isPtr());
      int times = address ? uses_[u] : 1;
      bool lanewise = u.in(group::kElementwise) && u.dtype().count() > 1;
      for (UOp s : u.src()) {
        uses_[s] += times;
        if (repeatsOperands(u) || (lanewise && s.dtype().count() == 1)) mustName_.insert(s);
      }
      if (u.is(Op::STORE)) stored_.insert(accessOf(u).pointer);
    }
  }

  std::string parameters() {
    std::vector<std::string> list;
    for (UOp g : signature_.globals)
      list.push_back(fmt::format("{}{}* restrict {}", stored_.contains(g) ? "" : "const ",
                                 types_.name(g.dtype().base()), globalName(g)));
    for (UOp v : signature_.vars)
      list.push_back(fmt::format("{} {}", types_.name(v.dtype()), identifier(v.arg().as<VarArg>().name)));
    if (signature_.hasCoreId()) list.push_back("int core_id");
    return fmt::format("{}", fmt::join(list, ", "));
  }

  void line(const std::string& text) {
    body_ += std::string(static_cast<size_t>(2 * depth_), ' ') + text + '\n';
  }

  const std::string& text(UOp u) {
    auto it = text_.find(throughAfter(u));
    if (it == text_.end())
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: {} is used before it is there", kernel_.name, opName(u.op())));
    return it->second;
  }
  /// One lane of a vector, or the scalar itself.
  std::string lane(UOp u, int i) {
    u = throughAfter(u);
    if (u.dtype().count() == 1) return text(u);
    if (!named_.contains(u)) {
      if (u.is(Op::VECTORIZE)) return text(u.src(static_cast<size_t>(i)));
      if (u.is(Op::CONST)) return constantText(u.dtype().scalar(), u.constValue());
      if (u.is(Op::VCONST))
        return constantText(u.dtype().scalar(),
                            u.arg().as<std::vector<ConstValue>>()[static_cast<size_t>(i)]);
    }
    return fmt::format("{}[{}]", text(u), i);
  }
  template <typename F>
  std::string vectorOf(DType type, F laneText) {
    std::vector<std::string> lanes;
    for (int i = 0; i < type.count(); ++i) lanes.push_back(bare(laneText(i)));
    return fmt::format("({}){{{}}}", types_.name(type), fmt::join(lanes, ", "));
  }

  /// Keeps an expression for its users, under a name where it has several, is long or must stand here.
  void keep(UOp u, std::string expression, const char* prefix, bool nameIt = false) {
    bool vector = u.dtype().count() > 1 && !u.is(Op::VECTORIZE) && !u.is(Op::CONST) && !u.is(Op::VCONST);
    bool atom = u.is(Op::CONST);
    if (nameIt ||
        (!atom && (vector || uses_[u] > 1 || mustName_.contains(u) || expression.size() > kLongExpression))) {
      std::string name = fmt::format("{}{}", prefix, counters_[prefix]++);
      line(fmt::format("{} {} = {};", types_.name(u.dtype()), name, bare(expression)));
      expression = name;
      named_.insert(u);
    }
    text_[u] = std::move(expression);
  }

  std::string place(const Access& a) {
    const std::string& pointer = text(a.pointer);
    const std::string& index = text(a.index.src(1));
    if (a.pointer.dtype().base() == a.type) return fmt::format("{}[{}]", pointer, bare(index));
    return fmt::format("*({}*)({} + {})", types_.name(a.type), pointer, index);
  }

  /// Whether the text of the operation tests an operand, which C cannot do for all lanes at once.
  static bool needsTest(UOp u) {
    if (u.is(Op::SHL) || u.is(Op::SHR)) return mayShiftOut(u.dtype(), u.src(1));
    return (u.is(Op::FDIV) || u.is(Op::RECIPROCAL)) && !u.dtype().isFloat();
  }

  std::string alu(UOp u) {
    DType type = u.dtype(), from = u.srcCount() ? u.src(u.is(Op::WHERE) ? 1 : 0).dtype() : type;
    bool native = kVectorNative.has(u.op()) && !type.isBool() && !isEmulatedFloat(type) &&
                  !(needsTest(u) && type.count() > 1);
    if (type.count() == 1 || native) {
      std::vector<std::string> operands;
      for (UOp s : u.src()) operands.push_back(text(s));
      return types_.alu(u, type, from, operands);
    }
    return vectorOf(type, [&](int i) {
      std::vector<std::string> operands;
      for (UOp s : u.src()) operands.push_back(lane(s, i));
      return types_.alu(u, type.scalar(), from.scalar(), operands);
    });
  }

  std::string cast(UOp u) {
    DType to = u.dtype(), from = u.src(0).dtype();
    if (to.count() == 1) return types_.cast(to, from, text(u.src(0)));
    bool native = !to.isBool() && !from.isBool() && !isEmulatedFloat(to) && !isEmulatedFloat(from);
    if (native) return fmt::format("__builtin_convertvector({}, {})", text(u.src(0)), types_.name(to));
    return vectorOf(to, [&](int i) { return types_.cast(to.scalar(), from.scalar(), lane(u.src(0), i)); });
  }

  std::string load(UOp u) {
    Access a = accessOf(u);
    std::string value = place(a);
    if (!a.gate) return value;
    std::string otherwise = a.alternative           ? text(a.alternative)
                            : u.dtype().count() > 1 ? fmt::format("({}){{0}}", types_.name(u.dtype()))
                                                    : constantText(u.dtype(), ConstValue::ofInt(0));
    return fmt::format("({} ? {} : {})", text(a.gate), value, otherwise);
  }

  void visit(UOp u) {
    switch (u.op()) {
    case Op::NOOP:
    case Op::GROUP:
    case Op::AFTER:
    case Op::SINK:
    case Op::INDEX: return;
    case Op::BARRIER: return; // one thread is a whole group here
    case Op::DEFINE_GLOBAL: text_[u] = globalName(u); return;
    case Op::DEFINE_VAR: {
      const std::string& name = u.arg().as<VarArg>().name;
      text_[u] = identifier(name);
      return;
    }
    case Op::SPECIAL: {
      const std::string& name = u.arg().str();
      if (name != "core_id" && name != "gidx0")
        throw Error(ErrorKind::Compile,
                    fmt::format("kernel {}: index {}: a CPU kernel has one launch dimension, core_id",
                                kernel_.name, name));
      text_[u] = "core_id";
      return;
    }
    case Op::DEFINE_LOCAL:
    case Op::DEFINE_REG: {
      const char* prefix = u.is(Op::DEFINE_REG) ? "acc" : "temp";
      text_[u] = fmt::format("{}{}", prefix, counters_[prefix]++);
      line(fmt::format("{} {}[{}];", types_.name(u.dtype().base()), text_[u], u.dtype().size()));
      return;
    }
    case Op::RANGE: {
      std::string name = rangeName(u);
      text_[u] = name;
      line(fmt::format("for ({0} {1} = 0; {1} < {2}; {1}++) {{", types_.name(u.dtype()), name,
                       bare(text(u.src(0)))));
      ++depth_;
      return;
    }
    case Op::IF:
      line(fmt::format("if ({}) {{", bare(text(u.src(0)))));
      ++depth_;
      return;
    case Op::ENDIF: close(1); return;
    case Op::END: close(u.srcCount() - 1); return;
    case Op::STORE: {
      Access a = accessOf(u);
      line(fmt::format("{}{} = {};", a.gate ? fmt::format("if ({}) ", bare(text(a.gate))) : "", place(a),
                       bare(text(u.src(1)))));
      return;
    }
    case Op::LOAD: keep(u, load(u), "val", true); return;
    case Op::CONST:
      keep(u,
           u.dtype().count() == 1 ? constantText(u.dtype(), u.constValue())
                                  : vectorOf(u.dtype(), [&](int i) { return lane(u, i); }),
           "const");
      return;
    case Op::VCONST: keep(u, vectorOf(u.dtype(), [&](int i) { return lane(u, i); }), "const"); return;
    case Op::VECTORIZE:
      keep(u, vectorOf(u.dtype(), [&](int i) { return text(u.src(static_cast<size_t>(i))); }), "vec");
      return;
    case Op::GEP: {
      const std::vector<int64_t>& lanes = u.arg().ints();
      auto laneText = [&](int i) { return lane(u.src(0), static_cast<int>(lanes[static_cast<size_t>(i)])); };
      if (lanes.size() == 1)
        text_[u] = laneText(0);
      else
        keep(u, vectorOf(u.dtype(), laneText), "gep");
      return;
    }
    case Op::CAST:
      if (!u.dtype().isPtr()) keep(u, cast(u), "cast");
      return;
    case Op::BITCAST: keep(u, types_.bitcast(u.dtype(), u.src(0).dtype(), text(u.src(0))), "cast"); return;
    case Op::CUSTOM:
    case Op::CUSTOMI: {
      std::vector<std::string> operands;
      for (UOp s : u.src()) operands.push_back(text_.contains(throughAfter(s)) ? text(s) : std::string());
      std::string custom = formatCustom(u.arg().str(), operands);
      if (u.dtype().isVoid())
        line(custom);
      else
        keep(u, custom, "custom", u.is(Op::CUSTOM));
      return;
    }
    default:
      if (!u.in(group::kAlu))
        throw Error(ErrorKind::Compile,
                    fmt::format("kernel {}: {} has no form in C: it must be lowered before rendering",
                                kernel_.name, opName(u.op())));
      keep(u, alu(u), "alu");
    }
  }

  void close(size_t blocks) {
    for (size_t i = 0; i < blocks; ++i) {
      if (--depth_ < 1)
        throw Error(ErrorKind::Compile,
                    fmt::format("kernel {}: END or ENDIF without its RANGE or IF", kernel_.name));
      line("}");
    }
  }

  const LoweredKernel& kernel_;
  KernelSignature signature_;
  CText types_;
  UOpMap<std::string> text_;
  UOpMap<int> uses_;
  std::set<UOp, decltype([](UOp a, UOp b) { return a.id() < b.id(); })> mustName_, named_, stored_;
  std::map<std::string, int> counters_;
  std::string body_;
  int depth_ = 1;
};

} // namespace

std::string CRenderer::render(const LoweredKernel& kernel) const {
  return Writer(kernel).write();
}

Target cpuTarget(std::string suffix) {
  Target t;
  t.device = "CPU";
  t.suffix = std::move(suffix);
  t.hasThreads = true;
  t.globalMax = {1, 1, 1};
  t.nativeOps =
      group::kAlu - OpSet{Op::EXP2, Op::LOG2, Op::SIN, Op::POW, Op::THREEFRY, Op::RECIPROCAL, Op::MULACC};
  t.supportsDtype = [](DType d) { return !d.isVoid() && d.kind() != Scalar::Index; };
  return t;
}

} // namespace uopscope
