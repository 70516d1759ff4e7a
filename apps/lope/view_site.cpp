#include "view_site.h"

#include <lope/io/file.h>
#include <lope/io/frame.h>
#include <lope/scene/scene.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lope::program {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::uint64_t largest_file = std::uint64_t(1) << 31;  // bytes of one answer
constexpr std::streamsize largest_piece = 4 << 20;              // of a file that grows
constexpr std::size_t most_overrides = 64, longest_override = 400;

Response failure(int status, std::string words) {
  return {status, "text/plain; charset=utf-8", std::move(words)};
}
Response nothing_there() { return failure(404, "there is nothing at this address"); }
Response answer_json(const json& value) {
  return {200, "application/json", value.dump(-1, ' ', false, json::error_handler_t::replace)};
}

// Takes as long for every wrong token.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty() && path.front() == '/') {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    parts.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

// A whole number that is not negative, in digits and nothing else.
std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good =
      code == std::errc() && end == text.data() + text.size() && value >= 0 && text.front() != '-';
  return good ? std::optional(value) : std::nullopt;
}

std::string type_of(const fs::path& file) {
  static const std::map<std::string, std::string> types{{".html", "text/html; charset=utf-8"},
                                                        {".js", "text/javascript; charset=utf-8"},
                                                        {".css", "text/css; charset=utf-8"},
                                                        {".png", "image/png"}};
  const auto found = types.find(file.extension().string());
  return found == types.end() ? "application/octet-stream" : found->second;
}

// Whether a file of a run, all links followed, lies in its directory.
bool is_inside(const fs::path& file, const fs::path& directory) {
  std::error_code none, fault;
  const fs::path real = fs::canonical(file, none), root = fs::canonical(directory, fault);
  if (none || fault) return false;
  return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

Response whole_file(const fs::path& file, const fs::path& directory, const std::string& type) {
  if (!is_inside(file, directory)) return nothing_there();
  auto bytes = io::read_file(file, largest_file);
  if (!bytes) return nothing_there();
  return {200, type, std::move(*bytes)};
}

// The whole lines of a file from a place on, at most largest_piece of them, and where the next ones begin.
Response piece_of(const fs::path& file, const fs::path& directory, std::int64_t from) {
  Response response{200, "text/plain; charset=utf-8", ""};
  std::error_code none;
  const auto there = fs::file_size(file, none);
  const std::int64_t size = none || !is_inside(file, directory) ? 0 : static_cast<std::int64_t>(there);
  if (from > size) {
    response.headers.emplace_back("Lope-Restarted", "1");
    from = 0;
  }
  if (size > from) {
    std::ifstream in(file, std::ios::binary);
    in.seekg(from);
    response.body.resize(static_cast<std::size_t>(std::min<std::int64_t>(size - from, largest_piece)));
    in.read(response.body.data(), static_cast<std::streamsize>(response.body.size()));
    response.body.resize(static_cast<std::size_t>(in.gcount()));
    // A line longer than a piece is handed out in parts.
    const std::size_t end = response.body.rfind('\n');
    if (end != std::string::npos)
      response.body.resize(end + 1);
    else if (static_cast<std::streamsize>(response.body.size()) < largest_piece)
      response.body.clear();
  }
  response.headers.emplace_back("Lope-Next",
                                std::to_string(from + static_cast<std::int64_t>(response.body.size())));
  return response;
}

const char* word(ViewedRuns::State state) {
  switch (state) {
    case ViewedRuns::State::Running:
      return "running";
    case ViewedRuns::State::Stopping:
      return "stopping";
    case ViewedRuns::State::Ended:
      return "ended";
  }
  return "ended";
}

json entry(const ViewedRuns::Status& run) {
  return {{"id", run.id},
          {"scene", run.scene},
          {"directory", run.directory.string()},
          {"state", word(run.state)}};
}

// The numbers of the frames as stretches without gaps.
json stretches(const std::vector<std::int64_t>& numbers) {
  json result = json::array();
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    result.push_back({numbers[i], numbers[last]});
    i = last + 1;
  }
  return result;
}

json status_of(const ViewedRuns::Status& run) {
  json result = entry(run);
  result["ours"] = run.ours;
  result["set"] = run.overrides;
  result["exit"] = run.exit_code ? json(*run.exit_code) : json();
  result["message"] = run.message;
  const bool readable = fs::exists(io::topology_path(run.directory / "frames"));
  result["frames"] = readable ? stretches(io::frame_numbers(run.directory / "frames")) : json::array();
  return result;
}

// Whether text could hold the name of a file outside the folder of the scene, or hide it by escapes.
bool names_file_elsewhere(std::string_view text) {
  if (text.find('\\') != std::string_view::npos || text.find("..") != std::string_view::npos) return true;
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at + 1)) {
    if (at == 0 || std::string_view(" \"'=,[{").find(text[at - 1]) != std::string_view::npos) return true;
  }
  return false;
}

// What is wrong with a change of the scene; empty: nothing. Files are not named from a page.
std::string fault_of(const std::string& change) {
  const std::size_t sign = change.find('=');
  if (change.size() > longest_override) return "a change is too long";
  if (sign == std::string::npos || sign == 0) return fmt::format("'{}' is not KEY=VALUE", change);
  const bool control =
      std::any_of(change.begin(), change.end(), [](char c) { return static_cast<unsigned char>(c) < 32; });
  const std::string_view key = std::string_view(change).substr(0, sign);
  const bool moves_output = key == "output" || key == "output.directory";
  if (control || moves_output || names_file_elsewhere(std::string_view(change).substr(sign + 1)))
    return fmt::format("'{}' names a file elsewhere: write that into the scene file", change);
  return "";
}

}  // namespace

std::string make_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

Site::Site(SiteOptions options, ViewedRuns& runs) : options_(std::move(options)), runs_(runs) {
  std::error_code none;
  if (fs::is_regular_file(options_.page / "index.html", none))
    page_[""] = page_["index.html"] = options_.page / "index.html";
  for (fs::directory_iterator file(options_.page / "assets", none), end; !none && file != end;
       file.increment(none))
    page_["assets/" + file->path().filename().string()] = file->path();
  for (const fs::path& file : options_.scenes) {
    const auto scene = scene::load_scene(file.string());
    const std::string name = file.stem().string();
    SceneEntry made{scene ? scene->description : scene.error().message, file, {}};
    const fs::path picture = options_.pictures / (name + ".png");
    if (!options_.pictures.empty() && fs::is_regular_file(picture, none)) made.picture = picture;
    scenes_.emplace(name, std::move(made));
  }
}

Response Site::answer(const Request& request) {
  Response response = [&] {
    if (auto refused = refusal(request)) return std::move(*refused);
    std::vector<std::string_view> parts = split(request.path);
    parts.erase(parts.begin());
    return route(parts, request);
  }();
  // Nothing from elsewhere, nothing to elsewhere.
  response.headers.insert(response.headers.end(),
                          {{"Content-Security-Policy",
                            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: "
                            "blob:; connect-src 'self'; "
                            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
                           {"Cross-Origin-Resource-Policy", "same-origin"},
                           {"X-Content-Type-Options", "nosniff"},
                           {"Referrer-Policy", "no-referrer"},
                           {"Cache-Control", "no-store"}});
  return response;
}

// A page elsewhere can make a browser send requests here, under names of its own for this machine: the host must be this one, the
// token known, and what changes something must come from the page itself.
std::optional<Response> Site::refusal(const Request& request) const {
  const std::string ip = fmt::format("127.0.0.1:{}", options_.port),
                    name = fmt::format("localhost:{}", options_.port);
  if (request.hosts.size() != 1 || (request.hosts[0] != ip && request.hosts[0] != name))
    return failure(403, "this is not the host that was asked for");
  if (request.origins.size() > 1 ||
      (request.origins.size() == 1 && request.origins[0] != "http://" + request.hosts[0]))
    return failure(403, "requests from other pages are refused");
  const std::vector<std::string_view> parts = split(request.path);
  if (parts.empty() || !same(parts[0], options_.token))
    return failure(403, "the address lacks the token that `lope view` printed");
  if (request.method == "GET") return std::nullopt;
  if (request.method != "POST") return failure(405, "only GET and POST are known");
  if (request.origins.empty()) return failure(403, "the request does not say which page it comes from");
  if (request.content_type != "application/json") return failure(415, "the request must be JSON");
  return std::nullopt;
}

Response Site::route(const std::vector<std::string_view>& parts, const Request& request) {
  if (parts.empty() || parts[0] != "api") {
    if (request.method != "GET") return failure(405, "only GET is known here");
    // Without the slash the page would look for its files above the token.
    if (parts.empty())
      return {301, "text/plain; charset=utf-8", "", {{"Location", "/" + options_.token + "/"}}};
    std::string name(parts[0]);
    for (std::size_t i = 1; i < parts.size(); ++i) name += "/" + std::string(parts[i]);
    return page_file(name);
  }
  const bool post = request.method == "POST";
  if (parts.size() == 2 && parts[1] == "start")
    return post ? start(request) : failure(405, "only POST is known here");
  if (parts.size() >= 3 && parts[1] == "run") {
    const auto id = number(parts[2]);
    const auto found = id && *id < 1000000 ? runs_.find(static_cast<int>(*id)) : std::nullopt;
    if (!found) return nothing_there();
    if (post) return parts.size() == 4 ? command(found->id, parts[3]) : nothing_there();
    return run(*found, parts, request);
  }
  if (post) return failure(405, "only GET is known here");
  if (parts.size() == 2 && parts[1] == "scenes") return scenes();
  if (parts.size() == 2 && parts[1] == "runs") return list_runs();
  if (parts.size() == 3 && parts[1] == "picture") return picture(std::string(parts[2]));
  return nothing_there();
}

Response Site::page_file(const std::string& name) const {
  const auto found = page_.find(name);
  return found == page_.end() ? nothing_there()
                              : whole_file(found->second, options_.page, type_of(found->second));
}

Response Site::scenes() const {
  json result = json::array();
  for (const auto& [name, scene] : scenes_)
    result.push_back(
        {{"name", name}, {"description", scene.description}, {"picture", scene.picture.has_value()}});
  return answer_json(result);
}

Response Site::picture(const std::string& scene) const {
  const auto found = scenes_.find(scene);
  if (found == scenes_.end() || !found->second.picture) return nothing_there();
  return whole_file(*found->second.picture, options_.pictures, "image/png");
}

Response Site::list_runs() {
  if (!options_.runs.empty()) runs_.add_all_in(options_.runs);
  json result = json::array();
  for (const ViewedRuns::Status& each : runs_.all()) result.push_back(entry(each));
  return answer_json(result);
}

Response Site::start(const Request& request) {
  const json wish = json::parse(request.body, nullptr, false);
  if (!wish.is_object() || !wish.contains("scene") || !wish["scene"].is_string())
    return failure(400, "expected {\"scene\": NAME, \"set\": [KEY=VALUE, …]}");
  const auto scene = scenes_.find(wish["scene"].get<std::string>());
  if (scene == scenes_.end()) return failure(404, "there is no scene of this name");
  std::vector<std::string> overrides;
  const json changes = wish.value("set", json::array());
  if (!changes.is_array() || changes.size() > most_overrides)
    return failure(400, "too many changes, or no list of them");
  for (const json& change : changes) {
    if (!change.is_string()) return failure(400, "a change is not a text");
    overrides.push_back(change.get<std::string>());
    if (const std::string fault = fault_of(overrides.back()); !fault.empty()) return failure(400, fault);
  }
  const auto id = runs_.start(scene->second.file, overrides);
  if (!id) return failure(400, id.error().message);
  return answer_json({{"id", *id}});
}

// parts: api, run, NUMBER, and what of it.
Response Site::run(const ViewedRuns::Status& run, const std::vector<std::string_view>& parts,
                   const Request& request) {
  const fs::path frames = run.directory / "frames";
  if (parts.size() == 3) return answer_json(status_of(run));
  const std::string_view what = parts[3];
  if (what == "frame" && parts.size() == 5) {
    const auto frame = number(parts[4]);
    return frame ? whole_file(io::frame_path(frames, *frame), run.directory, "application/octet-stream")
                 : nothing_there();
  }
  if (parts.size() != 4) return nothing_there();
  if (what == "topology")
    return whole_file(io::topology_path(frames), run.directory, "application/octet-stream");
  if (what == "scene")
    return whole_file(run.directory / "scene.toml", run.directory, "text/plain; charset=utf-8");
  const auto wanted = request.query.find("from");
  const auto from = wanted == request.query.end() ? std::optional<std::int64_t>(0) : number(wanted->second);
  if (!from) return failure(400, "'from' is not a number");
  if (what == "stats") return piece_of(run.directory / "stats.jsonl", run.directory, *from);
  if (what == "log") return piece_of(run.directory / "log.txt", run.directory, *from);
  if (what == "live") return piece_of(run.directory / "live.jsonl", run.directory, 0);
  return nothing_there();
}

Response Site::command(int id, std::string_view what) {
  Expected<void> done;
  if (what == "stop")
    done = runs_.stop(id);
  else if (what == "checkpoint")
    done = runs_.checkpoint(id);
  else if (what == "resume")
    done = runs_.resume(id);
  else
    return nothing_there();
  return done ? answer_json(json::object()) : failure(409, done.error().message);
}

}  // namespace lope::program
