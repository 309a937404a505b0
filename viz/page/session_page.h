// An offline session: one HTML file that steps through a recorded compilation, even from a USB stick, without
// a network and without uopscope.
//
//   SessionPage page = sessionPage(trace, {.kernel = "r_16_16"}, lessonMarkdown);
//   write("session.html", page.html);   tell(page.limits);
//
// Invariant: no text of the trace or the lesson is markup. Data is JSON without characters that end a script.
// The page's script makes only text nodes. No address leads out of the file, and the page forbids loading
// any.
#pragma once
#include "viz/page/session_data.h"

namespace uopscope {

struct SessionPage {
  std::string html;
  std::vector<std::string> limits; ///< the parts that the page leaves out
};
/// `lesson`: Markdown, empty for none. Throws Error(Value) where the trace has no step.
SessionPage sessionPage(Trace& trace, const SessionChoice& choice, const std::string& lesson);

} // namespace uopscope
