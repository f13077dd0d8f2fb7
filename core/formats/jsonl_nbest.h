// k-best lists as JSON, one sentence per line:
//
//   {"id": 0, "source": "...", "references": ["...", ...],
//    "candidates": [{"text": "...", "features": {"name": 1.5, ...}, "metrics": {"comet": 0.8, ...}}, ...]}
//
// "source", "references" and "metrics" may be left out; "id" is the number of the sentence, from 0, when it is left out.
// Every candidate has the same metrics. Other keys are passed over.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "formats/json.h"
#include "formats/lines.h"
#include "formats/pool_builder.h"

namespace hopefear {

class JsonlNbestReader {
 public:
  /// `by_position`: references come from elsewhere and go by position, so ids that are numbers must be positions.
  JsonlNbestReader(PoolBuilder& builder, bool by_position) : builder_(builder), by_position_(by_position) {}

  void begin_file(std::string name) { lines_.begin_file(std::move(name)); }
  void feed(std::string_view bytes) {
    lines_.feed(bytes, [&](std::string_view text) { line(text); });
  }
  void end_file();

  const std::vector<std::string>& metric_names() const { return metric_names_; }

 private:
  void line(std::string_view text);
  void candidate(Json& json);

  PoolBuilder& builder_;
  bool by_position_;
  Lines lines_;
  int64_t sentences_ = 0;
  std::unordered_set<std::string> ids_;
  bool metrics_known_ = false;
  std::vector<std::string> metric_names_;
};

}  // namespace hopefear
