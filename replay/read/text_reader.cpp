// Forms and repetitions are kept until they take 32 megabytes: the texts of one kernel share most of them.
#include "replay/read/text_reader.h"

#include "replay/schema/leb128.h"
#include "replay/schema/reading_guard.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {
constexpr size_t kMostKept = 32 << 20;
/// No kernel comes near: a run of a billion pairs takes five bytes of a file.
constexpr size_t kMostRunPairs = 1 << 24;

[[noreturn]] void damaged(std::string_view what) {
  throw Error(ErrorKind::File, fmt::format("{}; the file is damaged", what));
}
/// The blob in the first column of the row, none without a row; the statement is free again.
std::optional<std::vector<uint8_t>> blobOf(Statement& select, int64_t id) {
  std::optional<std::vector<uint8_t>> out;
  if (select.bind(1, id).step()) {
    const auto blob = select.blob(0);
    out.emplace(blob.begin(), blob.end());
  }
  select.reset();
  return out;
}
int64_t sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
} // namespace

TextReader::TextReader(const Database& db)
    : selectText_(db.prepare("SELECT content FROM text WHERE id = ?")),
      selectLines_(db.prepare("SELECT lines FROM text WHERE id = ?")),
      selectForm_(
          db.prepare("SELECT value FROM line_form, json_each(parts) WHERE line_form.id = ? ORDER BY key")),
      selectRepeat_(db.prepare(
          "SELECT form, value FROM line_repeat, json_each(numbers) WHERE line_repeat.id = ? ORDER BY key")),
      selectProgram_(db.prepare("SELECT nodes FROM program WHERE kernel = ?")) {}

const std::vector<std::string>& TextReader::form(int64_t id) {
  if (const auto it = forms_.find(id); it != forms_.end()) return it->second;
  std::vector<std::string> parts; // kept once all of it was read: a reading may be stopped
  for (selectForm_.bind(1, id); selectForm_.step();)
    kept_ += parts.emplace_back(selectForm_.text(0)).size() + 32;
  return forms_[id] = std::move(parts);
}

const TextReader::Repeat& TextReader::repeat(int64_t id) {
  if (const auto it = repeats_.find(id); it != repeats_.end()) return it->second;
  Repeat again;
  for (selectRepeat_.bind(1, id); selectRepeat_.step(); kept_ += 16) {
    again.form = selectRepeat_.integer(0);
    again.numbers.push_back(selectRepeat_.integer(1));
  }
  return repeats_[id] = std::move(again);
}

std::optional<std::string> TextReader::text(int64_t id) {
  if (kept_ > kMostKept) {
    forms_.clear();
    repeats_.clear();
    kept_ = 0;
  }
  const auto content = blobOf(selectText_, id);
  if (!content) return std::nullopt;
  std::string out;
  std::unordered_map<int64_t, std::vector<int64_t>> last;
  Leb128Reader in(*content);
  for (std::vector<uint64_t> group; nextGroup(in, group);) {
    const auto number = static_cast<int64_t>(group[0] >> 1);
    const Repeat* again = group[0] & 1 ? &repeat(number) : nullptr;
    const int64_t formId = again ? again->form : number;
    const auto& parts = form(formId);
    auto& numbers = last[formId];
    const size_t count = again ? again->numbers.size() : group.size() - 1;
    numbers.resize(std::max(numbers.size(), count));
    for (size_t k = 0; k < count; ++k)
      numbers[k] = sum(numbers[k], again ? again->numbers[k] : signedOf(group[k + 1]));
    for (size_t k = 0; k < parts.size(); ++k) {
      if (k > 0 && k <= count) fmt::format_to(std::back_inserter(out), "{}", numbers[k - 1]);
      out += parts[k];
    }
    out += '\n';
    if (out.size() > static_cast<size_t>(kMostValueBytes)) damaged("a text is too long");
  }
  if (!out.empty()) out.pop_back();
  return out;
}

std::vector<TextReader::Line> TextReader::lines(int64_t id) {
  std::vector<Line> out;
  if (const auto lines = blobOf(selectLines_, id)) {
    Line at{0, -1};
    Leb128Reader in(*lines);
    for (std::vector<uint64_t> group; nextGroup(in, group);) {
      const int64_t line = signedOf(group[0] >> 2);
      const auto instruction = static_cast<int64_t>((group[0] & 3) + (group.size() > 2 ? group[2] : 0));
      const uint64_t times = group.size() > 1 ? group[1] : 0;
      if (times >= kMostRunPairs - out.size()) damaged("a text has too many lines");
      for (uint64_t k = 0; k <= times; ++k)
        out.push_back(at = {sum(at.line, line), sum(at.instruction, instruction)});
    }
  }
  std::ranges::sort(out, {}, [](const Line& l) { return std::pair(l.line, l.instruction); });
  return out;
}

std::vector<int64_t> TextReader::program(int64_t kernel) {
  std::vector<int64_t> out;
  if (const auto nodes = blobOf(selectProgram_, kernel)) {
    Leb128Reader in(*nodes);
    int64_t node = 0;
    for (std::vector<uint64_t> group; nextGroup(in, group);) {
      const uint64_t times = group.size() > 1 ? group[1] : 0;
      if (times >= kMostRunPairs - out.size()) damaged("a program is too long");
      for (uint64_t k = 0; k <= times; ++k) out.push_back(node = sum(node, signedOf(group[0])));
    }
  }
  return out;
}

} // namespace uopscope
