// CUDA C++, for nvcc and NVRTC.
//
//   extern "C" __global__ void __launch_bounds__(32) E_32(float* __restrict__ data0_32, ...) { ... }
#include "engine/base/error.h"
#include "engine/codegen/shared_operand.h"
#include "engine/render/cuda_architecture.h"
#include "engine/render/gpu_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace uopscope {

namespace {

constexpr int64_t kManyRegisters = 32; ///< a thread with so many accumulators is short of registers
constexpr int64_t kMostForTwo =
    64; ///< with more accumulators, half of a processor's registers would not suffice

class CudaText final : public GpuText {
public:
  std::string name(DType type) override {
    std::string n, shortName;
    switch (type.kind()) {
    case Scalar::Bool: n = shortName = "bool"; break;
    case Scalar::Int8: n = "signed char", shortName = "char"; break;
    case Scalar::UInt8: n = "unsigned char", shortName = "uchar"; break;
    case Scalar::Int16: n = shortName = "short"; break;
    case Scalar::UInt16: n = "unsigned short", shortName = "ushort"; break;
    case Scalar::Int32: n = shortName = "int"; break;
    case Scalar::UInt32: n = "unsigned int", shortName = "uint"; break;
    case Scalar::Int64: n = "long long", shortName = "longlong"; break;
    case Scalar::UInt64: n = "unsigned long long", shortName = "ulonglong"; break;
    case Scalar::Float16:
      n = shortName = "half";
      typedefs_["0half"] = "#include <cuda_fp16.h>\n";
      break;
    case Scalar::BFloat16:
      n = shortName = "nv_bfloat16";
      typedefs_["0bfloat"] = "#include <cuda_bf16.h>\n";
      break;
    case Scalar::Float32: n = shortName = "float"; break;
    case Scalar::Float64: n = shortName = "double"; break;
    default: noForm("CUDA", type.name());
    }
    if (type.count() == 1) return n;
    std::string vector = fmt::format("{}{}", shortName, type.count());
    bool builtIn = type.count() <= 4 && type.scalar().itemsize() >= 1 && !type.isBool() &&
                   !(type.isFloat() && type.scalar().itemsize() == 2);
    if (!builtIn) {
      vector = "v" + vector;
      typedefs_["1" + vector] = fmt::format("struct __align__({}) {} {{ {} s[{}]; }};\n",
                                            std::min(16, type.itemsize()), vector, n, type.count());
    }
    return vector;
  }
  std::string bitcast(DType to, DType from, const std::string& value) override {
    if (to.isBool()) return fmt::format("(({} & 1) != 0)", value);
    typedefs_["2bits"] =
        "template <class To, class From> __device__ __forceinline__ To same_bits(From from) {\n"
        "  To to;\n  memcpy(&to, &from, sizeof(To));\n  return to;\n}\n";
    return fmt::format("same_bits<{}>(({})({}))", name(to), name(from), bare(value));
  }
  std::string cast(DType to, DType from, const std::string& value) override {
    // In CUDA's headers the comparison of a half with 0 is ambiguous.
    if (to.isBool() && from.isFloat() && from.itemsize() < 4)
      return fmt::format("((float){} != 0.0f)", value);
    return GpuText::cast(to, from, value);
  }
  std::string alu(UOp u, DType type, DType from, std::span<const std::string> a) override {
    if (u.is(Op::MULACC) && type.kind() == Scalar::Float32)
      return fmt::format("fmaf({}, {}, {})", bare(a[0]), bare(a[1]), bare(a[2]));
    if (u.is(Op::MULACC) && type.kind() == Scalar::Float64)
      return fmt::format("fma({}, {}, {})", bare(a[0]), bare(a[1]), bare(a[2]));
    return GpuText::alu(u, type, from, a);
  }
  std::string vectorOf(DType type, std::span<const std::string> lanes) override {
    return fmt::format("{}{{{}}}", name(type), fmt::join(lanes, ", "));
  }
  std::string lane(const std::string& vector, int i) override {
    // Built-in vectors have members x to w, our own an array. The declaration decides which kind a name is.
    return arrays_.contains(vector) ? fmt::format("{}.s[{}]", vector, i)
                                    : fmt::format("{}.{}", vector, "xyzw"[i]);
  }
  std::string declare(DType type, const std::string& variable, const std::string& value) override {
    if (type.count() > 1 && name(type)[0] == 'v') arrays_.insert(variable);
    return CText::declare(type, variable, value);
  }
  void begin(const LoweredKernel& kernel) override {
    shared_.emplace(kernel);
    sharedSoFar_ = 0;
    maps_ = cuda::boxMapsOf(kernel);
    isReadByCores_ = std::any_of(kernel.uops.begin(), kernel.uops.end(), [](UOp u) {
      return u.is(Op::WMMA) && u.arg().as<WmmaArg>().name.starts_with("wgmma");
    });
  }
  std::string array(DType element, const std::string& variable, int64_t size, AddrSpace space) override {
    if (space == AddrSpace::Local && shared_->dynamic()) {
      typedefs_["4shared"] = "extern __shared__ __align__(1024) unsigned char shared_memory[];\n";
      return fmt::format("{0}* {1} = ({0}*)(shared_memory + {2}); // {3} elements", name(element), variable,
                         shared_->places().at(sharedSoFar_++), size);
    }
    const char* local = space != AddrSpace::Local ? ""
                        : isReadByCores_          ? "__shared__ __align__(1024) "
                                                  : "__shared__ __align__(16) ";
    return fmt::format("{}{} {}[{}];", local, name(element), variable, size);
  }
  std::string barrier() override { return "__syncthreads();"; }
  bool hasAsyncCopies() override { return true; }
  std::string copyAsync(const CPlace& to, const CPlace& from) override {
    // Copies of 16 bytes bypass the cache of the processor (.cg); shorter ones cannot.
    typedefs_["4copy"] =
        "template <int bytes> __device__ __forceinline__ void copy_async(void* to, const void* from) {\n"
        "  unsigned at = (unsigned)__cvta_generic_to_shared(to);\n"
        "  if (bytes == 16)\n"
        "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" :: \"r\"(at), \"l\"(from) : "
        "\"memory\");\n"
        "  else\n"
        "    asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2;\" :: \"r\"(at), \"l\"(from), "
        "\"n\"(bytes)"
        " : \"memory\");\n}\n";
    return fmt::format("copy_async<{}>({}, {});", to.type.itemsize(), bare(to.address()),
                       bare(from.address()));
  }
  std::string closeCopies() override { return "asm volatile(\"cp.async.commit_group;\" ::: \"memory\");"; }
  std::string barrierForCopies(int64_t left, bool forUnits) override {
    return fmt::format("asm volatile(\"cp.async.wait_group {};{}\" ::: \"memory\"); __syncthreads();", left,
                       forUnits ? " fence.proxy.async.shared::cta;" : "");
  }
  std::string copyBox(const CPlace& to, const CPlace& from, const Box& box) override {
    typedefs_["4box"] =
        "struct __align__(64) TensorMap { unsigned long long words[16]; };\n"
        "__device__ __forceinline__ void copy_box(void* to, const TensorMap* map, int column, int row, void* "
        "barrier, "
        "int bytes) {\n"
        "  unsigned at = (unsigned)__cvta_generic_to_shared(to), b = "
        "(unsigned)__cvta_generic_to_shared(barrier);\n"
        "  asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" :: \"r\"(b), \"r\"(bytes) "
        ": "
        "\"memory\");\n"
        "  asm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
        "\"\n"
        "               \"[%1, {%2, %3}], [%4];\" :: \"r\"(at), \"l\"(map), \"r\"(column), \"r\"(row), "
        "\"r\"(b) : "
        "\"memory\");\n}\n";
    const auto map = std::find_if(maps_.begin(), maps_.end(), [&](const cuda::BoxMap& m) {
      return m.buffer == from.pointer && m.lines == box.lines && m.pitch == box.pitch;
    });
    const std::string place = bare(to.index);
    return fmt::format(
        "copy_box({0}, &map{1}, ({2}) % {3}, ({2}) / {3}, {4} + {5} + ({6}) / {7} * {8}, {9});",
        bare(to.address()), map - maps_.begin(), bare(from.index), box.pitch, to.pointer,
        box.barrierAt(0, to.element.itemsize()), place, box.stage, kBarrierBytes / to.element.itemsize(),
        box.lines * box.columns * to.element.itemsize());
  }
  std::string prepareBoxes(const CPlace& barriers, BoxBarriers count) override {
    typedefs_["4prepare"] =
        "__device__ __forceinline__ void prepare_boxes(void* barriers, int stages, int boxes) {\n"
        "  unsigned b = (unsigned)__cvta_generic_to_shared(barriers);\n"
        "  if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {\n"
        "    for (int i = 0; i < stages; i++)\n"
        "      asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" :: \"r\"(b + 8 * i), \"r\"(boxes) : "
        "\"memory\");\n"
        "    asm volatile(\"fence.mbarrier_init.release.cluster; fence.proxy.async;\" ::: \"memory\");\n  }\n"
        "  __syncthreads();\n}\n";
    return fmt::format("prepare_boxes({}, {}, {});", bare(barriers.address()), count.stages, count.boxes);
  }
  std::string waitForBoxes(const CPlace& barrier, const std::string& phase) override {
    typedefs_["4wait"] =
        "__device__ __forceinline__ void wait_for_boxes(void* barrier, int phase) {\n"
        "  unsigned b = (unsigned)__cvta_generic_to_shared(barrier);\n"
        "  asm volatile(\"{\\n.reg .pred ended;\\nagain:\\n"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\\n@!ended bra again;\\n}\"\n"
        "               :: \"r\"(b), \"r\"(phase) : \"memory\");\n}\n";
    return fmt::format("wait_for_boxes({}, {});", bare(barrier.address()), phase);
  }
  std::string beginProducts(const std::vector<std::string>& sums) override {
    return settled(sums) + "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");";
  }
  std::string waitForProducts(int64_t left) override {
    return fmt::format(
        "asm volatile(\"wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned {};\" ::: "
        "\"memory\");",
        left);
  }
  std::string waitForAllProducts(const std::vector<std::string>& sums) override {
    const std::string wait =
        "asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\"); " + settled(sums);
    return wait.substr(0, wait.find_last_not_of(' ') + 1);
  }
  std::string sharedAddress(const std::string& pointer) override {
    return fmt::format("(unsigned int)__cvta_generic_to_shared({})", pointer);
  }
  std::string load(const CPlace& p) override {
    if (p.element == p.type) return fmt::format("{}[{}]", p.pointer, bare(p.index));
    return fmt::format("*(({}*)({}))", name(p.type), p.address());
  }
  std::string wmma(UOp u, std::span<const std::string> a) override {
    const auto& w = u.arg().as<WmmaArg>();
    bool bf16 = w.dtypeIn.kind() == Scalar::BFloat16;
    if (w.name.starts_with("wgmma")) return asyncProduct(w, bf16 ? "bf16" : "f16", a);
    std::string x = name(w.dtypeIn.vec(8)), y = name(w.dtypeIn.vec(4)), z = name(dtypes::float32.vec(4));
    typedefs_["3wmma" + w.name] = fmt::format(
        "__device__ __forceinline__ {2} {3}({0} a, {1} b, {2} c) {{ // 16 by 16 times 16 by 8, over a warp\n"
        "  const int* x = (const int*)&a;\n  const int* y = (const int*)&b;\n"
        "  asm(\"mma.sync.aligned.m16n8k16.row.col.f32.{4}.{4}.f32 \"\n"
        "      \"{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};\"\n"
        "      : \"+f\"(c.x), \"+f\"(c.y), \"+f\"(c.z), \"+f\"(c.w)\n"
        "      : \"r\"(x[0]), \"r\"(x[1]), \"r\"(x[2]), \"r\"(x[3]), \"r\"(y[0]), \"r\"(y[1]));\n"
        "  return c;\n}}\n",
        x, y, z, w.name, bf16 ? "bf16" : "f16");
    return fmt::format("{}({})", w.name, fmt::join(a, ", "));
  }
  std::string function(const CFunction& f) override {
    std::vector<std::string> list;
    for (UOp g : f.signature.globals)
      list.push_back(fmt::format("{}{}* __restrict__ {}", f.stored.contains(g.id()) ? "" : "const ",
                                 name(g.dtype().base()), globalName(g)));
    for (UOp v : f.signature.vars)
      list.push_back(fmt::format("const {} {}", name(v.dtype()), identifier(v.arg().as<VarArg>().name)));
    for (size_t i = 0; i < maps_.size(); ++i)
      list.push_back(fmt::format("const __grid_constant__ TensorMap map{}", i));
    int64_t threads = 1;
    for (const Sint& s : f.kernel.localSize) threads *= s.isInt() ? s.i() : 1;
    // While a group waits at a barrier, its processor runs a second group: the registers must suffice for
    // both.
    bool waits = false;
    int64_t held = 0;
    for (UOp u : f.kernel.uops) {
      waits = waits || u.is(Op::BARRIER);
      if (u.is(Op::DEFINE_REG)) held += u.dtype().size();
    }
    bool isForTwo = held >= kManyRegisters && held <= kMostForTwo;
    std::string bounds = waits && isForTwo && threads <= 256 ? fmt::format("{}, {}", threads, 512 / threads)
                                                             : fmt::format("{}", threads);
    std::string head = declarations();
    return fmt::format("{}{}extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n{}}}\n", head,
                       head.empty() ? "" : "\n", bounds, f.name, fmt::join(list, ", "), f.body);
  }

protected:
  const char* longSuffix() override { return "ll"; }
  std::string notFinite(DType type, double v) override {
    if (type.kind() == Scalar::Float64)
      return fmt::format("__longlong_as_double(0x{})", std::isnan(v) ? "7ff8000000000000ll"
                                                       : v < 0       ? "fff0000000000000ull"
                                                                     : "7ff0000000000000ll");
    std::string f = fmt::format("__int_as_float(0x{})", std::isnan(v) ? "7fc00000"
                                                        : v < 0       ? "ff800000"
                                                                      : "7f800000");
    return type.itemsize() == 4 ? f : fmt::format("(({}){})", name(type), f);
  }
  std::string call(Op op, DType type, std::span<const std::string> a) override {
    std::string second = a.size() > 1 ? ", " + bare(a[1]) : "";
    if (type.itemsize() == 8) return fmt::format("{}({}{})", functionName(op), bare(a[0]), second);
    if (type.itemsize() == 4) return fmt::format("{}f({}{})", functionName(op), bare(a[0]), second);
    if (a.size() == 1) return fmt::format("h{}({})", functionName(op), bare(a[0]));
    return fmt::format("(({}){}f((float){}, (float){}))", name(type), functionName(op), a[0], a[1]);
  }
  std::string launchIndex(Index kind, int axis) override {
    char d = "xyz"[axis];
    return kind == Index::Group   ? fmt::format("blockIdx.{}", d)
           : kind == Index::Local ? fmt::format("threadIdx.{}", d)
                                  : fmt::format("(blockIdx.{0} * blockDim.{0} + threadIdx.{0})", d);
  }

private:
  /// The compiler may move what reads or writes a register across a statement that does not name it: these name the sums, so
  /// that all writes come before products begin and all reads after the wait for them.
  std::string settled(const std::vector<std::string>& sums) {
    typedefs_["4settled"] =
        "template <int n> __device__ __forceinline__ void settled(float (&sums)[n]) {\n"
        "#pragma unroll\n"
        "  for (int i = 0; i < n; i++) asm volatile(\"\" : \"+f\"(sums[i]) :: \"memory\");\n}\n";
    std::string calls;
    for (const std::string& s : sums) calls += fmt::format("settled({}); ", s);
    return calls;
  }
  /// wgmma: 128 threads begin to add the product of two operands in shared memory to their registers.
  std::string asyncProduct(const WmmaArg& w, const char* type, std::span<const std::string> a) {
    const int64_t held = w.dims[0] * w.dims[1] / w.threads;
    const std::string sums = name(dtypes::float32.vec(static_cast<int>(held)));
    std::string places, registers;
    for (int64_t i = 0; i < held; ++i) {
      places += fmt::format("{}%{}", i ? ", " : "", i);
      registers += fmt::format("{}\"+f\"(c.s[{}])", i == 0 ? "" : i % 8 ? ", " : ",\n        ", i);
    }
    typedefs_["3wmma" + w.name] =
        fmt::format("__device__ __forceinline__ {0} {1}(unsigned long long a, unsigned long long b, {0} c) "
                    "{{ // {2} by {3} times "
                    "{3} by {4}, over four warps\n"
                    "  asm volatile(\"wgmma.mma_async.sync.aligned.m{2}n{4}k{3}.f32.{5}.{5} {{{6}}}, \"\n"
                    "      \"%{7}, %{8}, 1, 1, 1, {9}, {10};\"\n"
                    "      : {11}\n      : \"l\"(a), \"l\"(b));\n  return c;\n}}\n",
                    sums, w.name, w.dims[1], w.dims[2], w.dims[0], type, places, held, held + 1,
                    termsSideBySide(w.name, 0) ? 0 : 1, termsSideBySide(w.name, 1) ? 0 : 1, registers);
    return fmt::format("{}({})", w.name, fmt::join(a, ", "));
  }

  std::set<std::string> arrays_;
  std::optional<cuda::SharedMemory> shared_;
  size_t sharedSoFar_ = 0; ///< memories of the group that are defined
  std::vector<cuda::BoxMap> maps_;
  bool isReadByCores_ = false; ///< its shared memory, which must then begin at multiples of an atom
};

} // namespace

namespace {

/// wgmma.mma_async of sm_90a: 128 threads, 64 rows, operands in shared memory (shared_operand.h).
void addWgmma(std::vector<TensorCore>& cores) {
  constexpr int64_t kThreads = 128,
                    kRate = 2048; // 989 TFLOPS of an H100's data sheet, by clock and processors
  const TensorCore::Layout a{"s0s1s2s3s4s5", "s0s1s2s3"};
  struct Width {
    const char *half, *bfloat;
    TensorCore::Layout b, c;
  };
  for (const Width& w : {Width{"wgmma_64_256_16_half",
                               "wgmma_64_256_16_bfloat",
                               {"s0s1s2s3", "s0s1s2s3s4s5s6s7"},
                               {"l2l3l4e1l5l6", "e0l0l1e2e3e4e5e6"}},
                         Width{"wgmma_64_128_16_half",
                               "wgmma_64_128_16_bfloat",
                               {"s0s1s2s3", "s0s1s2s3s4s5s6"},
                               {"l2l3l4e1l5l6", "e0l0l1e2e3e4e5"}},
                         Width{"wgmma_64_64_16_half",
                               "wgmma_64_64_16_bfloat",
                               {"s0s1s2s3", "s0s1s2s3s4s5"},
                               {"l2l3l4e1l5l6", "e0l0l1e2e3e4"}}}) {
    cores.push_back({w.half, dtypes::float16, dtypes::float32, a, w.b, w.c, kThreads, kRate});
    cores.push_back({w.bfloat, dtypes::bfloat16, dtypes::float32, a, w.b, w.c, kThreads, kRate});
  }
}

} // namespace

GpuLanguage cudaLanguage(const std::string& wanted) {
  return {"CUDA",
          [wanted] {
            Target t = gpuTarget("CUDA");
            t.vectorLimit = 8;
            t.nativeOps = t.nativeOps | OpSet{Op::MULACC};
            t.globalMax = {2147483647, 65535, 65535};
            const std::string architecture = wanted.empty() ? cuda::wantedArchitecture() : wanted;
            t.suffix = architecture;
            t.sharedMax = cuda::sharedMaxOf(architecture);
            // Of an H100; the driver says them for the GPU that is there (cuda_device.cpp).
            t.processors = 132;
            t.supportsDtype = [](DType d) {
              Scalar k = d.kind();
              return !d.isVoid() && k != Scalar::Index && k != Scalar::Fp8E4M3 && k != Scalar::Fp8E5M2;
            };
            t.cacheBytes = int64_t{50} << 20;
            // From sm_80 on: asynchronous copies, and mma.m16n8k16.
            if (const int number = cuda::numberOf(architecture); number && number < 80) return t;
            t.copiesAsync = true;
            const TensorCore::Layout a{"l2l3l4e1", "e0l0l1e2"}, b{"e0l0l1e1", "l2l3l4"},
                c{"l2l3l4e1", "e0l0l1"};
            const int64_t rate = cuda::productsOf(architecture);
            t.tensorCores = {{"mma_16_8_16_half", dtypes::float16, dtypes::float32, a, b, c, 32, rate},
                             {"mma_16_8_16_bfloat", dtypes::bfloat16, dtypes::float32, a, b, c, 32, rate}};
            if (architecture == "sm_90a") addWgmma(t.tensorCores);
            t.copiesBoxes = architecture == "sm_90a";
            return t;
          },
          []() -> std::unique_ptr<CText> { return std::make_unique<CudaText>(); }};
}

} // namespace uopscope
