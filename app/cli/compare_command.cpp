// uopscope compare TRACE FROM [TO]: shows two states of a trace (or of two traces) beside each other. A state
// is a link, as the window copies it.
#include "app/cli/output.h"
#include "replay/read/link.h"
#include "replay/read/print.h"
#include "replay/read/text_diff.h"

#include <fmt/format.h>

namespace uopscope::cli {

namespace {

/// The text of a state of a trace: the part that is to be compared.
std::string textOf(Trace& trace, const ResolvedLink& at, const std::string& what) {
  if (what == "graph") {
    if (!at.pass)
      throw Error(ErrorKind::Value, "to compare graphs, name a pass, as in \"kernel=3&pass=2&step=12\"; "
                                    "ls TRACE KERNEL lists them");
    Cursor cursor(trace, at.pass);
    return printTree(cursor.reader(), cursor.rootAt(std::min(at.step, cursor.steps())));
  }
  if (!at.scope) throw Error(ErrorKind::Value, "to compare texts, name a kernel, as in \"kernel=3\"");
  auto text = trace.artifact(at.scope, what);
  if (!text)
    throw Error(ErrorKind::Key,
                fmt::format("\"{}\" in {} has no {}; uopscope show TRACE KERNEL lists its texts",
                            trace.scope(at.scope).name, trace.path(), what));
  return *text;
}

} // namespace

int compareStates(const CompareOptions& o) {
  Trace trace(o.trace);
  warnAbout(trace);
  std::unique_ptr<Trace> second;
  if (!o.other.empty()) second = std::make_unique<Trace>(o.other);
  Trace& right = second ? *second : trace;
  ResolvedLink a = resolve(trace, Link::parse(o.from)), b;
  if (!o.to.empty()) {
    b = resolve(right, Link::parse(o.to));
  } else if (second) {
    b = resolve(right, Link::parse(o.from));
  } else {
    b = a;
    if (b.pass) b.step = trace.pass(b.pass).steps;
  }
  std::string before = textOf(trace, a, o.what), after = textOf(right, b, o.what);
  bool same = before == after;
  auto name = [](const Trace& t, const std::string& link) { return t.path() + " " + link; };
  std::string from = name(trace, o.from), to = name(right, !o.to.empty() ? o.to
                                                           : second      ? o.from
                                                                         : "as the pass ended");
  if (o.json) {
    Json lines = Json::array();
    for (const DiffLine& l : diffLines(before, after))
      if (l.mark != ' ')
        lines.push_back(Json{
            {"mark", std::string(1, l.mark)}, {"text", l.text}, {"before", l.before}, {"after", l.after}});
    printJson(Json{{"same", same}, {"what", o.what}, {"from", from}, {"to", to}, {"lines", lines}});
  } else if (same) {
    fmt::print("the same {}\n", o.what);
  } else {
    fmt::print("{}", unifiedDiff(before, after, from, to));
  }
  return same ? kFine : kFailed;
}

} // namespace uopscope::cli
