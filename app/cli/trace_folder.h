// A folder with the traces of several processes (UOPSCOPE_TRACE=FOLDER/), one file each. It has no index that
// could be out of date; a listing reads the files.
//
//   if (isFolder(o.trace)) return listFolder(o);
#pragma once
#include "app/cli/cli.h"

namespace uopscope::cli {

/// Traces of the folder in order of their beginnings. Throws Error(File) where it has none.
std::vector<std::string> tracesIn(const std::string& folder);
/// uopscope ls FOLDER: prints one line per trace.
int listFolder(const LookOptions& options);

} // namespace uopscope::cli
