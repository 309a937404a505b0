// Starts CPython, runs scripts and ends it.
#include "engine/python/interpreter/interpreter.h"

#include "engine/python/module.h"
#include "engine/tensor/operation_scope.h"

#include <pybind11/embed.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

PYBIND11_EMBEDDED_MODULE(_uopscope, m) {
  uopscope::initModule(m);
}

namespace uopscope {

namespace py = pybind11;

namespace {

// Serves the embedded modules, and hides them in tracebacks.
constexpr const char* kStartup = R"py(
import sys, _uopscope
exec(_uopscope.sources["_uopscope_importer.py"], {"__name__": "_uopscope_importer"})

def _own(frame): return frame.f_code.co_filename.startswith(("<uopscope>", "<string>"))

def _visible(error, seen=None):
  seen = set() if seen is None else seen
  if error is None or id(error) in seen: return error
  seen.add(id(error))
  tb, kept = error.__traceback__, []
  while tb is not None:
    if not _own(tb.tb_frame): kept.append(tb)
    tb = tb.tb_next
  import types
  result = None
  for t in reversed(kept): result = types.TracebackType(result, t.tb_frame, t.tb_lasti, t.tb_lineno)
  if kept: error.__traceback__ = result
  _visible(error.__cause__, seen)
  _visible(error.__context__, seen)
  return error

# "ShapeError: can't reshape (16, 16) -> (3, 5) (model.py:5)": the line of the script itself, however deep it was raised.
def _described(kind, error):
  main = getattr(sys.modules.get("__main__"), "__file__", None)
  text, place, tb = str(error), None, error.__traceback__
  if isinstance(error, SyntaxError):
    text, place = str(error.msg), (error.filename, error.lineno)
  while tb is not None:
    at = tb.tb_frame.f_code.co_filename
    if place is None or at == main: place = (at, tb.tb_lineno)
    tb = tb.tb_next
  text = kind.__name__ + ": " + " ".join(text.split())[:1000]
  if place is None: return text
  where = f'{place[0]}:{place[1]})'
  return text if text.endswith(where) else text + " (" + where

_default_hook = sys.excepthook
def _hook(kind, error, tb):
  error = _visible(error.with_traceback(tb))
  try: _tell_failure(_described(kind, error))
  except Exception: pass # str() of an error is the script's own code
  _default_hook(kind, error, error.__traceback__)
sys.excepthook = _hook
)py";

std::string& failure() {
  static std::string text;
  return text;
}

// The output of the script goes to its original stream and also to the observer.
constexpr const char* kTellOutput = R"(
import sys

class _Told:
  def __init__(self, stream, name): self._stream, self._name, self._line = stream, name, ""
  def _end(self):
    if self._line: _tell(self._name, self._line.encode("utf-8", "replace"))
    self._line = ""
  def write(self, text):
    self._line += text
    if "\n" in text: self._end()
    return self._stream.write(text)
  def flush(self):
    self._end()
    self._stream.flush()
  def writelines(self, lines):
    for line in lines: self.write(line)
  def __getattr__(self, name): return getattr(self._stream, name)
  def __iter__(self): return iter(self._stream)

sys.stdout, sys.stderr = _Told(sys.stdout, "stdout"), _Told(sys.stderr, "stderr")
)";

void tellOutput() {
  if (!Observer::current()) return;
  py::dict names = py::module_::import("types").attr("ModuleType")("_uopscope_output").attr("__dict__");
  names["_tell"] = py::cpp_function([](const std::string& stream, const py::bytes& text) {
    if (Observer* observer = Observer::current(); observer && py::len(text))
      observer->onOutput(stream, std::string(text));
  });
  py::exec(kTellOutput, names);
}

void check(PyStatus status) {
  if (PyStatus_Exception(status))
    throw Error(ErrorKind::Runtime,
                std::string("Python does not start: ") + (status.err_msg ? status.err_msg : "unknown"));
}

/// The interpreter whose packages scripts use.
struct Packages {
  std::string program;
  std::string home; ///< where the standard library lies; empty: the program says
};

/// The caller's virtual environment if it has the linked version, else the Python found at configure time. The standard
/// library is always the linked Python's: the environment may come from another build of the same version (pyenv, conda),
/// whose compiled modules need symbols that this one lacks.
Packages packages() {
  Packages linkedOnes{UOPSCOPE_PYTHON_PROGRAM, {}};
  const char* environment = std::getenv("VIRTUAL_ENV");
  if (!environment || !*environment) return linkedOnes;
  std::string linked = std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION);
  std::ifstream config(std::string(environment) + "/pyvenv.cfg");
  for (std::string line; std::getline(config, line);) {
    if (!line.starts_with("version")) continue;
    std::string version = line.substr(line.find_first_of("0123456789"));
    if (version == linked || version.starts_with(linked + "."))
      return {std::string(environment) + "/bin/python3",
              std::filesystem::path(linkedOnes.program).parent_path().parent_path().string()};
    std::fprintf(
        stderr,
        "uopscope: the packages of %s are for Python %s and not used: this program is linked with %s\n",
        environment, version.c_str(), linked.c_str());
  }
  return linkedOnes;
}

/// Starts Python with the libraries and packages of that program.
void start(const std::vector<std::string>& argv, bool parseArguments) {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  std::vector<char*> raw;
  for (const std::string& a : argv) raw.push_back(const_cast<char*>(a.c_str()));
  config.parse_argv = parseArguments;
  config.install_signal_handlers = 1;
  try {
    const Packages from = packages();
    check(PyConfig_SetBytesString(&config, &config.program_name, from.program.c_str()));
    if (!from.home.empty()) check(PyConfig_SetBytesString(&config, &config.home, from.home.c_str()));
    check(PyConfig_SetBytesArgv(&config, static_cast<Py_ssize_t>(raw.size()), raw.data()));
    check(Py_InitializeFromConfig(&config));
  } catch (...) {
    PyConfig_Clear(&config);
    throw;
  }
  PyConfig_Clear(&config);
  py::dict names = py::module_::import("types").attr("ModuleType")("_uopscope_startup").attr("__dict__");
  names["_tell_failure"] = py::cpp_function([](const std::string& text) { failure() = text; });
  py::exec(kStartup, names);
}

/// The exit code for the pending exception, which is printed unless it is a quiet exit.
int codeOfError() {
  if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
    py::error_already_set exit;
    py::object code = exit.value().attr("code");
    if (code.is_none()) return 0;
    if (PyLong_Check(code.ptr())) return static_cast<int>(PyLong_AsLong(code.ptr()) & 0xff);
    PySys_FormatStderr("%S\n", code.ptr());
    return 1;
  }
  bool interrupted = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  PyErr_Print();
  return interrupted ? 130 : 1;
}

int runMain(const std::string& path, const std::string& text) {
  py::module_ main = py::module_::import("__main__");
  main.attr("__file__") = path;
  main.attr("__builtins__") = py::module_::import("builtins");
  std::string folder = path.find('/') == std::string::npos ? "" : path.substr(0, path.rfind('/'));
  py::module_::import("sys").attr("path").attr("insert")(0, folder);
  py::object source = py::bytes(text);
  PyObject* code = Py_CompileString(PyBytes_AsString(source.ptr()), path.c_str(), Py_file_input);
  PyObject* result =
      code ? PyEval_EvalCode(code, main.attr("__dict__").ptr(), main.attr("__dict__").ptr()) : nullptr;
  Py_XDECREF(code);
  if (!result) return codeOfError();
  Py_DECREF(result);
  return 0;
}

} // namespace

int runScript(const std::string& path, const std::vector<std::string>& argv) {
  return runScriptWith({}, path, argv);
}

int runScriptWith(const std::vector<RuleFile>& rules, const std::string& path,
                  const std::vector<std::string>& argv) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) {
    std::fprintf(stderr, "uopscope: can't open script '%s'\n", path.c_str());
    return 2;
  }
  start(argv, false);
  for (const RuleFile& file : rules) {
    const auto fault =
        py::module_::import("uopscope.rule_file").attr("activate")(file.path, file.after).cast<std::string>();
    if (fault.empty()) continue;
    std::fprintf(stderr, "uopscope: %s\n", fault.c_str());
    return 2;
  }
  tellOutput();
  int code = runMain(path, text.str());
  // Exit handlers and destructors of the script's objects are still part of the script.
  return Py_FinalizeEx() < 0 && code == 0 ? 120 : code;
}

int withRules(const RuleFile& file,
              const std::function<int(const PatternMatcher&, const std::string&)>& use) {
  start({"uopscope rule"}, false);
  int code = 0;
  {
    const py::tuple loaded = py::module_::import("uopscope.rule_file").attr("load")(file.path, file.after);
    if (const auto fault = loaded[2].cast<std::string>(); !fault.empty())
      throw Error(ErrorKind::Value, fault);
    code = use(loaded[0].cast<const PatternMatcher&>(), loaded[1].cast<std::string>());
  }
  Py_FinalizeEx();
  return code;
}

const std::string& scriptFailure() {
  return failure();
}

int runInteractive(const std::vector<std::string>& argv) {
  start(argv, true);
  if (argv.size() > 1) tellOutput(); // a prompt needs the original streams
  return Py_RunMain();
}

} // namespace uopscope
