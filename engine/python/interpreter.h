// CPython inside our process, with the engine under the names of tinygrad.
//
//   int code = runScript("model.py", {"model.py", "--epochs", "1"});
//   int code = runInteractive({"uopscope python", "-c", "from tinygrad import Tensor;
//   print(Tensor([1]).tolist())"});
//
// Both start the interpreter and end it, once per process. The caller's Observer sees everything the script
// does.
#pragma once
#include <string>
#include <vector>

namespace uopscope {

/// Runs a script as __main__. The script sees `argv[0]` as its name. Prints the script's own
/// traceback if it raises. Returns its exit code: 0, the argument of sys.exit, 1 after an exception, 130
/// after Ctrl-C, 2 if the file cannot be read.
int runScript(const std::string& path, const std::vector<std::string>& argv);
/// The exception that ended the script, with the script's line: "ValueError: no such axis (model.py:5)";
/// empty where none did.
const std::string& scriptFailure();
/// The interpreter's own command line (`-c`, `-m`, a prompt ...).
int runInteractive(const std::vector<std::string>& argv);

} // namespace uopscope
