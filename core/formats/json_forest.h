// Forests as JSON, in the dialects of three decoders, which differ in their keys.
//
// cdec       {"rules": [1, "[X] ||| source ||| [1] target", ...], "features": ["LM", ...],
//             "edges": [{"tail": [0], "spans": [i,j,-1,-1], "feats": [0, 1.5, ...], "rule": 1}, ...], "node": {"in_edges": [0, ...]},
//             "edges": [...], "node": {...}, ...}        keys repeat; the last node is the goal; a node without edges is a leaf
// Travatar   {"nodes": [{"id": 0, "sym": "S", "span": [i, j]}, ...],
//             "edges": [{"id": 0, "head": 0, "tails": [1], "trg": [{"words": ["a", -1]}], "features": {"lm": 1.5}}, ...],
//             "words": [...]}        node 0 is the goal; -1-t stands for tail t; a node without edges is a source word
// Cicada     {"rules": ["[x] ||| a [x,1]", ...], "nodes": [[{"tail": [0], "feature": {"lm": 1.5}, "rule": 1}, ...], ...], "goal": 1}
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/pool_builder.h"

namespace hopefear {

/// Splits a file into JSON documents, each on one line or over several. `id |||` may precede a document.
class JsonDocuments {
 public:
  /// `objects`: a document is an object; text before it, such as the brackets and commas of an array, is its prefix.
  explicit JsonDocuments(bool objects = false) : objects_(objects) {}

  /// Calls document(prefix, text, first line) for each complete document.
  template <class Document>
  void feed(std::string_view bytes, Document&& document) {
    for (const char c : bytes) {
      text_ += c;
      line_ += c == '\n';
      if (in_string_) {
        if (escaped_)
          escaped_ = false;
        else if (c == '\\')
          escaped_ = true;
        else if (c == '"')
          in_string_ = false;
      } else if (c == '"' && depth_ > 0) {
        in_string_ = true;
      } else if (c == '{' || (c == '[' && (depth_ > 0 || !objects_))) {
        if (depth_++ == 0) {
          begin_ = text_.size() - 1;
          first_line_ = line_;
        }
      } else if ((c == '}' || c == ']') && depth_ > 0 && --depth_ == 0) {
        document(std::string_view(text_).substr(0, begin_), std::string_view(text_).substr(begin_), first_line_);
        text_.clear();
      }
    }
  }
  /// The rest of the input: blanks, unless the file is truncated.
  const std::string& rest() const { return text_; }
  int64_t line() const { return line_; }
  /// The first line of an incomplete document, or 0.
  int64_t unfinished() const { return depth_ > 0 ? first_line_ : 0; }

 private:
  std::string text_;
  size_t begin_ = 0, depth_ = 0;
  int64_t line_ = 1, first_line_ = 1;
  bool in_string_ = false, escaped_ = false, objects_ = false;
};

/// Reads one document and returns the source sentence if it holds one (Travatar); the caller ends the sentence.
std::string read_json_forest(PoolBuilder& builder, std::string_view text, const std::string& file, int64_t line);

}  // namespace hopefear
