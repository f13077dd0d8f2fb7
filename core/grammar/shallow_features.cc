#include "grammar/shallow_features.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "forest/each_sentence.h"
#include "util/text.h"
#include "util/unicode.h"

namespace hopefear {
namespace {

bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }
/// A letter or digit: beyond ASCII, all but the blocks of punctuation and symbols.
bool in_word(uint32_t c) {
  if (c < 0x80) return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (c < 0xc0) return c == 0xaa || c == 0xb5 || c == 0xba;
  return c != 0xd7 && c != 0xf7 && !(c >= 0x2000 && c <= 0x2bff) && !(c >= 0x3000 && c <= 0x303f) &&
         !(c >= 0xff00 && c <= 0xff0f);
}
bool is_capital(uint32_t c) {
  return (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) ||
         (c >= 0x410 && c <= 0x42f);
}

/// The properties of a word.
struct Surface {
  bool mark = true, number = false, name = false, final = false;
  int letters = 0;
};

Surface surface(std::string_view word) {
  Surface s;
  uint32_t c = 0;
  for (size_t i = 0; i < word.size();) {
    const bool first = i == 0;
    c = next_character(word, i);
    s.number = s.number || is_digit(c);
    s.name = s.name || (first && is_capital(c));
    if (in_word(c)) {
      s.mark = false;
      s.letters += !is_digit(c);
    }
  }
  s.final = c == '.' || c == '?' || c == '!' || c == 0x2026;
  return s;
}

/// Unbalanced brackets and quotation marks.
int unbalanced(const std::vector<std::string_view>& words) {
  static const std::pair<uint32_t, uint32_t> kPairs[] = {{'(', ')'}, {'[', ']'}, {'{', '}'}, {0xab, 0xbb}, {0x201c, 0x201d}};
  int open[std::size(kPairs)] = {}, wrong = 0, straight = 0;
  for (std::string_view word : words)
    for (size_t i = 0; i < word.size();) {
      const uint32_t c = next_character(word, i);
      straight += c == '"';
      for (size_t k = 0; k < std::size(kPairs); ++k) {
        if (c == kPairs[k].first) ++open[k];
        if (c == kPairs[k].second && --open[k] < 0) open[k] = 0, ++wrong;
      }
    }
  for (int still : open) wrong += still;
  return wrong + straight % 2;
}

int repeated(std::span<const int32_t> words, size_t n) {
  std::set<std::vector<int32_t>> seen;
  int count = 0;
  for (size_t i = 0; i + n <= words.size(); ++i)
    count += !seen.emplace(words.begin() + static_cast<ptrdiff_t>(i), words.begin() + static_cast<ptrdiff_t>(i + n)).second;
  return count;
}

/// Compares candidates with the source of their sentence.
class Source {
 public:
  explicit Source(std::string_view text) {
    for_each_word(text, [&](std::string_view word) {
      const Surface s = surface(word);
      marks_ += s.mark;
      if (s.number) ++numbers_[word];
      if (s.name && words_ > 0) names_.insert(word);
      ++words_;
      known_.insert(word);
    });
  }

  void compare(const std::vector<std::string_view>& words, const std::vector<Surface>& surfaces, double* row) const {
    double marks = 0, copies = 0;
    std::map<std::string_view, int> numbers = numbers_;
    const std::set<std::string_view> own(words.begin(), words.end());
    for (size_t i = 0; i < words.size(); ++i) {
      marks += surfaces[i].mark;
      if (surfaces[i].number) --numbers[words[i]];
      copies += surfaces[i].letters >= 2 && known_.contains(words[i]);
    }
    double strange = 0, missing = 0;
    for (const auto& [number, difference] : numbers) strange += std::abs(difference);
    for (std::string_view name : names_) missing += !own.contains(name);
    row[0] = static_cast<double>(words.size()) / std::max(1, words_);
    row[1] = std::fabs(marks - marks_);
    row[2] = strange;
    row[3] = missing;
    row[4] = copies;
  }

 private:
  int words_ = 0;
  double marks_ = 0;
  std::map<std::string_view, int> numbers_;
  std::set<std::string_view> names_, known_;
};

void text_row(std::span<const int32_t> ids, const std::vector<std::string_view>& words, const std::vector<Surface>& surfaces,
              double mean, double* row) {
  const auto length = static_cast<double>(ids.size());
  row[0] = length;
  row[1] = std::fabs(length - mean);
  for (size_t i = 1; i < ids.size(); ++i) row[2] += ids[i] == ids[i - 1];
  row[3] = repeated(ids, 2);
  row[4] = repeated(ids, 3);
  for (const Surface& s : surfaces) row[5] += s.mark;
  row[6] = !surfaces.empty() && surfaces.back().final;
  row[7] = unbalanced(words);
}

}  // namespace

std::vector<double> shallow_columns(const Pool& pool, int jobs) {
  const auto row_begin = pool.row_begin();
  const size_t width = kTextColumns.size() + kSourceColumns.size();
  std::vector<double> columns(row_begin.back() * width, 0.0);
  each_sentence(pool, jobs, [&](size_t s, const Sentence& sentence) {
    const Forest& list = sentence.forest;
    const Source source(sentence.source);
    const double mean = list.edges() ? static_cast<double>(list.words.size()) / list.edges() : 0.0;
    std::vector<std::string_view> words;
    std::vector<Surface> surfaces;
    for (int32_t e = 0; e < list.edges(); ++e) {
      words.clear();
      surfaces.clear();
      for (int32_t word : list.edge_words(e)) {
        words.push_back((*pool.vocab)[word]);
        surfaces.push_back(surface(words.back()));
      }
      double* row = columns.data() + (row_begin[s] + e) * width;
      text_row(list.edge_words(e), words, surfaces, mean, row);
      source.compare(words, surfaces, row + kTextColumns.size());
    }
  });
  return columns;
}

}  // namespace hopefear
