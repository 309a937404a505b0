// Runs a program of the interpreter as a GPU would: reports events to the watcher, and prints its report.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/runtime/ref_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace uopscope {

void RefProgram::watchLaunch(std::span<void* const> buffers, std::span<const int64_t> globalSize,
                             std::span<const int64_t> localSize) {
  std::vector<std::pair<GpuWatch::Shadow, size_t>> shadows;
  for (const Memory& m : memories_)
    shadows.push_back(m.global >= 0 && gpu_->shadowOf ? gpu_->shadowOf(buffers[static_cast<size_t>(m.global)])
                                                      : std::pair<GpuWatch::Shadow, size_t>{});
  watch_->launchBegins(globalSize, localSize, std::move(shadows));
}

void RefProgram::watch(const Instruction& in, int64_t index, int64_t bytes, const std::byte* before,
                       const std::byte* now) const {
  int64_t width = memories_[static_cast<size_t>(in.memory)].element.itemsize();
  WatchedAccess a{static_cast<uint32_t>(&in - code_.data()), static_cast<uint32_t>(in.memory), index,
                  (bytes + width - 1) / width, before != nullptr};
  for (int64_t e = 0; before && e < std::min<int64_t>(a.count, 64); ++e)
    if (std::memcmp(before + e * width, now + e * width, static_cast<size_t>(width)) == 0)
      a.changed &= ~(uint64_t{1} << e);
  watch_->touched(a);
}

void RefProgram::watchBarrier(std::span<const WorkItem> items) {
  auto place = [&](const WorkItem& item) {
    bool waits = item.at > 0 && code_[item.at - 1].what == Do::Barrier;
    return static_cast<uint32_t>(waits ? item.at - 1 : code_.size());
  };
  for (size_t i = 1; i < items.size(); ++i)
    if (place(items[i]) != place(items[0]))
      return watch_->parted(0, place(items[0]), static_cast<int64_t>(i), place(items[i]));
  watch_->phaseEnds();
}

void RefProgram::finishWatch() {
  if (vars::debug >= 3) {
    fmt::print("{}", report());
    std::fflush(stdout);
  }
  std::string all;
  for (const std::string& f : watch_->findings()) all += "\n  " + f;
  size_t count = watch_->findings().size();
  watch_->forgetFindings();
  if (count)
    throw Error(ErrorKind::Runtime, fmt::format("kernel {}: {} thing{} found that no GPU may be given:{}",
                                                name_, count, count == 1 ? " was" : "s were", all));
}

std::string RefProgram::report() const {
  if (!watch_) return {};
  std::string out = fmt::format("{}: {} groups of {} threads, {} bytes of shared memory a group, at least {} "
                                "registers a thread\n",
                                name_, groups_, threads_, sharedBytes_, registers_);
  auto ratio = [](uint64_t a, uint64_t b) {
    return b ? static_cast<double>(a) / static_cast<double>(b) : 0.0;
  };
  for (const auto& [number, cost] : watch_->costs()) {
    const Instruction& in = code_[number];
    const Memory& m = memories_[static_cast<size_t>(in.memory)];
    double ideal = ratio(cost.bytes, cost.requests * static_cast<uint64_t>(GpuWatch::kSector));
    std::string what =
        m.shared ? fmt::format("{:.1f} passes over the banks a request", ratio(cost.passes, cost.requests))
                 : fmt::format("{:.1f} sectors a request, {:.1f} if all lay side by side",
                               ratio(cost.sectors, cost.requests), ideal);
    out += fmt::format("  {:5} {:16} {}: {}\n", in.what == Do::Load ? "LOAD" : "STORE", m.name, what,
                       watch_->instruction(number));
  }
  auto [bytes, different] = watch_->loaded();
  if (different)
    out += fmt::format("  each value loaded is used {:.1f} times: {} bytes loaded, {} of them different\n",
                       ratio(bytes, different), bytes, different);
  return out;
}

} // namespace uopscope
