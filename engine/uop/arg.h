// Arguments of nodes. Small ones are stored inline, larger ones are interned for the life of the process, so
// an argument is 16 trivially copyable bytes, and equality compares these bytes.
//
//   Arg a = Arg::of(int64_t{3});  a.i() == 3
//   Arg r = Arg::of(RangeArg{{0}, AxisType::Reduce});  r.as<RangeArg>().type
//
// A float's identity is its bit pattern: -0.0 and 0.0 differ, NaN equals itself.
#pragma once
#include "engine/uop/dtype.h"
#include "engine/uop/ops.h"

#include <compare>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace uopscope {

enum class AxisType : uint8_t {
  Global,
  Warp,
  Local,
  Loop,
  GroupReduce,
  Reduce,
  Upcast,
  Unroll,
  Thread,
  Outer,
  Placeholder
};
std::string_view axisTypeName(AxisType t); ///< "GLOBAL"
char axisTypeLetter(AxisType t);           ///< as in kernel names and shape strings: g W l L G R u r t O
std::optional<AxisType> axisTypeFromName(std::string_view name);

/// Identity and kind of a RANGE. Split ranges carry more than one id, outermost first.
struct RangeArg {
  std::vector<int64_t> ids;
  AxisType type = AxisType::Loop;
  bool operator==(const RangeArg&) const = default;
};
/// Argument of REDUCE_AXIS.
struct ReduceArg {
  Op op = Op::ADD;
  std::vector<int64_t> axes;
  bool operator==(const ReduceArg&) const = default;
};
/// Argument of DEFINE_VAR. Both bounds are included.
struct VarArg {
  std::string name;
  int64_t vmin = 0, vmax = 0;
  bool operator==(const VarArg&) const = default;
};
/// Argument of BUFFERIZE: the place of the values. An empty device stands for the device of the source.
struct BufferizeOpts {
  std::string device;
  AddrSpace addrspace = AddrSpace::Global;
  bool removable = true;
  bool operator==(const BufferizeOpts&) const = default;
};
enum class OptOp : uint8_t { TC, UPCAST, UNROLL, LOCAL, THREAD, GROUP, GROUPTOP, NOLOCALS, PADTO, SWAP };
std::string_view optOpName(OptOp op);
std::optional<OptOp> optOpFromName(std::string_view name);
/// One kernel optimisation. axis is -1 if it has none. TC uses all of arg, every other Opt arg[0] alone.
struct Opt {
  OptOp op = OptOp::UPCAST;
  int axis = -1;
  std::vector<int64_t> arg;
  bool operator==(const Opt&) const = default;
};
std::string toString(const Opt& opt); ///< "Opt(op=OptOps.UPCAST, axis=0, arg=4)"
/// Argument of a kernel's SINK.
struct KernelInfo {
  std::string name = "test";
  std::vector<AxisType> axisTypes;
  bool dontUseLocals = false;
  std::vector<Opt> appliedOpts;
  bool hasOptsToApply = false; ///< true: apply exactly optsToApply instead of choosing
  std::vector<Opt> optsToApply;
  bool operator==(const KernelInfo&) const = default;
};
/// One lane of VCONST, or the value of any constant on its way.
struct ConstValue {
  enum class Kind : uint8_t { Bool, Int, Float, Invalid } kind = Kind::Int;
  int64_t i = 0; ///< Bool (0/1) and Int; uint64 values as the same 64 bits
  double f = 0;  ///< Float
  static constexpr ConstValue ofBool(bool v) { return {Kind::Bool, v, 0}; }
  static constexpr ConstValue ofInt(int64_t v) { return {Kind::Int, v, 0}; }
  static constexpr ConstValue ofFloat(double v) { return {Kind::Float, 0, v}; }
  static constexpr ConstValue invalid() { return {Kind::Invalid, 0, 0}; }
  bool isInvalid() const { return kind == Kind::Invalid; }
  double asDouble() const { return kind == Kind::Float ? f : static_cast<double>(i); }
  bool operator==(const ConstValue& o) const;
};
/// Argument of WMMA: the tile of a tensor core, its types and its axes.
struct WmmaArg {
  std::string name;
  std::vector<int64_t> dims; ///< N, M, K
  DType dtypeIn, dtypeOut;
  std::string device;
  int64_t threads = 1;
  std::vector<std::vector<std::pair<int64_t, int64_t>>> upcastAxes;
  std::vector<int64_t> reduceAxes;
  bool operator==(const WmmaArg&) const = default;
};

enum class ArgKind : uint8_t {
  None,
  Bool,
  Int,
  Float,
  Invalid,
  Op, // inline
  String,
  Ints,
  Strings,
  Range,
  Reduce,
  Var,
  Bufferize,
  Kernel,
  Consts,
  Wmma,
  Opts // interned
};

/// The kind as words of a message: "an integer", "a range".
std::string_view argKindWords(ArgKind kind);

class Arg {
public:
  constexpr Arg() = default;
  static constexpr Arg none() { return {}; }
  static constexpr Arg ofBool(bool v) { return Arg(ArgKind::Bool, v); }
  static constexpr Arg of(int64_t v) { return Arg(ArgKind::Int, static_cast<uint64_t>(v)); }
  static constexpr Arg of(double v) { return Arg(ArgKind::Float, __builtin_bit_cast(uint64_t, v)); }
  static constexpr Arg of(Op op) { return Arg(ArgKind::Op, static_cast<uint64_t>(op)); }
  static constexpr Arg invalid() { return Arg(ArgKind::Invalid, 0); }
  static Arg of(const ConstValue& v);
  static Arg of(std::string_view v);
  static Arg of(const char* v) { return of(std::string_view(v)); }
  /// For GEP, PERMUTE, FLIP (0/1) and BUFFER_VIEW; for UNROLL and CONTRACT as axis, size, axis, size ...
  static Arg of(std::vector<int64_t> v);
  static Arg of(std::vector<std::string> v); ///< several devices
  static Arg of(RangeArg v);
  static Arg of(ReduceArg v);
  static Arg of(VarArg v);
  static Arg of(BufferizeOpts v);
  static Arg of(KernelInfo v);
  static Arg of(std::vector<ConstValue> v);
  static Arg of(WmmaArg v);
  static Arg of(std::vector<Opt> v);

  constexpr ArgKind kind() const { return kind_; }
  constexpr uint64_t bits() const { return bits_; }
  static constexpr Arg fromRaw(ArgKind kind, uint64_t bits) { return Arg(kind, bits); }
  constexpr explicit operator bool() const { return kind_ != ArgKind::None; }
  constexpr bool operator==(const Arg&) const = default;

  constexpr bool isNumber() const {
    return kind_ == ArgKind::Bool || kind_ == ArgKind::Int || kind_ == ArgKind::Float;
  }
  /// The content of a Bool or Int. Each accessor throws Error(Spec) if the argument is of a different kind.
  constexpr int64_t i() const {
    if (kind_ != ArgKind::Int && kind_ != ArgKind::Bool) wrongKind(ArgKind::Int);
    return static_cast<int64_t>(bits_);
  }
  constexpr double f() const {
    if (kind_ != ArgKind::Float) wrongKind(ArgKind::Float);
    return __builtin_bit_cast(double, bits_);
  }
  constexpr Op op() const {
    if (kind_ != ArgKind::Op) wrongKind(ArgKind::Op);
    return static_cast<Op>(bits_);
  }
  constexpr double number() const { return kind_ == ArgKind::Float ? f() : static_cast<double>(i()); }
  ConstValue constant() const; ///< Bool, Int, Float, Invalid
  /// The interned payload (std::string, std::vector<int64_t>, RangeArg ...). Throws Error(Spec) if the
  /// argument is of a different kind.
  template <typename T>
  const T& as() const {
    if (kind_ != kindOf<T>()) wrongKind(kindOf<T>());
    return *static_cast<const T*>(payload());
  }
  const std::string& str() const { return as<std::string>(); }
  const std::vector<int64_t>& ints() const { return as<std::vector<int64_t>>(); }

  /// Depends on content alone, never on addresses.
  uint64_t hash() const {
    if (kind_ >= ArgKind::String) return internedHash();
    uint64_t h = (bits_ ^ bits_ >> 32) * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(kind_);
    return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull;
  }
  /// The argument as Python prints it: 3, 1.5, 'gidx0', (0, 1), AxisType.REDUCE ...
  std::string repr() const;
  /// One line of text that decode() reads back; traces store this form.
  std::string encode() const;
  static Arg decode(std::string_view text); ///< throws Error(Value)

private:
  constexpr Arg(ArgKind kind, uint64_t bits) : bits_(bits), kind_(kind) {}
  [[noreturn]] void wrongKind(ArgKind wanted) const;
  template <typename T>
  static constexpr ArgKind kindOf() {
    if (std::is_same_v<T, std::string>) return ArgKind::String;
    if (std::is_same_v<T, std::vector<int64_t>>) return ArgKind::Ints;
    if (std::is_same_v<T, std::vector<std::string>>) return ArgKind::Strings;
    if (std::is_same_v<T, RangeArg>) return ArgKind::Range;
    if (std::is_same_v<T, ReduceArg>) return ArgKind::Reduce;
    if (std::is_same_v<T, VarArg>) return ArgKind::Var;
    if (std::is_same_v<T, BufferizeOpts>) return ArgKind::Bufferize;
    if (std::is_same_v<T, KernelInfo>) return ArgKind::Kernel;
    if (std::is_same_v<T, std::vector<ConstValue>>) return ArgKind::Consts;
    if (std::is_same_v<T, WmmaArg>) return ArgKind::Wmma;
    return std::is_same_v<T, std::vector<Opt>> ? ArgKind::Opts : ArgKind::None;
  }
  const void* payload() const;
  uint64_t internedHash() const;

  uint64_t bits_ = 0;
  ArgKind kind_ = ArgKind::None;
};

} // namespace uopscope
