// In versions 2 to 4 a block stores the number of a kind for each node; since version 5 it stores a place in
// a list of such numbers.
#include "replay/read/block_kinds.h"

#include "replay/schema/schema.h"

namespace uopscope {

std::string_view usedColumns(const Database& db) {
  return db.pragma("user_version") >= kPlainSchemaVersion ? "used, width" : "NULL, 0";
}

KindsOfBlock::KindsOfBlock(int64_t count, std::span<const uint8_t> kinds, int64_t width,
                           std::span<const uint8_t> used)
    : kinds_(kinds), used_(used), usedWidth_(static_cast<size_t>(width)) {
  if (count < 1 || kinds.empty() || kinds.size() % static_cast<size_t>(count)) return;
  width_ = kinds.size() / static_cast<size_t>(count);
  valid_ = width == 0
               ? width_ == 2 || width_ == 3
               : (width_ == 1 || width_ == 2) && (width == 2 || width == 3) && used.size() % usedWidth_ == 0;
}

int64_t KindsOfBlock::operator[](size_t place) const {
  auto number = [](std::span<const uint8_t> bytes, size_t at, size_t width) {
    int64_t value = 0;
    for (size_t k = 0; k < width; ++k) value |= int64_t{bytes[at * width + k]} << 8 * k;
    return value;
  };
  int64_t value = number(kinds_, place, width_);
  if (usedWidth_ == 0) return value;
  if (static_cast<size_t>(value) >= used_.size() / usedWidth_) return 0;
  return number(used_, static_cast<size_t>(value), usedWidth_);
}

} // namespace uopscope
