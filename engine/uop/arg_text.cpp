// The text form of arguments, as traces store it: one compact line, the same in every run, so that two
// recordings compare equal. Numbers, strings and tuples look as in Python. Any other kind is a word with its
// fields in parentheses:
//
//   3   1.5   true   'gidx0'   (0,1)   @ADD   Range(0,1;REDUCE)   Var('n';1;10)
//   Kernel('r_16';GLOBAL,LOCAL;0;[UPCAST:0:4];-)
//
// decode() trusts nothing: malformed text is Error(Value).
#include "engine/base/error.h"
#include "engine/uop/arg.h"
#include "engine/uop/text.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

constexpr size_t kMaxItems = size_t{1} << 24; ///< in a list; a longer list is an attack
constexpr std::string_view kSpaces[] = {"GLOBAL", "LOCAL", "REG"};

template <typename T, typename F>
std::string joined(const std::vector<T>& items, char separator, F text) {
  std::string s;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) s += separator;
    s += text(items[i]);
  }
  return s;
}
std::string intList(const std::vector<int64_t>& v) {
  return joined(v, ',', [](int64_t i) { return std::to_string(i); });
}
std::string optText(const Opt& o) {
  std::string s = fmt::format("{}:{}", optOpName(o.op), o.axis);
  for (int64_t a : o.arg) s += ":" + std::to_string(a);
  return s;
}
std::string optList(const std::vector<Opt>& v) {
  return "[" + joined(v, ',', optText) + "]";
}
std::string floatText(double v) {
  if (v == v) return pyFloat(v);
  return fmt::format("nan({:x})", __builtin_bit_cast(uint64_t, v));
}
std::string encoded(const ConstValue& c) {
  return Arg::of(c).encode();
}

/// Text to argument.
class Decoder {
public:
  explicit Decoder(std::string_view text) : c_(text) {}

  Arg all() {
    if (c_.atEnd()) return {};
    Arg a = value();
    if (!c_.atEnd()) c_.fail("the end expected");
    return a;
  }

private:
  std::vector<int64_t> ints(std::string_view stop) {
    std::vector<int64_t> v;
    if (c_.rest().starts_with(stop)) return v;
    do v.push_back(checkedItem(v.size()));
    while (c_.take(",") && !c_.rest().starts_with(stop));
    return v;
  }
  int64_t checkedItem(size_t soFar) {
    if (soFar >= kMaxItems) c_.fail("fewer items expected");
    return c_.readInt();
  }
  bool flag() {
    if (c_.take("0")) return false;
    c_.expect("1");
    return true;
  }
  template <typename T>
  T known(const std::optional<T>& v, std::string_view what) {
    if (!v) c_.fail(what);
    return *v;
  }
  Op op() { return known(opFromName(c_.readName()), "a known operation expected"); }
  AxisType axisType() { return known(axisTypeFromName(c_.readName()), "a known axis type expected"); }
  AddrSpace space() {
    std::string_view name = c_.readName();
    for (size_t i = 0; i < 3; ++i)
      if (kSpaces[i] == name) return static_cast<AddrSpace>(i);
    c_.fail("a known address space expected");
  }
  DType dtype() {
    std::string text = c_.readString();
    return known(dtypes::parse(text), "a known data type expected");
  }
  double nan() {
    uint64_t bits = 0;
    int digits = 0;
    for (; c_.peek() != ')'; ++digits, c_.skip(1)) {
      char ch = c_.peek();
      int v = ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
      if (v < 0 || digits == 16) c_.fail("the bits of a NaN expected");
      bits = bits << 4 | static_cast<uint64_t>(v);
    }
    c_.skip(1);
    double d = __builtin_bit_cast(double, bits);
    if (d == d) c_.fail("the bits of a NaN expected");
    return d;
  }
  ConstValue constant() {
    if (c_.take("true")) return ConstValue::ofBool(true);
    if (c_.take("false")) return ConstValue::ofBool(false);
    if (c_.take("Invalid")) return ConstValue::invalid();
    if (c_.take("nan(")) return ConstValue::ofFloat(nan());
    int64_t i = 0;
    double f = 0;
    return c_.readNumber(i, f) ? ConstValue::ofFloat(f) : ConstValue::ofInt(i);
  }
  Opt opt() {
    Opt o;
    o.op = known(optOpFromName(c_.readName()), "a known optimisation expected");
    c_.expect(":");
    int64_t axis = c_.readInt();
    if (axis < -1 || axis > 1 << 20) c_.fail("an axis expected");
    o.axis = static_cast<int>(axis);
    while (c_.take(":")) o.arg.push_back(checkedItem(o.arg.size()));
    return o;
  }
  std::vector<Opt> opts() {
    std::vector<Opt> v;
    if (c_.take("]")) return v;
    do v.push_back(opt());
    while (c_.take(","));
    c_.expect("]");
    return v;
  }
  RangeArg range() {
    RangeArg r;
    r.ids = ints(";");
    c_.expect(";");
    r.type = axisType();
    return r;
  }
  KernelInfo kernel() {
    KernelInfo k;
    k.name = c_.readString();
    c_.expect(";");
    if (c_.peek() != ';') do
        k.axisTypes.push_back(axisType());
      while (c_.take(","));
    c_.expect(";");
    k.dontUseLocals = flag();
    c_.expect(";[");
    k.appliedOpts = opts();
    c_.expect(";");
    if (c_.take("[")) {
      k.hasOptsToApply = true;
      k.optsToApply = opts();
    } else {
      c_.expect("-");
    }
    return k;
  }
  WmmaArg wmma() {
    WmmaArg w;
    w.name = c_.readString();
    c_.expect(";");
    w.dims = ints(";");
    c_.expect(";");
    w.dtypeIn = dtype();
    c_.expect(";");
    w.dtypeOut = dtype();
    c_.expect(";");
    w.device = c_.readString();
    c_.expect(";");
    w.threads = c_.readInt();
    c_.expect(";");
    while (c_.take("[")) {
      auto& axes = w.upcastAxes.emplace_back();
      while (!c_.take("]")) {
        int64_t axis = checkedItem(axes.size());
        c_.expect(":");
        axes.emplace_back(axis, c_.readInt());
        if (c_.peek() != ']') c_.expect(",");
      }
    }
    c_.expect(";");
    w.reduceAxes = ints(")");
    return w;
  }
  /// A word with fields in parentheses.
  Arg structured() {
    std::string_view word = c_.readName();
    c_.expect("(");
    Arg a;
    if (word == "Range") {
      a = Arg::of(range());
    } else if (word == "Reduce") {
      ReduceArg r;
      r.op = op();
      c_.expect(";");
      r.axes = ints(")");
      a = Arg::of(std::move(r));
    } else if (word == "Var") {
      VarArg v;
      v.name = c_.readString();
      c_.expect(";");
      v.vmin = c_.readInt();
      c_.expect(";");
      v.vmax = c_.readInt();
      a = Arg::of(std::move(v));
    } else if (word == "Bufferize") {
      BufferizeOpts b;
      b.device = c_.readString();
      c_.expect(";");
      b.addrspace = space();
      c_.expect(";");
      b.removable = flag();
      a = Arg::of(std::move(b));
    } else if (word == "Kernel") {
      a = Arg::of(kernel());
    } else if (word == "Wmma") {
      a = Arg::of(wmma());
    } else if (word == "Consts") {
      std::vector<ConstValue> v;
      if (c_.peek() != ')') do
          v.push_back(constant());
        while (c_.take(","));
      a = Arg::of(std::move(v));
    } else {
      c_.fail("a known kind of argument expected");
    }
    c_.expect(")");
    return a;
  }
  Arg value() {
    char ch = c_.peek();
    if (ch == '\'' || ch == '"') return Arg::of(c_.readString());
    if (c_.take("@")) return Arg::of(op());
    if (c_.take("(")) {
      std::vector<int64_t> v = ints(")");
      c_.expect(")");
      return Arg::of(std::move(v));
    }
    if (c_.take("{")) {
      std::vector<std::string> v;
      if (c_.peek() != '}') do
          v.push_back(c_.readString());
        while (c_.take(","));
      c_.expect("}");
      return Arg::of(std::move(v));
    }
    if (c_.take("[")) return Arg::of(opts());
    bool scalar = c_.atNumber() || ch == 't' || ch == 'f' || ch == 'I' || c_.rest().starts_with("nan(");
    if (scalar) return Arg::of(constant());
    return structured();
  }

  TextCursor c_;
};

} // namespace

std::string Arg::encode() const {
  switch (kind_) {
  case ArgKind::None: return "";
  case ArgKind::Bool: return bits_ ? "true" : "false";
  case ArgKind::Int: return std::to_string(i());
  case ArgKind::Float: return floatText(f());
  case ArgKind::Invalid: return "Invalid";
  case ArgKind::Op: return fmt::format("@{}", opName(op()));
  case ArgKind::String: return pyString(str());
  case ArgKind::Ints: return "(" + intList(ints()) + ")";
  case ArgKind::Strings:
    return "{" +
           joined(as<std::vector<std::string>>(), ',', [](const std::string& s) { return pyString(s); }) +
           "}";
  case ArgKind::Range:
    return fmt::format("Range({};{})", intList(as<RangeArg>().ids), axisTypeName(as<RangeArg>().type));
  case ArgKind::Reduce:
    return fmt::format("Reduce({};{})", opName(as<ReduceArg>().op), intList(as<ReduceArg>().axes));
  case ArgKind::Var: {
    const auto& v = as<VarArg>();
    return fmt::format("Var({};{};{})", pyString(v.name), v.vmin, v.vmax);
  }
  case ArgKind::Bufferize: {
    const auto& b = as<BufferizeOpts>();
    return fmt::format("Bufferize({};{};{})", pyString(b.device), kSpaces[static_cast<size_t>(b.addrspace)],
                       int{b.removable});
  }
  case ArgKind::Kernel: {
    const auto& k = as<KernelInfo>();
    return fmt::format("Kernel({};{};{};{};{})", pyString(k.name),
                       joined(k.axisTypes, ',', [](AxisType t) { return std::string(axisTypeName(t)); }),
                       int{k.dontUseLocals}, optList(k.appliedOpts),
                       k.hasOptsToApply ? optList(k.optsToApply) : "-");
  }
  case ArgKind::Consts: return "Consts(" + joined(as<std::vector<ConstValue>>(), ',', encoded) + ")";
  case ArgKind::Wmma: {
    const auto& w = as<WmmaArg>();
    std::string axes;
    for (const auto& list : w.upcastAxes)
      axes += "[" + joined(list, ',', [](const auto& p) { return fmt::format("{}:{}", p.first, p.second); }) +
              "]";
    return fmt::format("Wmma({};{};'{}';'{}';{};{};{};{})", pyString(w.name), intList(w.dims),
                       w.dtypeIn.name(), w.dtypeOut.name(), pyString(w.device), w.threads, axes,
                       intList(w.reduceAxes));
  }
  case ArgKind::Opts: return optList(as<std::vector<Opt>>());
  }
  return "";
}

Arg Arg::decode(std::string_view text) {
  return Decoder(text).all();
}

} // namespace uopscope
