// A folder of traces: what several processes recorded (UOPSCOPE_TRACE=FOLDER/), a file each. There is no index to fall behind:
// what is said of the folder is read from its files.
//
//   if (isFolder(o.trace)) return listFolder(o);
#pragma once
#include "app/cli/cli.h"

namespace uopscope::cli {

/// Traces of the folder in order of their beginnings. Error(File) where it has none.
std::vector<std::string> tracesIn(const std::string& folder);
/// uopscope ls FOLDER: a line for each.
int listFolder(const LookOptions& options);

} // namespace uopscope::cli
