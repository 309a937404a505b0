// uopscope story TRACE [KERNEL] [-o FILE]: tells a compilation in chapters, as text, HTML or JSON.
#include "app/cli/output.h"
#include "app/cli/teach_command.h"
#include "replay/teach/chapters.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace uopscope::cli {

int tellStory(const StoryArguments& o) {
  const bool html = o.output.ends_with(".html");
  if (!o.output.empty() && !html && !o.output.ends_with(".txt"))
    throw Error(ErrorKind::Value, fmt::format("-o {}: the name must end in .html or .txt", o.output));
  Trace trace(o.trace);
  warnAbout(trace);
  std::vector<ScopeId> wanted;
  if (!o.kernel.empty())
    wanted.push_back(trace.findScope(o.kernel));
  else
    for (const ScopeInfo& s : trace.scopes())
      if (s.kind == ScopeKind::Kernel) wanted.push_back(s.id);
  if (wanted.empty())
    throw Error(ErrorKind::Value,
                fmt::format("{}: no kernel was compiled; uopscope ls {} lists its scopes", o.trace, o.trace));
  std::vector<ToldScope> told;
  for (ScopeId id : wanted) told.push_back(tellScope(trace, id));
  std::string text;
  if (html) {
    const std::string script = std::filesystem::path(trace.scriptName()).filename().string();
    text = storyHtml(told, fmt::format("The story of {}", script.empty() ? "a compilation" : script));
  } else if (o.json) {
    Json all = Json::array();
    for (const ToldScope& t : told) all.push_back(storyJson(t));
    printJson(o.kernel.empty() ? all : all[0]);
    return kFine;
  } else {
    for (const ToldScope& t : told) {
      if (!text.empty()) text += "\n\n";
      text += storyText(t, {.colour = o.output.empty() && useColour(),
                            .codeLines = o.output.empty() ? size_t{60} : size_t{0}});
    }
  }
  if (o.output.empty()) {
    fmt::print("{}", text);
    return kFine;
  }
  std::ofstream file(o.output, std::ios::binary);
  file << text;
  file.flush();
  if (!file)
    throw Error(ErrorKind::File, fmt::format("{}: cannot be written: {}", o.output, strerror(errno)));
  return kFine;
}

} // namespace uopscope::cli
