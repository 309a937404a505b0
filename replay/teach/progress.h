// A student's progress in a lesson, kept in the user's data folder, and the folder of the lesson's files.
//
//   LessonProgress p = LessonProgress::load("1-a-plus-b");   p.block = 7;   p.save();
//
// An unreadable file counts as no progress: the lesson begins anew, and only the place is lost.
#pragma once
#include <string>

namespace uopscope {

/// The folder $XDG_DATA_HOME/uopscope/lessons, else ~/.local/share/uopscope/lessons.
std::string lessonFolder();

struct LessonProgress {
  std::string name;
  size_t block = 0, right = 0, firstTry = 0, hints = 0;
  bool done = false;
  static LessonProgress load(const std::string& name);
  void save() const; ///< throws Error(File) where it cannot be written
  /// The folder of the lesson's files and traces; it is made on demand.
  std::string workFolder() const;
};

} // namespace uopscope
