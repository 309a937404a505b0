// Files that others made are shown on a terminal: what a verb prints passes here, so that no escape sequence of a file reaches
// it, whichever line of whichever verb prints it. Colours that paint() writes stay.
//
//   guardOutput();   // once, before a verb that reads files; stdout and stderr are guarded from then on
#pragma once

namespace uopscope::cli {

/// Child processes and Python write to the descriptors themselves and are not concerned.
void guardOutput();
/// Ends it, before a script runs in this process: Python takes its streams from the descriptors of stdout and
/// stderr, and a guarded stream has none.
void leaveOutput();

} // namespace uopscope::cli
