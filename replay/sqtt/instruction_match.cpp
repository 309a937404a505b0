// Mnemonics of RDNA3 and RDNA4 tell their unit by their beginnings.
#include "replay/sqtt/instruction_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace uopscope::sqtt {

namespace {
bool beginsWithAny(std::string_view word, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view b) { return word.starts_with(b); });
}

constexpr std::array<std::string_view, 7> kVectorMemory = {"global_", "buffer_",  "flat_", "scratch_",
                                                           "image_",  "tbuffer_", "exp"};
constexpr std::array<std::string_view, 6> kImmediate = {
    "s_waitcnt", "s_wait_", "s_clause", "s_nop", "s_sleep", "s_set_inst_prefetch_distance"};
constexpr std::array<std::string_view, 2> kScalarMemory = {"s_load_", "s_buffer_load_"};

Program::Line lineOf(std::string text) {
  Program::Line line;
  const std::string_view word = std::string_view(text).substr(0, text.find_first_of(" \t"));
  if (word == "s_delay_alu" || word == "s_wait_alu" || word == "s_barrier_wait")
    line.unit = {};
  else if (beginsWithAny(word, kImmediate))
    line.unit = Unit::Immediate;
  else if (beginsWithAny(word, kScalarMemory))
    line.unit = Unit::ScalarMemory;
  else if (word.starts_with("s_sendmsg"))
    line.unit = Unit::Message;
  else if (word == "s_branch" || word.starts_with("s_cbranch"))
    line.isJump = true, line.unit = Unit::JumpTaken;
  else if (word == "s_endpgm")
    line.isEnd = true, line.unit = {};
  else if (word.starts_with("s_barrier") || word.starts_with("s_set") || word.starts_with("s_get"))
    line.isAnything = true,
    line.unit = Unit::Other; // they change the jump, the mode or the group: seen in no trace yet
  else if (word.starts_with("s_"))
    line.unit = Unit::Scalar;
  else if (word.starts_with("ds_"))
    line.unit = Unit::SharedMemory;
  else if (beginsWithAny(word, kVectorMemory))
    line.unit = Unit::VectorMemory;
  else
    line.unit = Unit::Vector;
  line.text = std::move(text);
  return line;
}

bool agrees(const Program::Line& line, Unit unit) {
  if (line.isAnything || unit == Unit::Other) return unit != Unit::Vector;
  if (line.isJump) return unit == Unit::JumpTaken || unit == Unit::JumpNotTaken;
  return line.unit == unit;
}
} // namespace

Program::Program(std::string_view disassembly, bool tellsImmediates) : tellsImmediates_(tellsImmediates) {
  std::map<std::string, uint32_t, std::less<>> places;
  std::vector<std::string> labels;
  while (!disassembly.empty()) {
    const size_t end = std::min(disassembly.find('\n'), disassembly.size());
    const std::string_view text = disassembly.substr(0, end);
    disassembly.remove_prefix(std::min(end + 1, disassembly.size()));
    if (text.empty() || text.starts_with("//")) continue;
    if (text.ends_with(':') && text[0] != '\t') {
      places.try_emplace(std::string(text.substr(0, text.size() - 1)), static_cast<uint32_t>(lines_.size()));
      labels.emplace_back(text);
      continue;
    }
    const size_t first = std::min(text.find_first_not_of(" \t"), text.size());
    lines_.push_back(lineOf(std::string(text.substr(first))));
    lines_.back().labels = std::exchange(labels, {});
  }
  for (Line& line : lines_)
    if (!tellsImmediates && line.unit == Unit::Immediate) line.unit = {};
  for (Line& line : lines_)
    if (line.isJump) {
      const auto it = places.find(std::string_view(line.text).substr(line.text.find_last_of(" \t") + 1));
      line.target = it == places.end() ? static_cast<uint32_t>(lines_.size()) : it->second;
    }
}

Match Program::follow(const Wave& wave) const {
  Match match;
  match.lines.reserve(wave.issues.size());
  size_t at = 0;
  auto skip = [&] {
    while (at < lines_.size() && !lines_[at].unit && !lines_[at].isEnd) ++at;
  };
  for (const Issue& issue : wave.issues) {
    skip();
    if (!tellsImmediates_ && &issue == &wave.issues.back() && issue.unit == Unit::Message &&
        at < lines_.size() && lines_[at].isEnd)
      break;
    if (at >= lines_.size() || lines_[at].isEnd || !agrees(lines_[at], issue.unit)) return match;
    match.lines.push_back(static_cast<uint32_t>(at));
    at = lines_[at].isJump && issue.unit == Unit::JumpTaken ? lines_[at].target : at + 1;
  }
  skip();
  match.complete = wave.ended && at < lines_.size() && lines_[at].isEnd;
  return match;
}

void Program::addCosts(const Wave& wave, const Match& match, std::vector<LineCost>& costs) const {
  int64_t before = wave.begin;
  for (size_t k = 0; k < match.lines.size(); ++k) {
    LineCost& cost = costs[match.lines[k]];
    ++cost.issues;
    cost.cycles += wave.issues[k].cycle - before;
    before = wave.issues[k].cycle;
  }
  const auto end = std::ranges::find(lines_, true, &Line::isEnd);
  if (!match.complete || end == lines_.end()) return;
  LineCost& cost = costs[static_cast<size_t>(end - lines_.begin())];
  ++cost.issues;
  cost.cycles += wave.end - before;
}

std::string Program::listing(const std::vector<LineCost>& costs, int64_t waves) const {
  constexpr size_t kColumn = 64;
  int64_t all = 0;
  for (const LineCost& cost : costs) all += cost.cycles;
  std::string out = fmt::format(
      "// {} traced wavefront{}: times run, cycles from the instruction before, and their share\n", waves,
      waves == 1 ? "" : "s");
  for (size_t k = 0; k < lines_.size(); ++k) {
    for (const std::string& label : lines_[k].labels) out += label + "\n";
    const LineCost& cost = costs[k];
    out += fmt::format("\t{:<{}}", lines_[k].text, kColumn);
    if (cost.issues)
      out += fmt::format(" // {:>7} {:>10} {:>5.1f} %", cost.issues, cost.cycles,
                         all ? 100.0 * static_cast<double>(cost.cycles) / static_cast<double>(all) : 0.0);
    while (out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

} // namespace uopscope::sqtt
