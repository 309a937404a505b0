#include "engine/python/docstrings.h"

#include "engine/docs/docs.h"

#include <cstdlib>
#include <cstring>

namespace uopscope {

namespace {

/// "axis: object = None" as "axis=None": Python reads no types here.
std::string withoutType(const std::string& parameter) {
  const size_t colon = parameter.find(": "), equals = parameter.rfind(" = ");
  if (colon == std::string::npos) return parameter;
  return parameter.substr(0, colon) + (equals == std::string::npos ? "" : "=" + parameter.substr(equals + 3));
}

/// The head that makes inspect.signature() and completion know a function: "sum(self, axis=None)\n--\n\n", made from
/// pybind11's own line "sum(self: Tensor, axis: object = None) -> Tensor". Python does not show it as part of the text.
/// A function with overloads, or with a default that is no literal, has none.
std::string signatureHead(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  const size_t open = line.find('('), arrow = line.rfind(") -> ");
  if (open == std::string::npos || arrow == std::string::npos || line.find('<') != std::string::npos)
    return {};
  std::string head = line.substr(0, open + 1), parameter;
  int depth = 0;
  bool isQuoted = false;
  for (const char c : line.substr(open + 1, arrow - open - 1)) {
    if (c == '\'') isQuoted = !isQuoted;
    if (!isQuoted) depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c != ',' || depth || isQuoted) {
      if (c != ' ' || !parameter.empty()) parameter += c;
      continue;
    }
    head += withoutType(parameter) + ", ";
    parameter.clear();
  }
  return head + withoutType(parameter) + ")\n--\n\n";
}

void document(py::handle member, const std::string& text) {
  PyObject* f = member.ptr();
  if (Py_IS_TYPE(f, &PyProperty_Type)) { // that of a static property cannot be changed
    member.attr("__doc__") = text;
    return;
  }
  if (PyInstanceMethod_Check(f)) f = PyInstanceMethod_GET_FUNCTION(f);
  py::object inside; // of a staticmethod
  if (PyObject_TypeCheck(f, &PyStaticMethod_Type)) {
    inside = member.attr("__func__");
    f = inside.ptr();
  }
  if (!PyCFunction_Check(f)) return;
  PyMethodDef* definition = reinterpret_cast<PyCFunctionObject*>(f)->m_ml;
  std::string whole = definition->ml_doc ? definition->ml_doc : "";
  while (!whole.empty() && whole.back() == '\n') whole.pop_back();
  if (whole.ends_with(text)) return; // one function by two names
  whole = signatureHead(whole) + whole + (whole.empty() ? "" : "\n\n") + text;
  std::free(const_cast<char*>(definition->ml_doc)); // pybind11's own, and freed by it in the end
  definition->ml_doc = strdup(whole.c_str());
}

} // namespace

void addDocstrings(py::module_& m) {
  for (const std::string& className : documentedClasses()) {
    if (!py::hasattr(m, className.c_str())) continue;
    py::object type = m.attr(className.c_str());
    if (!PyType_Check(type.ptr())) continue;
    if (const std::string& own = docOf(className, className); !own.empty()) type.attr("__doc__") = own;
    py::dict members(type.attr("__dict__"));
    for (const std::string& name : documentedMembers(className))
      if (members.contains(name)) document(members[name.c_str()], docOf(className, name));
  }
  m.def(
      "docstring",
      [](const std::string& className, const std::string& member) { return docOf(className, member); },
      py::arg("class_name"), py::arg("member"));
  m.def("documented_members", &documentedMembers, py::arg("class_name"));
}

} // namespace uopscope
