// A block ends where the page of a reader ends, so that a page is one row.
#include "replay/record/node_blocks.h"

#include "replay/schema/leb128.h"

#include <algorithm>

namespace uopscope {

NodeBlockWriter::NodeBlockWriter(const Database& db)
    : insert_(db.prepare("INSERT OR REPLACE INTO node_block (first, count, width, used, kinds, src) "
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

namespace {
std::vector<uint8_t> fixedWidth(std::span<const uint32_t> numbers, int width) {
  std::vector<uint8_t> out;
  out.reserve(numbers.size() * static_cast<size_t>(width));
  for (uint32_t number : numbers)
    for (int k = 0; k < width; ++k) out.push_back(static_cast<uint8_t>(number >> 8 * k));
  return out;
}
} // namespace

void NodeBlockWriter::flush() {
  if (written_) return;
  std::vector<uint32_t> used(kinds_), places;
  std::ranges::sort(used);
  used.erase(std::ranges::unique(used).begin(), used.end());
  for (uint32_t kind : kinds_)
    places.push_back(static_cast<uint32_t>(std::ranges::lower_bound(used, kind) - used.begin()));
  int width = used.back() >> 16 ? 3 : 2;
  std::vector<uint8_t> numbers = fixedWidth(used, width),
                       kinds = fixedWidth(places, used.size() > 256 ? 2 : 1);
  auto count = static_cast<int64_t>(kinds_.size());
  insert_.bind(1, int64_t{count_} - count + 1).bind(2, count).bind(3, int64_t{width});
  insert_.bindBlob(4, numbers).bindBlob(5, kinds).bindBlob(6, src_).run();
  written_ = true;
}

} // namespace uopscope
