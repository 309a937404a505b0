// The cache on disk returns the stored value, whatever happens to its files and however many processes use
// it. It stays within its size. It never finds code of a different build or compiler.
#include "engine/base/context_var.h"
#include "engine/runtime/device.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/tensor/tensor.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

using namespace uopscope;
namespace fs = std::filesystem;

namespace {

struct TempDirectory {
  TempDirectory() {
    std::string name = (fs::temp_directory_path() / "disk-cache-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~TempDirectory() { fs::remove_all(path); }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::recursive_directory_iterator(path), {}));
  }
  size_t bytes() const {
    size_t n = 0;
    for (const auto& e : fs::recursive_directory_iterator(path))
      if (e.is_regular_file()) n += e.file_size();
    return n;
  }
  std::string path;
};

/// Sets XDG_CACHE_HOME and CCACHE=1 for a block.
struct CacheHome {
  explicit CacheHome(const std::string& path) {
    if (const char* old = std::getenv("XDG_CACHE_HOME")) before = old;
    setenv("XDG_CACHE_HOME", path.c_str(), 1);
    DiskCache::closeAll();
  }
  ~CacheHome() {
    if (before.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", before.c_str(), 1);
    DiskCache::closeAll();
  }
  std::string before;
  ContextScope on{{{"CCACHE", 1}}};
};

std::string textOf(char c, size_t n) {
  return std::string(n, c);
}

std::vector<float> firstSums(int llvm) {
  ContextScope scope({{"CPU_LLVM", llvm}});
  clearKernelCache();
  TensorOptions cpu;
  cpu.device = "CPU";
  std::vector<float> values(96);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::from(values, {8, 12}, cpu).sum(Ints{1}).values<float>();
}

} // namespace

TEST_CASE("what is kept on disk comes back, also to another process") {
  TempDirectory dir;
  DiskCache cache(dir.path + "/made/on/demand", 1 << 20);
  CHECK(!cache.find("key"));
  std::string binary("a\0b\xff", 4);
  cache.store("key", binary);
  CHECK(cache.find("key") == binary);
  CHECK(!cache.find("other key"));
  cache.store("key", "newer");
  CHECK(cache.find("key") == "newer");
  cache.store("empty", "");
  CHECK(cache.find("empty") == "");
  DiskCache again(cache.directory(), 1 << 20);
  CHECK(again.find("key") == "newer");
}

TEST_CASE("damaged entries count as absent and are replaced") {
  TempDirectory dir;
  DiskCache cache(dir.path, 1 << 20);
  std::string value = textOf('v', 5000);
  cache.store("key", value);
  std::string path = cache.pathOf("key");
  auto size = static_cast<size_t>(fs::file_size(path));
  // Every part of the file: the magic number, the hashes, the sizes, the value.
  for (size_t at : {size_t{0}, size_t{9}, size_t{17}, size_t{25}, size_t{33}, size_t{41}, size - 1}) {
    CAPTURE(at);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    char c = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(c ^ 0x11));
    file.close();
    CHECK(!cache.find("key"));
    cache.store("key", value);
    CHECK(cache.find("key") == value);
  }
  for (size_t left : {size - 1, size / 2, size_t{30}, size_t{0}}) {
    fs::resize_file(path, left);
    CHECK(!cache.find("key"));
  }
  std::ofstream(path, std::ios::app) << textOf('x', 2 * size);
  CHECK(!cache.find("key"));
  // The entry of one key under the name of another, as after a collision.
  cache.store("key", value);
  fs::copy_file(path, cache.pathOf("different"));
  CHECK(!cache.find("different"));
}

TEST_CASE("the cache stays within its size; what was used last stays") {
  TempDirectory dir;
  DiskCache cache(dir.path, 100'000);
  for (int i = 0; i < 9; ++i) cache.store(fmt::format("key {}", i), textOf('a', 10'000));
  auto longAgo = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (int i = 0; i < 9; ++i)
    fs::last_write_time(cache.pathOf(fmt::format("key {}", i)), longAgo + std::chrono::seconds(i));
  CHECK(cache.find("key 0")); // used now
  cache.store("key 9", textOf('b', 10'000));
  CHECK(dir.bytes() <= 100'000);
  CHECK(cache.find("key 0"));
  CHECK(cache.find("key 9"));
  CHECK(!cache.find("key 1"));
  for (int i = 0; i < 50; ++i) cache.store(fmt::format("more {}", i), textOf('c', 9'000));
  CHECK(dir.bytes() <= 100'000);
  cache.store("huge", textOf('d', 60'000));
  CHECK(!cache.find("huge"));
  // A second object on the same directory knows its content.
  DiskCache again(dir.path, 50'000);
  again.store("one more", textOf('e', 1'000));
  CHECK(dir.bytes() <= 50'000);
}

TEST_CASE("leftovers of processes that died are cleared away") {
  TempDirectory dir;
  std::string leftover = dir.path + "/1-1.unfinished", recent = dir.path + "/2-2.unfinished";
  std::ofstream(leftover) << "half";
  std::ofstream(recent) << "half";
  fs::last_write_time(leftover, fs::file_time_type::clock::now() - std::chrono::hours(2));
  DiskCache cache(dir.path, 1 << 20);
  cache.store("key", "value");
  CHECK(!fs::exists(leftover));
  CHECK(fs::exists(recent));
}

TEST_CASE("a large cache has parts, of which each stays within its bound") {
  TempDirectory dir;
  constexpr size_t kBytes = 128 << 20; // 64 parts of 2 MB
  DiskCache cache(dir.path, kBytes);
  std::vector<std::string> keys; // of two parts
  for (int i = 0; keys.size() < 20; ++i) {
    std::string key = fmt::format("key {}", i);
    const fs::path folder = fs::path(cache.pathOf(key)).parent_path().filename();
    if (folder == "05" || folder == "3f") keys.push_back(key);
  }
  for (const std::string& key : keys) cache.store(key, textOf('a', 400'000));
  std::map<fs::path, size_t> folders;
  for (const auto& entry : fs::recursive_directory_iterator(dir.path))
    if (entry.is_regular_file()) folders[entry.path().parent_path()] += entry.file_size();
  CHECK(folders.size() == 2);
  for (const auto& [folder, bytes] : folders) CHECK(bytes <= kBytes / 64);
  CHECK(cache.find(keys.back()));
  CHECK(DiskCache(dir.path, 2 * kBytes).find(keys.back())); // whatever its size is now
  cache.store("huge", textOf('d', 600'000));                // more than a quarter of a part
  CHECK(!cache.find("huge"));
}

TEST_CASE("a small cache counts what a large one left") {
  TempDirectory dir;
  DiskCache large(dir.path, 128 << 20);
  for (int i = 0; i < 10; ++i) large.store(fmt::format("key {}", i), textOf('a', 10'000));
  DiskCache(dir.path, 50'000).store("one more", textOf('b', 1'000));
  CHECK(dir.bytes() <= 50'000);
}

TEST_CASE("entries of an earlier layout are deleted, some by each process") {
  TempDirectory dir;
  for (int i = 0; i < 300; ++i) std::ofstream(fmt::format("{}/{:032x}.entry", dir.path, i)) << "old";
  auto left = [&] {
    return std::ranges::count_if(fs::directory_iterator(dir.path),
                                 [](const auto& e) { return e.is_regular_file(); });
  };
  DiskCache(dir.path, 128 << 20).store("key", "value");
  CHECK(left() == 100);
  DiskCache again(dir.path, 128 << 20);
  again.store("other", "value");
  CHECK(left() == 0);
  CHECK(again.find("key") == "value");
}

TEST_CASE("a directory that cannot be written to is an empty cache") {
  DiskCache cache("/proc/nowhere/cache", 1 << 20);
  cache.store("key", "value");
  CHECK(!cache.find("key"));
}

TEST_CASE("many processes and threads on one directory read only whole entries") {
  TempDirectory dir;
  constexpr int kProcesses = 4;
  auto work = [&](unsigned seed) {
    DiskCache cache(dir.path, 60'000);
    for (int i = 0; i < 150; ++i) {
      std::string key = fmt::format("key {}", (seed + static_cast<unsigned>(i) * 7) % 13);
      std::string wanted = textOf(static_cast<char>('a' + key.size() % 7), 4000) + key;
      auto found = cache.find(key);
      if (found && *found != wanted) return false;
      if (!found) cache.store(key, wanted);
    }
    return true;
  };
  std::vector<pid_t> children;
  for (unsigned p = 0; p < kProcesses; ++p) {
    pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(work(p) ? 0 : 1);
    children.push_back(child);
  }
  bool ok[2] = {};
  std::thread a([&] { ok[0] = work(50); }), b([&] { ok[1] = work(51); });
  a.join();
  b.join();
  CHECK(ok[0]);
  CHECK(ok[1]);
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  CHECK(dir.bytes() <= 60'000 + 5'000 * (kProcesses + 2));
}

TEST_CASE("compiled kernels are kept below XDG_CACHE_HOME and used again") {
  TempDirectory dir;
  CacheHome home(dir.path);
  for (int llvm : {1, 0}) {
    CAPTURE(llvm);
    std::vector<float> wanted = firstSums(llvm);
    size_t kept = dir.files(), bytes = dir.bytes();
    CHECK(fs::is_directory(dir.path + "/uopscope/kernels"));
    CHECK(firstSums(llvm) == wanted);
    CHECK(dir.files() == kept);
    // A damaged entry is compiled anew and replaced.
    for (const auto& e : fs::recursive_directory_iterator(dir.path + "/uopscope/kernels"))
      if (e.is_regular_file()) fs::resize_file(e.path(), 100);
    CHECK(firstSums(llvm) == wanted);
    CHECK(dir.files() == kept);
    if (llvm) CHECK(dir.bytes() == bytes);
  }
  CHECK(dir.files() >= 4); // two folders, an entry by LLVM and one by clang
}

TEST_CASE("CCACHE=0 keeps nothing") {
  TempDirectory dir;
  CacheHome home(dir.path);
  ContextScope off({{"CCACHE", 0}});
  CHECK(firstSums(1)[0] == 66);
  CHECK(dir.files() == 0);
  CHECK(DiskCache::named("kernels") == nullptr);
}

TEST_CASE("build and host have identities") {
  CHECK(buildIdentity().size() >= 16);
  CHECK(buildIdentity() != "unknown");
  CHECK(!hostIdentity().empty());
}
