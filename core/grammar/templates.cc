#include "grammar/templates.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "grammar/grammar.h"
#include "grammar/parallel_text.h"
#include "util/error.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

bool is_plain(char c) {
  return !(c == '(' || c == ')' || c == ',' || c == '%' || c == '=' || c == '|' || (c >= 0 && c <= ' ') || c == 0x7f);
}

std::string escaped(const std::string& word, bool first) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    // NULL and UNK are marks, not words
    if (is_plain(c) && !(first && i == 0 && (word == "NULL" || word == "UNK"))) {
      out += c;
    } else {
      out += '%';
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    int value = 0;
    const char *begin = text.data() + i + 1, *end = begin + 2;
    if (i + 2 >= text.size() || std::from_chars(begin, end, value, 16).ptr != end)
      throw std::invalid_argument("a % without two digits");
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

/// "NULL" and "UNK" as marks are the parts "\0NULL" and "\0UNK": no word has a null byte.
const std::string kNullMark("\0NULL", 5), kUnkMark("\0UNK", 4);

/// A shape as a number: three bits for each character of its name.
constexpr char kShapeCharacters[] = "?aXY,";
constexpr uint64_t kShapeRun = 1, kShapeX = 2, kShapeComma = 4;
constexpr int kMostShapeCharacters = 21;

/// 0: a rule of more than two nonterminals, or of very many.
uint64_t shape_key(std::span<const int32_t> source, std::span<const int32_t> target) {
  uint64_t key = 0;
  int characters = 0;
  bool fits = true;
  const auto put = [&](uint64_t character) {
    key = key << 3 | character;
    fits = fits && ++characters <= kMostShapeCharacters;
  };
  const auto put_side = [&](std::span<const int32_t> side, bool is_source) {
    uint64_t nonterminals = 0;
    for (size_t i = 0; i < side.size(); ++i) {
      if (side[i] < 0) {
        const uint64_t number = is_source ? nonterminals++ : static_cast<uint64_t>(-1 - side[i]);
        fits = fits && number < 2;
        put(kShapeX + (number & 1));
      } else if (i == 0 || side[i - 1] < 0) {
        put(kShapeRun);
      }
    }
  };
  put_side(source, true);
  put(kShapeComma);
  put_side(target, false);
  return fits ? key : 0;
}

std::string shape_name(uint64_t key) {
  std::string inside;
  for (; key; key >>= 3) inside += kShapeCharacters[key & 7];
  std::reverse(inside.begin(), inside.end());
  return "shape(" + inside + ")";
}

}  // namespace

std::string feature_name(std::span<const std::string> parts) {
  std::string name = parts[0] + "(";
  for (size_t i = 1; i < parts.size(); ++i) {
    if (i > 1) name += ',';
    name += parts[i] == kNullMark ? "NULL" : parts[i] == kUnkMark ? "UNK" : escaped(parts[i], true);
  }
  return name + ")";
}

std::vector<std::string> parse_feature(std::string_view name) {
  const size_t open = name.find('(');
  if (open == std::string_view::npos || name.back() != ')') throw std::invalid_argument("expected template(word,...)");
  std::vector<std::string> parts{std::string(name.substr(0, open))};
  std::string_view inside = name.substr(open + 1, name.size() - open - 2);
  for (;;) {
    const size_t comma = inside.find(',');
    const std::string_view part = inside.substr(0, comma);
    parts.push_back(part == "NULL" ? kNullMark : part == "UNK" ? kUnkMark : unescaped(part));
    if (comma == std::string_view::npos) return parts;
    inside.remove_prefix(comma + 1);
  }
}

/// Reads names into the tables, one template after the other. A feature with a word that the grammar does not have never fires and
/// is left out.
class FeatureTemplates::Reader {
 public:
  Reader(FeatureTemplates& out, const Vocab& source, const Vocab& target, const std::vector<std::string>& columns,
         const std::string& where)
      : out_(out), source_(source), target_(target), columns_(columns), where_(where) {}

  void read(const std::vector<std::string>& names, int32_t first) {
    std::vector<std::vector<std::string>> all;
    for (size_t i = 0; i < names.size(); ++i) {
      begin(names[i], i, first);
      try {
        all.push_back(names[i].empty() ? std::vector<std::string>{""} : parse_feature(names[i]));
      } catch (const std::invalid_argument& error) {
        throw fail(error.what());
      }
    }
    out_.unigram_.assign(target_.size(), -1);
    out_.uses_.assign(target_.size(), 0);
    number_words(all);
    for (auto& ids : out_.distance_) ids.fill(-1);
    for (size_t i = 0; i < all.size(); ++i) {
      begin(names[i], i, first);
      if (!names[i].empty()) add(all[i]);
    }
  }

 private:
  void begin(const std::string& name, size_t i, int32_t first) {
    name_ = &name;
    line_ = static_cast<long>(i) + 1;
    id_ = first + static_cast<int32_t>(i);
  }
  InputError fail(const std::string& finding) const {
    return input_error(where_, line_, "feature \"" + *name_ + "\": " + finding);
  }
  void put(int32_t& place) const {
    if (place >= 0) throw fail("stands twice");
    place = id_;
  }
  void put(IdMap& patterns, uint64_t key) const {
    if (patterns.add(key, id_) != id_) throw fail("stands twice");
  }

  /// The vocabulary of lex: words with lex(e), and words f of some lex(f,e).
  void number_words(const std::vector<std::vector<std::string>>& all) {
    LinkFeatures& lex = out_.lex_;
    lex.source.assign(source_.size(), 0);
    lex.target.assign(target_.size(), 0);
    int32_t source_words = 1, target_words = 1;
    for (const auto& parts : all) {
      if (parts[0] != "lex") continue;
      if (parts.size() == 2 && parts[1] != kUnkMark) {
        const int32_t e = target_.find(parts[1]);
        if (e >= 0 && !lex.target[e]) lex.target[e] = target_words++;
      } else if (parts.size() == 3 && parts[1] != kUnkMark && parts[1] != kNullMark) {
        const int32_t f = source_.find(parts[1]);
        if (f >= 0 && !lex.source[f]) lex.source[f] = source_words++;
      }
    }
    lex.e.assign(target_words, -1);
    lex.null.assign(target_words, -1);
  }

  void add(const std::vector<std::string>& parts) {
    const std::string& kind = parts[0];
    if (kind == "lex" && (parts.size() == 2 || parts.size() == 3))
      add_lex(parts);
    else if (kind == "group" && parts.size() == 4)
      add_group(parts);
    else if (kind == "shape" && parts.size() == 3)
      add_shape(parts[1] + "," + parts[2]);
    else if (kind == "distance" && parts.size() == 3)
      add_distance(parts);
    else if (kind == "unigram" && parts.size() == 2)
      add_unigram(target_.find(parts[1]));
    else if (kind == "pair" && parts.size() == 3)
      add_pair(source_.find(parts[1]), target_.find(parts[2]));
    else if (kind == "bigram" && parts.size() == 3)
      add_two(out_.bigram_, target_.find(parts[1]), target_.find(parts[2]), kInNgram, kInNgram);
    else if (kind == "trigger" && parts.size() == 3)
      add_two(out_.trigger_, target_.find(parts[1]), target_.find(parts[2]), kTriggers, kTriggered);
    else if (kind == "trigram" && parts.size() == 4)
      add_trigram(target_.find(parts[1]), target_.find(parts[2]), target_.find(parts[3]));
    else
      throw fail("no such template. Is the model of a newer hopefear?");
  }

  void add_lex(const std::vector<std::string>& parts) {
    LinkFeatures& lex = out_.lex_;
    lex.any = true;
    const std::string& e = parts.back();
    const int32_t word = e == kUnkMark ? -1 : target_.find(e);
    if (e != kUnkMark && word < 0) return;
    const int32_t number = word < 0 ? 0 : lex.target[word];
    if (word >= 0 && !number) throw fail("its word has no lex(e) in the list");
    if (parts.size() == 2) return put(lex.e[number]);
    if (parts[1] == kNullMark) return put(lex.null[number]);
    const int32_t f = parts[1] == kUnkMark ? -1 : source_.find(parts[1]);
    if (parts[1] != kUnkMark && f < 0) return;
    put(lex.fe, pack(f < 0 ? 0 : lex.source[f], number));
  }

  void add_group(const std::vector<std::string>& parts) {
    const auto column = static_cast<int>(std::find(columns_.begin(), columns_.end(), parts[1]) - columns_.begin());
    if (column == static_cast<int>(columns_.size())) throw fail("the grammar has no column of this name");
    size_t bounds[2] = {0, 0};
    for (size_t k = 0; k < 2; ++k) {
      const std::string& digits = parts[k + 2];
      const char* end = digits.data() + digits.size();
      if (std::from_chars(digits.data(), end, bounds[k]).ptr != end || bounds[k] < 1 || bounds[k] > kGroups)
        throw fail("lengths are 1 to " + std::to_string(kGroups));
    }
    auto& groups = out_.groups_;
    auto group = std::find_if(groups.begin(), groups.end(), [column](const auto& g) { return g.first == column; });
    if (group == groups.end()) {
      groups.push_back({column, {}});
      group = groups.end() - 1;
      for (auto& ids : group->second) ids.fill(-1);
    }
    put(group->second[bounds[0]][bounds[1]]);
  }

  void add_shape(const std::string& characters) {
    const std::string_view known(kShapeCharacters + 1);
    uint64_t key = 0;
    for (const char c : characters) {
      const size_t place = known.find(c);
      if (place == std::string_view::npos) throw fail("a side of a shape has a for words, X and Y");
      key = key << 3 | (place + 1);
    }
    if (characters.size() > kMostShapeCharacters) throw fail("no rule has so long a shape");
    put(out_.shape_, key);
  }

  void add_distance(const std::vector<std::string>& parts) {
    const bool swaps = parts[1] == "swap";
    size_t words = 0;
    const char* end = parts[2].data() + parts[2].size();
    if ((!swaps && parts[1] != "keep") || std::from_chars(parts[2].data(), end, words).ptr != end || words < 1 ||
        words > kDistances)
      throw fail("expected distance(keep,n) or distance(swap,n) with n from 1 to " + std::to_string(kDistances));
    out_.has_distance_ = true;
    put(out_.distance_[swaps][words]);
  }

  void add_unigram(int32_t e) {
    if (e >= 0) put(out_.unigram_[e]);
  }
  void add_pair(int32_t f, int32_t e) {
    if (f >= 0 && e >= 0) put(out_.pair_, pack(f, e));
  }
  void add_two(IdMap& patterns, int32_t d, int32_t e, int32_t use_of_d, int32_t use_of_e) {
    if (d < 0 || e < 0) return;
    put(patterns, pack(d, e));
    out_.uses_[d] |= use_of_d;
    out_.uses_[e] |= use_of_e;
  }
  void add_trigram(int32_t c, int32_t d, int32_t e) {
    if (c < 0 || d < 0 || e < 0) return;
    put(out_.trigram_, pack(out_.trigram_prefix_.add(pack(c, d)), e));
    for (const int32_t word : {c, d, e}) out_.uses_[word] |= kInNgram;
  }

  FeatureTemplates& out_;
  const Vocab &source_, &target_;
  const std::vector<std::string>& columns_;
  const std::string& where_;
  const std::string* name_ = nullptr;  // the current feature, its place in the list from 1, and its id
  long line_ = 0;
  int32_t id_ = 0;
};

FeatureTemplates::FeatureTemplates(const std::vector<std::string>& names, int32_t first, const Vocab& source, const Vocab& target,
                                   const std::vector<std::string>& columns, const std::string& where)
    : size_(static_cast<int32_t>(names.size())) {
  Reader(*this, source, target, columns, where).read(names, first);
}

void FeatureTemplates::add_rule(std::span<const int32_t> source, std::span<const int32_t> target,
                                std::span<const PackedLink> links, std::span<const float> row, Values& out) const {
  const auto fire = [&out](int32_t id, float value) {
    if (id >= 0) out.push_back({id, value});
  };
  for (size_t t = 0; t < target.size(); ++t) {
    const int32_t e = target[t];
    if (e < 0) continue;
    fire(unigram(e), 1.0f);
    if (lex_.any) lex_.add(source, links, t, e, [&](int32_t id) { fire(id, 1.0f); });
    if (pair_.empty()) continue;
    for (const PackedLink link : links)
      if (link.t == t) fire(pair_.find(pack(source[link.s], e)), 1.0f);
  }
  if (!shape_.empty() && !row.empty()) fire(shape_.find(shape_key(source, target)), 1.0f);
  if (groups_.empty() || row.empty() || source.empty() || target.empty()) return;
  const size_t low = std::min(source.size(), target.size()), high = std::max(source.size(), target.size());
  for (const auto& [column, ids] : groups_)
    for (size_t a = 1; a <= low && a <= kGroups; ++a)
      for (size_t b = high; b <= kGroups; ++b) fire(ids[a][b], row[column]);
}

std::vector<std::string> grammar_shapes(const Grammar& grammar) {
  IdMap ids;
  std::vector<std::pair<int64_t, uint64_t>> shapes;  // - rules, key
  std::vector<int32_t> source;
  const auto visit = [&](const auto& again, uint32_t node) -> void {
    const auto [begin, end] = grammar.rules_of(node);
    for (uint32_t rule = begin; rule < end; ++rule) {
      const uint64_t key = shape_key(source, grammar.target(rule));
      if (!key) continue;
      const int32_t id = ids.add(key);
      if (static_cast<size_t>(id) == shapes.size()) shapes.push_back({0, key});
      --shapes[id].first;
    }
    const auto [first, last] = grammar.children(node);
    for (uint32_t child = first; child < last; ++child) {
      source.push_back(grammar.symbol(child));
      again(again, child);
      source.pop_back();
    }
  };
  visit(visit, Grammar::kRoot);
  std::sort(shapes.begin(), shapes.end());
  std::vector<std::string> names;
  for (const auto& [rules, key] : shapes) names.push_back(shape_name(key));
  return names;
}

std::vector<std::array<int32_t, 3>> trigger_counts(const ParallelText& text, std::span<const int32_t> rank, int32_t limit,
                                                   int jobs) {
  // Keys of all threads are collected in rounds and counted by sorting, so that memory stays bounded.
  std::vector<std::pair<uint64_t, int32_t>> counts, merged;
  const size_t round = 20'000;
  for (size_t begin = 0; begin < text.size(); begin += round) {
    const size_t count = std::min(round, text.size() - begin);
    std::vector<std::vector<uint64_t>> keys(resolve_jobs(jobs));
    parallel_for(count, jobs, [&](size_t i, int thread) {
      const auto words = text.target(begin + i);
      auto& mine = keys[thread];
      for (size_t a = 0; a < words.size(); ++a) {
        if (rank[words[a]] >= limit) continue;
        const auto here = words.begin() + static_cast<std::ptrdiff_t>(a);
        if (std::find(words.begin(), here, words[a]) != here) continue;  // only its first occurrence
        for (size_t b = a + FeatureTemplates::kTriggerDistance; b < words.size(); ++b)
          if (rank[words[b]] < limit)
            mine.push_back(static_cast<uint64_t>(static_cast<uint32_t>(words[a])) << 32 | static_cast<uint32_t>(words[b]));
      }
    });
    std::vector<uint64_t> all;
    for (auto& mine : keys) all.insert(all.end(), mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    merged.clear();
    size_t old = 0;
    for (size_t i = 0, j; i < all.size(); i = j) {
      for (j = i; j < all.size() && all[j] == all[i];) ++j;
      while (old < counts.size() && counts[old].first < all[i]) merged.push_back(counts[old++]);
      const bool known = old < counts.size() && counts[old].first == all[i];
      merged.push_back({all[i], static_cast<int32_t>(j - i) + (known ? counts[old++].second : 0)});
    }
    merged.insert(merged.end(), counts.begin() + static_cast<std::ptrdiff_t>(old), counts.end());
    counts.swap(merged);
  }
  std::vector<std::array<int32_t, 3>> rows;
  for (const auto& [key, count] : counts)
    rows.push_back({static_cast<int32_t>(key >> 32), static_cast<int32_t>(key & 0xffffffffU), count});
  return rows;
}

}  // namespace hopefear
