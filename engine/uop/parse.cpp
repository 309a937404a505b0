// Reads the text of pyrender back: assignments of calls, methods, operators, numbers, strings and tuples.
// This is the part of Python that builds nodes, and no more. Text is not trusted: nesting is limited, and any
// text outside of the grammar is Error(Value) with its line.
#include "engine/base/error.h"
#include "engine/uop/node_check.h"
#include "engine/uop/print.h"
#include "engine/uop/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>

namespace uopscope {

namespace {

struct Value;
using Tuple = std::vector<Value>;
struct Nothing {};
struct Value : std::variant<Nothing, bool, int64_t, double, std::string, UOp, Tuple, Op, AxisType, AddrSpace,
                            OptOp, DType, Opt, KernelInfo, BufferizeOpts, Arg> {
  using variant::variant;
};
template <typename T>
const T* as(const Value& v) {
  return std::get_if<T>(&v);
}

constexpr int kDeepest = 200;

struct Arguments {
  std::vector<Value> positional;
  std::map<std::string, Value, std::less<>> named;
};

class Parser {
public:
  explicit Parser(std::string_view text) : c_(text), text_(text) {}

  UOp run() try {
    UOp last;
    for (c_.skipSpaces(true); !c_.atEnd(); c_.skipSpaces(true)) {
      if (c_.peek() == '#') {
        while (!c_.atEnd() && c_.peek() != '\n') c_.skip(1);
        continue;
      }
      std::string name(c_.readName());
      spaces();
      c_.expect("=");
      Value v = expression(0);
      last = node(v);
      names_[name] = std::move(v);
      spaces();
      if (!c_.atEnd() && c_.peek() != '\n' && c_.peek() != '\r') c_.fail("the end of the line expected");
    }
    if (!last) c_.fail("an assignment expected");
    return last;
  } catch (const Error& e) {
    auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(c_.position()), '\n');
    throw Error(e.kind(), fmt::format("line {}: {}", line, e.what()));
  }

private:
  void spaces() { c_.skipSpaces(depthInParens_ > 0); }

  // --- values, converted to the kind that the caller needs ---
  UOp node(const Value& v) {
    if (auto* u = as<UOp>(v)) return *u;
    c_.fail("a node expected");
  }
  int64_t integer(const Value& v) {
    if (auto* i = as<int64_t>(v)) return *i;
    c_.fail("a whole number expected");
  }
  template <typename T>
  T only(const Value& v, const char* what) {
    if (auto* t = as<T>(v)) return *t;
    c_.fail(fmt::format("{} expected", what));
  }
  bool isNumber(const Value& v) { return as<bool>(v) || as<int64_t>(v) || as<double>(v); }
  ConstValue number(const Value& v) {
    if (auto* b = as<bool>(v)) return ConstValue::ofBool(*b);
    if (auto* f = as<double>(v)) return ConstValue::ofFloat(*f);
    return ConstValue::ofInt(integer(v));
  }
  UOp operand(const Value& v, DType like) { return isNumber(v) ? UOp::constant(like, number(v)) : node(v); }
  std::vector<int64_t> ints(const Value& v) {
    std::vector<int64_t> out;
    for (const Value& x : only<Tuple>(v, "a tuple")) out.push_back(integer(x));
    return out;
  }
  std::vector<UOp> nodes(std::span<const Value> v) {
    std::vector<UOp> out;
    for (const Value& x : v) out.push_back(node(x));
    return out;
  }
  std::vector<UOp> nodesFrom(const Arguments& a, size_t first) {
    return a.positional.size() < first ? std::vector<UOp>{} : nodes(std::span(a.positional).subspan(first));
  }
  const Value& at(const Arguments& a, size_t i, const char* name) {
    if (i < a.positional.size()) return a.positional[i];
    auto it = a.named.find(name);
    if (it == a.named.end()) c_.fail(fmt::format("the argument {} is missing", name));
    return it->second;
  }
  const Value* maybe(const Arguments& a, size_t i, const char* name) {
    if (i < a.positional.size()) return &a.positional[i];
    auto it = a.named.find(name);
    return it == a.named.end() ? nullptr : &it->second;
  }
  DType dtypeOr(const Arguments& a, DType fallback) {
    auto* d = maybe(a, SIZE_MAX, "dtype");
    return d ? only<DType>(*d, "a dtype") : fallback;
  }
  std::vector<Opt> opts(const Value& v) {
    std::vector<Opt> out;
    for (const Value& x : only<Tuple>(v, "a tuple of Opt")) out.push_back(only<Opt>(x, "an Opt"));
    return out;
  }

  /// A value as the argument of an operation. The operation decides the meaning of a tuple.
  Arg argument(const Value& v, Op op) {
    if (as<Nothing>(v)) return {};
    if (auto* a = as<Arg>(v)) return *a;
    if (isNumber(v)) return Arg::of(number(v));
    if (auto* s = as<std::string>(v)) return Arg::of(*s);
    if (auto* o = as<Op>(v)) return Arg::of(*o);
    if (auto* k = as<KernelInfo>(v)) return Arg::of(*k);
    if (auto* b = as<BufferizeOpts>(v)) return Arg::of(*b);
    const Tuple t = only<Tuple>(v, "an argument");
    if (op == Op::VCONST) {
      std::vector<ConstValue> lanes;
      for (const Value& x : t) lanes.push_back(as<Arg>(x) ? as<Arg>(x)->constant() : number(x));
      return Arg::of(std::move(lanes));
    }
    if (op == Op::REDUCE_AXIS && t.size() == 2)
      return Arg::of(ReduceArg{only<Op>(t[0], "an operation"), ints(t[1])});
    if (op == Op::DEFINE_VAR && t.size() == 3)
      return Arg::of(VarArg{only<std::string>(t[0], "a name"), integer(t[1]), integer(t[2])});
    if (!t.empty() && as<AxisType>(t.back())) {
      RangeArg r;
      for (size_t i = 0; i + 1 < t.size(); ++i) r.ids.push_back(integer(t[i]));
      r.type = *as<AxisType>(t.back());
      return Arg::of(std::move(r));
    }
    if (!t.empty() && as<Opt>(t[0])) return Arg::of(opts(v));
    if (!t.empty() && as<std::string>(t[0])) {
      std::vector<std::string> names;
      for (const Value& x : t) names.push_back(only<std::string>(x, "a name"));
      return Arg::of(std::move(names));
    }
    return Arg::of(ints(v));
  }

  // --- grammar ---
  struct Depth {
    Parser& p;
    explicit Depth(Parser& parser) : p(parser) {
      if (++p.depth_ > kDeepest) p.c_.fail("less nesting expected");
    }
    ~Depth() { --p.depth_; }
  };

  /// Parses operators that bind at least as tightly as `level`; level 0 parses all.
  Value expression(int level) {
    Depth guard(*this);
    Value left = primary();
    while (true) {
      spaces();
      static constexpr struct {
        std::string_view symbol;
        Op op;
        int binds;
      } operators[] = {{"//", Op::IDIV, 7}, {"*", Op::MUL, 7},   {"%", Op::MOD, 7},   {"+", Op::ADD, 6},
                       {"<<", Op::SHL, 5},  {">>", Op::SHR, 5},  {"&", Op::AND, 4},   {"^", Op::XOR, 3},
                       {"|", Op::OR, 2},    {"<", Op::CMPLT, 1}, {"!=", Op::CMPNE, 1}};
      const auto* found = std::find_if(std::begin(operators), std::end(operators),
                                       [&](const auto& o) { return c_.rest().starts_with(o.symbol); });
      if (found == std::end(operators) || found->binds <= level) return left;
      c_.skip(found->symbol.size());
      Value right = expression(found->binds);
      if (isNumber(left)) {
        UOp r = node(right);
        left = operand(left, r.dtype()).alu(found->op, {r});
      } else {
        UOp l = node(left);
        left = l.alu(found->op, {operand(right, l.dtype())});
      }
    }
  }

  Value primary() {
    spaces();
    Value v = atom();
    while (true) {
      if (!c_.take(".")) return v;
      std::string name(c_.readName());
      v = method(v, name);
    }
  }

  Value atom() {
    char ch = c_.peek();
    if (ch == '\'' || ch == '"') return c_.readString();
    if (ch == '(') return tupleOrGroup();
    if (c_.atNumber() && ch != 'i' && ch != 'n') {
      int64_t i = 0;
      double f = 0;
      if (c_.readNumber(i, f)) return f;
      return i;
    }
    std::string name(c_.readName());
    if (auto it = names_.find(name); it != names_.end()) return it->second;
    if (name == "None") return Nothing{};
    if (name == "True") return true;
    if (name == "False") return false;
    if (name == "Invalid") return Arg::invalid();
    if (name == "dtypes") return dtype();
    if (name == "Ops") return known(opFromName(member()), "a known operation expected");
    if (name == "AxisType") return known(axisTypeFromName(member()), "a known axis type expected");
    if (name == "OptOps") return known(optOpFromName(member()), "a known optimisation expected");
    if (name == "AddrSpace") {
      std::string_view space = member();
      return space == "GLOBAL" ? AddrSpace::Global
             : space == "LOCAL"
                 ? AddrSpace::Local
                 : (space == "REG" ? AddrSpace::Reg
                                   : (c_.fail("a known address space expected"), AddrSpace::Reg));
    }
    if (name == "UOp") return c_.take(".") ? construct(std::string(c_.readName())) : general(arguments());
    if (name == "Arg") {
      if (member() != "decode") c_.fail("Arg.decode expected");
      Arguments a = arguments();
      return Arg::decode(only<std::string>(at(a, 0, "text"), "a string"));
    }
    if (name == "float") {
      Arguments a = arguments();
      std::string s = only<std::string>(at(a, 0, "text"), "a string");
      constexpr double inf = std::numeric_limits<double>::infinity();
      if (s == "inf" || s == "-inf") return s == "inf" ? inf : -inf;
      if (s == "nan") return std::numeric_limits<double>::quiet_NaN();
      c_.fail("inf or nan expected");
    }
    if (name == "Opt") return opt(arguments());
    if (name == "KernelInfo") return kernelInfo(arguments());
    if (name == "BufferizeOpts") return bufferize(arguments());
    c_.fail(fmt::format("'{}' is not known", name));
  }

  template <typename T>
  T known(const std::optional<T>& v, const char* what) {
    if (!v) c_.fail(what);
    return *v;
  }
  std::string_view member() {
    c_.expect(".");
    return c_.readName();
  }
  Value dtype() {
    DType d = known(dtypes::fromName(member()), "a known dtype expected");
    while (c_.rest().starts_with(".vec(") || c_.rest().starts_with(".ptr(")) {
      size_t close = c_.rest().find(')');
      if (close == std::string_view::npos) c_.fail("')' expected");
      d = known(dtypes::parse(d.name() + std::string(c_.rest().substr(0, close + 1))),
                "a known dtype expected");
      c_.skip(close + 1);
    }
    return d;
  }
  Value tupleOrGroup() {
    c_.expect("(");
    ++depthInParens_;
    Tuple items;
    bool isTuple = false;
    spaces();
    while (c_.peek() != ')') {
      items.push_back(expression(0));
      spaces();
      if (!c_.take(",")) break;
      isTuple = true;
      spaces();
    }
    c_.expect(")");
    --depthInParens_;
    if (items.size() == 1 && !isTuple) return std::move(items[0]);
    return items;
  }
  Arguments arguments() {
    Arguments a;
    c_.expect("(");
    ++depthInParens_;
    spaces();
    while (c_.peek() != ')') {
      std::string_view rest = c_.rest();
      size_t n = 0;
      while (n < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[n])) || rest[n] == '_')) ++n;
      bool isNamed = n > 0 && n + 1 < rest.size() && rest[n] == '=' && rest[n + 1] != '=';
      if (isNamed) {
        std::string name(rest.substr(0, n));
        c_.skip(n + 1);
        a.named[name] = expression(0);
      } else {
        a.positional.push_back(expression(0));
      }
      spaces();
      if (!c_.take(",")) break;
      spaces();
    }
    c_.expect(")");
    --depthInParens_;
    return a;
  }

  // --- calls ---
  Value general(const Arguments& a) {
    Op op = only<Op>(at(a, 0, "op"), "an operation");
    DType d = only<DType>(at(a, 1, "dtype"), "a dtype");
    auto* src = maybe(a, 2, "src");
    auto* arg = maybe(a, 3, "arg");
    std::vector<UOp> sources = src ? nodes(only<Tuple>(*src, "a tuple of nodes")) : std::vector<UOp>{};
    const Arg given = arg ? argument(*arg, op) : Arg{};
    if (!given && OpSet{Op::DEFINE_GLOBAL, Op::DEFINE_VAR}.has(op)) // a pattern may leave it open
      c_.fail(fmt::format("an argument of {} expected", opName(op)));
    return makeChecked(op, d, sources, given);
  }
  Value construct(const std::string& name) {
    Arguments a = arguments();
    if (name == "const") {
      DType d = only<DType>(at(a, 0, "dtype"), "a dtype");
      return UOp::constant(d, number(at(a, 1, "value")));
    }
    if (name == "invalid") return UOp::invalid();
    if (name == "variable")
      return UOp::variable(only<std::string>(at(a, 0, "name"), "a name"), integer(at(a, 1, "min")),
                           integer(at(a, 2, "max")), dtypeOr(a, dtypes::index));
    DType d = dtypeOr(a, dtypes::index);
    if (name == "special")
      return UOp::special(operand(at(a, 0, "end"), d), only<std::string>(at(a, 1, "name"), "a name"), d);
    if (name == "range") {
      RangeArg r;
      for (size_t i = 1; i < a.positional.size(); ++i) {
        if (auto* type = as<AxisType>(a.positional[i]))
          r.type = *type;
        else
          r.ids.push_back(integer(a.positional[i]));
      }
      std::vector<UOp> src{operand(at(a, 0, "end"), d)};
      if (auto* more = maybe(a, SIZE_MAX, "src"))
        for (UOp u : nodes(only<Tuple>(*more, "a tuple of nodes"))) src.push_back(u);
      return makeChecked(Op::RANGE, d, src, Arg::of(std::move(r)));
    }
    c_.fail(fmt::format("UOp.{} is not known", name));
  }
  Value method(const Value& v, const std::string& name) {
    UOp u = node(v);
    Arguments a = arguments();
    if (name == "cast" || name == "bitcast") {
      DType d = only<DType>(at(a, 0, "dtype"), "a dtype");
      return name == "cast" ? u.cast(d) : u.bitcast(d);
    }
    if (name == "broadcast")
      return u.broadcast(static_cast<int>(std::clamp<int64_t>(integer(at(a, 0, "count")), 1, 4095)));
    if (name == "rtag") return u.withTag(argument(at(a, 0, "tag"), u.op()));
    if (name == "alu") return u.alu(only<Op>(at(a, 0, "op"), "an operation"), nodesFrom(a, 1));
    static const std::map<std::string, Op, std::less<>> methods = {{"exp2", Op::EXP2},
                                                                   {"log2", Op::LOG2},
                                                                   {"sin", Op::SIN},
                                                                   {"sqrt", Op::SQRT},
                                                                   {"reciprocal", Op::RECIPROCAL},
                                                                   {"trunc", Op::TRUNC},
                                                                   {"maximum", Op::MAX},
                                                                   {"where", Op::WHERE}};
    if (auto it = methods.find(name); it != methods.end()) return u.alu(it->second, nodesFrom(a, 0));
    std::vector<UOp> rest = nodesFrom(a, 0);
    auto withSelf = rest;
    withSelf.insert(withSelf.begin(), u);
    auto* arg = maybe(a, SIZE_MAX, "arg");
    if (name == "index") return u.indexed(rest);
    if (name == "load") return u.load(rest);
    if (name == "store") return makeChecked(Op::STORE, dtypes::void_, withSelf);
    if (name == "end") return u.end(rest);
    if (name == "after") return u.after(rest);
    if (name == "sink") return UOp::sink(withSelf, arg ? argument(*arg, Op::SINK) : Arg{});
    if (name == "reduce")
      return makeChecked(Op::REDUCE, u.dtype(), withSelf, arg ? argument(*arg, Op::REDUCE) : Arg{});
    c_.fail(fmt::format("the method {} is not known", name));
  }

  Opt opt(const Arguments& a) {
    Opt o;
    o.op = only<OptOp>(at(a, 0, "op"), "an optimisation");
    if (auto* axis = maybe(a, 1, "axis"); axis && !as<Nothing>(*axis))
      o.axis = static_cast<int>(integer(*axis));
    if (auto* arg = maybe(a, 2, "arg"); arg && !as<Nothing>(*arg))
      o.arg = as<Tuple>(*arg) ? ints(*arg) : std::vector{integer(*arg)};
    return o;
  }
  KernelInfo kernelInfo(const Arguments& a) {
    KernelInfo k;
    if (auto* name = maybe(a, 0, "name")) k.name = only<std::string>(*name, "a name");
    if (auto* axes = maybe(a, 1, "axis_types"))
      for (const Value& t : only<Tuple>(*axes, "a tuple"))
        k.axisTypes.push_back(only<AxisType>(t, "an axis type"));
    if (auto* locals = maybe(a, 2, "dont_use_locals")) k.dontUseLocals = only<bool>(*locals, "True or False");
    if (auto* applied = maybe(a, 3, "applied_opts")) k.appliedOpts = opts(*applied);
    if (auto* wanted = maybe(a, 4, "opts_to_apply"); wanted && !as<Nothing>(*wanted)) {
      k.hasOptsToApply = true;
      k.optsToApply = opts(*wanted);
    }
    return k;
  }
  BufferizeOpts bufferize(const Arguments& a) {
    BufferizeOpts b;
    if (auto* device = maybe(a, 0, "device"); device && !as<Nothing>(*device))
      b.device = only<std::string>(*device, "a device");
    if (auto* space = maybe(a, 1, "addrspace")) b.addrspace = only<AddrSpace>(*space, "an address space");
    if (auto* removable = maybe(a, 2, "removable")) b.removable = only<bool>(*removable, "True or False");
    return b;
  }

  TextCursor c_;
  std::string_view text_;
  std::map<std::string, Value, std::less<>> names_;
  int depth_ = 0, depthInParens_ = 0;
};

} // namespace

UOp parseUOp(std::string_view text) {
  return Parser(text).run();
}

} // namespace uopscope
