// k-best lists as text, one candidate per line (Moses; cdec and Joshua):
//
//   id ||| words ||| name= v v ... name= v ... ||| score [||| more]
//   id ||| words ||| name=v name=v ... ||| score [||| more]
//
// A name with one value keeps it, one with several becomes name_0, name_1, ... Ids count from 0 without a gap.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/lines.h"
#include "formats/pool_builder.h"

namespace hopefear {

class MosesNbestReader {
 public:
  explicit MosesNbestReader(PoolBuilder& builder) : builder_(builder) {}

  void begin_file(std::string name) { lines_.begin_file(std::move(name)); }
  /// The next bytes of the file, cut anywhere.
  void feed(std::string_view bytes) {
    lines_.feed(bytes, [&](std::string_view text) { line(text); });
  }
  void end_file();

 private:
  struct Label {  // a name with several values, or none
    std::vector<int32_t> ids;
  };
  struct Guess {  // what stood in this place of the line before: lists repeat their names in the same order
    std::string text;
    std::vector<int32_t> ids;
  };

  void line(std::string_view text);
  void sentence_id(std::string_view field);
  void features(std::string_view field);
  void values_of(std::string_view name, std::string_view label);
  void add(int32_t id, double value);
  double number(std::string_view token, std::string_view name) const;
  [[noreturn]] void fail(const std::string& finding) const { lines_.fail(finding); }
  void end_sentence();
  void renumber();

  PoolBuilder& builder_;
  Lines lines_;
  int64_t id_ = -1;  // of the sentence at hand
  Vocab labels_;
  std::vector<Label> several_;
  std::vector<uint8_t> single_;  // per feature: it was written with exactly one value
  std::vector<Guess> guesses_;
  size_t place_ = 0;
  std::vector<double> values_;
};

}  // namespace hopefear
