// Traces as Parquet, by a program in Python that asks pyarrow: no library of C++ for it is in Debian 12.
//
//   return exportParquet({"a.uoptrace", "b.uoptrace"}, "steps.parquet");
#pragma once
#include <string>
#include <vector>

namespace uopscope::cli {

/// One file holds the rewrites; a folder (a name that ends in "/") gets a file for each view. Exit code 2 where pyarrow is
/// missing, which is said together with how to install it.
int exportParquet(const std::vector<std::string>& traces, const std::string& output, bool json);

} // namespace uopscope::cli
