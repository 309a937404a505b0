// Writes the report as one page. It reads well without its script; a few lines of script filter and sort the
// list.
#include "replay/compare/report.h"
#include "replay/read/text_diff.h"
#include "replay/schema/html_text.h"
#include "replay/schema/quantity_text.h"
#include "replay_compare_embedded.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

std::string words(const std::vector<DiffWord>& list) {
  std::string out;
  for (const DiffWord& w : list) out += w.changed ? "<b>" + htmlText(w.text) + "</b>" : htmlText(w.text);
  return out;
}

/// Two texts side by side. Unchanged stretches beyond three lines of context are left out and counted.
std::string textsSideBySide(const std::string& before, const std::string& after) {
  std::vector<DiffLine> lines = diffLines(before, after);
  std::vector<bool> near(lines.size());
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].mark != ' ')
      for (size_t j = i > 3 ? i - 3 : 0; j < std::min(lines.size(), i + 4); ++j) near[j] = true;
  std::string out = "<table class=side>";
  size_t hidden = 0;
  auto flush = [&] {
    if (hidden) out += fmt::format("<tr><td colspan=4 class=dim>{} equal lines</td></tr>", hidden);
    hidden = 0;
  };
  auto row = [&](int a, const std::string& left, int b, const std::string& right) {
    out += fmt::format("<tr><td class=no>{}</td><td class='{}' data-m='{}'>{}</td><td class=no>{}</td><td "
                       "class='{}'>{}</td></tr>\n",
                       a ? std::to_string(a) : "", a && !b ? "del" : "", "", left, b ? std::to_string(b) : "",
                       b && !a ? "add" : "", right);
  };
  for (const auto& [left, right] : sideBySide(lines)) {
    if (!near[static_cast<size_t>(left >= 0 ? left : right)]) {
      ++hidden;
      continue;
    }
    flush();
    const DiffLine* d = left < 0 ? nullptr : &lines[static_cast<size_t>(left)];
    const DiffLine* e = right < 0 ? nullptr : &lines[static_cast<size_t>(right)];
    if (d && e && d != e) {
      DiffWords w = diffWords(d->text, e->text);
      out += fmt::format(
          "<tr><td class=no>{}</td><td class=del>{}</td><td class=no>{}</td><td class=add>{}</td></tr>\n",
          d->before, words(w.before), e->after, words(w.after));
    } else {
      row(d ? d->before : 0, d ? htmlText(d->text) : "", e ? e->after : 0, e ? htmlText(e->text) : "");
    }
  }
  flush();
  return out + "</table>";
}

std::string changeHtml(const Change& c, const Corpus& before, const Corpus& after, const ReportOptions& o) {
  std::string name = c.entry().name;
  if (c.before && c.after && c.before->name != c.after->name) name = c.before->name + " → " + c.after->name;
  std::string out =
      fmt::format("<details class=change data-text=\"{0} {1} {2} {3}\"><summary>{3} <code>{0}</code> <span "
                  "class=dim>{1}{4}</span></summary>",
                  htmlText(name), htmlText(c.entry().place()), htmlText(c.cause), statusName(c.status),
                  c.confidence < 1 ? fmt::format(" · paired by likeness, {:.0f} %", c.confidence * 100) : "");
  if (c.divergence.found()) out += "<p>" + htmlText(c.divergence.sentence()) + "</p>";
  for (const std::string& f : changeFacts(c, before, after)) out += "<div>" + htmlText(f) + "</div>";
  if (!c.entry().message.empty()) out += "<pre>" + htmlText(c.entry().message) + "</pre>";
  Compilation x = c.before ? before.load(*c.before, true) : Compilation{},
              y = c.after ? after.load(*c.after, true) : Compilation{};
  auto text = [&](const std::string& s) { return o.ignoreNames ? withoutNames(s) : s; };
  auto part = [&](const char* title, const std::string& p, const std::string& q) {
    if (p != q && !(p.empty() && q.empty()))
      out += fmt::format("<h4>{}</h4>{}", title, textsSideBySide(text(p), text(q)));
  };
  part("Source", x.source, y.source);
  part("LLVM IR", x.ir, y.ir);
  if (!x.assembly.empty() && !y.assembly.empty()) part("Assembly", x.assembly, y.assembly);
  return out + "</details>\n";
}

constexpr const char* kScript = R"(
const box = document.getElementById('filter'), count = document.getElementById('count');
function filter() {
  let shown = 0, all = 0, q = box.value.toLowerCase();
  for (const d of document.querySelectorAll('.change')) {
    const hit = d.dataset.text.toLowerCase().includes(q); d.hidden = !hit; all++; shown += hit;
  }
  count.textContent = shown + ' of ' + all + ' shown';
}
box.addEventListener('input', filter); filter();
)";

} // namespace

std::string reportHtml(const CorpusDiff& d, const Corpus& before, const Corpus& after,
                       const ReportOptions& o) {
  std::string css;
  for (const auto& [name, text] : replay_compareEmbedded())
    if (name == "report.css") css = text;
  std::string out = fmt::format("<!doctype html><html lang=en><meta charset=utf-8><title>Process "
                                "replay</title><style>{}</style>\n<h1>{}</h1>\n",
                                css, htmlText(headline(d)));
  auto side = [](const std::string& name, const std::string& commit) {
    return htmlText(commit.empty() ? name : name + " (" + commit.substr(0, 12) + ")");
  };
  out += fmt::format("<p class=dim>{} → {}</p>", side(d.beforeName, d.beforeCommit),
                     side(d.afterName, d.afterCommit));
  for (const std::string& w : d.warnings) out += "<p><strong>Warning:</strong> " + htmlText(w) + "</p>";
  if (!d.groups.empty())
    out += "<p><input id=filter type=search placeholder='filter by kernel, cause or script line' "
           "aria-label=filter> <span id=count class=dim></span></p>";
  for (const ChangeGroup& g : d.groups) {
    out += fmt::format("<h2>{} <span class=dim>{}, {}</span></h2>\n", htmlText(g.cause),
                       countedText(g.kernels, "kernel"), countedText(g.schedules, "schedule"));
    for (size_t index : g.changes) out += changeHtml(d.changes[index], before, after, o);
  }
  if (!d.rules.empty()) {
    out += "<h2>Match statistics that changed</h2><table><tr><th>rule<th>what<th class=n>applied before<th "
           "class=n>after<th class=n>attempts before<th class=n>after<th class=n>ms before<th "
           "class=n>after</tr>";
    for (const RuleChange& r : d.rules)
      out +=
          fmt::format("<tr><td><code>{}</code><td>{}<td class=n>{}<td class=n>{}<td class=n>{}<td "
                      "class=n>{}<td class=n>{:.2f}<td class=n>{:.2f}</tr>",
                      htmlText(r.rule), htmlText(r.what + (r.renamedTo.empty() ? "" : " to " + r.renamedTo)),
                      r.appliedBefore, r.appliedAfter, r.attemptsBefore, r.attemptsAfter,
                      static_cast<double>(r.nsBefore) / 1e6, static_cast<double>(r.nsAfter) / 1e6);
    out += "</table>";
  }
  if (!d.groups.empty()) out += fmt::format("<script>{}</script>", kScript);
  return out + "</html>\n";
}

} // namespace uopscope
