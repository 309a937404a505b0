// Converts line by line. A block ends where a line of a different kind begins.
#include "replay/teach/markdown.h"

#include "replay/schema/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace uopscope {

namespace {

bool isTraceLink(std::string_view address) {
  for (std::string_view begin : {"kernel=", "pass=", "step=", "node="})
    if (address.starts_with(begin)) return true;
  return false;
}

/// Parses `[words](address)` from `at` on. Returns the number of characters it takes, 0 for any other text.
size_t link(std::string_view s, size_t at, std::string& out) {
  const size_t close = s.find("](", at), end = close == std::string_view::npos ? close : s.find(')', close);
  if (end == std::string_view::npos) return 0;
  const std::string words = htmlText(s.substr(at + 1, close - at - 1));
  const std::string_view address = s.substr(close + 2, end - close - 2);
  out += isTraceLink(address) ? fmt::format("<a href=\"#{}\">{}</a>", htmlText(address), words)
                              : fmt::format("{} ({})", words, htmlText(address));
  return end + 1 - at;
}

std::string inlineHtml(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size();) {
    const bool strong = s.substr(i).starts_with("**");
    if (s[i] == '`' || strong || s[i] == '*') {
      const std::string_view sign = s.substr(i, strong ? 2 : 1);
      const size_t end = s.find(sign, i + sign.size());
      const bool opens = s[i] == '`' || (i + sign.size() < s.size() && s[i + sign.size()] != ' ');
      if (end != std::string_view::npos && end > i + sign.size() && opens) {
        const std::string_view inside = s.substr(i + sign.size(), end - i - sign.size());
        const char* tag = s[i] == '`' ? "code" : strong ? "strong" : "em";
        out += fmt::format("<{0}>{1}</{0}>", tag, s[i] == '`' ? htmlText(inside) : inlineHtml(inside));
        i = end + sign.size();
        continue;
      }
    }
    if (s[i] == '[')
      if (const size_t taken = link(s, i, out)) {
        i += taken;
        continue;
      }
    const size_t next = std::min(s.find_first_of("`*[", i + 1), s.size());
    out += htmlText(s.substr(i, next - i));
    i = next;
  }
  return out;
}

std::string tableRow(std::string_view line, const char* cell) {
  std::string row = trimmed(line), out = "<tr>";
  row = row.substr(1, row.size() > 1 && row.back() == '|' ? row.size() - 2 : std::string::npos);
  for (size_t at = 0; at <= row.size();) {
    const size_t bar = std::min(row.find('|', at), row.size());
    out +=
        fmt::format("<{0}>{1}</{0}>", cell, inlineHtml(trimmed(std::string_view(row).substr(at, bar - at))));
    at = bar + 1;
  }
  return out + "</tr>\n";
}

class Blocks {
public:
  void line(std::string_view text) {
    if (text.starts_with("```")) return fence(text.substr(3));
    if (question_) return questionLine(text);
    if (fenced_) {
      out_ += htmlText(text) + "\n";
      return;
    }
    const std::string plain = trimmed(text);
    if (plain.empty()) return open({});
    const size_t hashes = std::min(plain.find_first_not_of('#'), plain.size());
    if (hashes > 0 && hashes < 7 && hashes < plain.size() && plain[hashes] == ' ') {
      open({});
      out_ += fmt::format("<h{0}>{1}</h{0}>\n", hashes, inlineHtml(plain.substr(hashes + 1)));
      return;
    }
    if (plain.starts_with('|')) return tableLine(plain);
    if (plain.starts_with("- ") || plain.starts_with("* ")) return item("ul", plain.substr(2));
    const size_t digits = plain.find_first_not_of("0123456789");
    if (digits > 0 && digits != std::string::npos && plain.substr(digits).starts_with(". "))
      return item("ol", plain.substr(digits + 2));
    if (plain.starts_with("> ")) {
      open("blockquote");
      out_ += inlineHtml(plain.substr(2)) + "\n";
      return;
    }
    if (open_ == "ul" || open_ == "ol") { // continues the list item
      out_ += " " + inlineHtml(plain);
      return;
    }
    open("p");
    out_ += inlineHtml(plain) + "\n";
  }
  std::string finish() {
    if (fenced_) fence({});
    open({});
    return std::move(out_);
  }

private:
  void fence(std::string_view what) {
    open({});
    if (question_) {
      finishQuestion();
      question_ = fenced_ = false;
      return;
    }
    if (!fenced_ && trimmed(what) == "question") {
      asked_.clear();
      question_ = fenced_ = true;
      return;
    }
    out_ += fenced_ ? "</pre>\n" : "<pre>";
    fenced_ = !fenced_;
  }
  /// "ask: ...", or the next line of the text before it.
  void questionLine(std::string_view line) {
    const size_t colon = line.find(':');
    const bool begins = colon != std::string_view::npos && colon > 0 &&
                        line.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == colon;
    if (begins)
      asked_.emplace_back(std::string(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    else if (!asked_.empty())
      asked_.back().second += " " + trimmed(line);
  }
  /// The question; hint and answer are folded, so that nobody reads them by chance.
  void finishQuestion() {
    auto all = [&](const char* key, const char* between) {
      std::string out;
      for (const auto& [name, text] : asked_)
        if (name == key) out += (out.empty() ? "" : between) + inlineHtml(text);
      return out;
    };
    auto folded = [&](const char* title, const std::string& html) {
      if (!html.empty())
        out_ += fmt::format("<details><summary>{}</summary><p>{}</p></details>\n", title, html);
    };
    out_ += fmt::format("<div class=\"question\">\n<p><strong>Question.</strong> {}</p>\n", all("ask", " "));
    folded("Hint", all("hint", " "));
    const std::string answers = all("answer", " or "), because = all("because", " ");
    folded("Answer", answers + (answers.empty() || because.empty() ? "" : ". ") + because);
    out_ += "</div>\n";
  }
  void open(const std::string& block) {
    if (block == open_) return;
    if (open_ == "ul" || open_ == "ol") out_ += "</li>";
    if (!open_.empty()) out_ += fmt::format("</{}>\n", open_);
    if (!block.empty()) out_ += fmt::format("<{}>", block);
    open_ = block;
  }
  void item(const std::string& list, const std::string& text) {
    const bool first = open_ != list;
    open(list);
    out_ += fmt::format("{}<li>{}", first ? "" : "</li>\n", inlineHtml(text));
  }
  void tableLine(const std::string& plain) {
    const bool first = open_ != "table";
    open("table");
    if (plain.find_first_not_of("|-: ") == std::string::npos) return;
    out_ += tableRow(plain, first ? "th" : "td");
  }
  std::string out_, open_;
  std::vector<std::pair<std::string, std::string>> asked_; ///< lines of a question: key and text
  bool fenced_ = false, question_ = false;
};

} // namespace

std::string markdownHtml(std::string_view text) {
  Blocks blocks;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    blocks.line(line);
    at = end + 1;
  }
  return blocks.finish();
}

std::string trimmed(std::string_view s) {
  const size_t from = s.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return std::string(s.substr(from, s.find_last_not_of(" \t") + 1 - from));
}

} // namespace uopscope
