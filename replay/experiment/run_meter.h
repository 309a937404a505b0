// What a run of a script costs, measured inside its process: time of schedules, compilation, search and
// kernels, launches, and the peak of device memory. It sees passes and launches, never rewrites, so that it
// costs next to nothing.
//
//   RunMeter meter; { ObserverScope scope(&meter); runScript(...); } meter.write("run.json");
//
// Threads that lower kernels share one meter: its numbers are guarded.
#pragma once
#include "engine/rewrite/observer.h"

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace uopscope {

class RunMeter : public Observer {
public:
  struct KernelTimes {
    std::string source;
    std::vector<int64_t> ns;
    uint64_t launches = 0;
  };
  /// The numbers, of all threads.
  struct Shared {
    mutable std::mutex mutex;
    int64_t scheduleNs = 0, compileNs = 0, searchNs = 0, kernelNs = 0, kernels = 0, launches = 0;
    int64_t deviceBytes = 0, peakBytes = 0;
    std::map<std::string, KernelTimes> byKernel;
    std::unordered_map<uint64_t, int64_t> live; ///< bytes of buffers with memory of their own
  };

  RunMeter() : RunMeter(std::make_shared<Shared>()) {}
  explicit RunMeter(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  bool wantsRewrites() const override { return false; }
  void onScopeBegin(const ScopeBegin& begin) override;
  void onScopeEnd() override;
  void onPassBegin(const PassBegin& begin) override;
  void onPassEnd(const PassEnd&) override;
  void onPhase(const Phase& phase) override;
  void onArtifact(const Artifact& artifact) override;
  void onLaunch(const Launch& launch) override;
  void onBuffer(const BufferEvent& buffer) override;
  std::unique_ptr<Observer> fork(uint64_t ordinal) override;

  /// Everything measured, as the parent process reads it.
  nlohmann::json report() const;
  /// Error(File) where the file cannot be written.
  void write(const std::string& path) const;

private:
  struct Open {
    ScopeKind kind;
    std::string name;
    int64_t startNs;
  };
  std::shared_ptr<Shared> shared_;
  std::vector<Open> scopes_;      ///< of this thread
  std::vector<int64_t> searches_; ///< begin of open passes called BEAM, 0 for others
};

} // namespace uopscope
