// Stores one small JSON file per lesson.
#include "replay/teach/progress.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace uopscope {

namespace fs = std::filesystem;

std::string lessonFolder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data == '/')
    return (fs::path(data) / "uopscope" / "lessons").string();
  const char* home = std::getenv("HOME");
  return (fs::path(home ? home : "/tmp") / ".local" / "share" / "uopscope" / "lessons").string();
}

LessonProgress LessonProgress::load(const std::string& name) {
  LessonProgress p;
  p.name = name;
  std::ifstream in(fs::path(lessonFolder()) / name / "progress.json");
  const auto j = nlohmann::json::parse(in, nullptr, false);
  if (!j.is_object()) return p;
  auto number = [&](const char* key) {
    return j.contains(key) && j[key].is_number_unsigned() ? j[key].get<size_t>() : 0;
  };
  p.block = number("block"), p.right = number("right"), p.firstTry = number("first_try"),
  p.hints = number("hints");
  p.done = j.contains("done") && j["done"].is_boolean() && j["done"].get<bool>();
  return p;
}

void LessonProgress::save() const {
  const fs::path folder = fs::path(lessonFolder()) / name;
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  std::ofstream out(folder / "progress.json");
  out << nlohmann::json{{"block", block},
                        {"right", right},
                        {"first_try", firstTry},
                        {"hints", hints},
                        {"done", done}}
             .dump(1)
      << "\n";
  out.flush();
  if (!out)
    throw Error(ErrorKind::File, fmt::format("{}: cannot be written: {}", (folder / "progress.json").string(),
                                             strerror(errno)));
}

std::string LessonProgress::workFolder() const {
  const fs::path folder = fs::path(lessonFolder()) / name / "work";
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(ErrorKind::File, fmt::format("{}: cannot be made: {}", folder.string(), failed.message()));
  return folder.string();
}

} // namespace uopscope
