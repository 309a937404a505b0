// Captures everything a program compiles into a corpus (CAPTURE_PROCESS_REPLAY=1).
//
//   CaptureSession capture("replay.uopcorpus", "train.py");
//   ObserverScope scope(&capture.observer());
//   ...
//   capture.finish("complete");
#pragma once
#include "replay/record/corpus.h"

namespace uopscope {

class CaptureSession {
public:
  /// Adds to the corpus at `path`; creates the file where none exists.
  CaptureSession(const std::string& path, const std::string& script);
  Observer& observer() { return observer_; }
  /// Idempotent. Reports a corpus that cannot be written once, on stderr.
  void finish(std::string_view status);

  /// UOPSCOPE_CORPUS, or replay.uopcorpus in the user's cache folder; empty without CAPTURE_PROCESS_REPLAY.
  static std::string pathFromEnvironment();

private:
  bool keep(const Compilation& c);
  Corpus corpus_;
  CaptureObserver observer_;
  std::string failure_;
  size_t seen_ = 0, new_ = 0;
  bool finished_ = false;
};

/// Notes the build and the machine that a corpus comes from: version, commit and state of the sources, time.
void describeBuild(Corpus& corpus, const std::string& script);

} // namespace uopscope
