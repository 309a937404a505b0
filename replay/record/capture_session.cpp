// A failed write ends the capture, never the program that is captured.
#include "replay/record/capture_session.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "replay/record/session.h"
#include "replay/schema/schema.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace uopscope {

namespace fs = std::filesystem;

std::string CaptureSession::pathFromEnvironment() {
  if (vars::captureProcessReplay == 0) return {};
  if (const char* path = std::getenv("UOPSCOPE_CORPUS"); path && *path) return path;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder = cache && *cache ? fs::path(cache)
                    : home && *home ? fs::path(home) / ".cache"
                                    : fs::temp_directory_path();
  std::error_code ignored;
  fs::create_directories(folder / "uopscope", ignored);
  return (folder / "uopscope" / "replay.uopcorpus").string();
}

void describeBuild(Corpus& corpus, const std::string& script) {
  corpus.setMeta("program_version", std::string(kProgramVersion));
  std::error_code ignored;
  fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  for (const std::string& place : {self.string(), fs::absolute(script, ignored).string()})
    if (GitPlace git = gitPlaceOf(place); !git.commit.empty()) {
      corpus.setMeta("commit", git.commit);
      break;
    }
  utsname machine{};
  uname(&machine);
  corpus.setMeta("machine", fmt::format("{} {} {}", machine.sysname, machine.release, machine.machine));
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  corpus.setMeta("made_at", text);
}

CaptureSession::CaptureSession(const std::string& path, const std::string& script)
    : corpus_(Corpus::append(path)), observer_([this](const Compilation& c) { return keep(c); }) {
  describeBuild(corpus_, script);
  corpus_.setMeta("status", "open");
}

bool CaptureSession::keep(const Compilation& c) {
  if (!failure_.empty()) return false;
  try {
    const bool isNew = corpus_.add(c);
    ++seen_;
    new_ += isNew;
    return isNew;
  } catch (const Error& e) {
    failure_ = e.what();
    return false;
  }
}

void CaptureSession::finish(std::string_view status) {
  if (std::exchange(finished_, true)) return;
  try {
    if (failure_.empty()) {
      corpus_.addCounts(observer_.tally().counts());
      corpus_.finish(std::string(status));
      // A program that captures several scripts packs once, after the last one.
      const char* packs = std::getenv("UOPSCOPE_CORPUS_PACK");
      if (!packs || std::string_view(packs) != "later") corpus_.pack();
    }
  } catch (const Error& e) {
    failure_ = e.what();
  }
  if (!failure_.empty())
    fmt::print(stderr, "uopscope: the capture ended early: {}\n", failure_);
  else
    fmt::print(stderr, "uopscope: captured {} compilations in {}, {} of them new\n", seen_, corpus_.path(),
               new_);
}

} // namespace uopscope
