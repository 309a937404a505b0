// Writes chapters for a terminal, as JSON, and as a page.
#include "replay/schema/html_text.h"
#include "replay/teach/chapters.h"
#include "replay_teach_embedded.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// Breaks text into lines of at most `width` characters; later lines are indented.
std::string wrapped(const std::string& text, size_t indent, size_t width = 100) {
  std::string out, line(indent, ' ');
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (line.size() > indent && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += word;
    at = end + 1;
  }
  return out + line + "\n";
}

std::string firstLines(const std::string& text, size_t most) {
  size_t at = 0;
  for (size_t n = 0; n < most && at < text.size(); ++n)
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  if (most == 0 || at >= text.size()) return text;
  return text.substr(0, at) + fmt::format("... {} more lines\n",
                                          std::count(text.begin() + static_cast<long>(at), text.end(), '\n'));
}

const std::string& css() {
  for (const auto& [name, text] : replay_teachEmbedded())
    if (name == "story.css") return text;
  static const std::string none;
  return none;
}

} // namespace

std::string storyText(const ToldScope& told, const StoryOptions& o) {
  auto bold = [&](const std::string& s) { return o.colour ? "\x1b[1m" + s + "\x1b[0m" : s; };
  std::string out = bold(fmt::format("{} {} (number {}{})", told.kind, told.name, told.scope,
                                     told.script.empty() ? "" : ", " + told.script)) +
                    "\n";
  for (size_t i = 0; i < told.chapters.size(); ++i) {
    const Chapter& c = told.chapters[i];
    out += "\n" + bold(fmt::format("{}. {}", i + 1, c.title)) + "\n" + wrapped(c.about, 3);
    for (const Chapter::Sentence& s : c.sentences) {
      out += wrapped("- " + s.text, 3);
      for (const std::string& d : s.details) out += wrapped(d, 7);
    }
    if (!c.code.empty()) out += "\n" + firstLines(c.code, o.codeLines);
  }
  return out;
}

std::string storyHtml(const std::vector<ToldScope>& all, const std::string& title) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{0}</title>\n<style>\n{1}</style></head>\n<body>\n<h1>{0}</"
      "h1>\n",
      htmlText(title), css());
  if (all.size() > 1) {
    out += "<nav><ol>\n";
    for (const ToldScope& t : all)
      out += fmt::format("<li><a href=\"#k{}\">{} {}</a> <span class=dim>{}</span></li>\n", t.scope, t.kind,
                         htmlText(t.name), htmlText(t.script));
    out += "</ol></nav>\n";
  }
  for (const ToldScope& t : all) {
    out += fmt::format("<section id=\"k{}\">\n<h2>{} {} <span class=dim>number {} {}</span></h2>\n", t.scope,
                       t.kind, htmlText(t.name), t.scope, htmlText(t.script));
    for (size_t i = 0; i < t.chapters.size(); ++i) {
      const Chapter& c = t.chapters[i];
      out += fmt::format("<h3>{}. {}</h3>\n<p class=about>{}</p>\n<ul>\n", i + 1, htmlText(c.title),
                         htmlText(c.about));
      for (const Chapter::Sentence& s : c.sentences) {
        out += fmt::format("<li>{}", htmlText(s.text));
        if (s.pass) out += fmt::format(" <code class=link>{}</code>", htmlText(s.link));
        for (const std::string& d : s.details) out += fmt::format("<div class=detail>{}</div>", htmlText(d));
        out += "</li>\n";
      }
      out += "</ul>\n";
      if (!c.code.empty()) out += fmt::format("<pre>{}</pre>\n", htmlText(c.code));
    }
    out += "</section>\n";
  }
  return out + "</body>\n</html>\n";
}

nlohmann::ordered_json storyJson(const ToldScope& told) {
  nlohmann::ordered_json out{
      {"number", told.scope}, {"kind", told.kind}, {"name", told.name}, {"script", told.script}};
  out["chapters"] = nlohmann::ordered_json::array();
  for (const Chapter& c : told.chapters) {
    nlohmann::ordered_json chapter{
        {"title", c.title}, {"about", c.about}, {"sentences", nlohmann::ordered_json::array()}};
    for (const Chapter::Sentence& s : c.sentences)
      chapter["sentences"].push_back({{"text", s.text}, {"link", s.link}, {"details", s.details}});
    if (!c.code.empty()) chapter["code"] = c.code;
    out["chapters"].push_back(std::move(chapter));
  }
  return out;
}

} // namespace uopscope
