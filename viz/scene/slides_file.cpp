// The page holds its pictures itself (PNG in base64) and loads nothing. Notes are a person's text: they are escaped.
#include "viz/scene/slides_file.h"

#include <QBuffer>
#include <QObject>
#include <QSaveFile>

namespace uopscope {

namespace {

constexpr const char* kHead =
    R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>%1</title>
<style>
html,body{margin:0;height:100%;background:#16181d;color:#e8eaf0;font:18px/1.4 system-ui,sans-serif}
section{display:none;height:100vh;flex-direction:column}
section.on{display:flex}
h2{margin:.5em 1em .1em;font-size:clamp(18px,3vw,34px);font-weight:600}
p{margin:0 1.8em .6em;color:#a7adba;font-size:clamp(12px,1.4vw,17px)}
img{flex:1;min-height:0;object-fit:contain;width:100%}
footer{position:fixed;right:14px;bottom:10px;color:#a7adba;font-size:14px}
@media print{section{display:flex;page-break-after:always}footer{display:none}html,body{background:#fff;color:#000}}
</style></head><body>
)";
constexpr const char* kTail = R"(<footer id="at"></footer>
<script>
const all = [...document.querySelectorAll("section")];
let at = Math.min(all.length, Math.max(1, parseInt(location.hash.slice(1)) || 1)) - 1;
function show(k) {
  at = Math.min(all.length - 1, Math.max(0, k));
  all.forEach((s, i) => s.classList.toggle("on", i === at));
  document.getElementById("at").textContent = (at + 1) + " / " + all.length;
  history.replaceState(null, "", "#" + (at + 1));
}
addEventListener("keydown", e => {
  if (["ArrowRight", "ArrowDown", "PageDown", " ", "Enter"].includes(e.key)) show(at + 1);
  else if (["ArrowLeft", "ArrowUp", "PageUp", "Backspace"].includes(e.key)) show(at - 1);
  else if (e.key === "Home") show(0);
  else if (e.key === "End") show(all.length - 1);
});
addEventListener("click", e => show(at + (e.clientX < innerWidth / 3 ? -1 : 1)));
show(at);
</script></body></html>
)";

} // namespace

QString saveSlides(const QString& path, const QString& title, const std::vector<Slide>& slides) {
  QByteArray page = QString::fromLatin1(kHead).arg(title.toHtmlEscaped()).toUtf8();
  for (const Slide& s : slides) {
    QByteArray png;
    QBuffer buffer(&png);
    if (!buffer.open(QIODevice::WriteOnly) || !s.image.save(&buffer, "PNG"))
      return QObject::tr("%1: a slide cannot be drawn").arg(path);
    const QString head = s.note.isEmpty() ? s.place : s.note;
    page += QStringLiteral("<section><h2>%1</h2>%2<img alt=\"%3\" src=\"data:image/png;base64,")
                .arg(head.toHtmlEscaped(),
                     s.note.isEmpty() ? QString() : QStringLiteral("<p>%1</p>").arg(s.place.toHtmlEscaped()),
                     s.place.toHtmlEscaped())
                .toUtf8();
    page += png.toBase64() + "\"></section>\n";
  }
  page += kTail;
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(page) != page.size() || !file.commit())
    return QObject::tr("%1 cannot be written: %2").arg(path, file.errorString());
  return {};
}

} // namespace uopscope
