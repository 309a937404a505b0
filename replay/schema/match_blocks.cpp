// A row holds sixteen kilobytes before packing: enough for zlib to find what passes have in common, little
// enough to be unpacked for one pass. Its end depends on counts alone, so that it is the same in every
// recording.
#include "replay/schema/match_blocks.h"

#include "replay/schema/schema.h"

#include <fmt/format.h>

namespace uopscope {

namespace {
constexpr size_t kBlockBytes = 16 << 10;

void append(std::vector<uint8_t>& out, const std::vector<uint8_t>& bytes) {
  appendLeb128(out, bytes.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
}
} // namespace

MatchBlockWriter::MatchBlockWriter(const Database& db)
    : insert_(
          db.prepare("INSERT OR REPLACE INTO packed_match (first, last, size, counts, size_ns, counts_ns) "
                     "VALUES (?, ?, ?, ?, ?, ?)")) {}

void MatchBlockWriter::add(int64_t pass, int64_t nested, const MatchCounts& counts) {
  if (counts_.size() >= kBlockBytes && pass != last_) {
    flush();
    counts_.clear();
    times_.clear();
  }
  if (counts_.empty()) {
    first_ = pass;
    last_ = 0;
  }
  appendLeb128(counts_, static_cast<uint64_t>(pass - last_));
  appendLeb128(counts_, static_cast<uint64_t>(nested));
  append(counts_, counts.encode());
  append(times_, counts.encodeTimes());
  last_ = pass;
  written_ = false;
}

void MatchBlockWriter::flush() {
  if (written_) return;
  insert_.bind(1, first_).bind(2, last_);
  insert_.bind(3, static_cast<int64_t>(counts_.size())).bindBlob(4, packer_.pack(counts_));
  insert_.bind(5, static_cast<int64_t>(times_.size())).bindBlob(6, timesPacker_.pack(times_)).run();
  written_ = true;
}

MatchBlockReader::MatchBlockReader(const Database& db, int64_t lowestPass, int64_t highestPass)
    : packed_(db.pragma("user_version") >= kPackedSchemaVersion), low_(lowestPass), high_(highestPass),
      path_(db.path()) {
  rows_ = db.prepare(
      packed_ ? "SELECT size, counts, size_ns, counts_ns FROM packed_match WHERE last >= ?1 AND first "
                "<= ?2 ORDER BY first"
              : "SELECT pass, nested, counts, counts_ns FROM match_block WHERE pass BETWEEN ?1 AND ?2 "
                "ORDER BY pass, nested");
  rows_.bind(1, low_).bind(2, high_);
}

void MatchBlockReader::damaged() const {
  throw Error(ErrorKind::File,
              fmt::format("{}: the counts of pass {} cannot be read; the file is damaged", path_, pass_));
}

bool MatchBlockReader::next() {
  if (!packed_) {
    if (!rows_.step()) return false;
    pass_ = rows_.integer(0);
    nested_ = rows_.integer(1);
    counts_ = rows_.blob(2);
    times_ = rows_.blob(3);
    return true;
  }
  for (;;) {
    if (countsAt_ == blockCounts_.size()) {
      if (!rows_.step()) return false;
      blockCounts_ = unpack(rows_.blob(1), rows_.integer(0));
      blockTimes_ = unpack(rows_.blob(3), rows_.integer(2));
      countsAt_ = timesAt_ = 0;
      pass_ = 0;
      if (blockCounts_.empty()) continue;
    }
    auto part = [this](const std::vector<uint8_t>& bytes, size_t& at, bool names) {
      Leb128Reader in(std::span<const uint8_t>(bytes).subspan(at));
      uint64_t step = 0, nested = 0, size = 0;
      if ((names && (!in.next(step) || !in.next(nested))) || !in.next(size) || size > in.left() ||
          step > INT32_MAX || nested > INT64_MAX)
        damaged();
      pass_ += static_cast<int64_t>(step);
      if (names) nested_ = static_cast<int64_t>(nested);
      size_t begin = bytes.size() - in.left();
      at = begin + size;
      return std::span<const uint8_t>(bytes).subspan(begin, size);
    };
    counts_ = part(blockCounts_, countsAt_, true);
    times_ = part(blockTimes_, timesAt_, false);
    if (pass_ >= low_ && pass_ <= high_) return true;
  }
}

void MatchBlockReader::decode(
    const std::function<void(uint32_t rule, uint32_t op, const MatchCell& cell)>& use) const {
  if (!MatchCounts::decode(counts_, times_, use)) damaged();
}

} // namespace uopscope
