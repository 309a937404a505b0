// A whole trace as JSON lines, and back: one object a line, its "type" the table of
// docs/guide/trace-format.md it is a row of. Names, files and operations are spelled out; nodes, texts,
// programs and counts are unpacked. What comes back tells the same story: exported again it gives the same
// lines.
//
//   {"type":"node","id":3,"op":"ADD","dtype":"dtypes.int","src":[1,2]}
//   {"type":"step","id":1,"pass":1,"rule":1,"before":3,"after":1,"kind":0,"took_ns":44}
#pragma once
#include "app/cli/cli.h"

#include <istream>
#include <ostream>

namespace uopscope::cli {

void writeJsonLines(Trace& trace, std::ostream& out);
/// Makes a trace of the lines. Error(Value) names the line that is wrong.
void readJsonLines(std::istream& in, const std::string& path);

} // namespace uopscope::cli
