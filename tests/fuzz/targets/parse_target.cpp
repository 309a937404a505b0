// libFuzzer: the two readers of graphs take any text: parseUOp what pyrender writes, graphFromText what a corpus keeps. A
// graph that one accepts prints to text that gives the same graph, and simplifies without a fault.
//
//   tests/fuzz/run parse 60
#include "engine/base/error.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "engine/uop/print.h"
#include "replay/compare/story_view.h"
#include "tests/fuzz/targets/finding.h"

using namespace uopscope;

namespace {

/// Null where the text is refused.
UOp readBy(UOp (*read)(std::string_view), std::string_view text) {
  try {
    UOp u = read(text);
    if (!u) fuzz::finding("no node and no error", std::string(text));
    return u;
  } catch (const Error&) {
    return {};
  }
}

void checkPrinted(UOp (*read)(std::string_view), UOp graph, const std::string& printed) {
  try {
    if (read(printed) != graph) fuzz::finding("the printed graph reads as another", printed);
  } catch (const Error& e) {
    fuzz::finding(e.what(), printed);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Pool pool;
  PoolScope scope(pool);
  UOp graph = readBy(parseUOp, text);
  if (!graph) graph = readBy(graphFromText, text);
  if (!graph) return 0;
  checkPrinted(parseUOp, graph, pyrender(graph));
  checkPrinted(graphFromText, graph, graphToText(graph));
  try {
    graphRewrite(graph, symbolicSimple(), {.name = "fuzz"});
  } catch (const Error&) { // such as a rewrite that a limit ended
  }
  return 0;
}
