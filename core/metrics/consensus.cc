#include "metrics/consensus.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "forest/each_sentence.h"
#include "metrics/chrf.h"
#include "metrics/edit_distance.h"
#include "metrics/ter.h"
#include "util/error.h"
#include "util/id_map.h"
#include "util/text.h"
#include "util/unicode.h"

namespace hopefear {
namespace {

constexpr int kBleuOrder = 4, kChrfOrder = 6;

/// The n-grams of several texts, each with its number and its count in each text.
class NgramCounts {
 public:
  using Counts = std::vector<std::pair<int32_t, int32_t>>;  // n-gram, how often

  explicit NgramCounts(int max_order, size_t expected) : max_order_(max_order), nodes_(expected) {}

  void add(std::span<const uint32_t> symbols) {
    Counts counts;
    for (size_t i = 0; i < symbols.size(); ++i) {
      int32_t node = 0;
      for (size_t j = i; j < symbols.size() && j < i + max_order_; ++j) {
        node = 1 + nodes_.add(pair_key(static_cast<uint32_t>(node), symbols[j]));
        if (static_cast<size_t>(node) == order_.size()) {
          order_.push_back(static_cast<int8_t>(j - i));
          place_.push_back(-1);
        }
        if (place_[node] < 0) {
          place_[node] = static_cast<int32_t>(counts.size());
          counts.emplace_back(node, 0);
        }
        ++counts[place_[node]].second;
      }
    }
    for (const auto& [node, count] : counts) place_[node] = -1;
    texts_.push_back(std::move(counts));
    lengths_.push_back(static_cast<double>(symbols.size()));
  }

  int max_order() const { return max_order_; }
  size_t texts() const { return texts_.size(); }
  size_t size() const { return order_.size(); }             // n-grams, numbered from 1
  int order(int32_t ngram) const { return order_[ngram]; }  // 0 for unigrams
  const Counts& text(size_t i) const { return texts_[i]; }
  double length(size_t i) const { return lengths_[i]; }

 private:
  int max_order_;
  IdMap nodes_;
  std::vector<int8_t> order_{-1};
  std::vector<int32_t> place_{-1};
  std::vector<Counts> texts_;
  std::vector<double> lengths_;
};

/// The texts of a list without repetition, in the order of their first candidate.
struct Distinct {
  Distinct(const Texts& texts, std::span<const double> p) : group(texts.size()) {
    std::vector<size_t> order(texts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto compare = [&](size_t a, size_t b) {
      return std::lexicographical_compare_three_way(texts[a].begin(), texts[a].end(), texts[b].begin(), texts[b].end());
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const auto c = compare(a, b);
      return c != 0 ? c < 0 : a < b;
    });
    std::vector<size_t> first_of(texts.size());
    for (size_t k = 0; k < order.size(); ++k)
      first_of[order[k]] = k > 0 && compare(order[k - 1], order[k]) == 0 ? first_of[order[k - 1]] : order[k];
    for (size_t i = 0; i < texts.size(); ++i) {
      if (first_of[i] == i) {
        group[i] = first.size();
        first.push_back(i);
        probability.push_back(0);
      } else {
        group[i] = group[first_of[i]];
      }
      probability[group[i]] += p[i];
    }
  }
  size_t size() const { return first.size(); }
  std::vector<double> spread(const std::vector<double>& values) const {
    std::vector<double> out(group.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = values[group[i]];
    return out;
  }
  /// The `most` most probable texts, in order of appearance if equal, and p over them.
  std::pair<std::vector<size_t>, std::vector<double>> likely(size_t most) const {
    std::vector<size_t> chosen(size());
    std::iota(chosen.begin(), chosen.end(), size_t{0});
    if (chosen.size() > most) {
      std::stable_sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) { return probability[a] > probability[b]; });
      chosen.resize(most);
    }
    double sum = 0;
    for (size_t j : chosen) sum += probability[j];
    std::vector<double> q;
    for (size_t j : chosen) q.push_back(sum > 0 ? probability[j] / sum : 1 / static_cast<double>(chosen.size()));
    return {chosen, q};
  }

  std::vector<size_t> group, first;  // of each text; of each group
  std::vector<double> probability;
};

NgramCounts words_of(const Texts& texts, const Distinct& distinct) {
  NgramCounts counts(kBleuOrder, 0);
  std::vector<uint32_t> symbols;
  for (size_t i : distinct.first) {
    symbols.assign(texts[i].begin(), texts[i].end());
    counts.add(symbols);
  }
  return counts;
}

NgramCounts characters_of(const Vocab& vocab, const Texts& texts, const Distinct& distinct) {
  NgramCounts counts(kChrfOrder, 1024);
  std::vector<uint32_t> symbols;
  for (size_t i : distinct.first) {
    symbols.clear();
    for (int32_t word : texts[i]) {
      const std::string& text = vocab[word];
      for (size_t at = 0; at < text.size();) symbols.push_back(next_character(text, at));
    }
    counts.add(symbols);
  }
  return counts;
}

double ngrams(double length, int order) { return std::max(0.0, length - order); }

/// The gain of a text with these matches against a reference with these numbers of n-grams.
double counted_gain(ConsensusMetric metric, const double* matches, double length, double reference_words,
                    const double* reference_ngrams) {
  if (metric == ConsensusMetric::bleu) return sentence_bleu(matches, length, reference_words);
  static const Chrf chrf(kChrfOrder);
  double stats[3 * kChrfOrder];
  for (int k = 0; k < kChrfOrder; ++k) {
    stats[3 * k + 1] = reference_ngrams[k];
    stats[3 * k] = reference_ngrams[k] > 0 ? ngrams(length, k) : 0;
    stats[3 * k + 2] = matches[k];
  }
  return chrf.gain(stats);
}

std::vector<double> exact_gains(const NgramCounts& counts, ConsensusMetric metric, std::span<const double> p) {
  const size_t n = counts.texts();
  std::vector<double> gains(n, 0.0);
  std::vector<int32_t> reference(counts.size(), 0);
  for (size_t j = 0; j < n; ++j) {
    if (p[j] == 0) continue;
    for (const auto& [ngram, count] : counts.text(j)) reference[ngram] = count;
    double of_order[kChrfOrder];
    for (int k = 0; k < counts.max_order(); ++k) of_order[k] = ngrams(counts.length(j), k);
    for (size_t i = 0; i < n; ++i) {
      int32_t common[kChrfOrder] = {};
      for (const auto& [ngram, count] : counts.text(i)) common[counts.order(ngram)] += std::min(count, reference[ngram]);
      double matches[kChrfOrder];
      std::copy(common, common + kChrfOrder, matches);
      gains[i] += p[j] * counted_gain(metric, matches, counts.length(i), counts.length(j), of_order);
    }
    for (const auto& [ngram, count] : counts.text(j)) reference[ngram] = 0;
  }
  return gains;
}

std::vector<double> linear_gains(const NgramCounts& counts, ConsensusMetric metric, std::span<const double> p) {
  const size_t n = counts.texts();
  std::vector<double> gains(n), expected(counts.size(), 0.0), of_order(kChrfOrder, 0.0);
  double length = 0;
  for (size_t j = 0; j < n; ++j) {
    for (const auto& [ngram, count] : counts.text(j)) expected[ngram] += p[j] * count;
    length += p[j] * counts.length(j);
    for (int k = 0; k < counts.max_order(); ++k) of_order[k] += p[j] * ngrams(counts.length(j), k);
  }
  for (size_t i = 0; i < n; ++i) {
    double matches[kChrfOrder] = {};
    for (const auto& [ngram, count] : counts.text(i)) matches[counts.order(ngram)] += std::min<double>(count, expected[ngram]);
    gains[i] = counted_gain(metric, matches, counts.length(i), length, of_order.data());
  }
  return gains;
}

std::vector<double> ter_gains(const Vocab& vocab, const Texts& texts, const Distinct& distinct, size_t most) {
  const Ter ter;
  const auto [references, q] = distinct.likely(most);
  std::vector<double> gains(distinct.size(), 0.0);
  for (size_t k = 0; k < references.size(); ++k) {
    const auto& reference = texts[distinct.first[references[k]]];
    const auto scorer = ter.scorer(vocab, {std::vector<int32_t>(reference.begin(), reference.end())});
    for (size_t i = 0; i < distinct.size(); ++i) {
      double stats[2] = {0, static_cast<double>(reference.size())};
      if (i != references[k]) scorer->stats(texts[distinct.first[i]], stats);
      gains[i] += q[k] * ter.gain(stats);
    }
  }
  return gains;
}

/// The words of a list as 1, 2, ...
std::vector<std::vector<int32_t>> symbols_of(const Texts& texts, const Distinct& distinct, int32_t& symbols) {
  IdMap ids;
  std::vector<std::vector<int32_t>> out;
  for (size_t i : distinct.first) {
    out.emplace_back();
    for (int32_t word : texts[i]) out.back().push_back(1 + ids.add(static_cast<uint32_t>(word)));
  }
  symbols = ids.size() + 1;
  return out;
}

std::vector<double> centroid_edits(const Texts& texts, const Distinct& distinct, size_t most) {
  int32_t symbols = 0;
  const auto words = symbols_of(texts, distinct, symbols);
  const auto [references, q] = distinct.likely(most);
  const size_t n = distinct.size();
  std::vector<double> risk(n, 0.0), edits(n);
  for (size_t k = 0; k < references.size(); ++k) {
    EditDistance distance(words[references[k]], symbols);
    for (size_t i = 0; i < n; ++i) risk[i] += q[k] * distance(words[i]);
  }
  const auto centroid = std::min_element(risk.begin(), risk.end()) - risk.begin();
  EditDistance distance(words[centroid], symbols);
  for (size_t i = 0; i < n; ++i) edits[i] = distance(words[i]);
  return edits;
}

Texts texts_of(const Forest& list) {
  Texts texts;
  for (int32_t e = 0; e < list.edges(); ++e) texts.push_back(list.edge_words(e));
  return texts;
}

}  // namespace

ConsensusMetric consensus_metric(const std::string& name) {
  if (name == "bleu") return ConsensusMetric::bleu;
  if (name == "chrf") return ConsensusMetric::chrf;
  if (name == "ter") return ConsensusMetric::ter;
  throw InputError("consensus is by bleu, chrf or ter, not by " + quoted(name));
}

double sentence_bleu(const double* matches, double length, double reference_length) {
  double product = 1, smoothing = 1, any = 0;
  int order = 0;
  for (; order < kBleuOrder && ngrams(length, order) > 0; ++order) {
    any += matches[order];
    const double matched = matches[order] > 0 ? matches[order] : 1 / (smoothing *= 2);
    product *= matched / ngrams(length, order);
  }
  if (any == 0) return 0;
  const double brevity = length < reference_length ? std::exp(1 - reference_length / length) : 1;
  return brevity * std::pow(product, 1.0 / order);
}

std::vector<double> list_posterior(const Forest& list, const double* w, double scale) {
  std::vector<double> p(list.edges(), 0.0);
  if (w) {
    for (int32_t e = 0; e < list.edges(); ++e) p[e] = scale * list.edge_score(e, w);
  }
  const double most = p.empty() ? 0 : *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& value : p) sum += value = std::exp(value - most);
  for (double& value : p) value /= sum;
  return p;
}

std::vector<double> expected_gains(const Vocab& vocab, const Texts& texts, std::span<const double> p, ConsensusMetric metric,
                                   size_t exact_limit) {
  const Distinct distinct(texts, p);
  if (metric == ConsensusMetric::ter) return distinct.spread(ter_gains(vocab, texts, distinct, exact_limit));
  const NgramCounts counts = metric == ConsensusMetric::bleu ? words_of(texts, distinct) : characters_of(vocab, texts, distinct);
  return distinct.spread(distinct.size() <= exact_limit ? exact_gains(counts, metric, distinct.probability)
                                                        : linear_gains(counts, metric, distinct.probability));
}

std::vector<double> agreement(const Texts& texts, std::span<const double> p, size_t exact_limit) {
  const Distinct distinct(texts, p);
  const NgramCounts counts = words_of(texts, distinct);
  std::vector<double> posterior(counts.size(), 0.0), rows(texts.size() * kAgreementColumns, 0.0);
  for (size_t j = 0; j < counts.texts(); ++j)
    for (const auto& [ngram, count] : counts.text(j)) posterior[ngram] += distinct.probability[j];
  const std::vector<double> edits = centroid_edits(texts, distinct, exact_limit);
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t group = distinct.group[i];
    double* row = rows.data() + i * kAgreementColumns;
    for (const auto& [ngram, count] : counts.text(group)) row[counts.order(ngram)] += count * posterior[ngram];
    for (int k = 0; k < kBleuOrder; ++k) row[k] /= std::max(1.0, ngrams(counts.length(group), k));
    row[kBleuOrder] = distinct.probability[group];
    row[kBleuOrder + 1] = edits[group];
  }
  return rows;
}

std::vector<double> pool_expected_gains(const Pool& pool, const double* w, double scale, ConsensusMetric metric,
                                        size_t exact_limit, int jobs) {
  const auto row_begin = pool.row_begin();
  std::vector<double> gains(row_begin.back());
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    const auto own = expected_gains(*pool.vocab, texts_of(s.forest), list_posterior(s.forest, w, scale), metric, exact_limit);
    std::copy(own.begin(), own.end(), gains.begin() + row_begin[i]);
  });
  return gains;
}

std::vector<double> consensus_columns(const Pool& pool, const double* w, double scale, std::span<const ConsensusMetric> metrics,
                                      size_t exact_limit, int jobs) {
  const auto row_begin = pool.row_begin();
  const size_t width = metrics.size() + kAgreementColumns;
  std::vector<double> columns(row_begin.back() * width);
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    const Texts texts = texts_of(s.forest);
    const auto p = list_posterior(s.forest, w, scale);
    double* rows = columns.data() + row_begin[i] * width;
    for (size_t m = 0; m < metrics.size(); ++m) {
      const auto gains = expected_gains(*pool.vocab, texts, p, metrics[m], exact_limit);
      for (size_t r = 0; r < texts.size(); ++r) rows[r * width + m] = gains[r];
    }
    const auto agreed = agreement(texts, p, exact_limit);
    for (size_t r = 0; r < texts.size(); ++r)
      std::copy_n(agreed.begin() + static_cast<ptrdiff_t>(r) * kAgreementColumns, kAgreementColumns,
                  rows + r * width + metrics.size());
  });
  return columns;
}

std::vector<double> likeness(const Texts& texts, std::span<const uint8_t> member) {
  const Distinct distinct(texts, std::vector<double>(texts.size(), 0.0));
  const NgramCounts counts = words_of(texts, distinct);
  std::vector<double> having(counts.size(), 0.0), rows(texts.size() * kLikenessColumns, 0.0);
  double members = 0, words = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!member[i]) continue;
    for (const auto& [ngram, count] : counts.text(distinct.group[i])) having[ngram] += 1;
    members += 1;
    words += static_cast<double>(texts[i].size());
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const double self = member[i], others = members - self;
    if (others == 0) continue;
    double* row = rows.data() + i * kLikenessColumns;
    const auto length = static_cast<double>(texts[i].size());
    for (const auto& [ngram, count] : counts.text(distinct.group[i]))
      row[counts.order(ngram)] += count * (having[ngram] - self) / others;
    for (int k = 0; k < kBleuOrder; ++k) row[k] /= std::max(1.0, ngrams(length, k));
    row[kBleuOrder] = length - (words - self * length) / others;
    row[kBleuOrder + 1] = std::fabs(row[kBleuOrder]);
  }
  return rows;
}

std::vector<double> likeness_columns(const Pool& pool, std::span<const uint8_t> member, size_t systems, int jobs) {
  const auto row_begin = pool.row_begin();
  std::vector<double> columns(row_begin.back() * systems * kLikenessColumns);
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    const Texts texts = texts_of(s.forest);
    std::vector<uint8_t> own(texts.size());
    for (size_t k = 0; k < systems; ++k) {
      for (size_t r = 0; r < texts.size(); ++r) own[r] = member[(row_begin[i] + r) * systems + k];
      const auto rows = likeness(texts, own);
      for (size_t r = 0; r < texts.size(); ++r)
        std::copy_n(rows.begin() + static_cast<ptrdiff_t>(r) * kLikenessColumns, kLikenessColumns,
                    columns.begin() + static_cast<ptrdiff_t>(((row_begin[i] + r) * systems + k) * kLikenessColumns));
    }
  });
  return columns;
}

}  // namespace hopefear
