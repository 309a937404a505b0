// One sentence for people about each pass, by its name. Sentences for kernel passes come from the table that
// drives them; those for schedules and Opts are listed here.
//
//   aboutPass("devectorize")  ->  "vectors take the widths that the target loads, stores and computes with"
#pragma once
#include <string_view>

namespace uopscope {

/// Empty for a pass that a script defined.
std::string_view aboutPass(std::string_view name);
/// Whether the name is that of an Opt (UPCAST, SWAP ...), which is chosen for a kernel, unlike a pass that
/// always runs.
bool isOpt(std::string_view name);

} // namespace uopscope
