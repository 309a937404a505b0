// The table of GPU languages, and the text that they share.
#include "engine/render/gpu_text.h"

#include "engine/base/error.h"
#include "engine/render/c_writer.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace uopscope {

std::string GpuText::notFinite(DType type, double value) {
  std::string text = std::isnan(value) ? "NAN" : value < 0 ? "(-INFINITY)" : "INFINITY";
  return type.itemsize() == 4 ? text : fmt::format("(({}){})", name(type), text);
}

std::string GpuText::constant(DType type, ConstValue v) {
  if (type.isFloat()) {
    double d = dtypes::roundFloat(type, v.asDouble());
    if (!std::isfinite(d)) return notFinite(type, d);
    if (type.itemsize() < 4)
      return fmt::format("(({}){})", name(type), constantText(dtypes::float32, ConstValue::ofFloat(d)));
    return constantText(type, v);
  }
  if (type.itemsize() < 8 || type.isBool()) return constantText(type, v);
  int64_t i = dtypes::wrapInt(type, v.kind == ConstValue::Kind::Float ? static_cast<int64_t>(v.f) : v.i);
  if (type.isUnsigned()) return fmt::format("{}u{}", static_cast<uint64_t>(i), longSuffix());
  if (i == INT64_MIN) return fmt::format("(-9223372036854775807{} - 1)", longSuffix());
  return i < 0 ? fmt::format("({}{})", i, longSuffix()) : fmt::format("{}{}", i, longSuffix());
}

std::string GpuText::cast(DType to, DType from, const std::string& value) {
  // A cast between two small float types goes through float, which has all values of both.
  if (to != from && to.isFloat() && from.isFloat() && to.itemsize() < 4 && from.itemsize() < 4)
    return CText::cast(to, dtypes::float32, CText::cast(dtypes::float32, from, value));
  return CText::cast(to, from, value);
}

std::string GpuText::special(const LoweredKernel& kernel, UOp u) {
  const std::string& index = u.arg().str();
  int axis = index.empty() ? -1 : index.back() - '0';
  Index kind = index.starts_with("gidx")   ? Index::Group
               : index.starts_with("lidx") ? Index::Local
                                           : Index::All;
  if (axis < 0 || axis > 2 || (kind == Index::All && !index.starts_with("idx")))
    throw Error(ErrorKind::Compile, fmt::format("kernel {}: no launch index is called {}; there are gidx0 "
                                                "to gidx2, lidx0 to lidx2 and idx0 to idx2",
                                                kernel.name, index));
  return launchIndex(kind, axis);
}

void GpuText::noForm(const char* language, const std::string& what) {
  throw Error(ErrorKind::Compile, fmt::format("{} has no form in {}", what, language));
}

Target gpuTarget(std::string device) {
  Target t;
  t.device = std::move(device);
  t.hasLocal = t.hasShared = true;
  t.alignedVectors = true;
  t.vectorLimit = 4;
  t.nativeOps = group::kAlu - OpSet{Op::POW, Op::THREEFRY, Op::RECIPROCAL, Op::MULACC};
  return t;
}

std::string gpuFunctionName(const std::string& kernel) {
  bool generated = kernel.starts_with("E_") || kernel.starts_with("r_");
  return identifier(kernel) + (generated ? "" : "_");
}

std::span<const GpuLanguage> gpuLanguages() {
  static const std::array<GpuLanguage, 5> all{cudaLanguage(), metalLanguage(), openClLanguage(),
                                              wgslLanguage(), amdLanguage()};
  return all;
}

namespace {

class GpuRenderer : public Renderer {
public:
  GpuRenderer(GpuLanguage language, Target target)
      : language_(std::move(language)), target_(std::move(target)) {}
  const Target& target() const override { return target_; }
  std::string render(const LoweredKernel& kernel) const override { return renderWithLines(kernel, nullptr); }
  std::string renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* lines) const override {
    auto text = language_.text();
    return writeC(kernel, *text, lines);
  }

private:
  GpuLanguage language_;
  Target target_;
};

} // namespace

std::unique_ptr<Renderer> makeGpuRenderer(std::string_view language) {
  for (const GpuLanguage& l : gpuLanguages())
    if (language == l.name) return makeGpuRenderer(l, l.target());
  return nullptr;
}

std::unique_ptr<Renderer> makeGpuRenderer(GpuLanguage language, Target target) {
  if (language.renderer) return language.renderer(std::move(target));
  return std::make_unique<GpuRenderer>(std::move(language), std::move(target));
}

} // namespace uopscope
