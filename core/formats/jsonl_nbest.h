// k-best lists as JSON, one sentence per line:
//
//   {"id": 0, "source": "...", "references": ["...", ...],
//    "candidates": [{"text": "...", "features": {"name": 1.5, ...}, "metrics": {"comet": 0.8, ...}}, ...]}
//
// or the same objects over several lines, one after another or in an array.
// "source", "references" and "metrics" may be left out; "id" is the number of the sentence, from 0, when it is left out.
// Every candidate has the same metrics. Other keys are ignored.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "formats/json.h"
#include "formats/json_forest.h"
#include "formats/lines.h"
#include "formats/pool_builder.h"

namespace hopefear {

class JsonlNbestReader {
 public:
  /// `by_position`: references come from other files and are matched by position, so ids that are numbers must be positions.
  JsonlNbestReader(PoolBuilder& builder, bool by_position) : builder_(builder), by_position_(by_position) {}

  /// `whole`: an object may span several lines, and be in an array.
  void begin_file(std::string name, bool whole) {
    lines_.begin_file(std::move(name));
    documents_ = JsonDocuments(true);
    whole_ = whole;
    array_ = Array::none;
    before_ = sentences_;
  }
  void feed(std::string_view bytes) {
    if (whole_)
      documents_.feed(bytes, [&](std::string_view prefix, std::string_view text, int64_t at) { document(prefix, text, at); });
    else
      lines_.feed(bytes, [&](std::string_view text) { sentence(text, lines_.number()); });
  }
  void end_file();

  const std::vector<std::string>& metric_names() const { return metric_names_; }

 private:
  enum class Array { none, open, closed };

  void sentence(std::string_view text, int64_t line);
  void document(std::string_view prefix, std::string_view text, int64_t line);
  void around(std::string_view text, bool last, int64_t line);
  void candidate(Json& json);
  using Where = std::function<std::string()>;  // which candidate it is, for messages
  void add_text(Json& json);
  void add_features(Json& json, const Where& where);
  void read_metrics(Json& json, const Where& where, std::vector<double>& metrics, std::vector<uint8_t>& given);

  PoolBuilder& builder_;
  bool by_position_;
  Lines lines_;
  bool whole_ = false;
  JsonDocuments documents_;
  Array array_ = Array::none;
  int64_t sentences_ = 0, before_ = 0, base_ = 0;
  std::unordered_set<std::string> ids_;
  bool metrics_known_ = false;
  std::vector<std::string> metric_names_;
};

}  // namespace hopefear
