// The blocks of a corpus. A capture writes its texts and stories quickly, in blocks of form Plain. pack() puts many of them into
// one block of the form that fits them, so that what kernels have in common is stored once. A packed block is packed again
// only with as many bytes after it, so a file to which many processes append is packed a few times at most.
#include "engine/base/error.h"
#include "replay/record/corpus.h"
#include "replay/record/line_codec.h"
#include "replay/record/story_codec.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace uopscope {

namespace {
/// Larger blocks pack better, and take longer to find one compilation in: 4 MB of stories, or 32 MB of texts, unpack in less
/// than a tenth of a second.
constexpr int64_t kPackedStories = 4 << 20, kPackedTexts = 32 << 20;
constexpr size_t kMaxBlockBytes = size_t{256} << 20;
/// Of a packed block: unpacking takes up to eight times as much memory.
constexpr size_t kMaxPackedBytes = size_t{128} << 20;
constexpr int kHastyLevel = 3; ///< of zstd, for blocks that will be packed

[[noreturn]] void damaged(const std::string& path, std::string_view what) {
  throw Error(ErrorKind::File, fmt::format("{}: {}; the file is damaged", path, what));
}

/// Whether a packed block is packed again with the `after` bytes that follow it. `most`: bytes of a block.
bool joins(int64_t block, int64_t after, int64_t most, bool whole) {
  return (whole || block <= after) && block + after <= most;
}

/// Whole numbers with one character between them. Throws Error(File).
std::vector<int64_t> numbersIn(const std::string& path, std::string_view text) {
  std::vector<int64_t> numbers;
  for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
    auto [next, failed] = std::from_chars(at, end, numbers.emplace_back());
    if (failed != std::errc()) damaged(path, "a list of numbers holds a text");
    at = next;
  }
  return numbers;
}
} // namespace

// --- blocks ---

int64_t Corpus::writeBlock(std::span<const std::string_view> records, Form form) {
  size_t size = 0;
  for (std::string_view r : records) size += r.size();
  std::string packed;
  if (form == Form::Lines) {
    packed = packLines(records);
  } else if (form == Form::Stories) {
    packed = packStories(records);
  } else {
    packed.resize(ZSTD_compressBound(size));
    const std::string all = fmt::format("{}", fmt::join(records, ""));
    const size_t made = ZSTD_compress(packed.data(), packed.size(), all.data(), all.size(), kHastyLevel);
    if (ZSTD_isError(made))
      throw Error(ErrorKind::Runtime, fmt::format("compression failed: {}", ZSTD_getErrorName(made)));
    packed.resize(made);
  }
  Statement s = db_.prepare("INSERT INTO block (raw_size, data, form) VALUES (?, ?, ?)");
  s.bind(1, static_cast<int64_t>(size));
  s.bindBlob(2, {reinterpret_cast<const uint8_t*>(packed.data()), packed.size()})
      .bind(3, static_cast<int64_t>(form))
      .run();
  return sqlite3_last_insert_rowid(db_.handle());
}

const std::string& Corpus::block(int64_t id) const {
  auto hit = std::ranges::find(cache_, id, [](const auto& entry) { return entry.first; });
  if (hit == cache_.end()) {
    Statement s = db_.prepare(isNewer() ? "SELECT raw_size, data, form FROM block WHERE id = ?"
                                        : "SELECT raw_size, data, 0 FROM block WHERE id = ?");
    s.bind(1, id);
    if (!s.step()) damaged(path(), fmt::format("block {} is missing", id));
    const auto raw = static_cast<uint64_t>(s.integer(0));
    const auto data = s.blob(1);
    if (raw > (s.integer(2) == static_cast<int64_t>(Form::Plain) ? kMaxBlockBytes : kMaxPackedBytes))
      damaged(path(), fmt::format("block {} claims {} bytes", id, raw));
    const std::string_view packed(reinterpret_cast<const char*>(data.data()), data.size());
    std::string bytes;
    try {
      switch (s.integer(2)) {
      case int64_t{static_cast<int>(Form::Lines)}: bytes = unpackLines(packed, raw); break;
      case int64_t{static_cast<int>(Form::Stories)}: bytes = unpackStories(packed, raw); break;
      case int64_t{static_cast<int>(Form::Plain)}: {
        bytes.resize(raw);
        const size_t got = ZSTD_decompress(bytes.data(), bytes.size(), data.data(), data.size());
        if (!ZSTD_isError(got) && got == raw) break;
        [[fallthrough]];
      }
      default: throw Error(ErrorKind::File, "");
      }
    } catch (const Error&) {
      damaged(path(), fmt::format("block {} does not decompress", id));
    }
    hit = cache_.end() - 1;
    *hit = {id, std::move(bytes)};
  }
  std::rotate(cache_.begin(), hit, hit + 1);
  return cache_[0].second;
}

std::string_view Corpus::text(const BlockPlace& place) const {
  const std::string& bytes = block(place.block);
  const auto size = static_cast<int64_t>(bytes.size());
  if (place.offset < 0 || place.size < 0 || place.offset > size || place.size > size - place.offset)
    damaged(path(), "a record lies outside its block");
  return std::string_view(bytes).substr(static_cast<size_t>(place.offset), static_cast<size_t>(place.size));
}

// --- words and counts ---

void Corpus::refreshWords() {
  auto add = [&](int64_t id, std::string_view text) {
    if (id != static_cast<int64_t>(wordList_.size()) + 1)
      damaged(path(), "words are not numbered one by one");
    wordList_.emplace_back(text);
    words_.emplace(wordList_.back(), id);
  };
  const auto known = [&] { return static_cast<int64_t>(wordList_.size()); };
  if (isNewer()) {
    Statement s =
        db_.prepare("SELECT first, count, block FROM word_block WHERE first + count > ? + 1 ORDER BY first");
    for (s.bind(1, known()); s.step();) {
      const int64_t first = s.integer(0), count = s.integer(1);
      std::string_view all = block(s.integer(2));
      const std::string_view sizes = all.substr(0, all.find('\n'));
      all.remove_prefix(std::min(all.size(), sizes.size() + 1));
      const std::vector<int64_t> list = numbersIn(path(), sizes);
      if (first > known() + 1 || count != static_cast<int64_t>(list.size()))
        damaged(path(), "words are not numbered one by one");
      for (size_t k = 0; k < list.size(); ++k) {
        const auto size = static_cast<size_t>(list[k]);
        if (list[k] < 0 || size > all.size()) damaged(path(), "a word is longer than its block");
        if (const int64_t id = first + static_cast<int64_t>(k); id > known()) add(id, all.substr(0, size));
        all.remove_prefix(size);
      }
    }
  }
  Statement s = db_.prepare("SELECT id, value FROM word WHERE id > ? ORDER BY id");
  for (s.bind(1, known()); s.step();) add(s.integer(0), s.text(1));
}

std::vector<Corpus::CountRow> Corpus::countRows() const {
  std::vector<CountRow> rows;
  if (isNewer())
    for (Statement s = db_.prepare("SELECT block FROM match_block"); s.step();) {
      const std::vector<int64_t> numbers = numbersIn(path(), block(s.integer(0)));
      if (numbers.size() % CountRow().size()) damaged(path(), "match statistics end in the middle of a row");
      for (size_t k = 0; k < numbers.size(); k += CountRow().size())
        std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(k), CountRow().size(),
                    rows.emplace_back().begin());
    }
  Statement s = db_.prepare("SELECT pass, rule, file, line, rejected_early, structure_differs, declined, "
                            "applied, unchanged, took_ns FROM match_count");
  while (s.step())
    for (int k = 0; int64_t& value : rows.emplace_back()) value = s.integer(k++);
  return rows;
}

// --- packing ---

void Corpus::packWords(bool whole) {
  Statement loose = db_.prepare("SELECT min(id), sum(length(CAST(value AS BLOB))) FROM word");
  loose.step();
  const bool some = !loose.isNull(0);
  if (!some && !whole) return;
  int64_t first = some ? loose.integer(0) : static_cast<int64_t>(wordList_.size()) + 1;
  int64_t bytes = some ? loose.integer(1) : 0;
  loose.reset();
  std::vector<int64_t> merged;
  Statement before = db_.prepare("SELECT first, block, raw_size FROM word_block JOIN block ON block.id = "
                                 "word_block.block ORDER BY first DESC");
  for (; before.step() && joins(before.integer(2), bytes, kPackedTexts, whole); bytes += before.integer(2)) {
    first = before.integer(0);
    merged.push_back(before.integer(1));
  }
  before.reset();
  if (!some && merged.size() < 2) return;
  const auto words = std::span(wordList_).subspan(static_cast<size_t>(first - 1));
  std::string sizes;
  for (const std::string& w : words)
    fmt::format_to(std::back_inserter(sizes), "{}{}", sizes.empty() ? "" : " ", w.size());
  sizes += '\n';
  std::vector<std::string_view> records{sizes};
  records.insert(records.end(), words.begin(), words.end());
  const int64_t made = writeBlock(records, Form::Lines);
  db_.prepare("DELETE FROM word_block WHERE first >= ?").bind(1, first).run();
  db_.execute("DELETE FROM word");
  db_.prepare("INSERT INTO word_block VALUES (?, ?, ?)")
      .bind(1, first)
      .bind(2, static_cast<int64_t>(words.size()))
      .bind(3, made)
      .run();
  removeBlocks(merged);
}

void Corpus::packCounts() {
  if (!db_.prepare("SELECT 1 FROM match_count LIMIT 1").step()) return;
  constexpr size_t kKeys = 4;
  std::map<std::array<int64_t, kKeys>, CountRow> sums;
  for (const CountRow& row : countRows()) {
    std::array<int64_t, kKeys> key{};
    std::copy_n(row.begin(), kKeys, key.begin());
    auto [sum, isNew] = sums.try_emplace(key, row);
    if (!isNew)
      for (size_t k = kKeys; k < row.size(); ++k) sum->second[k] += row[k];
  }
  std::string lines;
  for (const auto& [key, row] : sums)
    fmt::format_to(std::back_inserter(lines), "{}{}", lines.empty() ? "" : "\n", fmt::join(row, " "));
  std::vector<int64_t> merged;
  for (Statement s = db_.prepare("SELECT block FROM match_block"); s.step();) merged.push_back(s.integer(0));
  const std::string_view records[] = {lines};
  const int64_t made = writeBlock(records, Form::Lines);
  db_.execute("DELETE FROM match_block; DELETE FROM match_count");
  db_.prepare("INSERT INTO match_block VALUES (?)").bind(1, made).run();
  removeBlocks(merged);
}

void Corpus::removeBlocks(std::span<const int64_t> ids) {
  Statement remove = db_.prepare("DELETE FROM block WHERE id = ?");
  for (int64_t id : ids) {
    remove.bind(1, id).run();
    for (auto& [cached, bytes] : cache_)
      if (cached == id) cached = 0, bytes.clear();
  }
}

void Corpus::packSection(const Section& section, bool whole) {
  const int64_t most = section.form == Form::Stories ? kPackedStories : kPackedTexts;
  // Rows of version 1 have no `parts`: their blocks hold stories between texts and stay as they are.
  Statement blocks = db_.prepare(
      fmt::format("SELECT id, form, raw_size FROM block WHERE id IN (SELECT {} FROM compilation WHERE parts "
                  "IS NOT NULL) AND "
                  "id NOT IN (SELECT block FROM compilation WHERE parts IS NULL) ORDER BY form, id DESC",
                  section.block));
  std::vector<int64_t> merged;
  size_t loose = 0;
  for (int64_t bytes = 0; blocks.step(); bytes += blocks.integer(2)) {
    const bool isLoose = blocks.integer(1) == static_cast<int64_t>(Form::Plain);
    if (!isLoose && ((merged.empty() && !whole) || !joins(blocks.integer(2), bytes, most, whole))) break;
    merged.push_back(blocks.integer(0));
    loose += isLoose;
  }
  blocks.reset();
  if (loose == 0 && merged.size() < 2) return;
  std::ranges::sort(merged);

  Statement move = db_.prepare(
      fmt::format("UPDATE compilation SET {} = ?, {} = ? WHERE id = ?", section.block, section.offset));
  std::vector<std::pair<int64_t, std::string>> group; // compilation and record
  int64_t bytes = 0;
  auto write = [&] {
    const std::vector<std::string_view> records = [&] {
      std::vector<std::string_view> views;
      for (const auto& [id, record] : group) views.emplace_back(record);
      return views;
    }();
    const int64_t made = writeBlock(records, section.form);
    int64_t offset = 0;
    for (const auto& [id, record] : group) {
      move.bind(1, made).bind(2, offset).bind(3, id).run();
      offset += static_cast<int64_t>(record.size());
    }
    group.clear();
    bytes = 0;
  };
  Statement rows = db_.prepare(fmt::format("SELECT id, {}, {} FROM compilation WHERE {} = ? ORDER BY {}",
                                           section.offset, section.size, section.block, section.offset));
  for (int64_t id : merged) {
    std::vector<std::pair<int64_t, BlockPlace>> places; // all, before any of them moves
    for (rows.bind(1, id); rows.step();)
      places.push_back({rows.integer(0), {id, rows.integer(1), rows.integer(2)}});
    for (const auto& [compilation, place] : places) {
      group.emplace_back(compilation, text(place));
      bytes += place.size;
      if (bytes >= most) write();
    }
  }
  if (!group.empty()) write();
  removeBlocks(merged);
}

void Corpus::pack(bool whole) {
  flush();
  db_.execute("BEGIN IMMEDIATE");
  refreshWords();
  packWords(whole);
  packCounts();
  packSection({"block", "offset", "size", Form::Lines}, whole);
  packSection({"story_block", "story_offset", "story_size", Form::Stories}, whole);
  packSection({"asm_block", "asm_offset", "asm_size", Form::Lines}, whole);
  db_.execute("COMMIT");
  constexpr int64_t kWorthIt = 100; // one page in so many is free
  if (db_.pragma("freelist_count") * kWorthIt < db_.pragma("page_count")) return;
  try {
    db_.execute("VACUUM");
  } catch (const Error&) { // a second process uses the file: its own pack() gives the pages back
  }
}

} // namespace uopscope
