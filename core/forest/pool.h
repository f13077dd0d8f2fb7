// A pool: the forests of a tuning set with their references, over one vocabulary of words and one of features.
//
// A pool of k-best lists also has *rows*: candidate j of sentence i is row row_begin(i) + j. Statistics of a metric are a
// matrix with one line per row, and everything a batch trainer needs is in these flat arrays.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "forest/forest.h"

namespace hopefear {

/// The type of an id in its JSON file; `place`: from another format, where it is a number if it counts the sentences.
enum class IdKind : uint8_t { place, number, string };

struct Sentence {
  std::string id;      // as the file has it
  std::string source;  // may be empty
  Forest forest;
  std::vector<std::vector<int32_t>> references;  // word ids; a missing reference is left out
  IdKind id_kind = IdKind::place;
};

/// Leaves out empty references, which stand for missing ones; when all are empty, the sentence has one empty reference.
void drop_missing(std::vector<std::vector<int32_t>>& references);

struct Pool {
  std::shared_ptr<Vocab> vocab = std::make_shared<Vocab>();
  std::shared_ptr<Vocab> features = std::make_shared<Vocab>();  // ids below dense_width are dense
  int32_t dense_width = 0;
  std::vector<std::string> number_names;  // the columns of Forest::numbers
  std::vector<Sentence> sentences;

  size_t size() const { return sentences.size(); }
  bool is_lists() const;
  /// sentences + 1 offsets of the rows; throws InputError unless every forest is a list.
  std::vector<int64_t> row_begin() const;
  /// sentences + 1 offsets of the edges.
  std::vector<int64_t> edge_begin() const;

  /// Adds a sentence, whose forest has the vocabularies of the pool. References are texts; empty ones are missing.
  void append(std::string id, const Forest& forest, std::string source, const std::vector<std::string>& references);
  /// lines[k][i] is reference k of sentence i; an empty one is missing.
  void set_references(const std::vector<std::vector<std::string>>& lines);
  void set_sources(const std::vector<std::string>& lines);
};

/// The same pool with each word replaced by the words map[map_begin[id]] .. map[map_begin[id+1]] of `vocab`.
/// This is how a metric's tokenisation and lower-casing reach lists, lattices and forests alike.
Pool retokenized(const Pool& pool, std::span<const int64_t> map_begin, std::span<const int32_t> map,
                 std::shared_ptr<Vocab> vocab);

/// The candidates of several pools of lists under their sentence ids, duplicates (same words and features) removed, in a
/// canonical order: features by name, sentences by id as in the first pool, candidates by words, then features. A result
/// computed from it cannot depend on the order of lines in a file. References are those of the first pool that has any.
Pool merged(const std::vector<const Pool*>& pools);

/// The sentences with these indices, in this order; arrays are shared, not copied.
Pool subset(const Pool& pool, std::span<const int64_t> indices);

}  // namespace hopefear
