// Writes traces as Parquet with a Python program that uses pyarrow, since Debian 12 has no C++ library for
// it.
//
//   return exportParquet({"a.uoptrace", "b.uoptrace"}, "steps.parquet");
#pragma once
#include <string>
#include <vector>

namespace uopscope::cli {

/// One file gets the rewrites; a folder (a name that ends in "/") gets a file for each view. Returns exit
/// code 2 where pyarrow is missing, after a message that tells how to install it.
int exportParquet(const std::vector<std::string>& traces, const std::string& output, bool json);

} // namespace uopscope::cli
