#include "engine/python/docstrings.h"

#include "engine/docs/docs.h"

#include <cstdlib>
#include <cstring>

namespace uopscope {

namespace {

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
  whole += (whole.empty() ? "" : "\n\n") + text;
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
