// Verbs show untrusted files on a terminal. All output of a verb passes this guard, so no escape sequence of
// a file reaches the terminal. Colours that paint() writes stay.
//
//   guardOutput();   // once, before a verb that reads files; stdout and stderr are guarded from then on
#pragma once

namespace uopscope::cli {

/// Guards the streams of this process. Child processes and Python write to the descriptors and are not
/// affected.
void guardOutput();
/// Ends the guard before a script runs in this process: Python takes its streams from the descriptors of
/// stdout and stderr, and a guarded stream has none.
void leaveOutput();

} // namespace uopscope::cli
