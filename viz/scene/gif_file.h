// Films as GIF, which every browser, chat and slide shows: frames of one size, each stored as the part that changed.
//
//   GifFilm film("steps.gif", 900);                    // 900 ms a frame
//   film.add(window.grabWindow());  film.add(window.grabWindow());
//   QString problem = film.save();                      // empty: written
//
// A film has one palette of at most 255 colours of its frames: the most frequent ones, no two of them closer than it takes
// for every colour to have a near one.
#pragma once
#include <QImage>
#include <QString>
#include <vector>

namespace uopscope {

class GifFilm {
public:
  GifFilm(QString path, int msPerFrame) : path_(std::move(path)), ms_(msPerFrame) {}
  /// Frames of another size than the first are scaled to it.
  void add(const QImage& frame);
  /// Repeats the last frame: a pause.
  void hold(int ms);
  size_t frames() const { return frames_.size(); }
  /// Writes the file whole or not at all. Returns an error text, empty on success.
  QString save() const;
  /// The file's content; empty without frames.
  QByteArray bytes() const;

private:
  struct Frame {
    QImage image;
    int ms = 0;
  };
  QString path_;
  int ms_ = 0;
  std::vector<Frame> frames_;
};

} // namespace uopscope
