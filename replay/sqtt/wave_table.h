// The wavefronts of a thread trace while it is read. A place (processor, SIMD, slot) holds one wavefront at a time, so the next end
// at a place is the end of the wavefront that began there last.
//
//   WaveTable waves;
//   waves.begin({0, 1, 3}, 100);
//   waves.issue({0, 1, 3}, 102, Unit::Vector);
//   waves.end({0, 1, 3}, 115);
//   trace.waves = waves.finished(120);          // those that still run end with the trace, at cycle 120
#pragma once
#include "replay/sqtt/waves.h"

#include <map>
#include <tuple>
#include <utility>

namespace uopscope::sqtt {

class WaveTable {
public:
  using Place = std::tuple<int, int, int>; ///< processor, SIMD, slot

  void begin(const Place& place, int64_t cycle) {
    Wave wave;
    std::tie(wave.processor, wave.simd, wave.slot) = place;
    wave.begin = wave.end = cycle;
    open_[place] = waves_.size();
    waves_.push_back(std::move(wave));
  }
  /// Of a wavefront that began before the trace did, nothing is known.
  void end(const Place& place, int64_t cycle) {
    const auto it = open_.find(place);
    if (it == open_.end()) return;
    waves_[it->second].end = cycle;
    waves_[it->second].ended = true;
    open_.erase(it);
  }
  void issue(const Place& place, int64_t cycle, Unit unit) {
    if (const auto it = open_.find(place); it != open_.end())
      waves_[it->second].issues.push_back({cycle, unit});
  }
  std::vector<Wave> finished(int64_t cycle) {
    for (const auto& [place, index] : open_) waves_[index].end = cycle;
    return std::move(waves_);
  }

private:
  std::vector<Wave> waves_;
  std::map<Place, size_t> open_; ///< wavefronts that run
};

} // namespace uopscope::sqtt
