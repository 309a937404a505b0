// libFuzzer: imports take any file. A trace that an import made is a trace that our own reader takes.
//
//   tests/fuzz/run import 60
#include "app/cli/import_rows.h"
#include "engine/base/error.h"
#include "replay/read/trace.h"
#include "tests/fuzz/targets/finding.h"

#include <unistd.h>

#include <filesystem>
#include <sstream>

using namespace uopscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  static const std::string made =
      (std::filesystem::temp_directory_path() / ("uopscope-import-" + std::to_string(getpid()) + ".uoptrace"))
          .string();
  std::filesystem::remove(made);
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] % 2)
      cli::importChromeTrace(text, made);
    else {
      std::istringstream in(text);
      cli::importCsv(in, made, data[0] % 4 ? "steps" : "table");
    }
  } catch (const Error&) {
    return 0;
  }
  try {
    Trace trace(made);
    for (const ScopeInfo& scope : trace.scopes())
      for (const PassInfo& pass : trace.passes(scope.id)) trace.steps(pass.id);
  } catch (const Error& e) {
    fuzz::finding(e.what(), text);
  }
  return 0;
}
