// What the processes of a replay tell each other: results and match statistics as bytes, and pipes that carry them.
//
//   sendMessage(pipe, 'r', packResult(made));       // a kind, the length and the payload
//   Compilation c = input;  unpackResult(payload, c);
#pragma once
#include "replay/record/capture.h"

#include <string>
#include <string_view>

namespace uopscope {

/// What recompile() made of an input; the input itself stays where it is.
std::string packResult(const Compilation& made);
/// Throws Error(Runtime) for half a message.
void unpackResult(std::string_view in, Compilation& c);

std::string packCounts(const RuleCounts& counts);
/// Adds to `counts`.
void unpackCounts(std::string_view in, RuleCounts& counts);

/// These wait until all is written or read; false where the other side is gone.
bool writeAll(int fd, const void* data, size_t size);
bool readAll(int fd, void* data, size_t size);
bool sendMessage(int fd, char kind, const std::string& payload);

} // namespace uopscope
