// Thread traces of CDNA (gfx9: MI200 to MI350): their packets are of 16 to 64 bits, begin at even bytes, and name their kind in
// the lowest four bits.
//
//   if (isCdnaTrace(bytes)) trace = readCdnaTrace(bytes);
//
// All four SIMDs of the first compute unit of a shader engine are traced. A trace counts cycles and has no clock that other traces
// share. No packet tells of instructions that no unit runs; the end of a program is one of the messages.
#pragma once
#include "replay/sqtt/waves.h"

namespace uopscope::sqtt {

/// Whether the bytes begin as such a trace does: with a timestamp, where others have a header with a layout.
bool isCdnaTrace(std::span<const uint8_t> bytes);
/// Throws Error(Value) for a stream that is too short for a packet.
ShaderTrace readCdnaTrace(std::span<const uint8_t> bytes);

} // namespace uopscope::sqtt
