#include "formats/plf.h"

#include <limits>

#include "formats/forest_draft.h"
#include "util/text.h"

namespace hopefear {
namespace {

class Reader {
 public:
  Reader(PoolBuilder& builder, std::string_view text, std::string where)
      : builder_(builder), text_(text), where_(std::move(where)) {}

  void read() {
    open();
    while (!closes()) {
      open();
      while (!closes()) arc();
      ++columns_;
    }
    blanks();
    if (at_ < text_.size())
      fail("something follows the lattice: " + quoted(text_.substr(at_), 20) + ". Write one lattice a line");
    finish();
  }

 private:
  [[noreturn]] void fail(const std::string& finding) const { throw InputError(where_ + ": " + finding); }
  void blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  char peek() {
    blanks();
    if (at_ >= text_.size()) fail("the lattice ends too soon. Was the line cut off?");
    return text_[at_];
  }
  void open() {
    if (peek() != '(') fail("expected \"(\", found " + quoted(text_.substr(at_), 20) + ". Is this PLF?");
    ++at_;
    first_ = true;
  }
  /// Skips a comma; true if the parenthesis closes.
  bool closes() {
    char c = peek();
    if (c == ',' && !first_) {
      ++at_;
      c = peek();
    } else if (!first_ && c != ')') {
      fail("expected a comma or \")\", found " + quoted(text_.substr(at_), 20) + ". Is this PLF?");
    }
    first_ = false;
    if (c != ')') return false;
    ++at_;
    return true;
  }

  void arc() {
    open();
    const char quote = peek();
    if (quote != '\'' && quote != '"')
      fail("expected a word in quotes, found " + quoted(text_.substr(at_), 20) + ". Is this PLF?");
    ++at_;
    first_ = false;
    word_.clear();
    for (;; ++at_) {
      if (at_ >= text_.size()) fail("the lattice ends too soon. Was the line cut off?");
      if (text_[at_] == quote) break;
      if (text_[at_] == '\\' && ++at_ >= text_.size()) fail("the lattice ends too soon. Was the line cut off?");
      word_ += text_[at_];
    }
    ++at_;
    numbers_.clear();
    while (!closes()) {
      const size_t begin = at_;
      while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != ',' && text_[at_] != ')') ++at_;
      double value = 0;
      if (parse_number(text_.substr(begin, at_ - begin), value) != Number::good)
        fail("the word " + quoted(word_) + " has the number " + quoted(text_.substr(begin, at_ - begin)) +
             ". Write a finite number");
      numbers_.push_back(value);
    }
    if (numbers_.empty()) fail("the word " + quoted(word_) + " has no numbers. Write its score and its distance");
    double distance = 1;
    if (numbers_.size() > 1) {
      distance = numbers_.back();
      numbers_.pop_back();
    }
    if (!(distance >= 1) || distance > 1e9 || distance != static_cast<double>(static_cast<int64_t>(distance)))
      fail("the word " + quoted(word_) +
           " has a distance that is not a whole number from 1 up. Number the nodes in topological order");
    if (arcs_++ > 0 && numbers_.size() != scores_)
      fail("the word " + quoted(word_) + " has " + std::to_string(numbers_.size()) + " scores, arcs before it " +
           std::to_string(scores_) + ". Give every arc the same number");
    scores_ = numbers_.size();
    if (columns_ + static_cast<int64_t>(distance) > std::numeric_limits<int32_t>::max() - 1)
      fail("the lattice is too long. Split it");

    // the start is no node of the forest: its arcs have no tails
    if (columns_ > 0) {
      draft_.tails.push_back(static_cast<int32_t>(columns_ - 1));
      draft_.words.push_back(slot(0));
    }
    if (word_ != "*EPS*")
      for_each_word(word_, [&](std::string_view word) { draft_.words.push_back(builder_.vocab()->add(word)); });
    for (size_t k = 0; k < numbers_.size(); ++k) {
      draft_.feature_ids.push_back(builder_.feature("Feature_" + std::to_string(k)));
      draft_.feature_values.push_back(numbers_[k]);
    }
    draft_.end_edge(static_cast<int32_t>(columns_ + static_cast<int64_t>(distance) - 1));
  }

  void finish() {
    if (columns_ == 0) {  // (): an empty sentence
      draft_.end_edge(0);
      columns_ = 1;
    }
    draft_.nodes = static_cast<int32_t>(columns_);
    draft_.goal = draft_.nodes - 1;
    for (int32_t& head : draft_.heads) {
      if (head >= draft_.nodes)
        fail("an arc ends at node " + std::to_string(head + 1) + ", but the last one is " + std::to_string(draft_.nodes) +
             ". Was the line cut off?");
    }
    for (int32_t v = 1; v <= draft_.nodes; ++v) draft_.names.push_back(v);
    draft_.emit(builder_, where_);
  }

  PoolBuilder& builder_;
  std::string_view text_;
  std::string where_;
  size_t at_ = 0, scores_ = 0, arcs_ = 0;
  bool first_ = false;
  int64_t columns_ = 0;
  std::string word_;
  std::vector<double> numbers_;
  ForestDraft draft_;
};

}  // namespace

void read_plf(PoolBuilder& builder, std::string_view text, const std::string& file, int64_t line) {
  Reader(builder, text, file + ":" + std::to_string(line)).read();
}

}  // namespace hopefear
