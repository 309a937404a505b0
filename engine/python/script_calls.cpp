// Walks over the frames of Python from the innermost to the script. The name of a call is found from the caller:
// the attribute or variable of the caller that holds the object whose method runs.
#include "engine/python/script_calls.h"

#include "engine/python/casters.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace uopscope {
namespace {

/// More calls than this are recursion, which is no structure of a model.
constexpr size_t kMostFrames = 64, kMostCalls = 12;
/// Most members of a list of modules that are looked through.
constexpr Py_ssize_t kMostListed = 512;

/// The facts about a piece of code that every frame of it shares.
struct Code {
  std::string name;
  py::object self; ///< name of the first parameter of a method
  bool own = false, script = false;
  bool copies = false; ///< its variables are no dictionary; Python makes a copy for whoever asks
};

struct Frame {
  const Code* code = nullptr;
  py::object frame, self;
};

const Code& factsOf(PyCodeObject* code) {
  constexpr size_t kMostCode = 1 << 14;
  static std::unordered_map<PyCodeObject*, Code> known;
  if (known.size() > kMostCode) {
    for (auto& [each, facts] :
         known) // NOLINT(bugprone-nondeterministic-pointer-iteration-order): any order does
      Py_DECREF(each);
    known.clear();
  }
  auto [it, isNew] = known.try_emplace(code);
  if (!isNew) return it->second;
  Py_INCREF(code);
  Code& c = it->second;
  c.name = py::cast<std::string>(py::handle(code->co_name));
  c.own = isOwnSource(py::cast<std::string>(py::handle(code->co_filename)));
  c.script = c.name == "<module>";
  c.copies = code->co_flags & CO_OPTIMIZED;
  if (code->co_argcount > 0) {
    const py::tuple names = py::handle(reinterpret_cast<PyObject*>(code)).attr("co_varnames");
    if (py::cast<std::string>(names[0]) == "self") c.self = names[0];
  }
  return c;
}

/// The variables of a frame. The dictionary of a function is a copy that Python would keep as long as the frame
/// runs, with every object in it, so it is emptied, unless the script holds it too.
class Variables {
public:
  explicit Variables(const Frame& f)
      : copy_(f.code->copies), locals_(py::reinterpret_steal<py::object>(
                                   PyFrame_GetLocals(reinterpret_cast<PyFrameObject*>(f.frame.ptr())))) {
    if (!locals_) PyErr_Clear();
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  ~Variables() {
    constexpr Py_ssize_t kOursAndTheFrames = 2;
    if (copy_ && locals_ && PyDict_CheckExact(locals_.ptr()) && Py_REFCNT(locals_.ptr()) == kOursAndTheFrames)
      PyDict_Clear(locals_.ptr());
  }
  py::object get(const py::object& name) const {
    if (!locals_) return {};
    py::object found = py::reinterpret_steal<py::object>(PyObject_GetItem(locals_.ptr(), name.ptr()));
    if (!found) PyErr_Clear();
    return found;
  }
  /// The name of the variable that holds this object; empty where none does.
  std::string nameOf(const py::object& value) const {
    if (!locals_ || !PyDict_Check(locals_.ptr())) return {};
    PyObject *key = nullptr, *held = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(locals_.ptr(), &at, &key, &held);)
      if (held == value.ptr() && PyUnicode_Check(key)) return py::cast<std::string>(py::handle(key));
    return {};
  }

private:
  bool copy_;
  py::object locals_;
};

/// "blocks.3" where a list, tuple or dictionary holds the object, directly or one level deeper.
std::string placeIn(PyObject* container, PyObject* wanted, int depth) {
  auto below = [&](PyObject* held) -> std::string {
    if (held == wanted) return ".";
    const std::string deeper = depth > 0 ? placeIn(held, wanted, depth - 1) : std::string();
    return deeper;
  };
  auto joined = [](const std::string& name, const std::string& rest) {
    return rest == "." ? name : name + "." + rest;
  };
  if (PyList_Check(container) || PyTuple_Check(container)) {
    const Py_ssize_t count = std::min(PySequence_Fast_GET_SIZE(container), kMostListed);
    for (Py_ssize_t k = 0; k < count; ++k)
      if (const std::string rest = below(PySequence_Fast_GET_ITEM(container, k)); !rest.empty())
        return joined(std::to_string(k), rest);
  } else if (PyDict_Check(container)) {
    PyObject *key = nullptr, *held = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(container, &at, &key, &held);)
      if (PyUnicode_Check(key))
        if (const std::string rest = below(held); !rest.empty())
          return joined(py::cast<std::string>(py::handle(key)), rest);
  }
  return {};
}

/// The path of attributes from one object to another; empty where there is none.
std::string attributeOf(const py::object& owner, const py::object& wanted) {
  const py::object held = py::reinterpret_steal<py::object>(PyObject_GenericGetDict(owner.ptr(), nullptr));
  if (!held) PyErr_Clear();
  return held ? placeIn(held.ptr(), wanted.ptr(), 2) : std::string();
}

bool isCall(const std::string& function) {
  return function == "__call__" || function == "forward";
}

std::string className(const py::object& value) {
  return py::cast<std::string>(
      py::handle(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr()))).attr("__name__"));
}

/// Frames that a reader of the script would name: outermost first. Empty where they build an object, which has no
/// place in a model yet.
std::vector<Frame> framesOf(PyFrameObject* top) {
  std::vector<Frame> out;
  py::object frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(top));
  while (frame && out.size() < kMostFrames) {
    auto* f = reinterpret_cast<PyFrameObject*>(frame.ptr());
    PyCodeObject* code = PyFrame_GetCode(f);
    const Code& facts = factsOf(code);
    Py_DECREF(code);
    if (facts.name == "__init__") return {};
    const bool nameless = facts.name.starts_with('<') && !facts.script;
    if (!nameless && (!facts.own || facts.self)) out.push_back({&facts, frame, {}});
    frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
  }
  std::ranges::reverse(out);
  return out;
}

std::string callsOf(PyFrameObject* top) {
  std::vector<Frame> frames = framesOf(top);
  std::string out;
  size_t calls = 0;
  const Frame* caller = nullptr;
  for (Frame& f : frames) {
    if (f.code->self) f.self = Variables(f).get(f.code->self);
    if (f.code->script) {
      caller = &f;
      continue;
    }
    const bool again =
        caller && f.self && caller->self.is(f.self); // a method that another method of the same object calls
    std::string name;
    if (f.self && !again) {
      if (caller && caller->self) name = attributeOf(caller->self, f.self);
      if (name.empty() && caller) name = Variables(*caller).nameOf(f.self);
      // Classes of the packages are tensors, dictionaries of them and the like, except for layers of the model.
      if (f.code->own && (name.empty() || className(f.self) == "Tensor")) continue;
      if (name.empty() || name == "self") name = className(f.self);
    } else if (f.code->own) {
      continue;
    }
    if (!isCall(f.code->name) || name.empty()) {
      if (again && isCall(f.code->name)) continue;
      name += (name.empty() ? "" : ".") + f.code->name + "()";
    }
    std::ranges::replace(name, '/', '|');
    out += (out.empty() ? "" : "/") + name;
    caller = &f;
    if (++calls == kMostCalls) break;
  }
  return out;
}

} // namespace

std::string_view pythonCalls() {
  if (!Py_IsInitialized()) return {};
  PyFrameObject* top = PyEval_GetFrame();
  if (!top) return {};
  // An exception under way is kept: looking at attributes must not replace it.
  const py::error_scope kept;
  try {
    return internText(callsOf(top));
  } catch (const py::error_already_set&) {
    return {};
  }
}

} // namespace uopscope
