// What the generations of NVIDIA's GPUs differ in, by the name of the architecture: shared memory, copies that go on by
// themselves, tensor cores; and how a kernel's shared memory is laid out.
//
//   cuda::wantedArchitecture()             // "sm_90" with CUDA_ARCH=sm_90
//   cuda::sharedMaxOf("sm_90")             // 232448: what a group may ask for
//   cuda::SharedMemory(kernel).dynamic()   // the bytes that a launch must ask for
//
// Invariant: the places of a kernel's memories do not overlap, and memories of 1,024 bytes or more begin at multiples of
// 1,024, as swizzled operands of tensor cores must.
#pragma once
#include "engine/codegen/async_boxes.h"
#include "engine/codegen/codegen.h"

#include <string>
#include <vector>

namespace uopscope::cuda {

constexpr int64_t kStaticShared =
    49152; ///< bytes of shared memory that a program may declare; a launch asks for more

/// The architecture in CUDA_ARCH, without a GPU; empty if it names none. Throws Error(Value) for text that is no
/// architecture's name.
std::string wantedArchitecture();
/// 90 of "sm_90a"; 0 of an empty name.
int numberOf(const std::string& architecture);
/// The most shared memory that a group may ask for, in bytes. Without a name: as much as sm_80 has, which every later GPU for
/// servers has as well.
int64_t sharedMaxOf(const std::string& architecture);
/// The products and sums of halves that the tensor cores of a processor make a cycle, by mma.sync.
int64_t productsOf(const std::string& architecture);
/// The same architecture with the instructions that it alone has: "sm_90a" of "sm_90". Others are unchanged.
std::string withOwnInstructions(const std::string& architecture);

/// What the driver has to tell the memory engine about an operand that is copied as boxes (async_boxes.h): a kernel has a
/// parameter of 128 bytes for each, behind the others, in this order.
struct BoxMap {
  std::string buffer;   ///< name of the parameter that boxes are copied from
  int64_t position = 0; ///< of the buffer among those of a launch
  DType element;
  int64_t columns = 64, lines = 1; ///< of a box
  int64_t pitch = 1, rows = 1;     ///< of the matrix: elements from row to row, rows
  bool operator==(const BoxMap&) const = default;
};
std::vector<BoxMap> boxMapsOf(const LoweredKernel& kernel);
/// The map of a box that is copied from this buffer.
BoxMap boxMapOf(const LoweredKernel& kernel, UOp buffer, const Box& box);

/// The places of a kernel's shared memories in one block.
class SharedMemory {
public:
  explicit SharedMemory(const LoweredKernel& kernel);
  const std::vector<int64_t>& places() const { return places_; } ///< in the order of the program
  /// The bytes of the block where a launch must ask for it; 0 where the program declares its memories.
  int64_t dynamic() const { return bytes_ > kStaticShared ? bytes_ : 0; }

private:
  std::vector<int64_t> places_;
  int64_t bytes_ = 0;
};

} // namespace uopscope::cuda
