// Writes a whole trace as JSON lines, and reads them back. Each line is one object; its "type" is the table
// of docs/guide/trace-format.md that it is a row of. Names, files and operations are texts instead of
// numbers; nodes, texts, programs and counts are unpacked. A trace that is read back tells the same story,
// and exporting it again gives the same lines.
//
//   {"type":"node","id":3,"op":"ADD","dtype":"dtypes.int","src":[1,2]}
//   {"type":"step","id":1,"pass":1,"rule":1,"before":3,"after":1,"kind":0,"took_ns":44}
#pragma once
#include "app/cli/cli.h"

#include <istream>
#include <ostream>

namespace uopscope::cli {

void writeJsonLines(Trace& trace, std::ostream& out);
/// Makes a trace from the lines. Error(Value) names the faulty line.
void readJsonLines(std::istream& in, const std::string& path);

} // namespace uopscope::cli
