// Slides: pictures of states with their notes as one HTML file, to show anywhere: arrows, Space and clicks turn them,
// and printing gives a page each.
//
//   QString problem = saveSlides("talk.html", "softmax.uoptrace", {{image, "Two reductions", "r_16 › expander, step 5"}});
#pragma once
#include <QImage>
#include <QString>
#include <vector>

namespace uopscope {

struct Slide {
  QImage image;
  QString note;  ///< empty: the place is the title
  QString place; ///< "r_16_25_4 › devectorize, step 12"
};
/// Writes the file whole or not at all. Returns an error text, empty on success.
QString saveSlides(const QString& path, const QString& title, const std::vector<Slide>& slides);

} // namespace uopscope
