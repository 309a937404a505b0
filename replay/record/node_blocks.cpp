// Blocks end where the pages of a reader do, so that a page is one row.
#include "replay/record/node_blocks.h"

#include "replay/schema/leb128.h"

#include <algorithm>

namespace uopscope {

NodeBlockWriter::NodeBlockWriter(const Database& db)
    : insert_(db.prepare("INSERT OR REPLACE INTO packed_node (first, count, width, kinds, src_size, src) "
                         "VALUES (?, ?, ?, ?, ?, ?)")) {}

uint32_t NodeBlockWriter::add(uint32_t kind, std::span<const uint32_t> sources) {
  uint32_t id = ++count_;
  kinds_.push_back(kind);
  for (size_t k = 0; k < sources.size(); ++k)
    appendLeb128(src_, uint64_t{id - sources[k]} * 2 + (k + 1 < sources.size()));
  if (sources.empty()) src_.push_back(0);
  written_ = false;
  if ((id + 1) % kBlock == 0) {
    flush();
    kinds_.clear();
    src_.clear();
  }
  return id;
}

void NodeBlockWriter::flush() {
  if (written_) return;
  int width = std::ranges::max(kinds_) >> 16 ? 3 : 2;
  std::vector<uint8_t> kinds;
  for (uint32_t kind : kinds_)
    for (int k = 0; k < width; ++k) kinds.push_back(static_cast<uint8_t>(kind >> 8 * k));
  auto count = static_cast<int64_t>(kinds_.size());
  insert_.bind(1, int64_t{count_} - count + 1).bind(2, count).bind(3, int64_t{width});
  insert_.bindBlob(4, packer_.pack(kinds));
  insert_.bind(5, static_cast<int64_t>(src_.size())).bindBlob(6, srcPacker_.pack(src_)).run();
  written_ = true;
}

} // namespace uopscope
