// The options of the verbs that read and make traces, and their declaration to the parser.
//
//   VerbArguments o;
//   addTraceVerbs(app, o);                          // app.parse(...) then runs the verb and sets o.code
#pragma once
#include "app/cli/cli.h"

#include <CLI/CLI.hpp>
#include <string>

namespace uopscope::cli {

struct VerbArguments {
  int code = 0;
  OpenOptions open;
  RecordOptions record;
  LookOptions look;
  CompareOptions compared;
  ProveArguments proofs;
  ExportOptions exports;
  ImportOptions imports;
  std::string shell;
};

/// Adds the verbs from open to export, in the order of the help.
void addTraceVerbs(CLI::App& app, VerbArguments& o);
/// Adds import and completion, the last verbs.
void addOtherVerbs(CLI::App& app, VerbArguments& o);

} // namespace uopscope::cli
