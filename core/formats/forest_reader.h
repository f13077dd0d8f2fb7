// Forests of other programs, file by file and chunk by chunk: the caller opens and unpacks the files.
//
// A file of Moses is one sentence; PLF has one sentence per line; JSON files have a document per sentence (see json_forest.h); of
// lattices a file has one or several (see lattice.h).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/json_forest.h"
#include "formats/lattice.h"
#include "formats/lines.h"
#include "formats/pool_builder.h"

namespace hopefear {

class ForestReader {
 public:
  enum class Format { moses, plf, json, kaldi, openfst, slf };

  /// `before`: how many lines of the file, each a sentence, were read elsewhere.
  void begin_file(std::string name, Format format, int64_t before);
  void feed(std::string_view bytes);
  void end_file();
  void finish() { builder_.finish(); }
  /// The symbol table for the labels of lattices.
  void symbols(std::string_view text, const std::string& file) { lattices_.symbols(text, file); }
  int64_t sentences() const { return sentences_; }
  /// Moves the sentences read so far into a pool; every forest is checked.
  void collect(Pool& pool);

 private:
  void end_sentence(std::string source, std::string id = "");
  static LatticeReader::Format lattice_format(Format format);
  void plf(std::string_view line);
  void json(std::string_view prefix, std::string_view text, int64_t line);

  PoolBuilder builder_{false, 0.5};
  Format format_ = Format::json;
  std::string file_, text_;
  Lines lines_;
  JsonDocuments documents_;
  LatticeReader lattices_{builder_};
  int64_t sentences_ = 0;
};

}  // namespace hopefear
