// Data types: a scalar kind, a number of lanes, and for pointers an address space and a size, packed in 64
// bits.
//
//   DType f4 = dtypes::float32.vec(4);
//   DType p = dtypes::int32.ptr(1024, AddrSpace::Global);   // p.base() == dtypes::int32
//
// An image is a pointer as well: to rows of pixels of four channels in global memory, which a kernel reads and writes by
// two indices. It has a height and a width in place of a size.
//
//   DType i = DType::image({.height = 10, .width = 20});    // i.base() == dtypes::float32, i.size() == 800
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace uopscope {

enum class Scalar : uint8_t {
  Void,
  Index,
  Bool,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Fp8E4M3,
  Fp8E5M2,
  Float16,
  BFloat16,
  Float32,
  Float64
};
constexpr int kScalarCount = 17;

enum class AddrSpace : uint8_t { Global, Local, Reg };

/// The shape of an image, in pixels. Kernels compute with float32, whatever memory holds.
struct ImageShape {
  int64_t height = 1, width = 1;
  bool hasChannels = true; ///< the shape is written (height, width, 4), else (height, width)
  bool isHalf = false;     ///< memory holds float16
  bool operator==(const ImageShape&) const = default;
};

class DType {
public:
  static constexpr int64_t kUnsized = -1;

  constexpr DType() = default;
  /// Throws Error(Type) for a number of lanes outside 0 ... 4095.
  constexpr explicit DType(Scalar kind, int count = 1)
      : bits_(static_cast<uint64_t>(kind) | uint64_t(count) << kCountAt) {
    if (count < 0 || count > kMaxLanes) tooManyLanes(count, kMaxLanes);
  }
  static constexpr DType fromBits(uint64_t bits) {
    DType d;
    d.bits_ = bits;
    return d;
  }
  /// Throws Error(Type) for a height outside 1 ... 65,535 or a width outside 1 ... 131,071.
  static constexpr DType image(const ImageShape& shape) {
    if (shape.height < 1 || shape.height > kMaxHeight || shape.width < 1 || shape.width > kMaxWidth)
      noImage(shape.height, shape.width);
    uint64_t size = uint64_t(shape.height) << kHeightAt | uint64_t(shape.width) << kWidthAt |
                    uint64_t{shape.hasChannels} << kChannelsAt | uint64_t{shape.isHalf} << kHalfAt;
    return fromBits(DType(Scalar::Float32).bits_ | uint64_t{1} << kPtrAt | kImageSpace << kSpaceAt |
                    size << kSizeAt);
  }
  constexpr uint64_t bits() const { return bits_; }

  constexpr Scalar kind() const { return static_cast<Scalar>(bits_ & 0x1f); }
  /// Number of lanes, 1 for a scalar; for a pointer, the lanes of its elements.
  constexpr int count() const { return static_cast<int>(bits_ >> kCountAt & 0xfff); }
  constexpr bool isPtr() const { return bits_ >> kPtrAt & 1; }
  constexpr AddrSpace addrspace() const {
    return isImage() ? AddrSpace::Global : static_cast<AddrSpace>(bits_ >> kSpaceAt & 3);
  }
  constexpr bool isImage() const { return isPtr() && (bits_ >> kSpaceAt & 3) == kImageSpace; }
  /// Of an image only.
  constexpr ImageShape imageShape() const {
    uint64_t s = bits_ >> kSizeAt;
    return {static_cast<int64_t>(s >> kHeightAt & kMaxHeight),
            static_cast<int64_t>(s >> kWidthAt & kMaxWidth), (s >> kChannelsAt & 1) != 0,
            (s >> kHalfAt & 1) != 0};
  }
  /// For pointers only: the number of pointers in a vector of pointers, usually 1.
  constexpr int vcount() const {
    if (!isPtr()) return count();
    return hasManyPointers() ? static_cast<int>(bits_ >> kManyAt) * kManyStep
                             : static_cast<int>(bits_ >> kVcountAt & kManyPointers) + 1;
  }
  /// For pointers only: the number of elements, or kUnsized.
  constexpr int64_t size() const {
    if (isImage()) return imageShape().height * imageShape().width * (imageShape().hasChannels ? 4 : 1);
    const uint64_t mask = hasManyPointers() ? kSmallSizeMask : kSizeMask, s = bits_ >> kSizeAt & mask;
    return s == mask ? kUnsized : static_cast<int64_t>(s);
  }

  /// The type of one lane; for a pointer, the scalar type that it points to.
  constexpr DType scalar() const { return DType(kind()); }
  /// The type that a pointer points to; any other type is its own base.
  constexpr DType base() const { return isPtr() ? DType(kind(), count()) : *this; }
  /// The same kind with n lanes; for a pointer, a vector of n pointers: 1 ... 511, or a multiple of 64 up to 4,032. A vector of
  /// more than 511 pointers forgets how many elements its memory has if those are 2^29 or more.
  constexpr DType vec(int n) const {
    if (!isPtr()) return DType(kind(), n);
    if (!canBePointers(n)) tooManyLanes(n, n % kManyStep || isImage() ? kFewPointers : kMaxPointers);
    if (n <= kFewPointers && !hasManyPointers())
      return fromBits((bits_ & ~(kManyPointers << kVcountAt)) | uint64_t(n - 1) << kVcountAt);
    const DType one = base().ptr(size(), addrspace());
    if (n <= kFewPointers) return one.vec(n);
    const int64_t elements = size();
    const uint64_t s = elements < 0 || elements >= static_cast<int64_t>(kSmallSizeMask)
                           ? kSmallSizeMask
                           : static_cast<uint64_t>(elements);
    return fromBits((one.bits_ & ~(kSizeMask << kSizeAt)) | kManyPointers << kVcountAt | s << kSizeAt |
                    uint64_t(n / kManyStep) << kManyAt);
  }
  /// Of a pointer: whether there is a vector of n of them.
  constexpr bool canBePointers(int64_t n) const {
    return n >= 1 && (n <= kFewPointers || (n <= kMaxPointers && n % kManyStep == 0 && !isImage()));
  }
  constexpr DType ptr(int64_t size = kUnsized, AddrSpace space = AddrSpace::Global) const {
    if (size >= static_cast<int64_t>(kSizeMask)) tooLarge(size);
    uint64_t s = size < 0 ? kSizeMask : static_cast<uint64_t>(size);
    return fromBits(base().bits_ | uint64_t{1} << kPtrAt | uint64_t(space) << kSpaceAt | s << kSizeAt);
  }

  constexpr bool isBool() const { return kind() == Scalar::Bool; }
  constexpr bool isFloat() const { return kind() >= Scalar::Fp8E4M3; }
  /// Whether it is an integer of any width or index. bool is none.
  constexpr bool isInt() const {
    return kind() == Scalar::Index || (kind() >= Scalar::Int8 && kind() <= Scalar::UInt64);
  }
  constexpr bool isUnsigned() const {
    Scalar k = kind();
    return k == Scalar::UInt8 || k == Scalar::UInt16 || k == Scalar::UInt32 || k == Scalar::UInt64;
  }
  constexpr bool isVoid() const { return kind() == Scalar::Void; }
  /// Bytes of a value with all its lanes; for a pointer or an image, bytes of one element in memory. index counts as 8, void as 0.
  int itemsize() const;
  int bitsize() const { return kind() == Scalar::Bool ? 1 : 8 * scalar().itemsize(); }
  /// The type as Python prints it: "dtypes.float", "dtypes.float.vec(4)", "dtypes.int.ptr(16)",
  /// "dtypes.float.ptr(4, AddrSpace.REG)", "dtypes.imagef((10, 20, 4))".
  std::string name() const;
  /// C name of the scalar: "float", "unsigned int", "half".
  std::string_view cName() const;

  constexpr bool operator==(const DType&) const = default;
  constexpr auto operator<=>(const DType&) const = default;

private:
  static constexpr int kCountAt = 5, kPtrAt = 17, kSpaceAt = 18, kVcountAt = 20, kSizeAt = 29;
  static constexpr uint64_t kSizeMask = (uint64_t{1} << 35) - 1;
  static constexpr int kMaxLanes = 0xfff, kFewPointers = 0x1ff, kManyStep = 64, kMaxPointers = 63 * kManyStep;
  // In place of the number of pointers if they are many: their number is then in the highest bits of the size.
  static constexpr uint64_t kManyPointers = 0x1ff, kSmallSizeMask = (uint64_t{1} << 29) - 1;
  static constexpr int kManyAt = 58;
  constexpr bool hasManyPointers() const { return (bits_ >> kVcountAt & kManyPointers) == kManyPointers; }
  // In place of the address space and of the size of a pointer.
  static constexpr uint64_t kImageSpace = 3;
  static constexpr int kHalfAt = 0, kChannelsAt = 1, kHeightAt = 2, kWidthAt = 18;
  static constexpr int64_t kMaxHeight = 0xffff, kMaxWidth = 0x1ffff;
  [[noreturn]] static void noImage(int64_t height, int64_t width);
  [[noreturn]] static void tooManyLanes(int count, int most);
  [[noreturn]] static void tooLarge(int64_t size);
  uint64_t bits_ = uint64_t{1} << kCountAt;
};

namespace dtypes {
constexpr DType void_{Scalar::Void}, index{Scalar::Index}, bool_{Scalar::Bool}, int8{Scalar::Int8},
    uint8{Scalar::UInt8}, int16{Scalar::Int16}, uint16{Scalar::UInt16}, int32{Scalar::Int32},
    uint32{Scalar::UInt32}, int64{Scalar::Int64}, uint64{Scalar::UInt64}, fp8e4m3{Scalar::Fp8E4M3},
    fp8e5m2{Scalar::Fp8E5M2}, float16{Scalar::Float16}, bfloat16{Scalar::BFloat16}, float32{Scalar::Float32},
    float64{Scalar::Float64};

/// The type that both types (or all of them) convert to: the least upper bound in the promotion lattice.
DType leastUpper(DType a, DType b);
DType leastUpper(std::span<const DType> types);
/// The least float type that holds the values of this type; for a float, the type itself.
DType leastUpperFloat(DType a);
/// A scalar type by any accepted name ("float32", "float", "half", "dtypes.int", "uchar").
std::optional<DType> fromName(std::string_view name);
/// The inverse of DType::name(), for vectors and pointers too.
std::optional<DType> parse(std::string_view printed);
/// Smallest and largest value of an integer type as bits; index counts as int64.
int64_t minInt(DType d);
uint64_t maxInt(DType d);
/// A value as the type holds it: integers wrap, floats round (NaN and infinities stay).
int64_t wrapInt(DType d, int64_t value);
double roundFloat(DType d, double value);
/// Bit patterns of the small float types, rounded to nearest even.
uint16_t toHalf(double value);
double fromHalf(uint16_t bits);
uint16_t toBFloat16(double value);
double fromBFloat16(uint16_t bits);
uint8_t toFp8(DType d, double value);
double fromFp8(DType d, uint8_t bits);
/// Types of Python's floats and ints: DEFAULT_FLOAT and dtypes.default_int.
DType defaultFloat();
DType defaultInt();
void setDefaultFloat(DType d);
void setDefaultInt(DType d);
} // namespace dtypes

} // namespace uopscope
