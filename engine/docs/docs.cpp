#include "engine/docs/docs.h"

#include "engine_docs_embedded.h"

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

const std::map<std::string, Texts, std::less<>>& classes() {
  static const auto all = [] {
    std::map<std::string, Texts, std::less<>> out;
    for (const auto& [path, text] : engine_docsEmbedded()) out[path.substr(0, path.rfind('.'))] = parse(text);
    return out;
  }();
  return all;
}

} // namespace

const std::string& docOf(std::string_view className, std::string_view member) {
  static const std::string none;
  const auto texts = classes().find(className);
  if (texts == classes().end()) return none;
  const auto found = texts->second.find(member);
  return found == texts->second.end() ? none : found->second;
}

std::vector<std::string> documentedClasses() {
  std::vector<std::string> out;
  for (const auto& [name, texts] : classes()) out.push_back(name);
  return out;
}

std::vector<std::string> documentedMembers(std::string_view className) {
  std::vector<std::string> out;
  if (const auto found = classes().find(className); found != classes().end())
    for (const auto& [name, text] : found->second) out.push_back(name);
  return out;
}

} // namespace uopscope
