// An offline session: one HTML file in which the recorded compilation can be stepped through, from a USB
// stick, without a network and without uopscope.
//
//   SessionPage page = sessionPage(trace, {.kernel = "r_16_16"}, lessonMarkdown);
//   write("session.html", page.html);   tell(page.limits);
//
// Invariant: nothing of the trace or the lesson is markup. Data is JSON in which no character ends a script;
// the page's script makes text nodes only; no address leads out of the file, and the page forbids itself to
// load any.
#pragma once
#include "viz/page/session_data.h"

namespace uopscope {

struct SessionPage {
  std::string html;
  std::vector<std::string> limits; ///< what is not in the page
};
/// `lesson`: Markdown, empty for none. Error(Value) where the trace has nothing to step through.
SessionPage sessionPage(Trace& trace, const SessionChoice& choice, const std::string& lesson);

} // namespace uopscope
