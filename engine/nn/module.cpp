// State by name, and safetensors files: eight bytes with the length of a JSON header, the header, the values.
#include "engine/nn/module.h"

#include "engine/base/error.h"
#include "engine/runtime/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace uopscope::nn {

namespace {

using Json = nlohmann::ordered_json;

const std::pair<const char*, DType> kTypes[] = {
    {"BOOL", dtypes::bool_},  {"I8", dtypes::int8},         {"U8", dtypes::uint8},
    {"I16", dtypes::int16},   {"U16", dtypes::uint16},      {"I32", dtypes::int32},
    {"U32", dtypes::uint32},  {"I64", dtypes::int64},       {"U64", dtypes::uint64},
    {"F16", dtypes::float16}, {"BF16", dtypes::bfloat16},   {"F32", dtypes::float32},
    {"F64", dtypes::float64}, {"F8_E4M3", dtypes::fp8e4m3}, {"F8_E5M2", dtypes::fp8e5m2}};

[[noreturn]] void damaged(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::File, fmt::format("{}: truncated, or no safetensors file: {}", path, why));
}

Tensor entry(const Tensor& file, const std::string& path, int64_t start, const std::string& name,
             const Json& about) {
  Ints shape, range;
  std::string typeName;
  try {
    shape = about.at("shape").get<Ints>();
    range = about.at("data_offsets").get<Ints>();
    typeName = about.at("dtype").get<std::string>();
  } catch (const nlohmann::json::exception& e) {
    damaged(path, fmt::format("{}: {}", name, e.what()));
  }
  auto known =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](auto& t) { return t.first == typeName; });
  if (known == std::end(kTypes)) damaged(path, fmt::format("{} has type {}", name, typeName));
  int64_t length = file.intNumel() - start, bytes = known->second.itemsize();
  for (int64_t s : shape)
    if (s < 0 || __builtin_mul_overflow(bytes, s, &bytes)) damaged(path, name + " has no such shape");
  if (range.size() != 2 || range[0] < 0 || range[0] > range[1] || range[1] > length ||
      range[1] - range[0] != bytes)
    damaged(path, fmt::format("{} does not lie in the file's {} bytes of values", name, length));
  TensorOptions o{{}, known->second, {}};
  if (bytes == 0) return Tensor::empty(Shape(shape.begin(), shape.end()), o);
  return file.shrink({std::pair(Sint(start + range[0]), Sint(start + range[1]))})
      .bitcast(known->second)
      .reshape(Shape(shape.begin(), shape.end()));
}

} // namespace

StateDict Module::state() const {
  StateDict out;
  addTo(out, "");
  return out;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> out;
  for (const auto& [name, t] : state()) out.push_back(t);
  return out;
}

void save(const StateDict& state, const std::string& path) {
  Json header = Json::object();
  int64_t offset = 0;
  for (const auto& [name, t] : state) {
    auto type =
        std::find_if(std::begin(kTypes), std::end(kTypes), [&](auto& k) { return k.second == t.dtype(); });
    if (type == std::end(kTypes))
      throw Error(ErrorKind::Value,
                  fmt::format("save: {} has type {}, which the file cannot hold: cast it first", name,
                              t.dtype().name()));
    int64_t bytes = t.intNumel() * t.dtype().itemsize();
    header[name] = {
        {"dtype", type->first}, {"shape", t.intShape()}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string unfinished = path + ".unfinished";
  {
    std::ofstream out(unfinished, std::ios::binary);
    uint64_t length = text.size();
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << text;
    for (const auto& [name, t] : state) {
      auto bytes = t.bytes();
      out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    out.flush();
    if (!out) throw Error(ErrorKind::File, fmt::format("{}: cannot be written", unfinished));
  }
  std::filesystem::rename(unfinished, path);
}

StateDict readFile(const std::string& path) {
  Tensor file = Tensor::fromFile(path);
  int64_t size = file.intNumel();
  if (size < 8) damaged(path, "it is too short");
  const auto* bytes = static_cast<const char*>(file.buffer()->memory());
  uint64_t length;
  std::memcpy(&length, bytes, sizeof length);
  if (length > static_cast<uint64_t>(size) - 8) damaged(path, "the header is longer than the file");
  Json header = Json::parse(bytes + 8, bytes + 8 + length, nullptr, false);
  if (!header.is_object()) damaged(path, "the header is no JSON object");
  StateDict out;
  for (const auto& [name, about] : header.items())
    if (name != "__metadata__")
      out.emplace_back(name, entry(file, path, static_cast<int64_t>(length) + 8, name, about));
  return out;
}

void load(const Module& model, const std::string& path) {
  StateDict from = readFile(path);
  for (const auto& [name, t] : model.state()) {
    auto found = std::find_if(from.begin(), from.end(), [&](auto& e) { return e.first == name; });
    if (found == from.end()) throw Error(ErrorKind::Key, fmt::format("{}: there is no {}", path, name));
    t.replace(found->second.to(t.device())).realize();
  }
}

} // namespace uopscope::nn
