// Entries are files: a header with sizes and hashes, then the value. The file time is the time of last use.
#include "engine/runtime/disk_cache.h"

#include "engine/base/context_var.h"
#include "engine/base/hash.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <vector>

namespace uopscope {

namespace fs = std::filesystem;

namespace {

struct Header {
  char magic[8];
  uint64_t keyHash, keySize, valueHash, valueSize;
};
constexpr char kMagic[8] = {'u', 'o', 'p', 'c', 'a', 'c', 'h', '1'};
constexpr const char* kSuffix = ".entry";
constexpr const char* kUnfinished = ".unfinished";
/// The number of parts does not go by the size, so that a cache whose size is changed finds its entries.
constexpr size_t kParts = 64, kSmallestWithParts = 128 << 20;
constexpr size_t kDeletedAtOnce = 200;

uint64_t hashOf(std::string_view text, uint64_t seed) {
  constexpr uint64_t kFactor = 0xD6E8FEB86659FD93ull; // not that of the hashes of nodes
  uint64_t h = mixHash(seed, text.size());
  auto mix = [&](uint64_t word) { h = mixHash(h, word, kFactor); };
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    mix(word);
  }
  uint64_t rest = 0;
  if (i < text.size()) std::memcpy(&rest, text.data() + i, text.size() - i);
  mix(rest);
  mix(0x94D049BB133111EBull);
  return h;
}

Header headerFor(std::string_view key, std::string_view value) {
  Header h{};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.keyHash = hashOf(key, 3);
  h.keySize = key.size();
  h.valueHash = hashOf(value, 4);
  h.valueSize = value.size();
  return h;
}

struct File {
  explicit File(int fd) : fd(fd) {}
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool readAll(void* to, size_t n) const {
    auto* at = static_cast<char*>(to);
    while (n) {
      ssize_t got = ::read(fd, at, n);
      if (got <= 0) return false;
      at += got;
      n -= static_cast<size_t>(got);
    }
    return true;
  }
  bool writeAll(const void* from, size_t n) const {
    auto* at = static_cast<const char*>(from);
    while (n) {
      ssize_t put = ::write(fd, at, n);
      if (put <= 0) return false;
      at += put;
      n -= static_cast<size_t>(put);
    }
    return true;
  }
  int fd;
};

} // namespace

DiskCache::DiskCache(std::string directory, size_t maxBytes)
    : directory_(std::move(directory)), parts_(maxBytes < kSmallestWithParts ? 1 : kParts),
      maxBytes_(maxBytes / parts_.size()) {}

size_t DiskCache::partOf(std::string_view key) const {
  return static_cast<size_t>(hashOf(key, 1) >> 32) % parts_.size();
}
std::string DiskCache::folderOf(size_t part) const {
  return parts_.size() == 1 ? directory_ : fmt::format("{}/{:02x}", directory_, part);
}
std::string DiskCache::pathOf(std::string_view key) const {
  return fmt::format("{}/{:016x}{:016x}{}", folderOf(partOf(key)), hashOf(key, 1), hashOf(key, 2), kSuffix);
}

std::optional<std::string> DiskCache::find(std::string_view key) {
  std::string path = pathOf(key);
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return {};
  Header header{};
  struct stat info{};
  std::string value;
  bool whole = fstat(file.fd, &info) == 0 && file.readAll(&header, sizeof header) &&
               static_cast<uint64_t>(info.st_size) == sizeof header + header.valueSize;
  if (whole) {
    value.resize(header.valueSize);
    whole = file.readAll(value.data(), value.size());
  }
  Header wanted = headerFor(key, value);
  if (!whole || std::memcmp(&header, &wanted, sizeof header) != 0) return {};
  futimens(file.fd, nullptr);
  return value;
}

void DiskCache::store(std::string_view key, std::string_view value) {
  std::error_code failed;
  const size_t part = partOf(key);
  const std::string folder = folderOf(part);
  fs::create_directories(folder, failed);
  if (failed || value.size() > maxBytes_ / 4) return;
  std::string path = pathOf(key), aside;
  {
    std::lock_guard lock(mutex_);
    aside = fmt::format("{}/{}-{}{}", folder, getpid(), ++written_, kUnfinished);
  }
  {
    File file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (file.fd < 0) return;
    Header header = headerFor(key, value);
    if (!file.writeAll(&header, sizeof header) || !file.writeAll(value.data(), value.size())) {
      ::unlink(aside.c_str());
      return;
    }
  }
  if (::rename(aside.c_str(), path.c_str()) != 0) {
    ::unlink(aside.c_str());
    return;
  }
  std::lock_guard lock(mutex_);
  if (written_ == 1 && parts_.size() > 1) clearEarlierLayout();
  parts_[part].bytes += sizeof(Header) + value.size();
  if (!parts_[part].scanned || parts_[part].bytes > maxBytes_) makeRoom(part);
}

/// Entries that lie beside the folders are of an earlier layout, where nobody looks for them. Each process deletes some.
void DiskCache::clearEarlierLayout() {
  std::error_code failed;
  size_t deleted = 0;
  for (fs::directory_iterator it(directory_, failed), end; !failed && it != end && deleted < kDeletedAtOnce;
       it.increment(failed)) {
    if (it->path().extension() != kSuffix) continue;
    std::error_code ignored;
    fs::remove(it->path(), ignored);
    ++deleted;
  }
}

void DiskCache::makeRoom(size_t part) {
  size_t& bytes = parts_[part].bytes;
  struct Entry {
    fs::file_time_type used;
    size_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::error_code failed;
  bytes = 0;
  parts_[part].scanned = true;
  auto anHourAgo = fs::file_time_type::clock::now() - std::chrono::hours(1);
  // Below a small cache there may be the folders of a large one.
  for (fs::recursive_directory_iterator it(folderOf(part), failed), end; !failed && it != end;
       it.increment(failed)) {
    std::error_code gone;
    Entry e{it->last_write_time(gone), 0, it->path()};
    if (!gone) e.bytes = it->file_size(gone);
    if (gone) continue; // a different process deleted it first
    if (e.path.extension() == kUnfinished && e.used < anHourAgo) fs::remove(e.path, gone);
    if (e.path.extension() != kSuffix) continue;
    bytes += e.bytes;
    entries.push_back(std::move(e));
  }
  if (bytes <= maxBytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  // A quarter is freed at once, so a full cache is not scanned for every new entry.
  for (const Entry& e : entries) {
    if (bytes <= maxBytes_ / 4 * 3) break;
    std::error_code ignored;
    fs::remove(e.path, ignored);
    bytes -= e.bytes;
  }
}

namespace {

struct NamedCaches {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<DiskCache>> open;
};
NamedCaches& namedCaches() {
  static NamedCaches caches;
  return caches;
}

std::string cacheHome() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/') return xdg;
  if (const char* home = std::getenv("HOME"); home && *home == '/') return std::string(home) + "/.cache";
  return {};
}

} // namespace

DiskCache* DiskCache::named(const std::string& name) {
  if (!vars::ccache) return nullptr;
  NamedCaches& caches = namedCaches();
  std::lock_guard lock(caches.mutex);
  auto& cache = caches.open[name];
  if (!cache) {
    std::string home = cacheHome();
    if (home.empty()) return nullptr;
    auto megabytes = static_cast<size_t>(std::max<int64_t>(0, envInt("UOPSCOPE_CACHE_MB", 512)));
    cache = std::make_unique<DiskCache>(home + "/uopscope/" + name, megabytes << 20);
  }
  return cache.get();
}

void DiskCache::closeAll() {
  NamedCaches& caches = namedCaches();
  std::lock_guard lock(caches.mutex);
  caches.open.clear();
}

namespace {

/// The linker's note with a hash of the whole program or library.
std::string linkersBuildId(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(info.dlpi_addr + segment.p_vaddr);
    const char* end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* content = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        std::string id;
        for (uint32_t k = 0; k < note.n_descsz; ++k)
          id += fmt::format("{:02x}", static_cast<unsigned char>(content[k]));
        return id;
      }
      at = content + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return {};
}

std::string findBuildIdentity() {
  struct Search {
    uintptr_t address;
    std::string id;
  } search{reinterpret_cast<uintptr_t>(&buildIdentity), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          uintptr_t start = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || s.address < start || s.address >= start + segment.p_memsz)
            continue;
          s.id = linkersBuildId(*info);
          return 1;
        }
        return 0;
      },
      &search);
  if (!search.id.empty()) return search.id;
  // A program without the note is identified by its file and the time of the last change.
  Dl_info from{};
  struct stat info{};
  std::string file = dladdr(reinterpret_cast<void*>(&buildIdentity), &from) && from.dli_fname
                         ? std::string(from.dli_fname)
                         : "/proc/self/exe";
  if (stat(file.c_str(), &info) != 0 && stat("/proc/self/exe", &info) != 0) return "unknown";
  return fmt::format("{}-{}-{}-{}", file, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

std::string findHostIdentity() {
  std::ifstream in("/proc/cpuinfo");
  std::string line, text;
  while (std::getline(in, line) && !line.empty())
    for (const char* wanted : {"vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU "})
      if (line.starts_with(wanted)) text += line + '\n';
  return text;
}

} // namespace

const std::string& buildIdentity() {
  static const std::string id = findBuildIdentity();
  return id;
}
const std::string& hostIdentity() {
  static const std::string id = findHostIdentity();
  return id;
}

} // namespace uopscope
