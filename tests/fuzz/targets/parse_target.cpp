// libFuzzer: the parser of printed graphs takes any text. A graph that it accepts prints to text that gives the same
// graph, and simplifies without a fault.
//
//   tests/fuzz/run parse 60
#include "engine/base/error.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "engine/uop/print.h"
#include "tests/fuzz/targets/finding.h"

using namespace uopscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Pool pool;
  PoolScope scope(pool);
  UOp read;
  try {
    read = parseUOp(text);
  } catch (const Error&) {
    return 0;
  }
  if (!read) fuzz::finding("no node and no error", std::string(text));
  const std::string printed = pyrender(read);
  try {
    if (parseUOp(printed) != read) fuzz::finding("the printed graph reads as another", printed);
  } catch (const Error& e) {
    fuzz::finding(e.what(), printed);
  }
  try {
    graphRewrite(read, symbolicSimple(), {.name = "fuzz"});
  } catch (const Error&) { // such as a rewrite that a limit ended
  }
  return 0;
}
