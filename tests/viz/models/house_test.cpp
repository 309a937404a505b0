// Rules about the window's own code that a compiler does not know.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Source {
  std::string path, text;
};

std::vector<Source> sourcesOf(const char* folder) {
  std::vector<Source> out;
  const fs::path root = fs::path(UOPSCOPE_SOURCE_DIR) / folder;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path ending = entry.path().extension();
    if (ending != ".cpp" && ending != ".h") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    out.push_back(
        {fs::relative(entry.path(), UOPSCOPE_SOURCE_DIR).string(), {std::istreambuf_iterator<char>(in), {}}});
  }
  return out;
}

bool has(const Source& source, const char* words) {
  return source.text.find(words) != std::string::npos;
}

} // namespace

TEST_CASE("house: the window asks for rows by functions; SQL is what a person types") {
  const std::vector<Source> sources = sourcesOf("viz");
  REQUIRE(sources.size() > 100);
  for (const Source& s : sources) {
    CAPTURE(s.path);
    CHECK_FALSE(has(s, "sqlite3"));
    // The pane of SQL runs what was typed, and lists tables and columns beside it.
    if (s.path != "viz/models/numbers/sql_model.cpp") CHECK_FALSE(has(s, "prepare(\""));
  }
}

TEST_CASE("house: models know nothing of Qt Quick, pictures nothing of Qt") {
  for (const char* folder : {"viz/models", "viz/pictures", "viz/layout"})
    for (const Source& s : sourcesOf(folder)) {
      CAPTURE(s.path);
      CHECK_FALSE(has(s, "#include <QQuick"));
      CHECK_FALSE(has(s, "#include <QQml"));
      if (std::string_view(folder) != "viz/models") CHECK_FALSE(has(s, "#include <Q"));
    }
}

TEST_CASE("house: what comes and goes with a page asks for nothing later, when it may be gone") {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(fs::path(UOPSCOPE_SOURCE_DIR) / "viz/qml")) {
    if (entry.path().extension() != ".qml") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().stem().string()] = {std::istreambuf_iterator<char>(in), {}};
  }
  static const std::regex page(R"(sourceComponent:\s*([A-Z]\w+))"), used(R"(\b([A-Z]\w+)\s*\{)"),
      later(R"(Qt\.callLater\()");
  std::vector<std::string> open;
  const auto follow = [&](const std::string& text, const std::regex& what) {
    for (std::sregex_iterator m(text.begin(), text.end(), what), end; m != end; ++m) open.push_back((*m)[1]);
  };
  for (const auto& [name, text] : files) follow(text, page);
  CHECK(open.size() >= 6); // the first page, opening, recording, error, two that compare
  std::set<std::string> seen;
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    if (!files.contains(name) || !seen.insert(name).second) continue;
    CAPTURE(name);
    CHECK_FALSE(std::regex_search(files[name], later));
    follow(files[name], used);
  }
  CHECK(seen.contains("RecordingPage"));
  CHECK(seen.contains("UTextScroll"));
}
