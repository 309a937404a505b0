#include "engine/python/docstrings.h"

#include "engine_python_embedded.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

namespace uopscope {

namespace {

using Texts = std::map<std::string, std::string, std::less<>>; ///< by name of the member

Texts parse(const std::string& file) {
  Texts out;
  std::vector<std::string> names;
  std::string text;
  auto close = [&] {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    for (const std::string& name : names) out[name] = text;
    names.clear();
    text.clear();
  };
  std::istringstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    if (line.empty() || line[0] == ' ') {
      text += (line.size() > 2 ? line.substr(2) : "") + "\n";
      continue;
    }
    close();
    std::istringstream list(line);
    for (std::string name; std::getline(list >> std::ws, name, ',');) names.push_back(name);
  }
  close();
  return out;
}

/// All texts, by class.
const std::map<std::string, Texts, std::less<>>& allTexts() {
  static const auto all = [] {
    std::map<std::string, Texts, std::less<>> out;
    constexpr std::string_view kFolder = "docs/", kEnding = ".txt";
    for (const auto& [path, text] : engine_pythonEmbedded())
      if (path.starts_with(kFolder) && path.ends_with(kEnding))
        out[path.substr(kFolder.size(), path.size() - kFolder.size() - kEnding.size())] = parse(text);
    return out;
  }();
  return all;
}

std::string textOf(const std::string& className, const std::string& member) {
  const auto texts = allTexts().find(className);
  if (texts == allTexts().end()) return {};
  const auto found = texts->second.find(member);
  return found == texts->second.end() ? std::string() : found->second;
}

void document(py::handle member, const std::string& text) {
  PyObject* f = member.ptr();
  if (PyObject_TypeCheck(f, &PyProperty_Type)) {
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
  for (const auto& [className, texts] : allTexts()) {
    if (!py::hasattr(m, className.c_str())) continue;
    py::object type = m.attr(className.c_str());
    py::dict members(type.attr("__dict__"));
    for (const auto& [name, text] : texts)
      if (members.contains(name)) document(members[name.c_str()], text);
  }
  m.def("docstring", &textOf, py::arg("class_name"), py::arg("member"));
}

} // namespace uopscope
