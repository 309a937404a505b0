// Films as MP4, by the program ffmpeg: full colours and any length, where a GIF has 255 colours and is large.
//
//   QString problem = saveMp4("steps.mp4", frames);     // empty: written
//
// Frames are images with the time that each stands. Without ffmpeg the message names the package.
#pragma once
#include <QImage>
#include <QString>
#include <vector>

namespace uopscope {

struct FilmFrame {
  QImage image;
  int ms = 0;
};
/// Returns an error text, empty on success. Frames of another size than the first are scaled to it. `program` is found
/// in PATH.
QString saveMp4(const QString& path, const std::vector<FilmFrame>& frames,
                const QString& program = QStringLiteral("ffmpeg"));

} // namespace uopscope
