// Kinds of a block of nodes, whichever version of the schema wrote it. Whatever the file holds, reading stays
// inside the bytes it gave.
//
//   KindsOfBlock kinds(count, s.blob(2), s.integer(4), s.blob(3));   // with usedColumns() in the query
//   if (kinds.valid()) use(kinds[0]);
#pragma once
#include "replay/schema/database.h"

#include <span>

namespace uopscope {

/// Numbers of kinds as a block of nodes has them, those of older versions too: `used` is empty then.
class KindsOfBlock {
public:
  KindsOfBlock(int64_t count, std::span<const uint8_t> kinds, int64_t width, std::span<const uint8_t> used);
  bool valid() const { return valid_; }
  /// kind.id of a node of the block, from 0; 0 where the list of kinds has none.
  int64_t operator[](size_t place) const;

private:
  std::span<const uint8_t> kinds_, used_;
  size_t width_ = 0, usedWidth_ = 0;
  bool valid_ = false;
};
/// Columns of node_block that hold `used` and `width`, or what stands for them in an older trace.
std::string_view usedColumns(const Database& db);

} // namespace uopscope
