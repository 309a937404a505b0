// Finds races by recording, for every element, its last writer and its last readers. Computes costs from the
// accesses that the threads of a warp make at the same instruction.
#include "engine/runtime/gpu_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

std::string position(std::span<const int64_t> sizes, int64_t linear) {
  std::array<int64_t, 3> at{};
  for (size_t i = 0; i < 3; ++i) {
    int64_t n = i < sizes.size() ? sizes[i] : 1;
    at[i] = linear % n;
    linear /= n;
  }
  return fmt::format("({},{},{})", at[0], at[1], at[2]);
}

int64_t product(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

constexpr size_t kMaxFindings = 20;

} // namespace

GpuWatch::GpuWatch(std::vector<WatchedMemory> memories, std::vector<std::string> instructions)
    : memories_(std::move(memories)), instructions_(std::move(instructions)) {}

void GpuWatch::launchBegins(std::span<const int64_t> groups, std::span<const int64_t> threads,
                            std::vector<std::pair<Shadow, size_t>> shadows) {
  groups_.assign(groups.begin(), groups.end());
  threads_.assign(threads.begin(), threads.end());
  threadsPerGroup_ = product(threads);
  shadows_ = std::move(shadows);
  cells_.assign(memories_.size(), {});
  ownWritten_.assign(memories_.size(), {});
  phase_ = 0;
}

void GpuWatch::groupBegins(int64_t group) {
  group_ = group;
  phase_ = 0;
  underWay_.clear();
  closed_.assign(static_cast<size_t>(threadsPerGroup_), 0);
  productReads_.clear();
  boxes_.clear();
  products_.assign(static_cast<size_t>(threadsPerGroup_), 0);
  shownPhase_ = 0;
  held_.clear();
  for (size_t m = 0; m < memories_.size(); ++m)
    if (memories_[m].space == WatchedSpace::Shared) std::fill(cells_[m].begin(), cells_[m].end(), Cell{});
}

std::string GpuWatch::who(int64_t group, int64_t thread) const {
  return fmt::format("thread {} of group {}", position(threads_, thread), position(groups_, group));
}

void GpuWatch::found(uint32_t a, uint32_t b, const char* kind, const std::string& text) {
  if (findings_.size() < kMaxFindings && known_.emplace(a, b, kind).second)
    findings_.push_back(fmt::format("{}: {}", kind, text));
}

void GpuWatch::forgetFindings() {
  findings_.clear();
  known_.clear();
}

std::vector<GpuWatch::Cell>& GpuWatch::cellsOf(uint32_t memory) {
  auto& cells = cells_[memory];
  if (cells.empty()) cells.resize(static_cast<size_t>(memories_[memory].size));
  return cells;
}

bool GpuWatch::races(const Mark& m) const {
  if (m.thread == 0) return false;
  int64_t other = int64_t{m.thread} - 1;
  if (other == group_ * threadsPerGroup_ + thread_) return false;
  return other / threadsPerGroup_ != group_ || m.phase == phase_;
}

void GpuWatch::raced(const WatchedAccess& a, int64_t element, const Mark& m, bool otherWrote) {
  int64_t other = int64_t{m.thread} - 1;
  bool sameGroup = other / threadsPerGroup_ == group_;
  found(m.instruction, a.instruction, "race",
        fmt::format("{} {} {}[{}], {} {} it, and {}\n      {}\n      {}", here(),
                    a.isWrite ? "writes" : "reads", memories_[a.memory].name, element,
                    who(other / threadsPerGroup_, other % threadsPerGroup_), otherWrote ? "wrote" : "read",
                    sameGroup ? "no barrier stands between them" : "groups wait for no other",
                    instructions_[a.instruction], instructions_[m.instruction]));
}

void GpuWatch::phaseEnds(std::optional<int64_t> copiesLeft, bool forUnits) {
  ++phase_;
  if (forUnits) shownPhase_ = phase_;
  if (!copiesLeft) return;
  std::erase_if(underWay_, [&](const Copy& c) {
    const bool arrived = c.group < closed_[c.thread] - *copiesLeft;
    if (arrived) {
      Cell& cell = cells_[c.memory][static_cast<size_t>(c.element)];
      cell.isUnderWay = false;
      cell.writer.phase = static_cast<uint16_t>(phase_ - 1); // it was written by the time of this barrier
    }
    return arrived;
  });
}

void GpuWatch::underWay(const WatchedAccess& a, int64_t element, const Mark& m) {
  int64_t other = int64_t{m.thread} - 1;
  found(m.instruction, a.instruction, "copy under way",
        fmt::format("{} {} {}[{}], which {} began to copy, and no barrier has waited for the copy\n"
                    "      {}\n      {}",
                    here(), a.isWrite ? "writes" : "reads", memories_[a.memory].name, element,
                    who(other / threadsPerGroup_, other % threadsPerGroup_), instructions_[a.instruction],
                    instructions_[m.instruction]));
}

void GpuWatch::neverWritten(const WatchedAccess& a, int64_t element) {
  found(a.instruction, a.instruction, "never written",
        fmt::format("{} reads {}[{}], which nobody has written\n      {}", here(), memories_[a.memory].name,
                    element, instructions_[a.instruction]));
}

void GpuWatch::touchedOwn(const WatchedAccess& a) {
  const WatchedMemory& m = memories_[a.memory];
  auto& written = ownWritten_[a.memory];
  if (written.empty()) written.resize(static_cast<size_t>(m.size * threadsPerGroup_));
  auto now = static_cast<uint32_t>(group_ + 1);
  for (int64_t e = a.first; e < a.first + a.count; ++e) {
    if (m.ofProducts) touchedRegister(a, e);
    uint32_t& inGroup = written[static_cast<size_t>(thread_ * m.size + e)];
    if (a.isWrite)
      inGroup = now;
    else if (inGroup != now)
      neverWritten(a, e);
  }
}

GpuWatch::Mark GpuWatch::me(uint32_t instruction) const {
  return {static_cast<uint32_t>(group_ * threadsPerGroup_ + thread_ + 1), phase_,
          static_cast<uint16_t>(instruction)};
}

void GpuWatch::touched(const WatchedAccess& a) {
  const WatchedMemory& m = memories_[a.memory];
  int64_t bytes = a.count * m.elementBytes;
  if (m.space == WatchedSpace::Own) return touchedOwn(a);
  uint32_t turn = executed_[{a.instruction, thread_}]++;
  requests_[{a.instruction, turn, thread_ / kWarp}].push_back(
      {int64_t{a.memory}, a.first * m.elementBytes, bytes});
  bool global = m.space == WatchedSpace::Global;
  if (global && !a.isWrite) loadedBytes_ += static_cast<uint64_t>(bytes);
  if (m.size <= 0) return; // without a size, neither bounds nor races can be checked
  auto [shadow, offset] = global ? shadows_[a.memory] : std::pair<Shadow, size_t>{};
  auto& cells = cellsOf(a.memory);
  const Mark me = this->me(a.instruction);
  for (int64_t e = a.first; e < a.first + a.count; ++e) {
    Cell& c = cells[static_cast<size_t>(e)];
    if (c.isUnderWay) underWay(a, e, c.writer);
    if (a.isWrite) {
      if (c.products) productStillReads(a, e);
      if ((a.changed >> std::min<int64_t>(e - a.first, 63) & 1) && races(c.writer))
        raced(a, e, c.writer, true);
      if (races(c.reader)) raced(a, e, c.reader, false);
      if (races(c.otherReader)) raced(a, e, c.otherReader, false);
      c.writer = me;
      const auto thread = static_cast<size_t>(thread_);
      if (a.isAsync && !c.isUnderWay) underWay_.push_back({a.memory, e, thread, closed_[thread]});
      c.isUnderWay = c.isUnderWay || a.isAsync;
      c.isOfEngine = false;
      if (shadow)
        std::fill_n(shadow->begin() + static_cast<std::ptrdiff_t>(offset) + e * m.elementBytes,
                    m.elementBytes, true);
      continue;
    }
    if (races(c.writer)) raced(a, e, c.writer, true);
    bool isWritten = global ? !shadow || (*shadow)[offset + static_cast<size_t>(e * m.elementBytes)]
                            : c.writer.thread != 0;
    if (!isWritten) neverWritten(a, e);
    if (global && c.reader.thread == 0) differentBytes_ += static_cast<uint64_t>(m.elementBytes);
    if (c.reader.thread != 0 && c.reader.thread != me.thread) c.otherReader = c.reader;
    c.reader = me;
  }
}

/// Adds the passes over the banks that a request of a warp takes. Threads that access 16 bytes are served eight at a
/// time, those of 8 bytes sixteen at a time, since all banks together deliver 128 bytes.
void GpuWatch::countPasses(const std::vector<std::array<int64_t, 3>>& lanes, AccessCost& cost) {
  int64_t widest = 4;
  for (const auto& lane : lanes) widest = std::max(widest, lane[2]);
  const auto together = static_cast<size_t>(std::max<int64_t>(1, 4 * kBanks / widest));
  for (size_t from = 0; from < lanes.size(); from += together) {
    std::set<int64_t> words;
    for (size_t i = from; i < std::min(lanes.size(), from + together); ++i)
      for (int64_t w = lanes[i][1] / 4; w <= (lanes[i][1] + lanes[i][2] - 1) / 4; ++w) words.insert(w);
    std::array<uint64_t, kBanks> perBank{};
    for (int64_t w : words) ++perBank[static_cast<size_t>(w % kBanks)];
    cost.passes += *std::max_element(perBank.begin(), perBank.end());
    cost.least += (words.size() + kBanks - 1) / kBanks;
  }
}

void GpuWatch::warpEnds() {
  for (auto& [key, lanes] : requests_) {
    AccessCost& cost = costs_[std::get<0>(key)];
    ++cost.requests;
    std::set<int64_t> sectors;
    for (auto [memory, first, bytes] : lanes) {
      cost.bytes += static_cast<uint64_t>(bytes);
      for (int64_t s = first / kSector; s <= (first + bytes - 1) / kSector; ++s) sectors.insert(s);
    }
    if (memories_[static_cast<size_t>(lanes[0][0])].space == WatchedSpace::Global) {
      cost.sectors += sectors.size();
      continue;
    }
    countPasses(lanes, cost);
  }
  requests_.clear();
  executed_.clear();
}

void GpuWatch::parted(int64_t a, uint32_t atA, int64_t b, uint32_t atB) {
  auto isCore = [&](uint32_t at) {
    return at < instructions_.size() && instructions_[at].find("WMMA") != std::string::npos;
  };
  auto place = [&](uint32_t at) {
    return at < instructions_.size() && !instructions_[at].empty()
               ? fmt::format("waits {}\n      {}", isCore(at) ? "for its warp" : "at a barrier",
                             instructions_[at])
               : std::string("came to its end");
  };
  found(atA, atB, isCore(atA) || isCore(atB) ? "divergent warp" : "divergent barrier",
        fmt::format("{} {}\n    {} {}", who(group_, a), place(atA), who(group_, b), place(atB)));
}

} // namespace uopscope
