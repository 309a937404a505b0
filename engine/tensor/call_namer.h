// A function that names the calls of the script around the present operation; the Python binding sets it.
//
//   setCallNamer(&pythonCalls);      // "model/blocks.3/narrow", outermost first
//
// It is asked once per operation, and only while a recording of all rewrites runs.
#pragma once
#include <string_view>

namespace uopscope {

/// The texts must live as long as the process.
using CallNamer = std::string_view (*)();
void setCallNamer(CallNamer namer);

} // namespace uopscope
