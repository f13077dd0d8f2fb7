// k-best lists as text, one candidate per line:
//
//   id ||| words ||| name= v v ... name= v ... ||| score [||| more]                     Moses
//   id||| words||| name: v v ... name: v ...||| score                                   Moses, old
//   id ||| words ||| name=v name=v ... ||| score [||| more]                             cdec, Joshua
//   id ||| words [||| alignment] [||| WordScores= v v ...] ||| name= v ... ||| score    Marian
//   id ||| words ||| score ||| name=v name=v ...                                        Travatar
//
// A name with one value keeps it, one with several becomes name_0, name_1, ...; of Marian's word scores there are sum, mean and
// min. Ids count from 0 or from 1 without a gap.
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

  void begin_file(std::string name) {
    lines_.begin_file(std::move(name));
    loose_ = false;
  }
  /// Reads the next chunk of the file, which may end anywhere.
  void feed(std::string_view bytes) {
    lines_.feed(bytes, [&](std::string_view text) { line(text); });
  }
  void end_file();

 private:
  struct Label {  // a name with several values, or none
    std::vector<int32_t> ids;
  };
  struct Guess {  // the name at this place of the previous line: lists repeat their names in the same order
    std::string text;
    std::vector<int32_t> ids;
  };

  void line(std::string_view text);
  int split(std::string_view text);
  void place_fields();
  void word_scores(std::string_view field);
  void check_score(std::string_view score) const;
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
  bool loose_ = false;                    // this file has ||| without blanks around it
  std::vector<std::string_view> fields_;  // of the current line
  int64_t id_ = -1;                       // of the current sentence
  Vocab labels_;
  std::vector<Label> several_;
  std::vector<uint8_t> single_;  // per feature: it was written with exactly one value
  std::vector<Guess> guesses_;
  size_t place_ = 0;
  std::vector<double> values_;
};

}  // namespace hopefear
