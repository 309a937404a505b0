// The packets of a thread trace (SQTT), which GPUs of AMD write while a kernel runs: which wavefront starts, issues an
// instruction, ends, and when. This reads the packets of RDNA3 (gfx11, layout 3) and of RDNA4 (gfx12, layout 4), whose first
// packet names the layout.
//
// A trace is a stream of half bytes. The lowest 3 to 8 bits of a packet tell its kind, the kind its length and the place of
// the cycles since the packet before it. A packet's own time includes these cycles.
//
//   PacketReader in(bytes);
//   while (auto packet = in.next()) use(packet->kind, packet->cycle, packet->bits);
//
// Error(Value) names the byte where no packet begins. A stream may end within a packet: the GPU stops where its buffer is
// full.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace uopscope::sqtt {

enum class PacketKind : uint8_t {
  Header,        ///< the first packet: the layout of the others, and the SIMD whose instructions are traced
  WaveStart,     ///< a wavefront got its place
  WaveEnd,       ///< it ended
  WaveAllocated, ///< registers and shared memory of a wavefront were given
  WavesReady,    ///< wavefronts that can issue, a bit each
  Vector,        ///< a wavefront issued an instruction of the vector unit
  Instruction,   ///< it issued any other instruction; the packet holds a code for its unit
  Immediate,     ///< it went over an instruction that no unit runs, such as s_waitcnt
  Immediates,    ///< several wavefronts did, a bit each
  UnitBusy,      ///< a unit of arithmetic took an instruction
  MemoryBusy,    ///< the unit of memory or of shared memory took one
  Clock,         ///< the clock of the whole GPU at this cycle
  Time,          ///< cycles went by, and nothing else is said
  Register,      ///< the driver wrote a register
  Event,         ///< the pipeline's events
  Counter,       ///< counters of performance and of the trace itself
};

/// A field of packets: its first bit and its bits.
struct Field {
  int first, count;
};
struct Packet {
  PacketKind kind = PacketKind::Time;
  int64_t cycle = 0; ///< of the shader clock, from the begin of the trace
  uint64_t bits = 0; ///< all of the packet, its kind included
  /// The bits `[first, first + count)`.
  uint64_t field(int first, int count) const { return bits >> first & ((uint64_t{1} << count) - 1); }
  uint64_t field(Field f) const { return field(f.first, f.count); }
};

/// Where packets of a layout have what a wavefront is known by, and the code of an instruction. The highest bit of a
/// processor's number stands apart.
struct Layout {
  int number = 3; ///< in the header
  struct Place {
    Field processor, highBit, simd, slot;
  } start, end;
  Field slotOfInstruction, code;
  int clockBits = 36; ///< of the clock in a packet
};
/// The layout of this number; null for one that cannot be read.
const Layout* layoutOf(uint64_t number);

class PacketReader {
public:
  explicit PacketReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  /// The next packet; nothing at the end of the stream.
  std::optional<Packet> next();
  /// Of the packets behind the header.
  const Layout& layout() const { return *layout_; }

private:
  uint64_t window() const;

  std::span<const uint8_t> bytes_;
  const Layout* layout_ = layoutOf(3);
  uint64_t at_ = 0; ///< in half bytes
  int64_t cycle_ = 0;
};

} // namespace uopscope::sqtt
