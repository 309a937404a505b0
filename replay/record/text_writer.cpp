// Forms and repetitions are remembered up to a limit, so a long recording needs no more memory than a short one. A
// forgotten form is stored again under a new number.
#include "replay/record/text_writer.h"

#include "replay/record/line_numbers.h"
#include "replay/schema/leb128.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace uopscope {

namespace {
constexpr int64_t kWrittenOut = 2; ///< times that a line is written out before it is a repetition
constexpr size_t kMostFormBytes = 16 << 20, kMostRepeats = 1 << 18;

constexpr char kEndOfPart = '\n'; ///< in no line

/// The parts of a form as a list of JSON.
std::string listOf(std::string_view parts) {
  nlohmann::json list = nlohmann::json::array();
  for (size_t at = 0, end = 0; at < parts.size(); at = end + 1) {
    end = parts.find(kEndOfPart, at);
    list.push_back(parts.substr(at, end - at));
  }
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The pairs of lines and instructions in order of instructions, as runs of equal differences to the pair before, the first
/// one to line 0 and instruction -1: groups of {difference of lines * 4 + that of instructions, repetitions, rest}.
std::vector<uint8_t> packedLines(std::vector<TextLine> lines) {
  auto key = [](TextLine l) { return uint64_t{l.instruction} << 32 | l.line; };
  std::erase_if(lines, [](TextLine l) { return l.line < 1; });
  std::ranges::sort(lines, {}, key);
  lines.erase(std::ranges::unique(lines, {}, key).begin(), lines.end());
  std::vector<uint8_t> out;
  auto stepOf = [&](size_t k) {
    const int64_t line = k ? int64_t{lines[k - 1].line} : 0,
                  instruction = k ? int64_t{lines[k - 1].instruction} : -1;
    return std::pair(lines[k].line - line, static_cast<uint64_t>(lines[k].instruction - instruction));
  };
  for (size_t k = 0, end = 0; k < lines.size(); k = end) {
    const auto [line, instruction] = stepOf(k);
    for (end = k + 1; end < lines.size() && stepOf(end) == std::pair(line, instruction);) ++end;
    constexpr uint64_t kMostHere = 3;
    const uint64_t here = std::min(instruction, kMostHere);
    const uint64_t group[] = {unsignedOf(line) * 4 + here, end - k - 1, instruction - here};
    appendGroup(out, std::span(group).first(group[2] ? 3 : group[1] ? 2 : 1));
  }
  return out;
}
} // namespace

TextWriter::TextWriter(const Database& db)
    : insertText_(
          db.prepare("INSERT INTO text (id, scope, kind, size, content, lines) VALUES (?, ?, ?, ?, ?, ?)")),
      insertForm_(db.prepare("INSERT INTO line_form (id, parts) VALUES (?, ?)")),
      insertRepeat_(db.prepare("INSERT INTO line_repeat (id, form, numbers) VALUES (?, ?, ?)")),
      insertProgram_(db.prepare("INSERT OR REPLACE INTO program (kernel, count, nodes) VALUES (?, ?, ?)")) {}

void TextWriter::split(std::string_view line) {
  parts_.clear();
  numbers_.clear();
  splitLine(
      line, [this](std::string_view text) { (parts_ += text) += kEndOfPart; },
      [this](int64_t number) { numbers_.push_back(number); });
}

TextWriter::Form& TextWriter::form() {
  if (formBytes_ > kMostFormBytes) {
    forms_.clear();
    formBytes_ = 0;
  }
  Form& form = forms_.try_emplace(parts_).first->second;
  if (form.id) return form;
  formBytes_ += parts_.size();
  form.id = nextForm_++;
  insertForm_.bind(1, form.id).bind(2, listOf(parts_)).run();
  return form;
}

void TextWriter::addLine(std::string_view line) {
  split(line);
  Form& of = form();
  const auto number = static_cast<uint64_t>(of.id);
  if (numbers_.empty()) return appendGroup(content_, std::array{number * 2});
  if (std::exchange(of.text, text_) != text_) of.last.assign(numbers_.size(), 0);
  group_.assign(1, number * 2);
  for (size_t k = 0; k < numbers_.size(); ++k)
    group_.push_back(unsignedOf(numbers_[k] - std::exchange(of.last[k], numbers_[k])));
  key_.clear();
  appendGroup(key_, group_);
  if (repeats_.size() > kMostRepeats) repeats_.clear();
  keyText_.assign(key_.begin(), key_.end());
  int64_t& repeat = repeats_.try_emplace(keyText_).first->second;
  if (repeat > -kWrittenOut && repeat <= 0) {
    --repeat;
    content_.insert(content_.end(), key_.begin(), key_.end());
    return;
  }
  if (repeat < 0) {
    repeat = nextRepeat_++;
    std::string numbers;
    for (uint64_t difference : std::span(group_).subspan(1))
      fmt::format_to(std::back_inserter(numbers), "{}{}", numbers.empty() ? '[' : ',', signedOf(difference));
    insertRepeat_.bind(1, repeat).bind(2, of.id).bind(3, numbers + "]").run();
  }
  appendGroup(content_, std::array{static_cast<uint64_t>(repeat) * 2 + 1});
}

void TextWriter::add(int64_t id, int64_t scope, int64_t kind, std::string_view text,
                     std::vector<TextLine> lines) {
  content_.clear();
  ++text_;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    addLine(text.substr(at, end - at));
    at = end + 1;
  }
  const std::vector<uint8_t> packed = packedLines(std::move(lines));
  insertText_.bind(1, id).bindId(2, scope).bind(3, kind).bind(4, static_cast<int64_t>(text.size()));
  insertText_.bindBlob(5, content_).bindNull(6);
  if (!packed.empty()) insertText_.bindBlob(6, packed);
  insertText_.run();
}

void TextWriter::addProgram(int64_t kernel, std::span<const int64_t> nodes) {
  std::vector<uint8_t> out;
  auto differenceAt = [&](size_t k) { return nodes[k] - (k ? nodes[k - 1] : 0); };
  for (size_t k = 0, end = 0; k < nodes.size(); k = end) {
    for (end = k + 1; end < nodes.size() && differenceAt(end) == differenceAt(k);) ++end;
    const uint64_t group[] = {unsignedOf(differenceAt(k)), end - k - 1};
    appendGroup(out, std::span(group).first(group[1] ? 2 : 1));
  }
  insertProgram_.bind(1, kernel).bind(2, static_cast<int64_t>(nodes.size())).bindBlob(3, out).run();
}

} // namespace uopscope
