// pyarrow must be found by the Python that runs the script: that of an active virtual environment, or the system's.
#include "app/cli/parquet_export.h"

#include "app/cli/cli.h"
#include "app/cli/foreign_script.h"

namespace uopscope::cli {

int exportParquet(const std::vector<std::string>& traces, const std::string& output, bool json) {
  std::vector<std::string> arguments = traces;
  arguments.insert(arguments.end(), {"-o", output});
  if (json) arguments.emplace_back("--json");
  return runForeignScript("trace_parquet.py", arguments) == 0 ? kFine : kUsage;
}

} // namespace uopscope::cli
