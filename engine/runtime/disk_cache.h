// A directory of things that are expensive to make again: compiled kernels, searched optimisations.
//
//   DiskCache cache("/home/me/.cache/uopscope/kernels", 512 << 20);
//   if (auto code = cache.find(key)) load(*code); else cache.store(key, compile());
//
// A key is text that says everything the value depends on; it is hashed for the file's name. Several
// processes may share a directory: entries appear whole (written aside, then renamed) and carry a checksum,
// and one that is damaged counts as absent and is replaced. The directory is bounded: entries used longest
// ago go first. Nothing here throws: a cache that cannot be read or written is an empty one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace uopscope {

class DiskCache {
public:
  DiskCache(std::string directory, size_t maxBytes);

  std::optional<std::string> find(std::string_view key);
  void store(std::string_view key, std::string_view value);
  /// Where the value of a key is or would be.
  std::string pathOf(std::string_view key) const;
  const std::string& directory() const { return directory_; }

  /// The cache of that name below XDG_CACHE_HOME/uopscope (or ~/.cache/uopscope), at most UOPSCOPE_CACHE_MB
  /// large (512). Null with CCACHE=0 or where there is no home.
  static DiskCache* named(const std::string& name);
  /// Opens named caches afresh, as after a change of the environment.
  static void closeAll();

private:
  void makeRoom();

  std::string directory_;
  size_t maxBytes_;
  std::mutex mutex_;
  size_t bytes_ = 0; ///< of all entries, as far as known
  bool scanned_ = false;
  uint64_t written_ = 0;
};

/// Identifies this build of the engine: changes with every change of its code.
const std::string& buildIdentity();
/// Identifies the processor and its instruction sets.
const std::string& hostIdentity();

} // namespace uopscope
