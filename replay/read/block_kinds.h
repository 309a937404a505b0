// Reads the kinds of a block of nodes that any version of the schema wrote. Reads stay inside the bytes of
// the blob, whatever the file holds.
//
//   KindsOfBlock kinds(count, s.blob(2), s.integer(4), s.blob(3));   // with usedColumns() in the query
//   if (kinds.valid()) use(kinds[0]);
#pragma once
#include "replay/schema/database.h"

#include <span>

namespace uopscope {

/// Numbers of kinds in a block of nodes. `used` is empty in blocks of older versions.
class KindsOfBlock {
public:
  KindsOfBlock(int64_t count, std::span<const uint8_t> kinds, int64_t width, std::span<const uint8_t> used);
  bool valid() const { return valid_; }
  /// kind.id of a node of the block, counted from 0; 0 where the list has no such place.
  int64_t operator[](size_t place) const;

private:
  std::span<const uint8_t> kinds_, used_;
  size_t width_ = 0, usedWidth_ = 0;
  bool valid_ = false;
};
/// Columns of node_block that hold `used` and `width`, or constants in their place for an older trace.
std::string_view usedColumns(const Database& db);

} // namespace uopscope
