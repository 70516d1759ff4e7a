#include <lope/scene/run.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include <nlohmann/json.hpp>

#include <lope/base/file_lock.h>
#include <lope/base/log.h>
#include <lope/base/timer.h>
#include <lope/geometry/partition.h>
#include <lope/io/checkpoint.h>
#include <lope/io/file.h>
#include <lope/io/frame.h>
#include <lope/io/json_lines.h>
#include <lope/scene/files.h>
#include <lope/scene/obstacles.h>
#include <lope/scene/resumption.h>
#include <lope/scene/validate.h>

namespace lope::scene {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const char* outcome_name(optimize::Outcome outcome) {
  switch (outcome) {
    case optimize::Outcome::Failed: return "failed";
    case optimize::Outcome::Converged: return "converged";
    case optimize::Outcome::IterationLimit: return "iteration-limit";
    case optimize::Outcome::Interrupted: return "interrupted";
    case optimize::Outcome::LineSearchStalled: return "line-search-stalled";
  }
  return "failed";
}

json to_json(const Vec3& v) { return {v[0], v[1], v[2]}; }

json to_json(const optimize::MinimizerSummary& solve) {
  json history = json::array();
  for (const optimize::Iteration& it : solve.history) {
    history.push_back({{"iteration", it.number},
                       {"value", it.value},
                       {"gradient_norm", it.gradient_norm},
                       {"measure", it.measure},
                       {"tolerance", it.tolerance},
                       {"step_length", it.step_length},
                       {"line_search_steps", it.line_search_steps},
                       {"linear_iterations", it.linear_iterations},
                       {"seconds", it.seconds}});
  }
  return {{"outcome", outcome_name(solve.outcome)},
          {"reason", solve.reason},
          {"iterations", solve.iterations},
          {"linear_solves", solve.linear_solves},
          {"linear_iterations", solve.linear_iterations},
          {"settled_at", solve.settled_at},
          {"measure", solve.measure},
          {"tolerance", solve.tolerance},
          {"gradient_norm", solve.gradient_norm},
          {"value", solve.value},
          {"seconds",
           {{"evaluate", solve.timings.evaluate},
            {"hessian", solve.timings.hessian},
            {"factorize", solve.timings.factorize},
            {"solve", solve.timings.solve},
            {"total", solve.timings.total}}},
          {"history", history}};
}

json to_json(const step::ContactReport& contact, const step::Model& model) {
  json forces = json::object();
  for (std::size_t k = 0; k < contact.obstacle_force.size(); ++k) {
    forces[model.obstacles[k].name] = to_json(contact.obstacle_force[k]);
  }
  return {{"obstacle_pairs", contact.obstacle_pairs},
          {"body_pairs", contact.body_pairs},
          {"deepest", contact.deepest},
          {"friction_loss", contact.friction_loss},
          {"rounds", contact.rounds},
          {"obstacle_force", std::move(forces)}};
}

json to_json(const matter::liquid::Report& liquid, const step::Model& model) {
  json history = json::array();
  for (const auto& it : liquid.history)
    history.push_back({{"iteration", it.number}, {"residual", it.residual}, {"seconds", it.seconds}});
  return {{"name", model.liquid->name},
          {"converged", liquid.converged},
          {"reason", liquid.reason},
          {"substeps", liquid.substeps},
          {"particles", liquid.particles},
          {"emitted", liquid.emitted},
          {"removed", liquid.removed},
          {"moved", liquid.moved},
          {"volume", liquid.volume},
          {"covered_volume", liquid.covered_volume},
          {"largest_speed", liquid.largest_speed},
          {"energy", {{"kinetic", liquid.kinetic}, {"gravity", liquid.potential}}},
          {"momentum", to_json(liquid.momentum)},
          {"pressure",
           {{"unknowns", liquid.unknowns},
            {"wall_unknowns", liquid.wall_unknowns},
            {"separated", liquid.separated},
            {"enclosed_regions", liquid.enclosed_regions},
            {"removed_flux", liquid.removed_flux},
            {"squeezed_volume", liquid.squeezed_volume},
            {"squeeze",
             {{"flux", liquid.squeeze.flux},
              {"volume", liquid.squeeze.volume},
              {"middle", to_json(liquid.squeeze.middle)}}},
            {"iterations", liquid.iterations},
            {"inner_iterations", liquid.inner_iterations},
            {"tolerance", liquid.tolerance},
            {"residual", liquid.residual},
            {"history", std::move(history)},
            {"seconds", liquid.part_seconds.pressure}}},
          {"seconds", liquid.seconds},
          {"part_seconds",
           {{"sorting", liquid.part_seconds.sorting},
            {"solids", liquid.part_seconds.solids},
            {"to_grid", liquid.part_seconds.to_grid},
            {"pressure", liquid.part_seconds.pressure},
            {"extension", liquid.part_seconds.extension},
            {"to_particles", liquid.part_seconds.to_particles},
            {"movement", liquid.part_seconds.movement}}}};
}

json to_json(const step::StepReport& report, const step::Model& model) {
  json islands = json::array(), bodies = json::array();
  for (const step::IslandReport& island : report.islands) {
    json names = json::array();
    for (const std::size_t body : island.bodies) names.push_back(model.solids[body].name);
    islands.push_back(
        {{"bodies", std::move(names)}, {"fell_back", island.fell_back}, {"solve", to_json(island.solve)}});
    if (!island.contact.obstacle_force.empty() || island.contact.body_pairs > 0) {
      islands.back()["contact"] = to_json(island.contact, model);
    }
  }
  for (const step::BodyReport& body : report.bodies) {
    json handles = json::array();
    for (const step::HandleReport& handle : body.handles)
      handles.push_back({{"name", handle.name}, {"force", to_json(handle.force)}, {"torque", to_json(handle.torque)}});
    bodies.push_back({{"name", body.name},
                      {"island", body.island},
                      {"handles", std::move(handles)},
                      {"energy",
                       {{"kinetic", body.energy.kinetic},
                        {"elastic", body.energy.elastic},
                        {"gravity", body.energy.gravity}}},
                      {"momentum", to_json(body.momentum)},
                      {"angular_momentum", to_json(body.angular_momentum)},
                      {"inverted_elements", body.inverted_elements}});
  }
  json line = {{"step", report.step},           {"time", report.time},         {"h", report.h},
               {"seconds", report.seconds},     {"accepted", report.accepted}, {"converged", report.converged()},
               {"islands", std::move(islands)}, {"bodies", std::move(bodies)}};
  if (report.liquid) line["liquid"] = to_json(*report.liquid, model);
  return line;
}

std::vector<float> positions(const step::BodyState& body, int dimension) {
  const auto d = static_cast<std::size_t>(dimension);
  std::vector<float> result(body.x.size() / d * 3, 0.0F);
  for (std::size_t k = 0; k < body.x.size(); ++k) result[k / d * 3 + k % d] = static_cast<float>(body.x[k]);
  return result;
}

template <std::size_t corners>
std::vector<std::int32_t> flat(const std::vector<std::array<int, corners>>& elements) {
  std::vector<std::int32_t> result;
  result.reserve(elements.size() * corners);
  for (const auto& element : elements) result.insert(result.end(), element.begin(), element.end());
  return result;
}

// The surfaces of the obstacles that are drawn, at time 0. Floors are not: the picture's ground is there.
struct DrawnObstacle {
  std::size_t number = 0;
  bool bounded = true;
  geometry::Mesh surface;
};

std::vector<DrawnObstacle> drawn_obstacles(const Scene& scene, const step::Model& model) {
  std::vector<DrawnObstacle> drawn;
  geometry::Bounds region;
  for (const step::SolidBody& solid : model.solids) {
    const geometry::Bounds own = geometry::bounds(solid.mesh.vertices);
    region.add(own.min);
    region.add(own.max);
  }
  if (!model.solids.empty()) {
    const Vec3 margin = Vec3::Constant(region.extent().maxCoeff());
    region.min -= margin;
    region.max += margin;
  }
  if (model.liquid) {
    region.add(model.liquid->description.domain.min);
    region.add(model.liquid->description.domain.max);
  }
  for (std::size_t k = 0; k < model.obstacles.size(); ++k) {
    if (scene.obstacles[k].draw == ObstacleSettings::Draw::None) continue;
    if (scene.floor_height && floor_height(scene.resolved["obstacle"].items[k])) continue;
    const geometry::Bounds own = model.obstacles[k].shape->bounds();
    const bool container = scene.obstacles[k].draw == ObstacleSettings::Draw::Cut ||
                           scene.obstacles[k].draw == ObstacleSettings::Draw::Glass;
    drawn.push_back({k, container || (own.min.allFinite() && own.max.allFinite()),
                     obstacle_surface(model.obstacles[k], region)});
  }
  return drawn;
}

int dimension_of(const step::Model& model) {
  return model.solids.empty() ? model.liquid->description.dimension : model.solids.front().dimension;
}

// Numbers that come back bit for bit.
std::string exact(double value) { return fmt::format("{:.17g}", value); }

void add_topology(const LiquidSettings& settings, const matter::liquid::Description& liquid, io::Frame& frame) {
  const std::string name = settings.name + "/";
  auto& metadata = frame.data.metadata;
  metadata[name + "kind"] = "liquid";
  metadata[name + "dimension"] = std::to_string(liquid.dimension);
  metadata[name + "spacing"] = exact(liquid.dx);
  metadata[name + "origin"] =
      fmt::format("{} {} {}", exact(liquid.origin[0]), exact(liquid.origin[1]), exact(liquid.origin[2]));
  metadata[name + "particle_volume"] = exact(std::pow(liquid.dx / liquid.particles_per_axis, liquid.dimension));
  const Vec3& color = settings.color;
  frame.data.add(name + "color", std::vector<float>{float(color[0]), float(color[1]), float(color[2])});
}

const char* draw_name(ObstacleSettings::Draw draw) {
  switch (draw) {
    case ObstacleSettings::Draw::Solid: return "solid";
    case ObstacleSettings::Draw::Cut: return "cut";
    case ObstacleSettings::Draw::Glass: return "glass";
    case ObstacleSettings::Draw::None: return "none";
  }
  return "solid";
}

io::Frame topology(const Scene& scene, const step::Model& model) {
  io::Frame frame;
  frame.data.metadata["scene"] = scene.name;
  for (std::size_t i = 0; i < model.solids.size(); ++i) {
    const step::SolidBody& solid = model.solids[i];
    const geometry::Mesh& mesh = solid.mesh;
    const auto surface = solid.dimension == 3 ? geometry::boundary_triangles(mesh.tetrahedra) : mesh.triangles;
    const std::string name = solid.name + "/";
    frame.data.add(name + "triangles", {surface.size(), 3}, flat(surface));
    if (solid.dimension == 3) frame.data.add(name + "tetrahedra", {mesh.tetrahedra.size(), 4}, flat(mesh.tetrahedra));
    if (writes_field(scene, "partition"))
      frame.data.add(name + "element/partition", geometry::partition_for_colouring(mesh));
    const Vec3& color = scene.bodies[i].color;
    frame.data.add(name + "color", std::vector<float>{float(color[0]), float(color[1]), float(color[2])});
    frame.data.metadata[name + "dimension"] = std::to_string(solid.dimension);
  }
  for (const DrawnObstacle& obstacle : drawn_obstacles(scene, model)) {
    const ObstacleSettings& settings = scene.obstacles[obstacle.number];
    const std::string name = settings.name + "/";
    const Vec3& color = settings.color;
    frame.data.add(name + "triangles", {obstacle.surface.triangles.size(), 3}, flat(obstacle.surface.triangles));
    frame.data.add(name + "color", std::vector<float>{float(color[0]), float(color[1]), float(color[2])});
    frame.data.metadata[name + "kind"] = "obstacle";
    frame.data.metadata[name + "bounded"] = obstacle.bounded ? "true" : "false";
    frame.data.metadata[name + "draw"] = draw_name(settings.draw);
    frame.data.metadata[name + "dimension"] = std::to_string(dimension_of(model));
  }
  if (scene.liquid) add_topology(*scene.liquid, model.liquid->description, frame);
  return frame;
}

std::vector<float> positions(const DrawnObstacle& obstacle, const step::Model& model, double time) {
  const geometry::RigidPose pose = model.obstacles[obstacle.number].pose(time);
  std::vector<float> result;
  result.reserve(3 * obstacle.surface.vertices.size());
  for (const Vec3& vertex : obstacle.surface.vertices) {
    for (const double coordinate : pose.place(vertex)) result.push_back(static_cast<float>(coordinate));
  }
  return result;
}

// Three numbers per vector, in single precision.
template <int Dim>
std::vector<float> in_space(const std::vector<Vec<Dim>>& vectors) {
  std::vector<float> result(3 * vectors.size(), 0.0F);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    for (int a = 0; a < Dim; ++a) result[3 * i + static_cast<std::size_t>(a)] = static_cast<float>(vectors[i][a]);
  }
  return result;
}

void add_liquid(const Scene& scene, step::Simulation& simulation, io::Frame& frame) {
  const std::string name = scene.liquid->name + "/";
  std::visit(
      [&](const auto& particles) {
        frame.data.add(name + "position", {particles.size(), 3}, in_space(particles.x));
        frame.data.add(name + "vertex/velocity", {particles.size(), 3}, in_space(particles.v));
      },
      simulation.state().liquid->particles);
  if (simulation.model().liquid->description.dimension == 3 && !writes_field(scene, "cells")) return;
  const matter::liquid::GridFields grid = simulation.liquid_fields();
  const std::size_t count = grid.kind.size();
  std::vector<std::uint8_t> kind(count);
  std::transform(grid.kind.begin(), grid.kind.end(), kind.begin(), [](auto k) { return static_cast<std::uint8_t>(k); });
  frame.data.add(name + "cell/index", {count, 3}, grid.index);
  frame.data.add(name + "cell/kind", std::move(kind));
  frame.data.add(name + "cell/separating", grid.separating);
  frame.data.add(name + "cell/pressure", grid.pressure);
  frame.data.add(name + "cell/level_set", grid.level_set);
  frame.data.add(name + "cell/velocity", {count, 3}, grid.velocity);
  frame.data.add(name + "cell/open", {count, 3}, grid.open);
}

io::Frame snapshot(const Scene& scene, const std::vector<DrawnObstacle>& obstacles, step::Simulation& simulation,
                   std::int64_t number) {
  io::Frame frame;
  frame.number = number;
  frame.time = simulation.state().time;
  for (std::size_t i = 0; i < simulation.state().bodies.size(); ++i) {
    const step::SolidBody& solid = simulation.model().solids[i];
    const std::string name = solid.name + "/";
    const auto x = positions(simulation.state().bodies[i], solid.dimension);
    frame.data.add(name + "position", {x.size() / 3, 3}, x);
    const auto is_wanted = [&](const std::string& field) { return writes_field(scene, field); };
    for (const matter::Field& field : simulation.fields(i, is_wanted)) {
      const char* place = field.place == matter::Field::Place::Vertex ? "vertex/" : "element/";
      const auto components = static_cast<std::size_t>(field.components);
      std::vector<std::size_t> shape{field.values.size() / components};
      if (components > 1) shape.push_back(components);
      frame.data.add(name + place + field.name, std::move(shape),
                     std::vector<float>(field.values.begin(), field.values.end()));
      frame.data.metadata["unit/" + field.name] = field.unit;
    }
  }
  if (scene.liquid) add_liquid(scene, simulation, frame);
  for (const DrawnObstacle& obstacle : obstacles) {
    const auto x = positions(obstacle, simulation.model(), frame.time);
    frame.data.add(scene.obstacles[obstacle.number].name + "/position", {x.size() / 3, 3}, x);
  }
  return frame;
}

template <class Matrix>
std::vector<double> flat(const std::vector<Matrix>& values) {
  std::vector<double> result;
  result.reserve(values.size() * static_cast<std::size_t>(Matrix::SizeAtCompileTime));
  for (const Matrix& value : values) result.insert(result.end(), value.data(), value.data() + value.size());
  return result;
}

void add_liquid(const matter::liquid::State& liquid, io::NamedArrays& arrays) {
  std::visit(
      [&](const auto& particles) {
        arrays.add("liquid/x", flat(particles.x));
        arrays.add("liquid/v", flat(particles.v));
        arrays.add("liquid/affine", flat(particles.affine));
      },
      liquid.particles);
  arrays.add("liquid/dimension", std::vector<std::int64_t>{liquid.particles.index() == 0 ? 2 : 3});
  arrays.add("liquid/round", std::vector<std::int64_t>{liquid.round});
  arrays.add("liquid/pressure_bricks", liquid.pressure_bricks);
  arrays.add("liquid/pressure", liquid.pressure);
}

io::NamedArrays to_arrays(const step::State& state) {
  io::NamedArrays arrays;
  arrays.add("time", std::vector<double>{state.time});
  arrays.add("previous_h", std::vector<double>{state.previous_h});
  arrays.add("step", std::vector<std::int64_t>{state.step});
  arrays.add("bodies", std::vector<std::int64_t>{static_cast<std::int64_t>(state.bodies.size())});
  for (std::size_t i = 0; i < state.bodies.size(); ++i) {
    const step::BodyState& body = state.bodies[i];
    const std::string name = fmt::format("body{}/", i);
    arrays.add(name + "x", body.x);
    arrays.add(name + "v", body.v);
    arrays.add(name + "previous_x", body.previous_x);
    arrays.add(name + "previous_v", body.previous_v);
    arrays.add(name + "a", body.a);
    arrays.add(name + "handles", std::vector<std::int64_t>{static_cast<std::int64_t>(body.anchors.size())});
    for (std::size_t j = 0; j < body.anchors.size(); ++j) arrays.add(fmt::format("{}anchor{}", name, j), body.anchors[j]);
  }
  for (std::size_t k = 0; k < state.kept.size(); ++k) {
    const optimize::KeptModel kept = state.kept[k] ? *state.kept[k] : optimize::KeptModel();
    const std::string name = fmt::format("island{}/", k);
    arrays.add(name + "model_point", kept.point);
    arrays.add(name + "model_choices", kept.choices);
    arrays.add(name + "model_iterations", std::vector<std::int64_t>{kept.iterations});
    arrays.add(name + "model_account", kept.account);
    arrays.add(name + "contacts", matter::to_numbers(state.contacts[k]));
  }
  if (state.liquid) add_liquid(*state.liquid, arrays);
  return arrays;
}

// Reads arrays by name and remembers the first that is missing.
class StateReader {
 public:
  StateReader(const io::NamedArrays& arrays, const fs::path& path) : arrays_(arrays), path_(path) {}
  std::vector<double> numbers(const std::string& name) { return values<double>(name); }
  std::vector<std::int32_t> integers(const std::string& name) { return values<std::int32_t>(name); }
  bool has(const std::string& name) const { return arrays_.find(name) != nullptr; }
  // As many numbers as a list of Matrix needs; `count`: how many there must be (−1: any).
  template <class Matrix>
  std::vector<Matrix> matrices(const std::string& name, std::ptrdiff_t count = -1) {
    const std::vector<double> flat = values<double>(name);
    constexpr auto size = static_cast<std::size_t>(Matrix::SizeAtCompileTime);
    std::vector<Matrix> result(flat.size() / size);
    if (flat.size() % size != 0 || (count >= 0 && std::ssize(result) != count)) note_missing(name);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = Eigen::Map<const Matrix>(flat.data() + i * size);
    return result;
  }
  template <class T>
  T single(const std::string& name) {
    const std::vector<T> found = values<T>(name);
    if (found.size() != 1) note_missing(name);
    return found.size() == 1 ? found[0] : T{};
  }
  Expected<void> result() const {
    if (missing_.empty()) return {};
    return input_error("{}: not a checkpoint of Lope: array '{}' is missing or of the wrong type", path_.string(), missing_);
  }
  void note_missing(const std::string& name) {
    if (missing_.empty()) missing_ = name;
  }

 private:
  template <class T>
  std::vector<T> values(const std::string& name) {
    if (const auto* found = arrays_.values<T>(name)) return *found;
    note_missing(name);
    return {};
  }
  const io::NamedArrays& arrays_;
  const fs::path& path_;
  std::string missing_;
};

template <int Dim>
matter::liquid::Particles<Dim> read_particles(StateReader& reader) {
  matter::liquid::Particles<Dim> particles;
  particles.x = reader.matrices<Vec<Dim>>("liquid/x");
  particles.v = reader.matrices<Vec<Dim>>("liquid/v", std::ssize(particles.x));
  particles.affine = reader.matrices<Mat<Dim>>("liquid/affine", std::ssize(particles.x));
  return particles;
}

matter::liquid::State read_liquid(StateReader& reader) {
  matter::liquid::State liquid;
  const std::int64_t dimension = reader.single<std::int64_t>("liquid/dimension");
  if (dimension == 2) liquid.particles = read_particles<2>(reader);
  else liquid.particles = read_particles<3>(reader);
  liquid.round = reader.single<std::int64_t>("liquid/round");
  liquid.pressure_bricks = reader.integers("liquid/pressure_bricks");
  liquid.pressure = reader.numbers("liquid/pressure");
  const std::size_t cells = dimension == 2 ? 64 : 512;
  if (liquid.pressure_bricks.size() * cells != liquid.pressure.size() * static_cast<std::size_t>(dimension))
    reader.note_missing("liquid/pressure");
  return liquid;
}

optimize::KeptModelPtr read_kept(StateReader& reader, const std::string& name) {
  optimize::KeptModel kept;
  kept.point = reader.numbers(name + "model_point");
  kept.choices = reader.numbers(name + "model_choices");
  kept.iterations = static_cast<int>(reader.single<std::int64_t>(name + "model_iterations"));
  kept.account = reader.numbers(name + "model_account");
  if (kept.point.empty() && kept.account.empty()) return nullptr;
  return std::make_shared<const optimize::KeptModel>(std::move(kept));
}

}  // namespace

Expected<void> write_state(const step::State& state, const fs::path& path) { return io::write_checkpoint(to_arrays(state), path); }

namespace {

Expected<step::State> state_from(const io::NamedArrays& arrays, const fs::path& path) {
  StateReader reader(arrays, path);
  step::State state;
  state.time = reader.single<double>("time");
  state.previous_h = reader.single<double>("previous_h");
  state.step = reader.single<std::int64_t>("step");
  const auto bodies = std::clamp<std::int64_t>(reader.single<std::int64_t>("bodies"), 0, 1 << 20);
  for (std::int64_t i = 0; i < bodies && reader.result(); ++i) {
    const std::string name = fmt::format("body{}/", i);
    step::BodyState body;
    body.x = reader.numbers(name + "x");
    body.v = reader.numbers(name + "v");
    body.previous_x = reader.numbers(name + "previous_x");
    body.previous_v = reader.numbers(name + "previous_v");
    body.a = reader.numbers(name + "a");
    const auto handles = std::clamp<std::int64_t>(reader.single<std::int64_t>(name + "handles"), 0, 1 << 20);
    for (std::int64_t j = 0; j < handles && reader.result(); ++j) {
      body.anchors.push_back(reader.numbers(fmt::format("{}anchor{}", name, j)));
    }
    state.bodies.push_back(std::move(body));
  }
  for (std::string name = "island0/"; reader.has(name + "model_point");
       name = fmt::format("island{}/", state.kept.size())) {
    state.kept.push_back(read_kept(reader, name));
    state.contacts.push_back(matter::contacts_from(reader.numbers(name + "contacts")));
  }
  if (reader.has("liquid/dimension")) state.liquid = read_liquid(reader);
  if (const auto complete = reader.result(); !complete) return forward_error(complete);
  return state;
}

}  // namespace

Expected<step::State> read_state(const fs::path& path) {
  const auto arrays = io::read_checkpoint(path);
  if (!arrays) return forward_error(arrays);
  return state_from(*arrays, path);
}

namespace {

// What --overwrite removes: everything that an earlier run, its exports and its pictures left.
constexpr std::array written_by_a_run{"frames", "stats.jsonl", "checkpoint.h5", "log.txt",  "vtu",
                                      "ply",    "obj",         "vdb",           "pictures", "scene.toml"};
// Held while a run goes on; stays afterwards, as the mark of a run's directory.
constexpr const char* lock_file = "run.lock";
// The array of a checkpoint that says of which model it is (resumption.h).
constexpr const char* fingerprint_array = "fingerprint";

// The files of one run.
class Directory {
 public:
  explicit Directory(fs::path root) : root_(std::move(root)) {}

  fs::path frames() const { return root_ / "frames"; }
  fs::path checkpoint() const { return root_ / "checkpoint.h5"; }

  Expected<void> start(const Scene& scene, const step::Model& model, bool overwrite) {
    if (const auto free = check_free(scene, overwrite); !free) return free;
    if (const auto made = io::make_directory(root_); !made) return made;
    if (const auto locked = lock(); !locked) return locked;
    for (const char* old : written_by_a_run) {
      if (const auto removed = io::remove_path(root_ / old); !removed) return removed;
    }
    if (const auto made = io::make_directory(frames()); !made) return made;
    if (const auto written = write_scene(scene); !written) return written;
    if (const auto written = io::write_frame(topology(scene, model), io::topology_path(frames())); !written) return written;
    auto stats = io::JsonLines::create(root_ / "stats.jsonl");
    if (!stats) return forward_error(stats);
    stats_.emplace(std::move(*stats));
    return {};
  }

  // The scene is written anew: it may go on with other settings, such as a longer duration.
  Expected<void> resume(const Scene& scene, step::Simulation& simulation, std::int64_t per_frame) {
    // A run that has just begun has no checkpoint yet: that it goes on is what matters then.
    if (holds_run(root_) || fs::exists(checkpoint())) {
      if (const auto locked = lock(); !locked) return locked;
    }
    if (!fs::exists(checkpoint())) {
      return input_error("{} holds no checkpoint to go on from: leave out --resume to start there", root_.string());
    }
    const auto arrays = io::read_checkpoint(checkpoint());
    if (!arrays) return forward_error(arrays);
    auto state = state_from(*arrays, checkpoint());
    if (!state) return forward_error(state);
    const std::int64_t step = state->step;
    if (const double expected = static_cast<double>(step) * simulation.model().step;
        std::abs(state->time - expected) > 1e-6 * simulation.model().step) {
      return input_error("{}: {} steps led to {:g} s, not {:g} s: time.step cannot change when a run goes on",
                         checkpoint().string(), step, state->time, expected);
    }
    const auto before = load_scene((root_ / "scene.toml").string());
    if (!before) return forward_error(before);
    if (const auto same = check_frames(*before, step, simulation.model(), per_frame); !same) return same;
    if (const auto same = check_same_physics(*before, scene); !same) return same;
    if (const auto fits = simulation.restore(std::move(*state)); !fits) {
      return input_error("{}: {}", checkpoint().string(), fits.error().message);
    }
    if (const auto* saved = arrays->values<double>(fingerprint_array)) {
      if (const auto same = check_fingerprint(*saved, scene, simulation.model()); !same)
        return input_error("{}: {}", checkpoint().string(), same.error().message);
    }
    for (const std::int64_t number : io::frame_numbers(frames())) {
      if (number * per_frame <= step) continue;
      if (const auto removed = io::remove_path(io::frame_path(frames(), number)); !removed) return removed;
    }
    if (const auto written = write_scene(scene); !written) return written;
    auto stats = io::JsonLines::resume(root_ / "stats.jsonl", step);
    if (!stats) return forward_error(stats);
    stats_.emplace(std::move(*stats));
    return {};
  }

  // The steps of the part before a resumption that did not reach their accuracy.
  Expected<std::vector<std::int64_t>> earlier_failures() const {
    const auto lines = io::read_json_lines(root_ / "stats.jsonl");
    if (!lines) return forward_error(lines);
    std::vector<std::int64_t> failed;
    for (const json& line : *lines) {
      if (!line.value("converged", false)) failed.push_back(line.value("step", std::int64_t{0}));
    }
    return failed;
  }

  // A frame's number stands for its time, so frames must stay as far apart as those that are there.
  Expected<void> check_frames(const Scene& before, std::int64_t step, const step::Model& model,
                              std::int64_t per_frame) const {
    const std::int64_t earlier = steps_per_frame(before, model);
    if (step == 0 || earlier == per_frame) return {};
    return input_error(
        "{}: its frames are {} steps apart, and would go on {} apart: time.frame_rate cannot change when a "
        "run goes on (it was {:g} per second)",
        root_.string(), earlier, per_frame, before.frame_rate);
  }

  Expected<void> write_stats(const step::StepReport& report, const step::Model& model) {
    return stats_->append(to_json(report, model));
  }
  Expected<void> write_frame(const io::Frame& frame) { return io::write_frame(frame, io::frame_path(frames(), frame.number)); }
  Expected<void> write_checkpoint(const step::State& state, const std::vector<double>& fingerprint) {
    io::NamedArrays arrays = to_arrays(state);
    arrays.add(fingerprint_array, fingerprint);
    return io::write_checkpoint(arrays, checkpoint());
  }

 private:
  // Nothing but an earlier run is ever replaced, and that only when asked for.
  Expected<void> check_free(const Scene& scene, bool overwrite) const {
    std::error_code none;
    if (fs::equivalent(root_ / "scene.toml", scene.file, none)) {
      return input_error(
          "{}: a run in {} would replace this scene file: give another directory with --output", scene.file,
          root_.string());
    }
    if (!holds_run(root_)) {
      for (const char* name : written_by_a_run) {
        if (!fs::exists(root_ / name, none)) continue;
        return input_error(
            "{} is there already and is not of a run, which would replace it: give another directory "
            "with --output",
            (root_ / name).string());
      }
    } else if (!overwrite) {
      return input_error(
          "{} already holds a run: give --overwrite to replace it, --resume to go on with it, or "
          "another directory with --output",
          root_.string());
    }
    return {};
  }

  Expected<void> lock() {
    auto taken = FileLock::take(root_ / lock_file);
    if (!taken) return forward_error(taken);
    if (!*taken) {
      return input_error(
          "{}: another run is going on there: wait for its end, or give another directory with --output",
          root_.string());
    }
    lock_ = std::move(*taken);
    return {};
  }

  Expected<void> write_scene(const Scene& scene) const {
    return io::write_file(root_ / "scene.toml", write_toml(with_relative_files(scene.resolved, root_)));
  }

  fs::path root_;
  std::optional<FileLock> lock_;
  std::optional<io::JsonLines> stats_;
};

// Bodies whose steps all converge may still end in a shape that is not theirs.
void tell_of_tangles(step::Simulation& simulation) {
  for (std::size_t i = 0; i < simulation.model().solids.size(); ++i) {
    const std::string& name = simulation.model().solids[i].name;
    const step::Simulation::Tangle tangle = simulation.tangle(i);
    if (tangle.vertices.empty()) continue;
    log_warning(
        "body '{}' ends tangled: its elements make a full turn around lines through {} of its vertices (the "
        "first: {}), "
        "which no small motion undoes. A finer mesh may let go, and so may steps longer than {:.2g} s that "
        "may start from "
        "the rest shape (solver.start = \"rescue\")",
        name, tangle.vertices.size(), tangle.vertices.front(), tangle.rescue_step);
  }
}

}  // namespace

std::string bodies_text(const step::IslandReport& island, const step::Model& model) {
  const std::string& first = model.solids[island.bodies.front()].name;
  if (island.bodies.size() == 1) return fmt::format("body '{}'", first);
  return fmt::format("{} bodies from '{}' on", island.bodies.size(), first);
}

std::int64_t step_count(const Scene& scene, const step::Model& model) {
  return std::max<std::int64_t>(1, std::llround(std::ceil(scene.duration / model.step - 1e-6)));
}

std::int64_t steps_per_frame(const Scene& scene, const step::Model& model) {
  if (scene.frame_rate <= 0) return 1;
  const double steps = 1 / (scene.frame_rate * model.step);
  return std::max<std::int64_t>(1, std::llround(std::min(steps, 2 * most_steps)));
}

// Runs of earlier versions have no lock.
bool holds_run(const fs::path& directory) {
  std::error_code none;
  return fs::exists(directory / lock_file, none) ||
         (fs::exists(directory / "scene.toml", none) &&
          fs::exists(io::topology_path(directory / "frames"), none));
}

namespace {

// The number of `name` among NAME, NAME-2, NAME-3, …; 0: it is none of them.
int number_among(const std::string& first, const std::string& name) {
  if (name == first) return 1;
  int number = 0;
  const char* end = name.data() + name.size();
  if (!name.starts_with(first + "-")) return 0;
  const auto read = std::from_chars(name.data() + first.size() + 1, end, number);
  return read.ec == std::errc() && read.ptr == end && number > 1 ? number : 0;
}

bool is_of_scene(const fs::path& directory, const std::string& name) {
  const fs::path path = directory / "scene.toml";
  const auto text = io::read_file(path);
  if (!text) return false;
  const auto root = parse_toml(*text, path.string());
  const Value* names = root ? root->find("scene") : nullptr;
  const Value* found = names ? names->find("name") : nullptr;
  return found && found->text == name;
}

fs::file_time_type last_written(const fs::path& directory) {
  fs::file_time_type last = fs::file_time_type::min();
  for (const char* name : {"scene.toml", "stats.jsonl", "checkpoint.h5"}) {
    std::error_code none;
    const auto time = fs::last_write_time(directory / name, none);
    if (!none) last = std::max(last, time);
  }
  return last;
}

}  // namespace

std::vector<fs::path> runs_in(const fs::path& directory, const std::string& scene_name) {
  const fs::path first = directory.has_filename() ? directory : directory.parent_path();
  struct Run {
    fs::file_time_type written;
    int number;
    fs::path path;
  };
  std::vector<Run> runs;
  std::error_code none;
  const fs::path folder = first.has_parent_path() ? first.parent_path() : ".";
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none)) {
    const std::string name = entry->path().filename().string();
    const int number = number_among(first.filename().string(), name);
    const fs::path path = first.parent_path() / name;
    if (number > 0 && holds_run(path) && is_of_scene(path, scene_name)) runs.push_back({last_written(path), number, path});
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::pair(a.written, a.number) > std::pair(b.written, b.number);
  });
  std::vector<fs::path> result;
  for (const Run& run : runs) result.push_back(run.path);
  return result;
}

Expected<RunSummary> run_scene(const Scene& scene, const step::Model& model, const RunOptions& options) {
  const Stopwatch watch;
  const std::int64_t steps = step_count(scene, model), per_frame = steps_per_frame(scene, model);
  step::Simulation simulation(model);
  Directory directory(options.directory);
  const auto ready = options.resume ? directory.resume(scene, simulation, per_frame)
                                    : directory.start(scene, model, options.overwrite);
  if (!ready) return forward_error(ready);
  if (options.on_ready) options.on_ready();
  const std::vector<DrawnObstacle> obstacles = drawn_obstacles(scene, model);
  for (const StartInside& inside : find_start_inside(model)) {
    if (options.resume || model.obstacles[inside.obstacle].contact != step::ContactKind::Constraint) continue;
    log_info("{}: moved to its surface", describe(inside, model));
  }
  if (!options.resume && simulation.liquid_covered() > 0) {
    log_info("liquid '{}': {} particles of its sources were left out because obstacles are there", model.liquid->name,
             simulation.liquid_covered());
  }
  if (!options.resume) {
    if (const auto written = directory.write_frame(snapshot(scene, obstacles, simulation, 0)); !written) return forward_error(written);
  }

  RunSummary summary;
  if (options.resume) {
    auto failed = directory.earlier_failures();
    if (!failed) return forward_error(failed);
    summary.unconverged_steps = std::move(*failed);
    if (!summary.unconverged_steps.empty()) summary.first_reason = "before the run was resumed";
  }
  std::int64_t saved = options.resume ? simulation.state().step : -1;
  const std::vector<double> model_fingerprint = fingerprint(scene, model);
  const auto save = [&](const step::State& state) -> Expected<void> {
    if (saved == state.step) return {};
    saved = state.step;
    return directory.write_checkpoint(state, model_fingerprint);
  };
  simulation.set_stop_request(options.stop_requested);
  if (options.on_iteration) {
    simulation.set_observer([&](const optimize::Iteration& iteration, std::span<const double>) {
      options.on_iteration({simulation.state().step + 1, steps, iteration, watch.seconds()});
    });
  }
  while (simulation.state().step < steps) {
    if (options.stop_requested && options.stop_requested()) {
      summary.interrupted = true;
      break;
    }
    const step::StepReport report = simulation.advance();
    if (report.interrupted) {
      summary.interrupted = true;
      break;
    }
    Expected<void> written = directory.write_stats(report, model);
    if (report.liquid && report.liquid->removed > 0) {
      log_info("step {}: liquid '{}': {} particles left the domain or were crushed, and are removed", report.step,
               model.liquid->name, report.liquid->removed);
    }
    if (!report.converged()) {
      if (summary.unconverged_steps.empty()) {
        const step::IslandReport* culprit = report.culprit();
        summary.first_reason =
            culprit ? fmt::format("{}: {}", bodies_text(*culprit, model), culprit->solve.reason)
                    : fmt::format("liquid '{}': {}", model.liquid->name, report.liquid->reason);
      }
      summary.unconverged_steps.push_back(report.step);
    }
    if (report.accepted) {
      ++summary.steps;
      if (written && report.step % per_frame == 0) {
        written = directory.write_frame(snapshot(scene, obstacles, simulation, report.step / per_frame));
      }
      const int every = scene.output.checkpoint_every;
      if (written && every > 0 && report.step % every == 0) written = save(simulation.state());
    }
    if (!written) {
      // The disk is full, most likely. A checkpoint of the last step whose results are all written may still fit;
      // otherwise the earlier one stands. Going on from either repeats what is missing.
      simulation.take_back();
      if (const auto last = save(simulation.state()); !last) log_warning("{}", last.error().message);
      return forward_error(written);
    }
    if (options.on_step) {
      const double elapsed = watch.seconds();
      const double left = elapsed / static_cast<double>(std::max<std::int64_t>(summary.steps, 1)) *
                          static_cast<double>(steps - report.step);
      options.on_step({report, steps, elapsed, left});
    }
    if (!report.accepted) {
      summary.broken_off = true;
      break;
    }
  }
  if (const auto written = save(simulation.state()); !written) return forward_error(written);
  if (!summary.interrupted) tell_of_tangles(simulation);
  summary.frames = static_cast<std::int64_t>(io::frame_numbers(directory.frames()).size());
  summary.seconds = watch.seconds();
  return summary;
}

}  // namespace lope::scene
