// Watches a kernel that the interpreter runs thread by thread, as a GPU would. It finds races between two
// barriers, reads of elements that were never written, threads that wait at different barriers, and threads of
// a warp that do not meet at a tensor core. It also counts the cost of memory accesses.
//
//   GpuWatch watch(memories, instructions);
//   watch.launchBegins(groups, threads, shadows);  watch.groupBegins(0);  watch.threadRuns(3);
//   watch.touched({.instruction = 14, .memory = 2, .first = 5, .count = 1, .isWrite = true});
//   watch.phaseEnds({});          // all threads have reached a barrier
//   watch.findings()              // {"race: thread (3,0,0) writes ...", ...}, each pair of instructions once
//
// Two accesses race if one of them writes, they come from different threads, and no barrier of their group is
// between them. Threads of different groups have no common barrier. A write that does not change the value
// does not race with other writes. What an asynchronous copy wrote may be accessed behind a barrier that waits for
// its group of copies, and not before: a thread ends a group by closesCopies(), and a barrier may leave the last groups
// of each thread under way.
//
// A core that begins products and goes on (async_products.h) reads shared memory behind a barrier that shows it what
// threads wrote. Until its threads wait for the product, nobody may write there or touch the registers it adds to; and what
// a thread wrote to these is handed over before. The same launch gives the same findings in the same order.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace uopscope {

enum class WatchedSpace : uint8_t { Global, Shared, Own };
struct WatchedMemory {
  std::string name; ///< "data0_16", "local memory 0"
  int64_t elementBytes = 4, size = 0;
  WatchedSpace space = WatchedSpace::Global;
  bool ofProducts = false; ///< registers that products under way add to
};
/// An access of one thread to consecutive elements.
struct WatchedAccess {
  uint32_t instruction = 0, memory = 0;
  int64_t first = 0, count = 1; ///< elements
  bool isWrite = false;
  bool isAsync = false;            ///< a write by an asynchronous copy
  bool ofProduct = false;          ///< of registers that a product adds to, by this product
  uint64_t changed = ~uint64_t{0}; ///< a bit per element: the write changed its value
};
/// The cost of a load or store, summed over all watched warps.
struct AccessCost {
  uint64_t requests = 0; ///< number of executions by a warp
  uint64_t sectors = 0;  ///< sectors of 32 bytes that these accessed
  uint64_t passes = 0;   ///< over the banks of shared memory: words that the busiest bank serves
  uint64_t least = 0;    ///< passes if the words lay in different banks
  uint64_t bytes = 0;    ///< requested by all threads
};

class GpuWatch {
public:
  static constexpr int64_t kWarp = 32, kSector = 32, kBanks = 32;
  using Shadow =
      std::vector<bool>*; ///< per byte of a buffer, whether it was ever written; null: all count as written

  /// Findings name instructions by the texts in `instructions`.
  GpuWatch(std::vector<WatchedMemory> memories, std::vector<std::string> instructions);

  /// `shadows` has an entry per memory: the shadow of its buffer, and the byte offset in it.
  void launchBegins(std::span<const int64_t> groups, std::span<const int64_t> threads,
                    std::vector<std::pair<Shadow, size_t>> shadows);
  void groupBegins(int64_t group);
  void threadRuns(int64_t thread) { thread_ = thread; }
  /// Called when all threads of a warp have reached a barrier or their end.
  void warpEnds();
  /// The thread that runs ends a group of its asynchronous copies.
  void closesCopies() { ++closed_[static_cast<size_t>(thread_)]; }
  /// Each thread waited until at most so many groups of its asynchronous copies were under way; no value: for none. With
  /// `forUnits`, cores then see what threads wrote to shared memory.
  void phaseEnds(std::optional<int64_t> copiesLeft, bool forUnits = false);
  /// The memory engine begins to copy an element, asked by the thread that runs, to a stage of shared memory.
  void boxCopies(uint32_t instruction, uint32_t from, int64_t element, uint32_t to, int64_t place,
                 int64_t stage);
  /// The thread that runs waited for all boxes of a stage.
  void boxesArrived(uint32_t memory, int64_t stage);
  /// The thread that runs hands its registers to products.
  void beginsProducts();
  /// A product of the thread's warp reads an element of shared memory; told for the first thread of the warp.
  void productReads(uint32_t instruction, uint32_t memory, int64_t element);
  /// The thread that runs ends a group of products, and waits until at most so many of them are under way; no value: it ends
  /// none, and waits for those that were ended.
  void waitsForProducts(std::optional<int64_t> left);
  void touched(const WatchedAccess& a);
  /// Called when two threads of a group wait at different instructions.
  void parted(int64_t a, uint32_t atA, int64_t b, uint32_t atB);

  const std::vector<std::string>& findings() const { return findings_; }
  /// Drops the findings before the next launch.
  void forgetFindings();
  const std::map<uint32_t, AccessCost>& costs() const { return costs_; }
  /// The bytes loaded from global memory, and the number of different bytes among them.
  std::pair<uint64_t, uint64_t> loaded() const { return {loadedBytes_, differentBytes_}; }
  /// "thread (3,0,0) of group (1,0,0)".
  std::string who(int64_t group, int64_t thread) const;
  std::string here() const { return who(group_, thread_); }
  const std::string& instruction(uint32_t number) const { return instructions_[number]; }

private:
  /// One recorded access to an element; thread 0 means none.
  struct Mark {
    uint32_t thread = 0; ///< its number in the launch, from 1
    uint16_t phase = 0, instruction = 0;
  };
  struct Cell {
    Mark writer, reader, otherReader;
    bool isUnderWay = false; ///< its writer is an asynchronous copy that no barrier waited for
    bool isOfEngine = false; ///< its writer is the memory engine, whose writes cores see
    uint16_t products = 0;   ///< under way that read it
  };
  bool races(const Mark& m) const;
  void raced(const WatchedAccess& a, int64_t element, const Mark& m, bool otherWrote);
  void underWay(const WatchedAccess& a, int64_t element, const Mark& m);
  void neverWritten(const WatchedAccess& a, int64_t element);
  void productStillReads(const WatchedAccess& a, int64_t element);
  void touchedOwn(const WatchedAccess& a);
  void touchedRegister(const WatchedAccess& a, int64_t element);
  Mark me(uint32_t instruction) const;
  void found(uint32_t a, uint32_t b, const char* kind, const std::string& text);
  std::vector<Cell>& cellsOf(uint32_t memory);
  static void countPasses(const std::vector<std::array<int64_t, 3>>& lanes, AccessCost& cost);

  std::vector<WatchedMemory> memories_;
  std::vector<std::string> instructions_;
  std::vector<int64_t> groups_, threads_;
  int64_t threadsPerGroup_ = 1, group_ = 0, thread_ = 0;
  uint16_t phase_ = 0;
  std::vector<std::pair<Shadow, size_t>> shadows_;
  std::vector<std::vector<Cell>> cells_; ///< by memory, made at first access
  std::vector<std::vector<uint32_t>>
      ownWritten_; ///< by memory, thread and element: the group that wrote it, from 1
  struct Copy {
    uint32_t memory = 0;
    int64_t element = 0;
    size_t thread = 0;
    int64_t group = 0; ///< groups that its thread had ended before
  };
  std::vector<Copy> underWay_;
  std::vector<Copy> boxes_;        ///< elements of boxes that nobody waited for; `group` is the stage
  std::vector<Copy> productReads_; ///< elements that products under way read
  std::vector<int64_t> products_;  ///< groups of products that each thread ended
  uint16_t shownPhase_ = 0;        ///< what was written in earlier phases, cores see
  enum class Hand : uint8_t { Nobody, Thread, Handed, Product };
  struct Held {
    Hand by = Hand::Nobody;
    int64_t group = 0;
  };
  std::map<uint32_t, std::vector<Held>> held_; ///< registers of products, by thread and element
  std::vector<int64_t> closed_;                ///< groups of copies that each thread ended
  std::vector<std::string> findings_;
  std::set<std::tuple<uint32_t, uint32_t, std::string>> known_;
  std::map<uint32_t, AccessCost> costs_;
  /// For the threads that run: (instruction, number of earlier executions by the thread, warp) -> (memory, byte, bytes). Threads
  /// that meet at a core may be several warps.
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, std::vector<std::array<int64_t, 3>>> requests_;
  std::map<std::pair<uint32_t, int64_t>, uint32_t> executed_; ///< by instruction and thread
  uint64_t loadedBytes_ = 0, differentBytes_ = 0;
};

} // namespace uopscope
