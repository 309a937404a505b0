// A cache directory for results that are expensive to compute: compiled kernels, searched Opts.
//
//   DiskCache cache("/home/me/.cache/uopscope/kernels", 512 << 20);
//   if (auto code = cache.find(key)) load(*code); else cache.store(key, compile());
//
// A key is a text with everything that the value depends on; its hash names the file. Several processes may
// share a directory. An entry appears as a whole (it is written under a different name, then renamed) and has
// a checksum; a damaged entry counts as absent and is replaced. The size of the directory is bounded: entries
// used longest ago are deleted first. No function throws: a cache that cannot be read or written behaves like
// an empty one.
//
// A large cache (from 128 MB on) has 64 parts, folders by the hash of the key, each with a bound of its own. A process that stores an entry looks through that
// entry's part alone: a full cache has hundreds of thousands of entries, and to look through all of them took 0.8 s.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

class DiskCache {
public:
  DiskCache(std::string directory, size_t maxBytes);

  std::optional<std::string> find(std::string_view key);
  void store(std::string_view key, std::string_view value);
  /// The path of the entry for a key, which need not exist.
  std::string pathOf(std::string_view key) const;
  const std::string& directory() const { return directory_; }

  /// The cache of that name below XDG_CACHE_HOME/uopscope (or ~/.cache/uopscope), limited to
  /// UOPSCOPE_CACHE_MB (512). Null with CCACHE=0, or if there is no home directory.
  static DiskCache* named(const std::string& name);
  /// Closes named caches, so that they are opened again after a change of the environment.
  static void closeAll();

private:
  struct Part {
    size_t bytes = 0; ///< of all entries, as far as known
    bool scanned = false;
  };
  size_t partOf(std::string_view key) const;
  std::string folderOf(size_t part) const;
  void makeRoom(size_t part);
  void clearEarlierLayout();

  std::string directory_;
  std::vector<Part> parts_;
  size_t maxBytes_; ///< of a part
  std::mutex mutex_;
  uint64_t written_ = 0;
};

/// Identifies this build of the engine; it changes with every change of the code.
const std::string& buildIdentity();
/// Identifies the processor and its instruction sets.
const std::string& hostIdentity();

} // namespace uopscope
