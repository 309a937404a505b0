// Writes the frame of the page; session.css holds its style, session.js its behaviour.
#include "viz/page/session_page.h"

#include "replay/schema/html_text.h"
#include "replay/teach/markdown.h"
#include "viz_page_embedded.h"

#include <fmt/format.h>

#include <filesystem>

namespace uopscope {

namespace {

const std::string& embedded(std::string_view name) {
  for (const auto& [file, text] : viz_pageEmbedded())
    if (file == name) return text;
  throw Error(ErrorKind::Runtime, fmt::format("{} is not part of this build", name));
}

/// JSON that is safe inside a <script>: none of its characters ends the element.
std::string scriptSafe(const nlohmann::json& data) {
  std::string out;
  for (char c : data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    out += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
  return out;
}

constexpr const char* kFrame = R"html(<body>
<header>
  <h1>{title}</h1>
  <label>Kernel <select id="kernel"></select></label>
  <span class="grow"></span>
  <span id="facts" class="dim">{facts}</span>
  <button id="theme" title="light or dark (T)">Light or dark</button>
  <button id="help" title="keys (?)">Keys</button>
</header>
<aside id="limits" hidden></aside>
<main>
  <nav aria-label="Passes"><h2>Passes</h2><ol id="passes"></ol></nav>
  <section id="middle">
    <div class="bar">
      <button id="previous" title="previous step (left arrow)">&#9664;</button>
      <input id="slider" type="range" min="0" max="0" value="0" aria-label="Step">
      <button id="next" title="next step (right arrow)">&#9654;</button>
      <button id="play" title="play (P)">Play</button>
      <output id="where"></output>
    </div>
    <p id="about"></p>
    <div id="canvas" tabindex="0" aria-label="Graph"></div>
    <div class="bar foot">
      <span class="key added">+ new</span><span class="key changed">~ rebuilt, since a source changed</span><span
      class="key removed">&minus; gone</span>
      <span class="grow"></span>
      <button id="fit" title="everything (0)">Everything</button>
      <button id="focus" title="what the step changed (F)">The change</button>
      <button id="smaller" title="smaller (-)">&minus;</button>
      <button id="larger" title="larger (+)">+</button>
    </div>
  </section>
  <section id="right">
    <div class="tabs" role="tablist"></div>
    <div id="pane"></div>
    <article id="lesson" hidden>{lesson}</article>
  </section>
</main>
<dialog id="keys"><h2>Keys</h2><table></table><form method="dialog"><button>Close</button></form></dialog>
<noscript><p>This page draws the graphs with a script that it carries itself; allow scripts for this file.</p></noscript>
)html";

/// A lesson without the part that is for the teacher, as in `lesson`.
std::string_view forStudents(std::string_view lesson) {
  return lesson.substr(0, lesson.find("\n## For the teacher"));
}

} // namespace

SessionPage sessionPage(Trace& trace, const SessionChoice& choice, const std::string& lesson) {
  SessionData data(trace, choice);
  const std::string script = std::filesystem::path(trace.scriptName()).filename().string();
  const std::string title = script.empty() ? std::filesystem::path(trace.path()).filename().string() : script;
  std::string recorded = trace.meta("time.began").substr(0, 10);
  SessionPage page;
  page.limits = data.limits();
  page.html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
      "'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n<title>{} - "
      "uopscope</title>\n<style>\n{}</style>\n</head>\n",
      htmlText(title), embedded("session.css"));
  page.html += fmt::format(
      kFrame, fmt::arg("title", htmlText(title)),
      fmt::arg("facts", htmlText(fmt::format("recorded {}{}", recorded,
                                             trace.status() == "complete" ? "" : ", " + trace.status()))),
      fmt::arg("lesson", lesson.empty() ? "" : markdownHtml(forStudents(lesson))));
  page.html +=
      fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{}</script>\n"
                  "</body>\n</html>\n",
                  scriptSafe(data.value()), embedded("session.js"));
  return page;
}

} // namespace uopscope
