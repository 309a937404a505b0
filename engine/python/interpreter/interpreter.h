// CPython inside this process, with the engine under the names of tinygrad.
//
//   int code = runScript("model.py", {"model.py", "--epochs", "1"});
//   int code = runInteractive({"uopscope python", "-c", "from tinygrad import Tensor"});
//
// Both functions start the interpreter and end it, once per process. The caller's Observer sees everything
// that the script does.
#pragma once
#include "engine/rewrite/matcher.h"

#include <functional>
#include <string>
#include <vector>

namespace uopscope {

/// Runs a script as __main__, with `argv[0]` as its name. If it raises, prints the script's own traceback.
/// Returns its exit code: 0, the argument of sys.exit, 1 after an exception, 130 after Ctrl-C, 2 if the file
/// cannot be read.
int runScript(const std::string& path, const std::vector<std::string>& argv);
/// A file of rules, uopscope/rule_file.py. `after` names the pass that they follow; empty: the file names it.
struct RuleFile {
  std::string path, after;
};
/// The same, with the rules of these files in every schedule and kernel of the script. Returns 2 for a file with a
/// fault, which it prints.
int runScriptWith(const std::vector<RuleFile>& rules, const std::string& path,
                  const std::vector<std::string>& argv);
/// Runs a file of rules and gives them to `use`; Python ends when it returns. Throws Error(Value) that says what is
/// wrong with the file, with its line.
int withRules(const RuleFile& file,
              const std::function<int(const PatternMatcher&, const std::string& after)>& use);
/// The exception that ended the script, with the script's line: "ValueError: no such axis (model.py:5)";
/// empty if there was none.
const std::string& scriptFailure();
/// Runs the interpreter's own command line (`-c`, `-m`, a prompt ...).
int runInteractive(const std::vector<std::string>& argv);

} // namespace uopscope
