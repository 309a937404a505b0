// Whether an answer to a question of a lesson is right: the engine is asked where it can know.
//
//   Mark m = markAnswer(question, "i*8", "lesson.uoptrace");
//   if (!m.right) print(m.message);          // "equal in value, but the rule writes it another way"
#pragma once
#include "replay/teach/lesson.h"

namespace uopscope {

struct Mark {
  bool right = false;
  std::string expected; ///< what would have been right
  std::string message;  ///< for the student, where it is not right
};

/// `trace`: of the questions that ask one. Error where the question cannot be marked (no such rule, trace or
/// step).
Mark markAnswer(const Question& question, const std::string& answer, const std::string& trace);

} // namespace uopscope
