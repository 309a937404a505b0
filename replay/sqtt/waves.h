// What a thread trace tells: the life of each wavefront, the instructions of those on one SIMD, and the time of each cycle.
//
//   ShaderTrace trace = readShaderTrace(bytes);
//   for (const Wave& wave : trace.waves) bar(wave.place(), trace.clock.nsOf(wave.begin), trace.clock.nsOf(wave.end));
//
// The hardware traces instructions of one SIMD of the first workgroup processor of a shader engine; other wavefronts have a
// begin and an end alone.
#pragma once
#include "replay/sqtt/packets.h"

#include <optional>
#include <string_view>
#include <vector>

namespace uopscope::sqtt {

/// Where an instruction runs, as far as a trace tells.
enum class Unit : uint8_t {
  Vector,
  Scalar,
  ScalarMemory,
  VectorMemory,
  SharedMemory,
  JumpTaken,
  JumpNotTaken,
  Message,
  Immediate, ///< no unit: s_waitcnt, s_clause, s_nop
  Other      ///< a code that is not known
};
std::string_view unitName(Unit unit);

struct Issue {
  int64_t cycle = 0;
  Unit unit = Unit::Other;
};

struct Wave {
  int processor = 0, simd = 0,
      slot = 0;               ///< the workgroup processor, one of its four SIMDs, one of its 16 places
  int64_t begin = 0, end = 0; ///< cycles
  bool ended = false;         ///< the trace has its end
  std::vector<Issue> issues;  ///< in order; empty where the hardware traced none
};

/// The time of a cycle. The GPU writes its clock of 100 MHz now and then; between two of these the shader clock is taken
/// as even.
class Clock {
public:
  /// Bits of the clock of which a packet has the lowest at least: 36 begin again every 687 s.
  static constexpr int kBits = 36;
  static constexpr int64_t kNsPerTick = 10;
  void add(int64_t cycle, uint64_t ticks);
  /// Nanoseconds of the GPU's clock, modulo its range; nothing if the trace has less than two marks.
  std::optional<double> nsOf(int64_t cycle) const;

private:
  struct Mark {
    int64_t cycle, ns;
  };
  std::vector<Mark> marks_; ///< both rise
};

struct ShaderTrace {
  int tracedSimd = 0;
  bool tellsImmediates = true; ///< whether instructions that no unit runs have issues
  std::vector<Wave> waves;     ///< by their begin
  Clock clock;
  int64_t cycles = 0;
  uint64_t packets = 0;
};

/// Throws Error(Value) for a stream that is no trace of RDNA3, RDNA4 or CDNA (waves_cdna.h).
ShaderTrace readShaderTrace(std::span<const uint8_t> bytes);

} // namespace uopscope::sqtt
