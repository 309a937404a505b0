// Every node of an operation rejects most rules early. A group therefore names the list of rules tried, of
// which few exist, and lists only the rules that passed the early check. A row of times covers sixty-four
// sums, enough for zlib to find repetitions. A row ends after a fixed number of sums, so rows are the same in
// every recording.
#include "replay/schema/match_blocks.h"

#include "replay/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace uopscope {

namespace {
constexpr int64_t kSumsOfTime = 64;

/// Sums of one operation.
using Group = std::span<const MatchCounts::Sum>;

bool onlyEarly(const MatchCell& cell) {
  return std::all_of(cell.count.begin() + 1, cell.count.end(), [](uint64_t n) { return n == 0; });
}

/// The most frequent number of early rejections among rules that were only rejected early; the smallest of them.
uint64_t mostCommon(Group group) {
  std::vector<std::pair<uint64_t, size_t>> times; // few: it changes where a rule was applied
  for (const MatchCounts::Sum& s : group) {
    if (!onlyEarly(s.cell)) continue;
    auto it =
        std::find_if(times.rbegin(), times.rend(), [&](const auto& t) { return t.first == s.cell.count[0]; });
    if (it == times.rend())
      times.emplace_back(s.cell.count[0], 1);
    else
      ++it->second;
  }
  std::ranges::sort(times);
  auto most = std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; });
  return most == times.end() ? 0 : most->first;
}

/// Appends an element to a list of JSON whose bracket is open. A pass has hundreds, and format strings take their time.
void append(std::string& list, uint64_t number) {
  if (list.back() != '[') list += ',';
  const fmt::format_int digits(number);
  list.append(digits.data(), digits.size());
}

/// The text of match_tried.rules.
std::string triedIn(Group group) {
  std::string out = "[";
  for (const MatchCounts::Sum& s : group) append(out, s.rule);
  return out + "]";
}

/// The text of match_group.cells.
std::string cellsOf(Group group, uint64_t common) {
  std::string out = "[";
  for (size_t place = 0; place < group.size(); ++place) {
    const MatchCell& cell = group[place].cell;
    size_t length = kMatchOutcomes;
    while (length && !cell.count[length - 1]) --length;
    if (cell.count[0] == common && length <= 1) continue;
    if (out.back() != '[') out += ',';
    out += '[';
    append(out, place);
    for (size_t k = 0; k < length; ++k) append(out, cell.count[k]);
    out += ']';
  }
  return out + "]";
}

bool isNumber(const nlohmann::json& value, int64_t most) {
  return value.is_number_integer() && value.get<int64_t>() >= 0 && value.get<int64_t>() <= most;
}
} // namespace

MatchBlockWriter::MatchBlockWriter(const Database& db)
    : insertTried_(db.prepare("INSERT INTO match_tried (id, rules) VALUES (?, ?)")),
      insertGroup_(
          db.prepare("INSERT INTO match_group (id, op, tried, times, cells) VALUES (?, ?, ?, ?, ?)")),
      insertSet_(db.prepare("INSERT INTO match_set (id, groups) VALUES (?, ?)")),
      insertPass_(db.prepare("INSERT INTO match_pass (pass, nested, attempts) VALUES (?, ?, ?)")),
      insertTime_(
          db.prepare("INSERT OR REPLACE INTO packed_time (first, last, size, times) VALUES (?, ?, ?, ?)")) {}

int64_t MatchBlockWriter::tried(std::span<const MatchCounts::Sum> group) {
  std::string rules; // as bytes: lists come again and again, and their text is made once
  rules.reserve(group.size() * sizeof(uint32_t));
  for (const MatchCounts::Sum& s : group)
    rules.append(reinterpret_cast<const char*>(&s.rule), sizeof(s.rule));
  auto [it, fresh] = tried_.try_emplace(std::move(rules), static_cast<int64_t>(tried_.size()) + 1);
  if (fresh) insertTried_.bind(1, it->second).bind(2, std::string_view(triedIn(group))).run();
  return it->second;
}

int64_t MatchBlockWriter::group(Group sums) {
  const uint32_t op = sums.front().op;
  const uint64_t times = mostCommon(sums);
  const int64_t list = tried(sums);
  auto [it, fresh] =
      groups_.try_emplace({op, list, times, cellsOf(sums, times)}, static_cast<int64_t>(groups_.size()) + 1);
  if (fresh)
    insertGroup_.bind(1, it->second)
        .bind(2, int64_t{op})
        .bind(3, list)
        .bind(4, static_cast<int64_t>(times))
        .bind(5, std::string_view(std::get<3>(it->first)))
        .run();
  return it->second;
}

int64_t MatchBlockWriter::set(const std::string& groups) {
  auto [it, fresh] = sets_.try_emplace(groups, static_cast<int64_t>(sets_.size()) + 1);
  if (fresh) insertSet_.bind(1, it->second).bind(2, std::string_view(groups)).run();
  return it->second;
}

void MatchBlockWriter::add(int64_t pass, int64_t nested, const MatchCounts& counts) {
  const std::span<const MatchCounts::Sum> all = counts.sums();
  std::vector<int64_t> groups;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].op == all[begin].op) ++end;
    groups.push_back(group(all.subspan(begin, end - begin)));
  }
  add(pass, nested, groups, counts.encodeTimes(kTimeUnitNs));
}

void MatchBlockWriter::add(int64_t pass, int64_t nested, std::span<const int64_t> groups,
                           std::span<const uint8_t> times) {
  std::string ids = "[";
  for (int64_t id : groups) append(ids, static_cast<uint64_t>(id));
  insertPass_.bind(1, pass).bind(2, nested).bind(3, set(ids + "]")).run();

  if (rows_ >= kSumsOfTime && pass != last_) {
    flush();
    times_.clear();
    rows_ = 0;
  }
  if (rows_++ == 0) {
    first_ = pass;
    last_ = 0;
  }
  appendLeb128(times_, static_cast<uint64_t>(pass - last_));
  appendLeb128(times_, static_cast<uint64_t>(nested));
  appendLeb128(times_, times.size());
  times_.insert(times_.end(), times.begin(), times.end());
  last_ = pass;
  written_ = false;
}

void MatchBlockWriter::flush() {
  if (written_) return;
  insertTime_.bind(1, first_).bind(2, last_);
  insertTime_.bind(3, static_cast<int64_t>(times_.size())).bindBlob(4, packer_.pack(times_)).run();
  written_ = true;
}

MatchBlockReader::MatchBlockReader(const Database& db, int64_t lowestPass, int64_t highestPass)
    : low_(lowestPass), high_(highestPass), path_(db.path()) {
  int64_t version = db.pragma("user_version");
  form_ = version >= kListSchemaVersion     ? Form::Lists
          : version >= kPlainSchemaVersion  ? Form::Plain
          : version >= kPackedSchemaVersion ? Form::Packed
                                            : Form::Rows;
  if (isPlain()) {
    rows_ = db.prepare("SELECT pass, nested, groups FROM match_pass LEFT JOIN match_set ON match_set.id = "
                       "match_pass.attempts WHERE pass BETWEEN ?1 AND ?2 ORDER BY pass, nested");
    group_ = db.prepare(form_ == Form::Lists
                            ? "SELECT op, times, cells, rules FROM match_group LEFT JOIN match_tried ON "
                              "match_tried.id = match_group.tried WHERE match_group.id = ?"
                            : "SELECT op, 0, cells FROM match_group WHERE id = ?");
    time_ = db.prepare("SELECT first, last, size, times FROM packed_time WHERE first <= ?1 ORDER BY first "
                       "DESC LIMIT 1");
  } else {
    rows_ = db.prepare(
        form_ == Form::Packed
            ? "SELECT size, counts, size_ns, counts_ns FROM packed_match WHERE last >= ?1 AND first "
              "<= ?2 ORDER BY first"
            : "SELECT pass, nested, counts, counts_ns FROM match_block WHERE pass BETWEEN ?1 AND ?2 "
              "ORDER BY pass, nested");
  }
  rows_.bind(1, low_).bind(2, high_);
}

void MatchBlockReader::damaged() const {
  throw Error(ErrorKind::File,
              fmt::format("{}: the counts of pass {} cannot be read; the file is damaged", path_, pass_));
}

bool MatchBlockReader::next() {
  if (form_ == Form::Packed) return nextPacked();
  if (!rows_.step()) return false;
  pass_ = rows_.integer(0);
  nested_ = rows_.integer(1);
  if (isPlain()) {
    set_ = rows_.text(2);
    return true;
  }
  counts_ = rows_.blob(2);
  times_ = rows_.blob(3);
  return true;
}

std::span<const uint8_t> MatchBlockReader::part(const std::vector<uint8_t>& bytes, size_t& at, bool names) {
  Leb128Reader in(std::span<const uint8_t>(bytes).subspan(at));
  uint64_t step = 0, nested = 0, size = 0;
  if ((names && (!in.next(step) || !in.next(nested))) || !in.next(size) || size > in.left() ||
      step > INT32_MAX || nested > INT64_MAX)
    damaged();
  if (names) {
    pass_ += static_cast<int64_t>(step);
    nested_ = static_cast<int64_t>(nested);
  }
  size_t begin = bytes.size() - in.left();
  at = begin + size;
  return std::span<const uint8_t>(bytes).subspan(begin, size);
}

bool MatchBlockReader::nextPacked() {
  for (;;) {
    if (countsAt_ == blockCounts_.size()) {
      if (!rows_.step()) return false;
      blockCounts_ = unpack(rows_.blob(1), rows_.integer(0));
      blockTimes_ = unpack(rows_.blob(3), rows_.integer(2));
      countsAt_ = timesAt_ = 0;
      pass_ = 0;
      if (blockCounts_.empty()) continue;
    }
    counts_ = part(blockCounts_, countsAt_, true);
    times_ = part(blockTimes_, timesAt_, false);
    if (pass_ >= low_ && pass_ <= high_) return true;
  }
}

std::span<const uint8_t> MatchBlockReader::timesOf(int64_t pass, int64_t nested) {
  if (pass < timeFirst_ || pass > timeLast_) {
    timeParts_.clear();
    blockTimes_.clear();
    timeFirst_ = 0;
    timeLast_ = -1;
    if (time_.bind(1, pass).step() && time_.integer(1) >= pass) {
      timeFirst_ = time_.integer(0);
      timeLast_ = time_.integer(1);
      blockTimes_ = unpack(time_.blob(3), time_.integer(2));
    }
    time_.reset();
    pass_ = 0;
    for (timesAt_ = 0; timesAt_ < blockTimes_.size();) {
      std::span<const uint8_t> bytes = part(blockTimes_, timesAt_, true);
      timeParts_[{pass_, nested_}] = bytes;
    }
    pass_ = pass;
    nested_ = nested;
  }
  auto it = timeParts_.find({pass, nested});
  return it == timeParts_.end() ? std::span<const uint8_t>() : it->second;
}

/// Reads the five counts at the end of a cell.
void MatchBlockReader::readCell(const nlohmann::json& item, MatchCell& cell) const {
  if (item.size() > kMatchOutcomes + 1) damaged();
  for (size_t outcome = 1; outcome < item.size(); ++outcome) {
    if (!isNumber(item[outcome], INT64_MAX)) damaged();
    cell.count[outcome - 1] = item[outcome].get<uint64_t>();
  }
}

void MatchBlockReader::decodeLists(uint32_t op, const nlohmann::json& cells, const UseCell& use) {
  auto rules = nlohmann::json::parse(group_.text(3), nullptr, false);
  const int64_t times = group_.integer(1);
  if (!rules.is_array() || times < 0) damaged();
  size_t next = 0;
  for (size_t place = 0; place < rules.size(); ++place) {
    if (!isNumber(rules[place], UINT32_MAX)) damaged();
    MatchCell cell;
    cell.count[0] = static_cast<uint64_t>(times);
    if (next < cells.size()) {
      const nlohmann::json& item = cells[next];
      if (!item.is_array() || item.empty() || !isNumber(item[0], INT64_MAX)) damaged();
      if (item[0].get<size_t>() == place) {
        cell.count[0] = 0;
        readCell(item, cell);
        ++next;
      }
    }
    use(rules[place].get<uint32_t>(), op, cell);
  }
  if (next != cells.size()) damaged();
}

/// Version 5: first the common number of early rejections, then the rules as differences to the rule before,
/// each with its counts.
void MatchBlockReader::decodeSteps(uint32_t op, const nlohmann::json& cells, const UseCell& use) const {
  if (cells.empty() || !isNumber(cells[0], INT64_MAX)) damaged();
  uint64_t rule = 0;
  for (size_t k = 1; k < cells.size(); ++k) {
    const nlohmann::json& item = cells[k];
    if (item.is_array() && item.empty()) damaged();
    const nlohmann::json& step = item.is_array() ? item[0] : item;
    MatchCell cell;
    if (item.is_array())
      readCell(item, cell);
    else
      cell.count[0] = cells[0].get<uint64_t>();
    if (!isNumber(step, UINT32_MAX)) damaged();
    rule += step.get<uint64_t>();
    if (rule > UINT32_MAX) damaged();
    use(static_cast<uint32_t>(rule), op, cell);
  }
}

void MatchBlockReader::decodeGroup(int64_t id, const UseCell& use) {
  if (!group_.bind(1, id).step()) damaged();
  const int64_t op = group_.integer(0);
  auto cells = nlohmann::json::parse(group_.text(2), nullptr, false);
  if (op < 0 || op > 255 || !cells.is_array()) damaged();
  if (form_ == Form::Lists)
    decodeLists(static_cast<uint32_t>(op), cells, use);
  else
    decodeSteps(static_cast<uint32_t>(op), cells, use);
  group_.reset();
}

void MatchBlockReader::decode(
    const std::function<void(uint32_t rule, uint32_t op, const MatchCell& cell)>& use) {
  if (!isPlain()) {
    if (!MatchCounts::decode(counts_, times_, use)) damaged();
    return;
  }
  auto groups = nlohmann::json::parse(set_, nullptr, false);
  if (!groups.is_array()) damaged();
  MatchTimes times(timesOf(pass_, nested_));
  for (const nlohmann::json& id : groups) {
    if (!isNumber(id, INT64_MAX)) damaged();
    decodeGroup(id.get<int64_t>(), [&](uint32_t rule, uint32_t op, MatchCell& cell) {
      if (!times.next(cell)) damaged();
      if (form_ == Form::Lists)
        for (int64_t& ns : cell.ns) ns *= kTimeUnitNs;
      use(rule, op, cell);
    });
  }
}

} // namespace uopscope
