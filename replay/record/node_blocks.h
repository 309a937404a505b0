// The nodes of a trace as it stores them: blocks of a thousand, each with a list of the kinds in it, so that
// most kinds take one byte. A node joins the block that is being filled.
//
//   NodeBlockWriter nodes(db);
//   uint32_t id = nodes.add(kind, sources);   // ids of sources, all of them smaller
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
  /// Writes the block that is being filled, which goes on being filled. Where blocks begin does not depend on
  /// when.
  void flush();

private:
  static constexpr uint32_t kBlock = 1024;
  Statement insert_;
  std::vector<uint32_t> kinds_;
  std::vector<uint8_t> src_;
  uint32_t count_ = 0;
  bool written_ = true; ///< the block as it is now
};

} // namespace uopscope
