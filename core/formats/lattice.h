// Lattices of speech recognisers: states and arcs with words and scores, from a start to the end states.
//
// Kaldi (text)   utterance                          a line; then arcs and end states, then an empty line
//                from to word [graph,acoustic,...]  CompactLattice; costs, of which the features have the opposite sign
//                from to transition word [g,a]      Lattice
//                state [graph,acoustic,...]         an end state
// OpenFST (text) from to input [output] [cost], state [cost]; an empty line between two of them
// HTK SLF        name=value fields: N= and L= sizes, I= nodes with W= words, J= links with S= E= W= a= (acoustic) l= (language)
//
// Features: acoustic and graph (Kaldi), score (OpenFST), acoustic, lm and pron (SLF), each the larger the better, and words, 1
// for each word. Epsilons, sentence ends and nulls are no words.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/forest_draft.h"
#include "formats/lines.h"
#include "formats/pool_builder.h"

namespace hopefear {

/// Makes a forest of arcs; those on no path from the start to an end are left out.
class Lattice {
 public:
  int32_t state(int64_t name);
  /// The words and features of an arc are pushed first, as in ForestDraft.
  void end_arc(int32_t from, int32_t to);
  /// The features of an end state likewise.
  void end_state(int32_t state);
  void word(PoolBuilder& builder, std::string_view text);
  /// Zeros too: a feature of most arcs is a dense one.
  void feature(int32_t id, double value) { features_.emplace_back(id, value); }
  bool empty() const { return arcs_.empty(); }
  int32_t start = -1;
  int32_t count = -1;  // the feature that counts words
  void emit(PoolBuilder& builder, const std::string& where) const;

 private:
  struct Arc {
    int32_t from, to;  // to: -1 for the end
    std::vector<int32_t> words;
    std::vector<std::pair<int32_t, double>> features;
  };
  void close(int32_t from, int32_t to);
  std::vector<uint8_t> reached(bool forwards) const;

  std::vector<Arc> arcs_;
  std::unordered_map<int64_t, int32_t> states_;
  std::vector<int64_t> names_;
  std::vector<int32_t> words_;
  std::vector<std::pair<int32_t, double>> features_;
};

/// Reads lattices line by line. When one is complete it is in the builder; done(id) has to end the sentence.
class LatticeReader {
 public:
  enum class Format { kaldi, openfst, slf };

  explicit LatticeReader(PoolBuilder& builder) : builder_(builder) {}
  void begin_file(std::string name, Format format);
  /// Sets the symbol table, words and their numbers, for labels.
  void symbols(std::string_view text, const std::string& file);
  template <class Done>
  void feed(std::string_view bytes, Done&& done) {
    lines_.feed(bytes, [&](std::string_view text) { line(text, done); });
  }
  template <class Done>
  void end_file(Done&& done) {
    lines_.end_file([&](std::string_view text) { line(text, done); });
    if (open()) finish(done);
  }

 private:
  template <class Done>
  void line(std::string_view text, Done&& done) {
    if (ends(text) && open()) finish(done);
    if (!trim(text).empty()) read(text);
  }
  template <class Done>
  void finish(Done&& done) {
    emit();
    done(std::move(id_));
    reset();
  }
  bool open() const { return begun_; }
  bool ends(std::string_view text) const;
  void reset();
  void read(std::string_view text);
  void emit();
  void fst_line(std::string_view text);
  void fst_arc();
  void slf_line(std::string_view text);
  void slf_field(std::string_view name, std::string_view value);
  void slf_link();
  void costs(std::string_view text);
  void word(std::string_view label);
  int64_t whole(std::string_view text, const char* what) const;
  double number(std::string_view text, const char* what) const;
  [[noreturn]] void fail(const std::string& finding) const { lines_.fail(finding); }

  struct Node {
    std::string word;
    bool given = false;
  };
  struct Link {
    int64_t from, to;
    std::string word;
    bool named;
    double acoustic, language, pronunciation;
  };

  PoolBuilder& builder_;
  Lines lines_;
  Format format_ = Format::kaldi;
  std::unordered_map<std::string, std::string> symbols_;
  Lattice lattice_;
  std::string id_, stem_;
  bool begun_ = false;
  int64_t first_line_ = 0, lattices_ = 0;
  std::vector<std::string_view> fields_;
  std::vector<std::vector<std::string>> rows_;  // OpenFST: only all arcs together show whether this is a transducer
  // SLF
  std::unordered_map<int64_t, Node> nodes_;
  std::vector<Link> links_;
  int64_t start_ = -1, end_ = -1, nodes_wanted_ = -1, links_wanted_ = -1;
  double base_ = 0;  // factor that makes logarithms natural; 0: e
};

}  // namespace hopefear
