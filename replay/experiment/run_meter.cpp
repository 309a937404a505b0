// Adds up the times of scopes and launches, and follows the memory of buffers.
#include "replay/experiment/run_meter.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace uopscope {

namespace {
/// Launches kept per kernel: enough for a median, yet bounded in a training loop.
constexpr size_t kTimesKept = 1000;
} // namespace

void RunMeter::onScopeBegin(const ScopeBegin& begin) {
  scopes_.push_back({begin.kind, std::string(begin.name), nowNs()});
}

void RunMeter::onScopeEnd() {
  if (scopes_.empty()) return;
  const Open scope = std::move(scopes_.back());
  scopes_.pop_back();
  std::lock_guard lock(shared_->mutex);
  if (scope.kind == ScopeKind::Schedule) shared_->scheduleNs += nowNs() - scope.startNs;
  if (scope.kind == ScopeKind::Kernel) ++shared_->kernels;
}

void RunMeter::onPhase(const Phase& phase) {
  const bool compiles = phase.name == "lower" || phase.name == "render" || phase.name == "compile";
  if (!compiles && phase.name != "search") return;
  std::lock_guard lock(shared_->mutex);
  (compiles ? shared_->compileNs : shared_->searchNs) += phase.durationNs;
}

void RunMeter::onArtifact(const Artifact& artifact) {
  if (artifact.kind != "source" || scopes_.empty()) return;
  std::lock_guard lock(shared_->mutex);
  shared_->byKernel[scopes_.back().name].source = artifact.text;
}

void RunMeter::onLaunch(const Launch& launch) {
  std::lock_guard lock(shared_->mutex);
  ++shared_->launches;
  shared_->kernelNs += launch.durationNs;
  KernelTimes& kernel = shared_->byKernel[std::string(launch.kernel)];
  ++kernel.launches;
  if (kernel.ns.size() < kTimesKept) kernel.ns.push_back(launch.durationNs);
}

void RunMeter::onBuffer(const BufferEvent& buffer) {
  if (buffer.base) return; // a view has no memory of its own
  std::lock_guard lock(shared_->mutex);
  if (buffer.freed) {
    const auto found = shared_->live.find(buffer.id);
    if (found == shared_->live.end()) return;
    shared_->deviceBytes -= found->second;
    shared_->live.erase(found);
    return;
  }
  shared_->live[buffer.id] = buffer.bytes;
  shared_->deviceBytes += buffer.bytes;
  shared_->peakBytes = std::max(shared_->peakBytes, shared_->deviceBytes);
}

std::unique_ptr<Observer> RunMeter::fork(uint64_t) {
  return std::make_unique<RunMeter>(shared_);
}

nlohmann::json RunMeter::report() const {
  std::lock_guard lock(shared_->mutex);
  nlohmann::json out{{"schedule_ns", shared_->scheduleNs}, {"compile_ns", shared_->compileNs},
                     {"search_ns", shared_->searchNs},     {"kernel_ns", shared_->kernelNs},
                     {"kernels", shared_->kernels},        {"launches", shared_->launches},
                     {"device_bytes", shared_->peakBytes}, {"by_kernel", nlohmann::json::array()}};
  for (const auto& [name, kernel] : shared_->byKernel) {
    if (!kernel.launches) continue;
    std::vector<int64_t> ns = kernel.ns;
    std::ranges::nth_element(ns, ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2));
    out["by_kernel"].push_back({{"name", name},
                                {"launches", kernel.launches},
                                {"median_ns", ns[ns.size() / 2]},
                                {"source", kernel.source}});
  }
  return out;
}

void RunMeter::write(const std::string& path) const {
  std::ofstream file(path, std::ios::trunc);
  file << report().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  file.close();
  if (!file)
    throw Error(ErrorKind::File, fmt::format("{}: the measurements of the run cannot be written", path));
}

} // namespace uopscope
