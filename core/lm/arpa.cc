#include "lm/arpa.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "util/error.h"
#include "util/id_map.h"
#include "util/unicode.h"

namespace hopefear {
namespace {

/// The n-grams of one order above 1: (index of suffix, first word) -> index.
using Index = KeyMap<uint32_t>;

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // a byte order mark
  }

  BackoffModel read() {
    read_counts();
    auto& lists = model_.lists;
    lists.resize(counts_.size());
    extends_.resize(counts_.size());
    for (uint64_t count : counts_)
      index_.emplace_back(std::min<uint64_t>(count, text_.size() / 8));  // the file's counts may be wrong
    for (const char* mark : {"<unk>", "<s>", "</s>"}) model_.vocab->add(mark);
    for (float prob : {kUnkFloor, kNeverPredicted, kUnkFloor}) append(1, static_cast<uint32_t>(lists[0].size()), 0, prob, 0);
    seen_.assign(3, false);
    for (int n = 1; n <= model_.order(); ++n) read_section(n);
    if (fields_.size() != 1 || fields_[0] != "\\end\\") fail(line_, "expected \\end\\. Was the file cut off?");
    fill_blanks();
    for (int n = 1; n < model_.order(); ++n)
      for (size_t i = 0; i < lists[n - 1].size(); ++i) {
        float& backoff = lists[n - 1].backoff[i];
        if (backoff == 0) backoff = extends_[n - 1][i] ? 0.0f : kNoExtension;
      }
    return std::move(model_);
  }

 private:
  [[noreturn]] void fail(long line, const std::string& finding) const { throw input_error(name_, line, finding); }

  /// The next line that is not empty, split into fields; no fields at the end of the file.
  void next_line() {
    fields_.clear();
    while (fields_.empty() && at_ < text_.size()) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      lm_words(text_.substr(at_, end - at_), [&](std::string_view field) { fields_.push_back(field); });
      at_ = end + 1;
      ++line_;
    }
  }

  void read_counts() {
    do {
      next_line();
      if (fields_.empty()) fail(0, "no \\data\\ line. Is this an ARPA file?");
      if (fields_[0] == "iARPA" || fields_[0] == "qARPA")
        fail(line_, "an IRSTLM " + std::string(fields_[0]) + " file. Turn it into ARPA with: compile-lm --text=yes");
      if (fields_.size() > 2 && fields_[0] == "mmap" && fields_[1] == "lm")
        fail(line_, "a binary file of KenLM. Give the ARPA file that it was made from");
    } while (fields_.size() != 1 || fields_[0] != "\\data\\");
    for (next_line(); !fields_.empty() && fields_[0] == "ngram"; next_line()) {
      std::string rest;
      for (size_t i = 1; i < fields_.size(); ++i) rest += fields_[i];
      unsigned order = 0;
      uint64_t count = 0;
      const char* end = rest.data() + rest.size();
      auto [p, error] = std::from_chars(rest.data(), end, order);
      if (error == std::errc() && p != end && *p == '=') {
        const auto second = std::from_chars(p + 1, end, count);
        p = second.ptr;
        error = second.ec;
      } else {
        error = std::errc::invalid_argument;
      }
      if (error != std::errc() || p != end || order != counts_.size() + 1)
        fail(line_, "expected \"ngram " + std::to_string(counts_.size() + 1) + "=COUNT\". Is the head of the file whole?");
      if (order > kMaxLmOrder)
        fail(line_, "order " + std::to_string(order) + ", where at most " + std::to_string(kMaxLmOrder) +
                        " is possible. Estimate a model of lower order");
      counts_.push_back(count);
    }
    if (counts_.empty()) fail(line_, "expected \"ngram 1=COUNT\" behind \\data\\");
  }

  void read_section(int n) {
    const std::string title = "\\" + std::to_string(n) + "-grams:";
    const uint64_t expected = counts_[n - 1];
    if (fields_.size() != 1 || fields_[0] != title) {
      if (expected == 0 && n > 1) return;
      fail(line_, fields_.empty() ? "the file ends where " + title + " should follow. Was it cut off?"
                                  : "expected " + title + ". Is the count of the section before right?");
    }
    const long title_line = line_;
    uint64_t count = 0;
    for (next_line(); !fields_.empty() && fields_[0][0] != '\\'; next_line(), ++count) read_ngram(n);
    if (count != expected)
      fail(title_line, std::to_string(count) + " " + std::to_string(n) + "-grams follow, where the head of the file says " +
                           std::to_string(expected) + ". Was the file cut off?");
  }

  float number(std::string_view field, const char* what) const {
    float value = 0;
    const char* begin = field.data() + (field[0] == '+');
    const char* end = field.data() + field.size();
    const auto [p, error] = std::from_chars(begin, end, value);
    if (error == std::errc::result_out_of_range && p == end) {  // underflow or overflow
      value = static_cast<float>(std::strtod(std::string(field).c_str(), nullptr));
    } else if (error != std::errc() || p != end) {
      fail(line_, std::string(what) + " is no number: '" + shown(field) + "'");
    }
    const bool as_toolkits_write_it = value == -INFINITY && field == "-inf";
    if (!std::isfinite(value) && !as_toolkits_write_it) fail(line_, std::string(what) + " is not finite: '" + shown(field) + "'");
    return as_toolkits_write_it ? kUnkFloor : value;
  }

  /// Safe to print: valid UTF-8, short, no control characters.
  static std::string shown(std::string_view text) {
    std::string result;
    for (size_t i = 0; i < text.size() && result.size() < 60;) {
      const size_t begin = i;
      const uint32_t c = next_character(text, i);
      result += c < 0x20 || c == 0x7f || c > 0x10ffff ? std::string("?") : std::string(text.substr(begin, i - begin));
    }
    return result;
  }

  uint32_t append(int n, uint32_t word, uint32_t suffix, float prob, float backoff) {
    NgramList& list = model_.lists[n - 1];
    list.word.push_back(word);
    list.suffix.push_back(suffix);
    list.prob.push_back(prob);
    if (n < model_.order()) list.backoff.push_back(backoff);
    extends_[n - 1].push_back(false);
    return static_cast<uint32_t>(list.size() - 1);
  }

  void read_ngram(int n) {
    const size_t words = n;
    const bool has_backoff = fields_.size() == words + 2;
    if (!has_backoff && fields_.size() != words + 1)
      fail(line_, "expected a log10 probability, " + std::to_string(n) + (n == 1 ? " word" : " words") +
                      " and perhaps a back-off weight, found " + std::to_string(fields_.size()) +
                      " fields. Is a word empty, or has it a space in it?");
    float prob = number(fields_[0], "the log10 probability");
    if (prob > 1e-5f) fail(line_, "a log10 probability above 0: '" + shown(fields_[0]) + "'. Was the model normalised?");
    prob = std::min(prob, 0.0f);
    const float backoff = has_backoff ? number(fields_.back(), "the back-off weight") : 0.0f;
    if (n == 1) return read_unigram(fields_[1], prob, backoff);
    std::array<uint32_t, kMaxLmOrder> w{};
    for (size_t i = 0; i < words; ++i) {
      const int32_t id = fields_[i + 1] == "<UNK>" ? 0 : model_.vocab->find(fields_[i + 1]);
      if (id < 0) fail(line_, "'" + shown(fields_[i + 1]) + "' is not among the unigrams. Is the file whole?");
      w[i] = static_cast<uint32_t>(id);
    }
    const uint32_t suffix = ensure(last_suffix_, w.data() + 1, n - 1);
    const uint32_t context = ensure(last_context_, w.data(), n - 1);
    const auto next = static_cast<uint32_t>(model_.lists[n - 1].size());
    if (index_[n - 1].add(pair_key(suffix, w[0]), next) != next)
      fail(line_, "this n-gram is there twice. Take one of the two lines away");
    append(n, w[0], suffix, prob, backoff);
    extends_[n - 2][context] = true;
  }

  void read_unigram(std::string_view word, float prob, float backoff) {
    for (size_t i = 0; i < word.size();)
      if (next_character(word, i) > 0x10ffff)
        fail(line_, "not UTF-8. Convert the file, for example with: iconv -f latin1 -t utf-8");
    const auto id = word == "<UNK>" ? kUnk : static_cast<uint32_t>(model_.vocab->add(word));
    if (id < seen_.size() && seen_[id]) fail(line_, "'" + shown(word) + "' is there twice. Take one of the two lines away");
    if (id == model_.lists[0].size()) {
      append(1, id, 0, prob, backoff);
      seen_.push_back(true);
      return;
    }
    model_.lists[0].prob[id] = prob;
    if (model_.order() > 1) model_.lists[0].backoff[id] = backoff;
    seen_[id] = true;
  }

  /// Lines are mostly sorted, so that consecutive n-grams share their beginning or end.
  struct Last {
    std::array<uint32_t, kMaxLmOrder> words{};
    int length = 0;
    uint32_t index = 0;
  };
  uint32_t ensure(Last& last, const uint32_t* w, int n) {
    if (last.length != n || !std::equal(w, w + n, last.words.begin())) {
      last.index = ensure(w, n);
      last.length = n;
      std::copy(w, w + n, last.words.begin());
    }
    return last.index;
  }

  /// The index of w[0..n). If the file lacks it, it is added and filled later.
  uint32_t ensure(const uint32_t* w, int n) {
    uint32_t suffix = w[n - 1];
    for (int k = 2; k <= n; ++k) {
      uint32_t index = index_[k - 1].find(pair_key(suffix, w[n - k]));
      if (index == Index::kMissing) {
        const uint32_t context = ensure(w + n - k, k - 1);
        extends_[k - 2][context] = true;
        index = append(k, w[n - k], suffix, 0, 0);
        index_[k - 1].add(pair_key(suffix, w[n - k]), index);
        blanks_.push_back({k, index, context});
      }
      suffix = index;
    }
    return suffix;
  }

  void fill_blanks() {
    for (int n = 2; n < model_.order(); ++n)
      for (const Blank& blank : blanks_) {
        if (blank.order != n) continue;
        NgramList& list = model_.lists[n - 1];
        const NgramList& below = model_.lists[n - 2];
        list.prob[blank.index] = std::min(0.0f, below.backoff[blank.context] + below.prob[list.suffix[blank.index]]);
      }
  }

  struct Blank {
    int order;
    uint32_t index, context;
  };
  std::string_view text_;
  std::string name_;
  size_t at_ = 0;
  long line_ = 0;
  std::vector<std::string_view> fields_;
  std::vector<uint64_t> counts_;
  BackoffModel model_;
  std::vector<std::vector<bool>> extends_;  // to the right
  std::vector<Index> index_;
  std::vector<bool> seen_;  // unigrams
  std::vector<Blank> blanks_;
  Last last_suffix_, last_context_;
};

}  // namespace

BackoffModel read_arpa(std::string_view text, const std::string& name) { return Reader(text, name).read(); }

void write_arpa(const BackoffModel& model, const std::function<void(std::string_view)>& write) {
  std::string out = "\\data\\\n";
  for (int n = 1; n <= model.order(); ++n)
    out += "ngram " + std::to_string(n) + "=" + std::to_string(model.lists[n - 1].size()) + "\n";
  const auto put = [&out](float value) {
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value + 0.0f);  // "-0" becomes "0"
    out.append(digits, end);
  };
  for (int n = 1; n <= model.order(); ++n) {
    out += "\n\\" + std::to_string(n) + "-grams:\n";
    const NgramList& list = model.lists[n - 1];
    for (uint32_t i = 0; i < list.size(); ++i) {
      put(list.prob[i]);
      uint32_t at = i;
      for (int k = n; k >= 1; --k) {
        out += k == n ? '\t' : ' ';
        out += (*model.vocab)[static_cast<int32_t>(model.lists[k - 1].word[at])];
        at = model.lists[k - 1].suffix[at];
      }
      if (n < model.order() && has_extension(list.backoff[i])) {
        out += '\t';
        put(list.backoff[i]);
      }
      out += '\n';
      if (out.size() >= 1 << 20) {
        write(out);
        out.clear();
      }
    }
  }
  out += "\n\\end\\\n";
  write(out);
}

}  // namespace hopefear
