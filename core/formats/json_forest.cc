#include "formats/json_forest.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

#include "formats/forest_draft.h"
#include "formats/json.h"
#include "formats/json_rules.h"
#include "util/text.h"

namespace hopefear {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max() - 1;
constexpr int64_t kNoRule = -1, kOwnWords = -2;

class Reader {
 public:
  Reader(PoolBuilder& builder, std::string_view text, const std::string& file, int64_t line)
      : builder_(builder), json_(text, file, line), where_(file + ":" + std::to_string(line)) {}

  std::string read() {
    std::string key;
    json_.begin_object("a forest");
    while (json_.next_key(key)) {
      if (key == "rules")
        rules();
      else if (key == "features")
        feature_list();
      else if (key == "edges")
        edge_list();
      else if (key == "node")
        cdec_node();
      else if (key == "nodes")
        nodes();
      else if (key == "goal")
        goal();
      else if (key == "words")
        source_words();
      else
        json_.skip();
    }
    json_.end();
    if (dialect_ == Dialect::unknown) json_.fail("there are no nodes. Is this a forest of cdec, Travatar or Cicada?");
    if (dialect_ == Dialect::cdec) finish_cdec();
    if (dialect_ == Dialect::travatar) finish_travatar();
    if (dialect_ == Dialect::cicada) finish_cicada();
    fill();
    draft_.emit(builder_, where_);
    return source_;
  }

 private:
  struct Edge {  // ends of its part of the flat arrays below
    size_t tails, words, features;
    int64_t rule = kNoRule, head = -1;
    int32_t span[2] = {-1, -1};
  };

  void be(Dialect dialect) {
    if (dialect_ != Dialect::unknown && dialect_ != dialect)
      json_.fail("the keys of two dialects are mixed. Is this a forest of cdec, Travatar or Cicada?");
    dialect_ = dialect;
  }
  bool null() {
    if (json_.peek() != Json::Kind::null) return false;
    json_.skip();
    return true;
  }
  int64_t index(const char* what) {
    const int64_t value = json_.integer(what);
    if (value < 0 || value > kMost) json_.fail(std::string(what) + " is " + std::to_string(value) + ". Count from 0");
    return value;
  }

  void rules() {
    if (null()) return;
    json_.begin_array("\"rules\"");
    while (json_.next_item()) {
      int64_t id;
      if (json_.peek() == Json::Kind::number) {
        be(Dialect::cdec);
        id = index("a rule's number");
        if (!json_.next_item()) json_.fail("rule " + std::to_string(id) + " has no text. Was the file cut off?");
      } else {
        be(Dialect::cicada);
        id = static_cast<int64_t>(rules_.size()) + 1;
      }
      std::vector<int32_t> words;
      rule_words(json_.string("a rule"), dialect_, *builder_.vocab(), json_, words);
      if (!rules_.emplace(id, std::move(words)).second) json_.fail("rule " + std::to_string(id) + " occurs twice. Keep one");
    }
  }

  void feature_list() {
    if (null()) return;
    be(Dialect::cdec);
    json_.begin_array("\"features\"");
    while (json_.next_item()) feature_names_.push_back(feature(json_.string("a feature name")));
  }

  int32_t feature(std::string_view name) {
    if (name.empty() || std::any_of(name.begin(), name.end(), is_blank))
      json_.fail("the feature name " + quoted(name) + " is empty or has a blank in it. Rename the feature");
    return builder_.feature(name);
  }

  void edge_features() {
    if (null()) return;
    if (json_.peek() == Json::Kind::array) {  // cdec: number or name, value, ...
      json_.begin_array("\"feats\"");
      while (json_.next_item()) {
        int32_t id;
        if (json_.peek() == Json::Kind::string) {
          id = feature(json_.string("a feature name"));
        } else {
          const int64_t number = index("a feature's number");
          if (number >= static_cast<int64_t>(feature_names_.size()))
            json_.fail("feature number " + std::to_string(number) + " is not in the list of " +
                       std::to_string(feature_names_.size()) + " features. Name it there");
          id = feature_names_[number];
        }
        if (!json_.next_item())
          json_.fail("feature " + quoted((*builder_.features())[id]) + " has no value. Was the file cut off?");
        feature_ids_.push_back(id);
        feature_values_.push_back(json_.number("a feature"));
      }
      return;
    }
    json_.begin_object("\"features\"");
    std::string name;
    while (json_.next_key(name)) {
      feature_ids_.push_back(feature(name));
      feature_values_.push_back(json_.number("a feature"));
    }
  }

  /// Travatar: [{"words": [...]}, ...], of which the first is the target sentence; older files have the words directly.
  void target_words() {
    auto word = [&] {
      if (json_.peek() == Json::Kind::string) {
        words_.push_back(builder_.vocab()->add(json_.string("a word")));
        return;
      }
      const int64_t tail = json_.integer("a word");
      if (tail >= 0 || tail < -kMost)
        json_.fail("the target word " + std::to_string(tail) + " is no tail. Write -1 for the first tail, or the word in quotes");
      words_.push_back(static_cast<int32_t>(tail));
    };
    json_.begin_array("\"trg\"");
    bool first = true;
    std::string key;
    while (json_.next_item()) {
      const Json::Kind kind = json_.peek();
      if (kind == Json::Kind::string || kind == Json::Kind::number) {
        word();
        first = false;
      } else if (!first) {
        json_.skip();
      } else if (kind == Json::Kind::array) {
        first = false;
        json_.begin_array("\"trg\"");
        while (json_.next_item()) word();
      } else {
        first = false;
        json_.begin_object("\"trg\"");
        while (json_.next_key(key)) {
          if (key != "words") {
            json_.skip();
            continue;
          }
          json_.begin_array("\"words\"");
          while (json_.next_item()) word();
        }
      }
    }
  }

  void edge() {
    Edge edge;
    std::string key;
    json_.begin_object("an edge");
    while (json_.next_key(key)) {
      if (key == "tail" || key == "tails") {
        if (null()) continue;
        json_.begin_array("\"tail\"");
        while (json_.next_item()) tails_.push_back(index("a tail"));
      } else if (key == "feats" || key == "features" || key == "feature") {
        edge_features();
      } else if (key == "rule") {
        if (json_.peek() == Json::Kind::string) {
          rule_words(json_.string("a rule"), Dialect::cdec, *builder_.vocab(), json_, words_);
          edge.rule = kOwnWords;
        } else {
          edge.rule = index("a rule's number");
        }
      } else if (key == "trg") {
        target_words();
        edge.rule = kOwnWords;
      } else if (key == "head") {
        edge.head = index("a head");
      } else if (key == "spans") {
        json_.begin_array("\"spans\"");
        for (int k = 0; json_.next_item(); ++k) {
          const int64_t place = json_.integer("a span");
          if (k < 2) edge.span[k] = static_cast<int32_t>(std::max<int64_t>(-1, std::min(place, kMost)));
        }
      } else {
        json_.skip();
      }
    }
    edge.tails = tails_.size();
    edge.words = words_.size();
    edge.features = feature_ids_.size();
    edges_.push_back(edge);
  }

  void edge_list() {
    if (null()) return;
    json_.begin_array("\"edges\"");
    while (json_.next_item()) edge();
  }

  void cdec_node() {
    be(Dialect::cdec);
    const auto node = static_cast<int64_t>(draft_.nodes++);
    bool leaf = true;
    std::string key;
    json_.begin_object("\"node\"");
    while (json_.next_key(key)) {
      if (key != "in_edges" || json_.peek() == Json::Kind::null) {
        json_.skip();
        continue;
      }
      json_.begin_array("\"in_edges\"");
      while (json_.next_item()) {
        const int64_t e = index("an edge's number");
        if (e >= static_cast<int64_t>(edges_.size()))
          json_.fail("node " + std::to_string(node) + " uses edge " + std::to_string(e) +
                     ", which has not come yet. Was the file cut off?");
        if (edges_[e].head >= 0) json_.fail("edge " + std::to_string(e) + " belongs to two nodes. Keep one");
        edges_[e].head = node;
        leaf = false;
      }
    }
    if (leaf) leaves_.push_back(node);
  }

  void nodes() {
    json_.begin_array("\"nodes\"");
    std::string key;
    while (json_.next_item()) {
      if (draft_.nodes == kMost) json_.fail("there are too many nodes. Prune the forest");
      if (json_.peek() == Json::Kind::array) {
        be(Dialect::cicada);
        json_.begin_array("a node");
        while (json_.next_item()) {
          edge();
          edges_.back().head = draft_.nodes;
        }
        ++draft_.nodes;
        continue;
      }
      be(Dialect::travatar);
      int64_t id = draft_.nodes;
      int32_t span[2] = {-1, -1};
      std::string symbol;
      json_.begin_object("a node");
      while (json_.next_key(key)) {
        if (key == "id") {
          id = index("a node's id");
        } else if (key == "sym" && json_.peek() == Json::Kind::string) {
          symbol = json_.string("\"sym\"");
        } else if (key == "span" && json_.peek() == Json::Kind::array) {
          json_.begin_array("\"span\"");
          for (int k = 0; json_.next_item(); ++k) {
            const int64_t place = json_.integer("a span");
            if (k < 2) span[k] = static_cast<int32_t>(std::max<int64_t>(-1, std::min(place, kMost)));
          }
        } else {
          json_.skip();
        }
      }
      if (!node_of_.emplace(id, draft_.nodes).second) json_.fail("node " + std::to_string(id) + " occurs twice. Keep one");
      draft_.names.push_back(id);
      draft_.spans.insert(draft_.spans.end(), {span[0], span[1]});
      symbols_.push_back(symbol);
      ++draft_.nodes;
    }
  }

  void goal() {
    be(Dialect::cicada);
    const int64_t node = index("the goal");
    draft_.goal = static_cast<int32_t>(node);
  }

  void source_words() {
    json_.begin_array("\"words\"");
    while (json_.next_item()) {
      if (!source_.empty()) source_ += ' ';
      source_ += json_.string("a source word");
    }
  }

  void finish_cdec() {
    draft_.goal = draft_.nodes - 1;
    draft_.spans.assign(2 * draft_.nodes, -1);
    for (size_t e = 0; e < edges_.size(); ++e) {
      const Edge& edge = edges_[e];
      if (edge.head < 0)
        json_.fail("edge " + std::to_string(e) + " belongs to no node: the forest is not connected. Leave the edge out");
      if (edge.span[0] < 0 || edge.span[1] < edge.span[0]) continue;
      draft_.spans[2 * edge.head] = edge.span[0];
      draft_.spans[2 * edge.head + 1] = edge.span[1];
    }
    for (const int64_t node : leaves_)
      if (node != draft_.goal) empty_edge(node);
  }

  void finish_travatar() {
    if (draft_.nodes == 0) json_.fail("there are no nodes. Was the file cut off?");
    draft_.goal = 0;
    auto node = [&](int64_t id, size_t e) {
      const auto at = node_of_.find(id);
      if (at == node_of_.end())
        json_.fail("edge " + std::to_string(e) + " uses node " + std::to_string(id) +
                   ", which does not exist. Was the file cut off?");
      return at->second;
    };
    leaf_.assign(draft_.nodes, 1);
    for (size_t e = 0; e < edges_.size(); ++e) {
      if (edges_[e].head < 0) json_.fail("edge " + std::to_string(e) + " has no head. Name its node");
      edges_[e].head = node(edges_[e].head, e);
      leaf_[edges_[e].head] = 0;
    }
    for (size_t e = 0, t = 0; e < edges_.size(); ++e)
      for (; t < edges_[e].tails; ++t) tails_[t] = node(tails_[t], e);
    leaf_[0] = 0;
    for (int32_t v = 0; v < draft_.nodes; ++v) {
      if (!leaf_[v]) continue;
      for_each_word(symbols_[v], [&](std::string_view word) { words_.push_back(builder_.vocab()->add(word)); });
      empty_edge(v);  // a source word yields itself
      edges_.back().rule = kOwnWords;
    }
    draft_.optional = leaf_;
  }

  void finish_cicada() {
    if (draft_.goal < 0) json_.fail("the key \"goal\" is missing: the forest has no goal node. Name one");
    if (draft_.goal >= draft_.nodes)
      json_.fail("the goal is node " + std::to_string(draft_.goal) + ", but there are only " + std::to_string(draft_.nodes) +
                 ". Was the file cut off?");
  }

  void empty_edge(int64_t node) {
    Edge edge;
    edge.tails = tails_.size();
    edge.words = words_.size();
    edge.features = feature_ids_.size();
    edge.head = node;
    edges_.push_back(edge);
  }

  /// Fills the draft from what was read, with rules in place of their numbers.
  void fill() {
    size_t tail = 0, word = 0, feature = 0;
    for (size_t e = 0; e < edges_.size(); ++e) {
      const Edge& edge = edges_[e];
      const auto arity = static_cast<int32_t>(edge.tails - tail);
      for (; tail < edge.tails; ++tail) {
        if (tails_[tail] >= draft_.nodes)
          json_.fail("edge " + std::to_string(e) + " uses node " + std::to_string(tails_[tail]) + ", but there are only " +
                     std::to_string(draft_.nodes) + ". Was the file cut off?");
        draft_.tails.push_back(static_cast<int32_t>(tails_[tail]));
      }
      if (edge.rule == kOwnWords) {
        draft_.words.insert(draft_.words.end(), words_.begin() + static_cast<ptrdiff_t>(word),
                            words_.begin() + static_cast<ptrdiff_t>(edge.words));
        if (dialect_ == Dialect::travatar) drop_unnamed_leaves(draft_, leaf_, draft_.tail_begin.back(), draft_.word_begin.back());
      } else if (edge.rule == kNoRule || (edge.rule == 0 && !rules_.count(0))) {
        for (int32_t t = 0; t < arity; ++t) draft_.words.push_back(slot(t));
      } else {
        const auto rule = rules_.find(edge.rule);
        if (rule == rules_.end())
          json_.fail("edge " + std::to_string(e) + " uses rule " + std::to_string(edge.rule) +
                     ", which does not exist. Was the file cut off?");
        draft_.words.insert(draft_.words.end(), rule->second.begin(), rule->second.end());
      }
      word = edge.words;
      for (; feature < edge.features; ++feature) {
        draft_.feature_ids.push_back(feature_ids_[feature]);
        draft_.feature_values.push_back(feature_values_[feature]);
      }
      draft_.end_edge(static_cast<int32_t>(edge.head));
    }
  }

  PoolBuilder& builder_;
  Json json_;
  std::string where_;
  Dialect dialect_ = Dialect::unknown;
  ForestDraft draft_;
  std::vector<Edge> edges_;
  std::vector<int64_t> tails_, leaves_;
  std::vector<int32_t> words_, feature_ids_, feature_names_;
  std::vector<double> feature_values_;
  std::unordered_map<int64_t, std::vector<int32_t>> rules_;
  std::unordered_map<int64_t, int32_t> node_of_;
  std::vector<std::string> symbols_;
  std::vector<uint8_t> leaf_;
  std::string source_;
};

}  // namespace

std::string read_json_forest(PoolBuilder& builder, std::string_view text, const std::string& file, int64_t line) {
  if (const int64_t at = invalid_utf8(text); at >= 0) {
    for (const char c : text.substr(0, at)) line += c == '\n';
    throw input_error(file, line, "the text is not UTF-8. Convert the file: iconv -f ISO-8859-1 -t UTF-8");
  }
  return Reader(builder, text, file, line).read();
}

}  // namespace hopefear
