// Interning, hashing and Python-like printing of arguments; the text form of traces is in arg_text.cpp.
//
// Each payload type has one table, in shards by hash with a lock each. Entries live as long as the process,
// so an argument is the address of an entry. Hashes depend on the content alone.
#include "engine/uop/arg.h"

#include "engine/base/error.h"
#include "engine/uop/text.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace uopscope {

namespace {

/// An interned payload; the bits of an argument are the address of one.
struct Entry {
  uint64_t hash;
  const void* value;
};

struct Hasher {
  uint64_t state;
  explicit Hasher(ArgKind kind) : state(0x243F6A8885A308D3ull + static_cast<uint64_t>(kind)) {}

  void word(uint64_t v) {
    state = (state ^ v) * 0x9E3779B97F4A7C15ull;
    state ^= state >> 29;
  }
  void operator()(int64_t v) { word(static_cast<uint64_t>(v)); }
  void operator()(const std::string& s) {
    word(s.size());
    uint64_t chunk = 0;
    for (size_t i = 0; i < s.size(); ++i) {
      chunk = chunk << 8 | static_cast<unsigned char>(s[i]);
      if (i % 8 == 7) word(chunk), chunk = 0;
    }
    word(chunk);
  }
  void operator()(AxisType t) { word(static_cast<uint64_t>(t)); }
  void operator()(DType d) { word(d.bits()); }
  template <typename A, typename B>
  void operator()(const std::pair<A, B>& p) {
    (*this)(p.first);
    (*this)(p.second);
  }
  template <typename T>
  void operator()(const std::vector<T>& v) {
    word(v.size());
    for (const T& x : v) (*this)(x);
  }
  void operator()(const RangeArg& r) {
    (*this)(r.ids);
    (*this)(r.type);
  }
  void operator()(const ReduceArg& r) {
    word(static_cast<uint64_t>(r.op));
    (*this)(r.axes);
  }
  void operator()(const VarArg& v) {
    (*this)(v.name);
    (*this)(v.vmin);
    (*this)(v.vmax);
  }
  void operator()(const BufferizeOpts& b) {
    (*this)(b.device);
    word(static_cast<uint64_t>(b.addrspace) * 2 + b.removable);
  }
  void operator()(const Opt& o) {
    word(static_cast<uint64_t>(o.op));
    (*this)(int64_t{o.axis});
    (*this)(o.arg);
  }
  void operator()(const KernelInfo& k) {
    (*this)(k.name);
    (*this)(k.axisTypes);
    word(k.dontUseLocals * 2u + k.hasOptsToApply);
    (*this)(k.appliedOpts);
    (*this)(k.optsToApply);
  }
  void operator()(const ConstValue& c) {
    word(static_cast<uint64_t>(c.kind));
    word(c.kind == ConstValue::Kind::Float ? __builtin_bit_cast(uint64_t, c.f) : static_cast<uint64_t>(c.i));
  }
  void operator()(const WmmaArg& w) {
    (*this)(w.name);
    (*this)(w.dims);
    (*this)(w.dtypeIn);
    (*this)(w.dtypeOut);
    (*this)(w.device);
    (*this)(w.threads);
    (*this)(w.upcastAxes);
    (*this)(w.reduceAxes);
  }
};

template <typename T>
class InternTable {
public:
  uint64_t intern(ArgKind kind, T value) {
    Hasher hasher(kind);
    hasher(value);
    Shard& shard = shards_[hasher.state >> 60];
    std::lock_guard lock(shard.mutex);
    auto [it, end] = shard.entries.equal_range(hasher.state);
    for (; it != end; ++it)
      if (it->second->value == value) return reinterpret_cast<uint64_t>(&it->second->entry);
    auto stored = std::make_unique<Stored>(Stored{{hasher.state, nullptr}, std::move(value)});
    stored->entry.value = &stored->value;
    auto at = shard.entries.emplace(hasher.state, std::move(stored));
    return reinterpret_cast<uint64_t>(&at->second->entry);
  }

private:
  struct Stored {
    Entry entry;
    T value;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_multimap<uint64_t, std::unique_ptr<Stored>> entries;
  };
  std::array<Shard, 16> shards_;
};

template <typename T>
Arg interned(ArgKind kind, T value) {
  static InternTable<T> table;
  return Arg::fromRaw(kind, table.intern(kind, std::move(value)));
}

const Entry& entryOf(uint64_t bits) {
  return *reinterpret_cast<const Entry*>(bits);
}

constexpr std::string_view kAxisNames[] = {"GLOBAL", "WARP",   "LOCAL",  "LOOP",  "GROUP_REDUCE", "REDUCE",
                                           "UPCAST", "UNROLL", "THREAD", "OUTER", "PLACEHOLDER"};
constexpr char kAxisLetters[] = {'g', 'w', 'l', 'L', 'G', 'R', 'u', 'r', 't', 'O', 'p'};
constexpr std::string_view kOptNames[] = {"TC",    "UPCAST",   "UNROLL",   "LOCAL", "THREAD",
                                          "GROUP", "GROUPTOP", "NOLOCALS", "PADTO", "SWAP"};

template <typename Enum, size_t N>
std::optional<Enum> byName(const std::string_view (&names)[N], std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

/// A tuple as Python prints it: "(a, b)", "(a,)" or "()".
template <typename Range, typename F>
std::string tuple(const Range& items, F text) {
  std::string s = "(";
  size_t n = 0;
  for (const auto& item : items) s += (n++ ? ", " : "") + text(item);
  return s + (n == 1 ? ",)" : ")");
}
std::string intTuple(const std::vector<int64_t>& v) {
  return tuple(v, [](int64_t i) { return std::to_string(i); });
}
std::string reprOf(const ConstValue& c) {
  return Arg::of(c).repr();
}

} // namespace

std::string_view axisTypeName(AxisType t) {
  return kAxisNames[static_cast<size_t>(t)];
}
char axisTypeLetter(AxisType t) {
  return kAxisLetters[static_cast<size_t>(t)];
}
std::optional<AxisType> axisTypeFromName(std::string_view name) {
  if (name.starts_with("AxisType.")) name.remove_prefix(9);
  return byName<AxisType>(kAxisNames, name);
}
std::string_view optOpName(OptOp op) {
  return kOptNames[static_cast<size_t>(op)];
}
std::optional<OptOp> optOpFromName(std::string_view name) {
  if (name.starts_with("OptOps.")) name.remove_prefix(7);
  return byName<OptOp>(kOptNames, name);
}

std::string toString(const Opt& opt) {
  std::string axis = opt.axis < 0 ? "None" : std::to_string(opt.axis);
  std::string arg = opt.arg.empty()       ? "None"
                    : opt.arg.size() == 1 ? std::to_string(opt.arg[0])
                                          : intTuple(opt.arg);
  return fmt::format("Opt(op=OptOps.{}, axis={}, arg={})", optOpName(opt.op), axis, arg);
}

bool ConstValue::operator==(const ConstValue& o) const {
  if (kind != o.kind) return false;
  if (kind == Kind::Float) return __builtin_bit_cast(uint64_t, f) == __builtin_bit_cast(uint64_t, o.f);
  return kind == Kind::Invalid || i == o.i;
}

Arg Arg::of(const ConstValue& v) {
  switch (v.kind) {
  case ConstValue::Kind::Bool: return ofBool(v.i != 0);
  case ConstValue::Kind::Int: return of(v.i);
  case ConstValue::Kind::Float: return of(v.f);
  default: return invalid();
  }
}
Arg Arg::of(std::string_view v) {
  return interned(ArgKind::String, std::string(v));
}
Arg Arg::of(std::vector<int64_t> v) {
  return interned(ArgKind::Ints, std::move(v));
}
Arg Arg::of(std::vector<std::string> v) {
  return interned(ArgKind::Strings, std::move(v));
}
Arg Arg::of(RangeArg v) {
  return interned(ArgKind::Range, std::move(v));
}
Arg Arg::of(ReduceArg v) {
  return interned(ArgKind::Reduce, std::move(v));
}
Arg Arg::of(VarArg v) {
  return interned(ArgKind::Var, std::move(v));
}
Arg Arg::of(BufferizeOpts v) {
  return interned(ArgKind::Bufferize, std::move(v));
}
Arg Arg::of(KernelInfo v) {
  return interned(ArgKind::Kernel, std::move(v));
}
Arg Arg::of(std::vector<ConstValue> v) {
  return interned(ArgKind::Consts, std::move(v));
}
Arg Arg::of(WmmaArg v) {
  return interned(ArgKind::Wmma, std::move(v));
}
Arg Arg::of(std::vector<Opt> v) {
  return interned(ArgKind::Opts, std::move(v));
}

ConstValue Arg::constant() const {
  switch (kind_) {
  case ArgKind::Bool: return ConstValue::ofBool(bits_ != 0);
  case ArgKind::Float: return ConstValue::ofFloat(f());
  case ArgKind::Invalid: return ConstValue::invalid();
  default: return ConstValue::ofInt(i());
  }
}

const void* Arg::payload() const {
  return entryOf(bits_).value;
}
void Arg::wrongKind(ArgKind wanted) const {
  throw Error(ErrorKind::Spec, fmt::format("an argument is {}, where it must be {}: {}", argKindWords(kind_),
                                           argKindWords(wanted), repr()));
}
std::string_view argKindWords(ArgKind kind) {
  switch (kind) {
  case ArgKind::None: return "none";
  case ArgKind::Bool: return "a bool";
  case ArgKind::Int: return "an integer";
  case ArgKind::Float: return "a float";
  case ArgKind::Invalid: return "Invalid";
  case ArgKind::Op: return "an operation";
  case ArgKind::String: return "a string";
  case ArgKind::Ints: return "a tuple of integers";
  case ArgKind::Strings: return "a tuple of strings";
  case ArgKind::Range: return "a range's axis and type";
  case ArgKind::Reduce: return "(operation, axes)";
  case ArgKind::Var: return "(name, minimum, maximum)";
  case ArgKind::Bufferize: return "BufferizeOpts";
  case ArgKind::Kernel: return "KernelInfo";
  case ArgKind::Consts: return "a tuple of constants";
  case ArgKind::Wmma: return "the description of a tensor core";
  case ArgKind::Opts: return "a tuple of Opts";
  }
  return "?";
}
uint64_t Arg::internedHash() const {
  return entryOf(bits_).hash;
}

std::string Arg::repr() const {
  auto optTuple = [](const std::vector<Opt>& v) {
    return tuple(v, [](const Opt& o) { return toString(o); });
  };
  switch (kind_) {
  case ArgKind::None: return "None";
  case ArgKind::Bool: return bits_ ? "True" : "False";
  case ArgKind::Int: return std::to_string(i());
  case ArgKind::Float: return pyFloat(f());
  case ArgKind::Invalid: return "Invalid";
  case ArgKind::Op: return fmt::format("Ops.{}", opName(op()));
  case ArgKind::String: return pyString(str());
  case ArgKind::Ints: return intTuple(ints());
  case ArgKind::Strings:
    return tuple(as<std::vector<std::string>>(), [](const std::string& s) { return pyString(s); });
  case ArgKind::Range: {
    const auto& r = as<RangeArg>();
    std::string s = "(";
    for (int64_t id : r.ids) s += std::to_string(id) + ", ";
    return fmt::format("{}AxisType.{})", s, axisTypeName(r.type));
  }
  case ArgKind::Reduce:
    return fmt::format("(Ops.{}, {})", opName(as<ReduceArg>().op), intTuple(as<ReduceArg>().axes));
  case ArgKind::Var: {
    const auto& v = as<VarArg>();
    return fmt::format("({}, {}, {})", pyString(v.name), v.vmin, v.vmax);
  }
  case ArgKind::Bufferize: {
    const auto& b = as<BufferizeOpts>();
    constexpr std::string_view spaces[] = {"GLOBAL", "LOCAL", "REG"};
    return fmt::format("BufferizeOpts(device={}, addrspace=AddrSpace.{}, removable={})",
                       b.device.empty() ? "None" : pyString(b.device),
                       spaces[static_cast<size_t>(b.addrspace)], b.removable ? "True" : "False");
  }
  case ArgKind::Kernel: {
    const auto& k = as<KernelInfo>();
    return fmt::format(
        "KernelInfo(name={}, axis_types={}, dont_use_locals={}, applied_opts={}, opts_to_apply={})",
        pyString(k.name),
        tuple(k.axisTypes, [](AxisType t) { return fmt::format("AxisType.{}", axisTypeName(t)); }),
        k.dontUseLocals ? "True" : "False", optTuple(k.appliedOpts),
        k.hasOptsToApply ? optTuple(k.optsToApply) : "None");
  }
  case ArgKind::Consts: return tuple(as<std::vector<ConstValue>>(), reprOf);
  case ArgKind::Wmma: {
    const auto& w = as<WmmaArg>();
    auto pairs = [](const std::vector<std::pair<int64_t, int64_t>>& axes) {
      return tuple(axes, [](const auto& p) { return fmt::format("({}, {})", p.first, p.second); });
    };
    return fmt::format("({}, {}, {}, {}, {}, {}, {}, {})", pyString(w.name), intTuple(w.dims),
                       w.dtypeIn.name(), w.dtypeOut.name(), pyString(w.device), w.threads,
                       tuple(w.upcastAxes, pairs), intTuple(w.reduceAxes));
  }
  case ArgKind::Opts: return optTuple(as<std::vector<Opt>>());
  }
  return "None";
}

} // namespace uopscope
