// Names, sizes, promotion and value conversion of data types. The promotion lattice is a table of the direct
// parents of each kind. The compiler computes from it the set of all kinds above each kind. Kinds are
// declared in order of promotion, so a least upper bound is two ANDs and a count of trailing zeros.
#include "engine/uop/dtype.h"

#include "engine/base/engine_session.h"
#include "engine/base/error.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace uopscope {

void DType::tooManyLanes(int count, int most) {
  throw Error(ErrorKind::Type, fmt::format("a type of {} lanes: at most {} are possible", count, most));
}
void DType::tooLarge(int64_t size) {
  throw Error(ErrorKind::Type, fmt::format("a pointer to {} elements: fewer than 2^35 are possible", size));
}
void DType::noImage(int64_t height, int64_t width) {
  throw Error(ErrorKind::Type, fmt::format("an image of {} by {} pixels: heights are 1 to {}, widths 1 to {}",
                                           height, width, kMaxHeight, kMaxWidth));
}

namespace {

struct KindInfo {
  const char* shortName; ///< as printed after "dtypes.": "float"
  const char* longName;  ///< with its width: "float32"
  const char* cName;
  int size;
};
constexpr KindInfo kKinds[kScalarCount] = {
    {"void", "void", "void", 0},
    {"index", "index", "index", 8},
    {"bool", "bool", "bool", 1},
    {"char", "int8", "signed char", 1},
    {"uchar", "uint8", "unsigned char", 1},
    {"short", "int16", "short", 2},
    {"ushort", "uint16", "unsigned short", 2},
    {"int", "int32", "int", 4},
    {"uint", "uint32", "unsigned int", 4},
    {"long", "int64", "long", 8},
    {"ulong", "uint64", "unsigned long", 8},
    {"fp8e4m3", "fp8e4m3", "float8_e4m3", 1},
    {"fp8e5m2", "fp8e5m2", "float8_e5m2", 1},
    {"half", "float16", "half", 2},
    {"bfloat16", "bfloat16", "__bf16", 2},
    {"float", "float32", "float", 4},
    {"double", "float64", "double", 8},
};
const KindInfo& info(Scalar k) {
  return kKinds[static_cast<size_t>(k)];
}

constexpr uint32_t bit(Scalar k) {
  return 1u << static_cast<unsigned>(k);
}

/// For each kind the set of kinds that it can be promoted to, itself included.
constexpr auto kAbove = [] {
  using enum Scalar;
  struct Edge {
    Scalar from, to;
  };
  constexpr Edge edges[] = {
      {Bool, Int8},        {Bool, UInt8},       {Int8, Int16},      {Int16, Int32},      {Int32, Int64},
      {Int64, Fp8E4M3},    {Int64, Fp8E5M2},    {UInt8, Int16},     {UInt8, UInt16},     {UInt16, Int32},
      {UInt16, UInt32},    {UInt32, Int64},     {UInt32, UInt64},   {UInt64, Fp8E4M3},   {UInt64, Fp8E5M2},
      {Fp8E4M3, Float16},  {Fp8E4M3, BFloat16}, {Fp8E5M2, Float16}, {Fp8E5M2, BFloat16}, {Float16, Float32},
      {BFloat16, Float32}, {Float32, Float64},
  };
  std::array<uint32_t, kScalarCount> above{};
  for (int k = kScalarCount - 1; k >= 0; --k) {
    above[static_cast<size_t>(k)] = 1u << k;
    for (const Edge& e : edges)
      if (static_cast<int>(e.from) == k) above[static_cast<size_t>(k)] |= above[static_cast<size_t>(e.to)];
  }
  // The join of index and an integer is index, the join of index and a float is that float.
  above[static_cast<size_t>(Index)] =
      bit(Index) | above[static_cast<size_t>(Fp8E4M3)] | above[static_cast<size_t>(Fp8E5M2)];
  for (Scalar k : {Bool, Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64})
    above[static_cast<size_t>(k)] |= bit(Index);
  return above;
}();

Scalar floatOfEnvironment() {
  const char* text = std::getenv("DEFAULT_FLOAT");
  if (!text || !*text) return Scalar::Float32;
  std::string lower;
  for (const char* p = text; *p; ++p)
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(*p)));
  auto d = dtypes::fromName(lower);
  if (!d || !d->isFloat())
    throw Error(
        ErrorKind::Value,
        fmt::format("DEFAULT_FLOAT={} is not a float dtype; use HALF, BFLOAT16, FLOAT or DOUBLE", text));
  return d->kind();
}

struct DefaultKinds {
  std::atomic<Scalar> ofFloats = floatOfEnvironment(), ofInts = Scalar::Int32;
};
std::atomic<Scalar>& defaultFloatKind() {
  return EngineSession::current().part<DefaultKinds>().ofFloats;
}
std::atomic<Scalar>& defaultIntKind() {
  return EngineSession::current().part<DefaultKinds>().ofInts;
}

/// The bit layout of a binary float format narrower than a double.
struct Layout {
  int exponentBits, mantissaBits, bias;
  bool hasInf;    ///< all-ones exponent is infinity or NaN; without it only the all-ones pattern is NaN
  bool saturates; ///< finite values out of range become the largest finite one
};
constexpr Layout kHalf{5, 10, 15, true, false}, kBFloat{8, 7, 127, true, false}, kE5M2{5, 2, 15, true, true},
    kE4M3{4, 3, 7, false, true};

uint32_t encodeFloat(const Layout& l, double value) {
  const uint32_t sign = std::signbit(value) ? 1u << (l.exponentBits + l.mantissaBits) : 0;
  const uint32_t topExponent = (1u << l.exponentBits) - 1, mantissaMask = (1u << l.mantissaBits) - 1;
  const uint32_t inf = topExponent << l.mantissaBits;
  const uint32_t nan = l.hasInf ? inf | 1u << (l.mantissaBits - 1) : inf | mantissaMask;
  const uint32_t largest = l.hasInf ? inf - 1 : (inf | mantissaMask) - 1;
  if (std::isnan(value)) return sign | nan;
  if (std::isinf(value)) return sign | (l.hasInf ? inf : nan);
  double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - l.bias) exponent = 1 - l.bias; // all subnormals share the smallest exponent
  // In units of the last place; nearbyint rounds half to even, and a carry moves into the exponent by itself.
  double units = std::nearbyint(std::ldexp(magnitude, l.mantissaBits - exponent));
  auto whole = static_cast<uint64_t>(units);
  uint64_t hidden = uint64_t{1} << l.mantissaBits;
  uint64_t bits = whole < hidden
                      ? whole
                      : (static_cast<uint64_t>(exponent + l.bias) << l.mantissaBits) + (whole - hidden);
  if (bits > largest) return sign | (l.saturates ? largest : inf);
  return sign | static_cast<uint32_t>(bits);
}

double decodeFloat(const Layout& l, uint32_t bits) {
  const uint32_t topExponent = (1u << l.exponentBits) - 1, mantissaMask = (1u << l.mantissaBits) - 1;
  const uint32_t exponent = bits >> l.mantissaBits & topExponent, mantissa = bits & mantissaMask;
  const bool negative = bits >> (l.exponentBits + l.mantissaBits) & 1;
  double v;
  if (l.hasInf && exponent == topExponent)
    v = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (!l.hasInf && exponent == topExponent && mantissa == mantissaMask)
    v = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    v = std::ldexp(mantissa, 1 - l.bias - l.mantissaBits);
  else
    v = std::ldexp(mantissa + (1u << l.mantissaBits), static_cast<int>(exponent) - l.bias - l.mantissaBits);
  return negative ? -v : v;
}

const Layout& fp8Layout(DType d) {
  if (d.kind() == Scalar::Fp8E4M3) return kE4M3;
  if (d.kind() == Scalar::Fp8E5M2) return kE5M2;
  throw Error(ErrorKind::Type, fmt::format("{} is no 8-bit float", d.name()));
}

constexpr std::string_view kSpaceNames[] = {"AddrSpace.GLOBAL", "AddrSpace.LOCAL", "AddrSpace.REG"};

} // namespace

int DType::itemsize() const {
  if (isImage()) return imageShape().isHalf ? 2 : 4;
  return info(kind()).size * count();
}

std::string_view DType::cName() const {
  return info(kind()).cName;
}

std::string DType::name() const {
  if (isImage()) {
    ImageShape i = imageShape();
    return fmt::format("dtypes.{}(({}, {}{})){}", i.isHalf ? "imageh" : "imagef", i.height, i.width,
                       i.hasChannels ? ", 4" : "", vcount() == 1 ? "" : fmt::format(".vec({})", vcount()));
  }
  std::string s = fmt::format("dtypes.{}", info(kind()).shortName);
  if (count() != 1) s += fmt::format(".vec({})", count());
  if (isPtr()) {
    s += fmt::format(".ptr({}", size());
    if (addrspace() != AddrSpace::Global)
      s += fmt::format(", {}", kSpaceNames[static_cast<size_t>(addrspace())]);
    s += ')';
    if (vcount() != 1) s += fmt::format(".vec({})", vcount());
  }
  return s;
}

namespace dtypes {

DType leastUpper(DType a, DType b) {
  uint32_t common = kAbove[static_cast<size_t>(a.kind())] & kAbove[static_cast<size_t>(b.kind())];
  if (!common) throw Error(ErrorKind::Type, fmt::format("no common type for {} and {}", a.name(), b.name()));
  // Index is declared before the integers above it, so it may win only if one operand is an index.
  bool takesPart = a.kind() == Scalar::Index || b.kind() == Scalar::Index;
  if (!takesPart) common &= ~bit(Scalar::Index);
  return DType(static_cast<Scalar>(std::countr_zero(common)));
}

DType leastUpper(std::span<const DType> types) {
  if (types.empty()) throw Error(ErrorKind::Type, "a common type needs at least one type");
  // The lattice has two minimal float types, so pairwise joins would depend on their order: all sets are
  // joined at once.
  uint32_t common = ~0u;
  bool takesPart = false;
  for (DType d : types) {
    common &= kAbove[static_cast<size_t>(d.kind())];
    takesPart |= d.kind() == Scalar::Index;
  }
  if (!takesPart) common &= ~bit(Scalar::Index);
  if (!common)
    throw Error(ErrorKind::Type, fmt::format("no common type for {} and the others", types[0].name()));
  return DType(static_cast<Scalar>(std::countr_zero(common)));
}

DType leastUpperFloat(DType a) {
  return a.isFloat() ? a : leastUpper(a, defaultFloat());
}

std::optional<DType> fromName(std::string_view name) {
  if (name.starts_with("dtypes.")) name.remove_prefix(7);
  if (name == "default_float") return defaultFloat();
  if (name == "default_int") return defaultInt();
  for (int k = 0; k < kScalarCount; ++k) {
    auto kind = static_cast<Scalar>(k);
    if (name == info(kind).shortName || name == info(kind).longName || name == info(kind).cName)
      return DType(kind);
  }
  return std::nullopt;
}

namespace {

/// "imagef((10, 20, 4))", with ".vec(2)" for a vector of such pointers.
std::optional<DType> parseImage(std::string_view printed) {
  std::vector<int64_t> numbers;
  for (const char *at = printed.data() + 6, *end = printed.data() + printed.size(); at < end;) {
    int64_t n = 0;
    auto [next, ec] = std::from_chars(at, end, n);
    if (ec == std::errc{}) numbers.push_back(n);
    at = ec == std::errc{} ? next : at + 1;
  }
  // What is read is an image if it is printed in the same way again.
  for (bool hasChannels : {true, false}) {
    const size_t dims = hasChannels ? 3 : 2;
    if (numbers.size() != dims && numbers.size() != dims + 1) continue;
    const int64_t height = numbers[0], width = numbers[1], lanes = numbers.size() > dims ? numbers[dims] : 1;
    if (height < 1 || height > 0xffff || width < 1 || width > 0x1ffff || lanes < 1 || lanes >= 0x200)
      continue;
    DType d = DType::image({height, width, hasChannels, printed[5] == 'h'}).vec(static_cast<int>(lanes));
    if (d.name().substr(7) == printed) return d;
  }
  return std::nullopt;
}

} // namespace

std::optional<DType> parse(std::string_view printed) {
  if (printed.starts_with("dtypes.")) printed.remove_prefix(7);
  if (printed.starts_with("imagef(") || printed.starts_with("imageh(")) return parseImage(printed);
  size_t dot = printed.find('.');
  auto d = fromName(printed.substr(0, dot));
  while (d && dot != std::string_view::npos) {
    std::string_view rest = printed.substr(dot + 1);
    size_t close = rest.find(')');
    if (close == std::string_view::npos || rest.size() < 5) return std::nullopt;
    bool isVec = rest.starts_with("vec("), isPtr = rest.starts_with("ptr(");
    if (!isVec && !isPtr) return std::nullopt;
    std::string_view inside = rest.substr(4, close - 4);
    int64_t n = 0;
    auto [end, ec] = std::from_chars(inside.data(), inside.data() + inside.size(), n);
    if (ec != std::errc{}) return std::nullopt;
    inside.remove_prefix(static_cast<size_t>(end - inside.data()));
    if (isVec) {
      constexpr int64_t kMost = 4095;
      if (!inside.empty() || !(d->isPtr() ? d->canBePointers(n) : n >= 1 && n <= kMost)) return std::nullopt;
      d = d->vec(static_cast<int>(n));
    } else {
      AddrSpace space = AddrSpace::Global;
      if (!inside.empty()) {
        if (!inside.starts_with(", ")) return std::nullopt;
        inside.remove_prefix(2);
        size_t i = 0;
        while (i < std::size(kSpaceNames) && kSpaceNames[i] != inside) ++i;
        if (i == std::size(kSpaceNames)) return std::nullopt;
        space = static_cast<AddrSpace>(i);
      }
      if (d->isPtr() || n < -1 || n >= (int64_t{1} << 35) - 1) return std::nullopt;
      d = d->ptr(n, space);
    }
    rest.remove_prefix(close + 1);
    if (!rest.empty() && rest[0] != '.') return std::nullopt;
    dot = rest.empty() ? std::string_view::npos : printed.size() - rest.size();
  }
  return d;
}

int64_t minInt(DType d) {
  if (d.isBool() || d.isUnsigned()) return 0;
  int bits = d.bitsize();
  return bits == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (bits - 1));
}

uint64_t maxInt(DType d) {
  if (d.isBool()) return 1;
  int bits = d.bitsize();
  if (d.isUnsigned()) return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return (uint64_t{1} << (bits - 1)) - 1;
}

int64_t wrapInt(DType d, int64_t value) {
  switch (d.kind()) {
  case Scalar::Bool: return value != 0;
  case Scalar::Int8: return static_cast<int8_t>(value);
  case Scalar::UInt8: return static_cast<uint8_t>(value);
  case Scalar::Int16: return static_cast<int16_t>(value);
  case Scalar::UInt16: return static_cast<uint16_t>(value);
  case Scalar::Int32: return static_cast<int32_t>(value);
  case Scalar::UInt32: return static_cast<uint32_t>(value);
  default: return value;
  }
}

double roundFloat(DType d, double value) {
  switch (d.kind()) {
  case Scalar::Float32: return static_cast<float>(value);
  case Scalar::Float16: return fromHalf(toHalf(value));
  case Scalar::BFloat16: return fromBFloat16(toBFloat16(value));
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return fromFp8(d, toFp8(d, value));
  default: return value;
  }
}

uint16_t toHalf(double value) {
  return static_cast<uint16_t>(encodeFloat(kHalf, value));
}
double fromHalf(uint16_t bits) {
  return decodeFloat(kHalf, bits);
}
uint16_t toBFloat16(double value) {
  return static_cast<uint16_t>(encodeFloat(kBFloat, value));
}
double fromBFloat16(uint16_t bits) {
  return decodeFloat(kBFloat, bits);
}
uint8_t toFp8(DType d, double value) {
  return static_cast<uint8_t>(encodeFloat(fp8Layout(d), value));
}
double fromFp8(DType d, uint8_t bits) {
  return decodeFloat(fp8Layout(d), bits);
}

DType defaultFloat() {
  return DType(defaultFloatKind().load());
}
DType defaultInt() {
  return DType(defaultIntKind().load());
}
void setDefaultFloat(DType d) {
  if (!d.isFloat()) throw Error(ErrorKind::Type, fmt::format("{} is no float type", d.name()));
  defaultFloatKind() = d.kind();
}
void setDefaultInt(DType d) {
  if (!d.isInt()) throw Error(ErrorKind::Type, fmt::format("{} is no integer type", d.name()));
  defaultIntKind() = d.kind();
}

} // namespace dtypes
} // namespace uopscope
