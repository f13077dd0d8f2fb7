#include "formats/moses_hypergraph.h"

#include <charconv>
#include <limits>

#include "formats/forest_draft.h"
#include "formats/lines.h"

namespace hopefear {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max() - 1;

class Reader {
 public:
  Reader(PoolBuilder& builder, Lines& lines) : builder_(builder), lines_(lines) {}

  void line(std::string_view text) {
    if (edges_left_ > 0) return edge(text);
    text = trim(text);
    if (text.starts_with('#')) return;
    if (nodes_wanted_ < 0) {
      const size_t blank = text.find_first_of(" \t");
      if (blank == std::string_view::npos)
        lines_.fail("expected the numbers of nodes and edges, found " + quoted(text) + ". Is this a Moses hypergraph?");
      nodes_wanted_ = whole(text.substr(0, blank), "the number of nodes");
      whole(trim(text.substr(blank)), "the number of edges");
      return;
    }
    if (draft_.nodes == nodes_wanted_) {
      if (text.empty()) return;
      lines_.fail("something follows the last of " + std::to_string(nodes_wanted_) + " nodes. Write one hypergraph a file");
    }
    edges_left_ = whole(text, "the number of edges of a node");
    ++draft_.nodes;
    draft_.spans.insert(draft_.spans.end(), {-1, -1});
    if (edges_left_ == 0)
      lines_.fail("node " + std::to_string(draft_.nodes - 1) + " has no edges: the forest is not connected. Leave the node out");
  }

  void finish() {
    if (nodes_wanted_ < 0 || draft_.nodes < nodes_wanted_ || edges_left_ > 0)
      throw input_error(lines_.file(), lines_.number(), "the hypergraph ends too soon. Was the file cut off?");
    draft_.goal = draft_.nodes - 1;
    draft_.emit(builder_, lines_.file());
  }

 private:
  int64_t whole(std::string_view text, const char* what) const {
    int64_t value = -1;
    const auto [p, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || p != text.data() + text.size() || value < 0 || value > kMost)
      lines_.fail(std::string(what) + " must be a whole number, found " + quoted(text) + ". Is this a Moses hypergraph?");
    return value;
  }

  void edge(std::string_view text) {
    --edges_left_;
    std::string_view target, features, covered;
    bool more = true;
    int fields = next_field(text, target, more);
    fields += next_field(text, features, more);
    fields += next_field(text, covered, more);
    if (fields < 3)
      lines_.fail("expected 3 fields split by \" ||| \" (target, features, source-covered), found " + std::to_string(fields) +
                  ". Was the file cut off?");
    int32_t tails = 0;
    for_each_word(target, [&](std::string_view word) {
      if (word.size() > 2 && word.front() == '[' && word.back() == ']') {
        const std::string_view inside = word.substr(1, word.size() - 2);
        if (inside.find_first_not_of("0123456789") == std::string_view::npos) {
          const int64_t node = whole(inside, "a tail");
          if (node >= nodes_wanted_)
            lines_.fail("an edge uses node " + std::to_string(node) + ", but there are only " + std::to_string(nodes_wanted_) +
                        ". Was the file cut off?");
          draft_.tails.push_back(static_cast<int32_t>(node));
          draft_.words.push_back(slot(tails++));
          return;
        }
      }
      if (word != "<s>" && word != "</s>") draft_.words.push_back(builder_.vocab()->add(word));
    });
    for_each_word(features, [&](std::string_view token) {
      const size_t equals = token.rfind('=');
      if (equals == std::string_view::npos || equals == 0)
        lines_.fail("the feature " + quoted(token) + " is not name=value. Write it so");
      double value = 0;
      if (parse_number(token.substr(equals + 1), value) != Number::good)
        lines_.fail("feature " + quoted(token.substr(0, equals)) + " has the value " + quoted(token.substr(equals + 1)) +
                    ". Write a finite number");
      draft_.feature_ids.push_back(builder_.feature(token.substr(0, equals)));
      draft_.feature_values.push_back(value);
    });
    const auto words = static_cast<int32_t>(whole(trim(covered), "source-covered"));
    const size_t head = draft_.nodes - 1;
    draft_.spans[2 * head] = 0;
    draft_.spans[2 * head + 1] = words;
    draft_.end_edge(draft_.nodes - 1);
  }

  PoolBuilder& builder_;
  Lines& lines_;
  ForestDraft draft_;
  int64_t nodes_wanted_ = -1, edges_left_ = 0;
};

}  // namespace

void read_moses_hypergraph(PoolBuilder& builder, std::string_view text, const std::string& file) {
  Lines lines;
  lines.begin_file(file);
  Reader reader(builder, lines);
  auto line = [&](std::string_view one) { reader.line(one); };
  lines.feed(text, line);
  lines.end_file(line);
  reader.finish();
}

}  // namespace hopefear
