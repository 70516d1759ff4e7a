#include <lope/base/errors.h>
#include <lope/io/checkpoint.h>
#include <lope/io/file.h>
#include <lope/io/print.h>
#include <lope/io/scanner.h>

#include <mutex>

#include <fmt/core.h>
#include <hdf5.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

namespace lope::io {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view magic("LOPECHK\x01", 8);
constexpr std::size_t user_block = 512;
constexpr const char* header_name =
    "lope header";  // a string: {"version", "order": names, "metadata": texts} as JSON
constexpr int version = 1;
constexpr std::size_t increment = std::size_t{1} << 20;

// HDF5 has one global state: one thread at a time, and no printing of its own.
std::unique_lock<std::mutex> enter_hdf5() {
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return lock;
}

// An HDF5 identifier that closes itself. Everything that HDF5 refuses becomes a negative id.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close how_to_close) : id_(id), close_(how_to_close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  Close close_;
};

hid_t memory_type(const ArrayData& data) {
  const hid_t types[] = {H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_NATIVE_INT32, H5T_NATIVE_INT64,
                         H5T_NATIVE_UINT8};
  return types[data.index()];
}

hid_t file_type(const ArrayData& data) {
  const hid_t types[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I32LE, H5T_STD_I64LE, H5T_STD_U8LE};
  return types[data.index()];
}

bool write_header(hid_t file, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  H5Tset_size(type, text.size());
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  const Handle dataset(H5Dcreate2(file, header_name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                       H5Dclose);
  return dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0;
}

bool write_array(hid_t file, const NamedArray& array) {
  const std::vector<hsize_t> extents(array.shape.begin(), array.shape.end());
  const Handle space(array.shape.empty()
                         ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                     H5Sclose);
  const Handle link(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(link, 1);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  const Handle dataset(
      H5Dcreate2(file, array.name.c_str(), file_type(array.data), space, link, creation, H5P_DEFAULT),
      H5Dclose);
  if (dataset < 0) return false;
  if (array.size() == 0) return true;
  return std::visit(
      [&](const auto& values) {
        return H5Dwrite(dataset, memory_type(array.data), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
      },
      array.data);
}

// The HDF5 file in memory; what is wrong otherwise.
Expected<std::string> make_image(const NamedArrays& arrays) {
  json header = {{"version", version}, {"order", json::array()}, {"metadata", arrays.metadata}};
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, increment, false);
  const Handle file(H5Fcreate("lope checkpoint", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  if (file < 0) return environment_error("HDF5 cannot create a file in memory");
  for (const NamedArray& array : arrays.arrays) {
    if (array.name.find('\0') != std::string::npos || array.name == header_name ||
        !write_array(file, array)) {
      return input_error("'{}' cannot be the name of an array", array.name);
    }
    header["order"].push_back(array.name);
  }
  const bool written = write_header(file, header.dump()) && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  const ssize_t size = written ? H5Fget_file_image(file, nullptr, 0) : -1;
  if (size <= 0) return environment_error("HDF5 cannot complete a file in memory");
  std::string image(static_cast<std::size_t>(size), '\0');
  if (H5Fget_file_image(file, image.data(), image.size()) != size) {
    return environment_error("HDF5 cannot complete a file in memory");
  }
  return image;
}

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

// The user block: magic, length of the whole file, checksum of all after the block, and a sentence for
// people.
std::string make_user_block(const std::string& image) {
  std::string block(magic);
  put(block, static_cast<std::uint64_t>(user_block + image.size()));
  put(block, std::uint64_t{checksum(image)});
  block += "\nA checkpoint of Lope: HDF5 after this block of 512 bytes.\n";
  block.resize(user_block, '\0');
  return block;
}

Expected<void> check_user_block(const std::string& path, std::string_view bytes) {
  if (bytes.substr(0, magic.size()) != magic) {
    const bool hdf5 = bytes.substr(0, 4) == "\x89HDF";
    return input_error("{}: is not a checkpoint of Lope{}", path,
                       hdf5 ? " but an HDF5 file of another program" : "");
  }
  Scanner in(path, bytes);
  in.begin_binary(std::endian::little);
  in.seek(magic.size());
  const auto size = in.get<std::uint64_t>("the length of the file");
  const auto sum = in.get<std::uint64_t>("the checksum");
  if (in.failed()) return in.error();
  if (size != bytes.size() || size <= user_block) {
    return input_error(
        "{}: has {} bytes but should have {}; it is truncated, so resume from an earlier checkpoint", path,
        bytes.size(), size);
  }
  if (sum != checksum(bytes.substr(user_block))) {
    return input_error("{}: its checksum is wrong; it is damaged, so resume from an earlier checkpoint",
                       path);
  }
  return {};
}

bool read_header(hid_t file, std::string& text) {
  const Handle dataset(H5Dopen2(file, header_name, H5P_DEFAULT), H5Dclose);
  const Handle type(dataset < 0 ? -1 : H5Dget_type(dataset), H5Tclose);
  const Handle space(dataset < 0 ? -1 : H5Dget_space(dataset), H5Sclose);
  if (type < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0) return false;
  if (H5Sget_simple_extent_npoints(space) != 1) return false;
  text.assign(H5Tget_size(type), '\0');
  return H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0;
}

bool choose_type(hid_t dataset, ArrayData& data) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  for (const char* name : {"f32", "f64", "i32", "i64", "u8"}) {
    make_array(name, data);
    if (type >= 0 && H5Tequal(type, file_type(data)) > 0) return true;
  }
  return false;
}

bool read_array(hid_t file, NamedArray& array, std::size_t most) {
  const Handle dataset(H5Dopen2(file, array.name.c_str(), H5P_DEFAULT), H5Dclose);
  if (dataset < 0 || !choose_type(dataset, array.data)) return false;
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  if (dimensions < 0) return false;
  std::vector<hsize_t> extents(static_cast<std::size_t>(dimensions));
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  array.shape.assign(extents.begin(), extents.end());
  std::size_t count = 0;
  if (!shape_product(array.shape, most, count)) return false;
  return std::visit(
      [&](auto& values) {
        values.resize(count);
        return count == 0 ||
               H5Dread(dataset, memory_type(array.data), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
      },
      array.data);
}

Expected<NamedArrays> parse_image(std::string_view bytes) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, increment, false);
  // The image is copied by HDF5; the pointer is not kept, in spite of its type.
  H5Pset_file_image(access, const_cast<char*>(bytes.data()), bytes.size());
  const Handle file(H5Fopen("lope checkpoint", H5F_ACC_RDONLY, access), H5Fclose);
  std::string text;
  if (file < 0 || !read_header(file, text)) return input_error("cannot be read as HDF5");
  const json header = json::parse(text);
  if (header.at("version") != version) {
    return input_error("has version {} of the format; this program reads version {}",
                       header.at("version").dump(), version);
  }
  NamedArrays arrays;
  arrays.metadata = header.at("metadata").get<std::map<std::string, std::string>>();
  for (const json& name : header.at("order")) {
    NamedArray array;
    array.name = name.get<std::string>();
    if (!read_array(file, array, bytes.size()))
      return input_error("array '{}' is missing or damaged", array.name);
    arrays.arrays.push_back(std::move(array));
  }
  return arrays;
}

// Puts the path in front of a message.
template <class T>
tl::unexpected<Error> at_path(const fs::path& path, const Expected<T>& failed) {
  return tl::unexpected<Error>(
      Error{fmt::format("{}: {}", path.string(), failed.error().message), failed.error().trouble});
}

}  // namespace

Expected<void> write_checkpoint(const NamedArrays& arrays, const fs::path& path) {
  if (const Expected<void> sound = check_arrays(arrays); !sound) return at_path(path, sound);
  const auto lock = enter_hdf5();
  try {
    const Expected<std::string> image = make_image(arrays);
    if (!image) return at_path(path, image);
    AtomicFile file(path);
    file.write(make_user_block(*image));
    file.write(*image);
    return file.commit();
  } catch (const json::exception& trouble) {
    return input_error("{}: names and metadata must be UTF-8 text ({})", path.string(), trouble.what());
  }
}

Expected<NamedArrays> read_checkpoint(const fs::path& path) {
  const Expected<std::string> bytes = read_file(path);
  if (!bytes) return forward_error(bytes);
  if (const Expected<void> sound = check_user_block(path.string(), *bytes); !sound)
    return forward_error(sound);
  const auto lock = enter_hdf5();
  try {
    Expected<NamedArrays> arrays = parse_image(std::string_view(*bytes).substr(user_block));
    if (!arrays) return at_path(path, arrays);
    return arrays;
  } catch (const json::exception& trouble) {
    return input_error("{}: its header is damaged: {}", path.string(), trouble.what());
  }
}

}  // namespace lope::io
