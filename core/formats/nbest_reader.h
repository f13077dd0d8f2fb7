// Candidate lists from text or JSON files, chunk by chunk: the caller opens and unpacks the files.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/jsonl_nbest.h"
#include "formats/moses_nbest.h"
#include "formats/pool_builder.h"
#include "util/error.h"

namespace hopefear {

class NbestReader {
 public:
  /// `by_position`: as JsonlNbestReader has it; `stream`: as PoolBuilder has it. Features that 9 of 10 candidates have are dense.
  NbestReader(bool by_position, bool stream, Missing missing = Missing::error)
      : builder_(stream, 0.9, missing), moses_(builder_), jsonl_(builder_, by_position) {}

  enum class Format { moses, jsonl, json };  // json: objects that may go over several lines

  void begin_file(std::string name, Format format) {
    const bool json = format != Format::moses;
    if (started_ && json != json_) throw input_error(name, 0, "one list is in two formats. Convert it, or merge the files");
    started_ = true;
    json_ = json;
    builder_.begin_file(name);
    json ? jsonl_.begin_file(std::move(name), format == Format::json) : moses_.begin_file(std::move(name));
  }
  void feed(std::string_view bytes) { json_ ? jsonl_.feed(bytes) : moses_.feed(bytes); }
  void end_file() { json_ ? jsonl_.end_file() : moses_.end_file(); }
  void finish() { builder_.finish(); }

  /// Moves out all sentences that are ready.
  std::vector<NbestSentence> ready() {
    std::vector<NbestSentence> out;
    while (builder_.has_ready()) out.push_back(builder_.pop());
    return out;
  }
  void collect(Pool& pool) {
    builder_.collect(pool);
    pool.number_names = jsonl_.metric_names();
  }
  const std::vector<std::string>& metric_names() const { return jsonl_.metric_names(); }

 private:
  PoolBuilder builder_;
  MosesNbestReader moses_;
  JsonlNbestReader jsonl_;
  bool json_ = false, started_ = false;
};

}  // namespace hopefear
