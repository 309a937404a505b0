// Measures the cost of a script's run from inside its process: time of schedules, compilation, search and
// kernels, launches, and the peak of device memory. It observes passes and launches but no rewrites, so it
// costs next to nothing.
//
//   RunMeter meter; { ObserverScope scope(&meter); runScript(...); } meter.write("run.json");
//
// Threads that lower kernels share one meter, so a lock guards its numbers.
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
  /// The numbers of all threads.
  struct Shared {
    mutable std::mutex mutex;
    int64_t scheduleNs = 0, compileNs = 0, searchNs = 0, kernelNs = 0, kernels = 0, launches = 0;
    int64_t deviceBytes = 0, peakBytes = 0;
    std::map<std::string, KernelTimes> byKernel;
    std::unordered_map<uint64_t, int64_t> live; ///< bytes of buffers that own their memory
  };

  RunMeter() : RunMeter(std::make_shared<Shared>()) {}
  explicit RunMeter(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  bool wantsRewrites() const override { return false; }
  bool wantsMachineTexts() const override { return false; }
  void onScopeBegin(const ScopeBegin& begin) override;
  void onScopeEnd() override;
  void onPhase(const Phase& phase) override;
  void onArtifact(const Artifact& artifact) override;
  void onLaunch(const Launch& launch) override;
  void onBuffer(const BufferEvent& buffer) override;
  std::unique_ptr<Observer> fork(uint64_t ordinal) override;

  /// All measurements, in the form that the parent process reads.
  nlohmann::json report() const;
  /// Throws Error(File) where the file cannot be written.
  void write(const std::string& path) const;

private:
  struct Open {
    ScopeKind kind;
    std::string name;
    int64_t startNs;
  };
  std::shared_ptr<Shared> shared_;
  std::vector<Open> scopes_; ///< open scopes of this thread
};

} // namespace uopscope
