// Rules about the window's own code that a compiler does not know.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
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
