// Marks an answer to a question of a lesson. The engine computes the right answer where it can.
//
//   AnswerMark m = markAnswer(question, "i*8", "lesson.uoptrace");
//   if (!m.right) print(m.message);          // "equal in value, but the rule writes it another way"
#pragma once
#include "replay/teach/lesson.h"

namespace uopscope {

struct AnswerMark {
  bool right = false;
  std::string expected; ///< the right answer
  std::string message;  ///< for the student, after a wrong answer
};

/// `trace`: the trace of questions that need one. Throws Error where the question cannot be marked (no such
/// rule, trace or step).
AnswerMark markAnswer(const Question& question, const std::string& answer, const std::string& trace);

} // namespace uopscope
