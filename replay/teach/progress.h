// How far a student is in a lesson, kept in the user's data folder, and the folder in which the lesson's
// files lie.
//
//   LessonProgress p = LessonProgress::load("1-a-plus-b");   p.block = 7;   p.save();
//
// A file that cannot be read counts as none: the lesson begins anew, nothing is lost but the place.
#pragma once
#include <string>

namespace uopscope {

/// $XDG_DATA_HOME/uopscope/lessons, else ~/.local/share/uopscope/lessons.
std::string lessonFolder();

struct LessonProgress {
  std::string name;
  size_t block = 0, right = 0, firstTry = 0, hints = 0;
  bool done = false;
  static LessonProgress load(const std::string& name);
  void save() const; ///< Error(File) where it cannot be written
  /// Where the lesson's files and traces lie; made when asked for.
  std::string workFolder() const;
};

} // namespace uopscope
