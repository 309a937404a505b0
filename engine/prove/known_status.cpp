// Reads the page once. A heading names the file; the first two cells of a row are the rule and its status.
#include "engine/prove/known_status.h"

#include "engine_prove_embedded.h"

#include <map>

namespace uopscope::prove {

namespace {

using Table = std::map<std::pair<std::string, std::string>, std::string, std::less<>>;

Table readPage(std::string_view text) {
  Table table;
  std::string file;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with("### ")) file = line.substr(4);
    if (file.empty() || !line.starts_with("| ")) continue;
    size_t name = line.find(" | "), status = line.find(" | ", name + 3);
    if (name == std::string_view::npos || status == std::string_view::npos) continue;
    table[{file, std::string(line.substr(2, name - 2))}] = line.substr(name + 3, status - name - 3);
  }
  return table;
}

const Table& table() {
  static const Table table = [] {
    Table all;
    for (const auto& [path, text] : engine_proveEmbedded()) all.merge(readPage(text));
    return all;
  }();
  return table;
}

} // namespace

std::string_view knownStatus(std::string_view file, std::string_view rule) {
  auto it = table().find({std::string(file), std::string(rule)});
  return it == table().end() ? std::string_view() : it->second;
}

} // namespace uopscope::prove
