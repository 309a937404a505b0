// Stores the nodes of a trace in blocks of a thousand. Each block lists its kinds, so a node's kind mostly
// takes one byte. A node joins the block that is being filled.
//
//   NodeBlockWriter nodes(db);
//   uint32_t id = nodes.add(kind, sources);   // every source's id is smaller than the new one
//   nodes.flush();                            // before every commit
#pragma once
#include "replay/schema/database.h"

#include <vector>

namespace uopscope {

class NodeBlockWriter {
public:
  explicit NodeBlockWriter(const Database& db);
  uint32_t add(uint32_t kind, std::span<const uint32_t> sources);
  uint32_t count() const { return count_; }
  /// Writes the block that is being filled and goes on filling it. The moment of a flush does not move the
  /// borders of blocks.
  void flush();

private:
  static constexpr uint32_t kBlock = 1024;
  Statement insert_;
  std::vector<uint32_t> kinds_;
  std::vector<uint8_t> src_;
  uint32_t count_ = 0;
  bool written_ = true; ///< the block as it is now is in the file
};

} // namespace uopscope
