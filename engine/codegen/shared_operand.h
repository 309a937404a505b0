// Operands that a tensor core reads from shared memory itself, by a descriptor of 64 bits: wgmma of sm_90a. The optimizer makes
// descriptors, and the interpreter reads memory by them, from the same facts.
//
// The memory holds rows of 128 bytes. Eight of them are an atom of 1,024 bytes, at a multiple of 1,024; column c of 16
// bytes in row r of an atom holds what column c ^ r would hold without the exchange. The descriptor has
//
//   bits 0-13   where the operand begins, in units of 16 bytes       bits 32-45  `stride`, from atom to atom
//   bits 16-29  `lead`, in units of 16 bytes                         bits 62-63  1: rows of 128 bytes
//
// An operand has lines (rows of the left one, columns of the right one) and terms. Either its terms lie side by side: a line
// of 64 terms is a row, and `stride` leads to the next eight lines. Or its lines do: 64 lines are a row, `stride`
// leads to the next eight terms, and `lead` to the next 64 lines.
//
//   descriptorFields(0, 1024)                        // added to the address / 16
//   addressIn(descriptor, /*termsSideBySide=*/true, 9, 4, 2)   // begin + 1024 + 128 + 8, with columns exchanged
//
// From NVIDIA's documentation of PTX, "Asynchronous Warpgroup Level Matrix Shared Memory Layout".
#pragma once
#include "engine/codegen/tensor_core_layout.h"

#include <span>
#include <string>

namespace uopscope {

constexpr int64_t kSwizzledRow = 128, kSwizzledAtom = 1024, kDescriptorUnit = 16; ///< bytes
constexpr uint64_t kRowsOf128 = 1;

constexpr uint64_t descriptorFields(int64_t lead, int64_t stride) {
  return static_cast<uint64_t>(lead / kDescriptorUnit) << 16 |
         static_cast<uint64_t>(stride / kDescriptorUnit) << 32 | kRowsOf128 << 62;
}
constexpr bool hasRowsOf128(uint64_t descriptor) {
  return descriptor >> 62 == kRowsOf128;
}

/// The address, in bytes of shared memory, of an element of an operand.
constexpr int64_t addressIn(uint64_t descriptor, bool termsSideBySide, int64_t line, int64_t term,
                            int64_t itemsize) {
  auto field = [&](int first) {
    return static_cast<int64_t>(descriptor >> first & 0x3fff) * kDescriptorUnit;
  };
  const int64_t inRow = kSwizzledRow / itemsize, inAtom = kSwizzledAtom / kSwizzledRow;
  const int64_t side = termsSideBySide ? term : line, across = termsSideBySide ? line : term;
  const int64_t at = field(0) + side / inRow * field(16) + side % inRow * itemsize +
                     across / inAtom * field(32) + across % inAtom * kSwizzledRow;
  return at ^ (at / kSwizzledRow % inAtom * kDescriptorUnit);
}

/// Whether the core reads its operands from shared memory, begins products and goes on.
inline bool readsShared(const TensorCore& core) {
  return std::string_view(core.a.row).find('s') != std::string_view::npos;
}

/// The name of such a core in a WMMA: the core's, how each operand lies, and how many steps of a sum may be under way when the
/// next begins. "_kn1" has the terms of the left operand and the columns of the right one side by side, "_mk0" the rows of the
/// left one and the terms of the right one.
inline std::string sharedName(const TensorCore& core, bool leftTerms, bool rightTerms, int64_t ahead) {
  return std::string(core.name) + '_' + (leftTerms ? 'k' : 'm') + (rightTerms ? 'k' : 'n') +
         static_cast<char>('0' + ahead);
}
/// Whether the terms of operand 0 (left) or 1 (right) lie side by side, by the name in a WMMA.
inline bool termsSideBySide(std::string_view name, size_t operand) {
  return name[name.size() - 3 + operand] == 'k';
}
inline int64_t productsAhead(std::string_view name) {
  return name.back() - '0';
}
inline std::string withProductsAhead(std::string name, int64_t ahead) {
  name.back() = static_cast<char>('0' + ahead);
  return name;
}

/// The core that a WMMA of this name runs on; null if there is none.
inline const TensorCore* coreNamed(std::span<const TensorCore> cores, std::string_view name) {
  for (const TensorCore& core : cores) {
    const std::string_view own = core.name;
    if (name == own || (readsShared(core) && name.size() == own.size() + 4 && name.starts_with(own) &&
                        name[own.size()] == '_'))
      return &core;
  }
  return nullptr;
}

} // namespace uopscope
