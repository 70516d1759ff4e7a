// What a step reports, as a line of stats.jsonl (docs/formats.md).
#pragma once

#include <lope/step/model.h>
#include <lope/step/report.h>

#include <nlohmann/json_fwd.hpp>

namespace lope::scene {

nlohmann::json to_json(const step::StepReport& report, const step::Model& model);

}  // namespace lope::scene
