#include <lope/base/errors.h>
#include <lope/io/json_lines.h>
#include <lope/render/run_plots.h>
#include <lope/render/statistics_plots.h>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace lope::render {
namespace {

namespace fs = std::filesystem;

Vec3 vector_from(const nlohmann::json& value) {
  return {io::number_from(value.at(0)), io::number_from(value.at(1)), io::number_from(value.at(2))};
}

// One line of the statistics. Throws nlohmann::json::exception where it is not as it should be.
StepRecord step_record(const nlohmann::json& line) {
  StepRecord record;
  record.step = line.at("step").get<int>();
  record.time = line.at("time").get<double>();
  record.wall_seconds = line.at("seconds").get<double>();
  record.converged = line.at("converged").get<bool>();
  for (const auto& body : line.at("bodies")) {
    const auto& energy = body.at("energy");
    record.kinetic_energy += io::number_from(energy.at("kinetic"));
    record.elastic_energy += io::number_from(energy.at("elastic"));
    record.gravity_energy += io::number_from(energy.at("gravity"));
    record.linear_momentum += vector_from(body.at("momentum"));
    if (body.contains("angular_momentum")) record.angular_momentum += vector_from(body.at("angular_momentum"));
    else record.angular_momentum.setConstant(std::nan(""));
  }
  const auto& islands = line.at("islands");
  for (const auto& island : islands) {
    if (island.at("measures") != islands.front().at("measures")) continue;  // they have no axis in common
    const auto &solve = island.at("solve"), &history = solve.at("history");
    record.tolerance = io::number_from(solve.at("tolerance"));
    record.iteration_count += std::max(solve.at("iterations").get<long>(), static_cast<long>(history.size()));
    for (const auto& it : history) {
      record.iterations.push_back(
          {it.at("iteration").get<int>(), it.at("seconds").get<double>(), io::number_from(it.at("measure"))});
    }
  }
  record.total_energy = record.kinetic_energy + record.elastic_energy + record.gravity_energy;
  return record;
}

}  // namespace

Expected<std::vector<fs::path>> write_statistics_plots(const fs::path& file, const fs::path& folder) {
  const auto lines = io::read_json_lines(file);
  if (!lines) return forward_error(lines);
  std::vector<StepRecord> records;
  for (const nlohmann::json& line : *lines) {
    try {
      records.push_back(step_record(line));
    } catch (const nlohmann::json::exception& trouble) {
      return input_error("{}:{}: not statistics of a step: {}", file.string(), records.size() + 1,
                         trouble.what());
    }
  }
  std::string measure;  // the same in every step
  if (!lines->empty() && !lines->front().at("islands").empty())
    measure = lines->front().at("islands").front().at("measures");
  return write_run_plots(records, folder, measure);
}

}  // namespace lope::render
