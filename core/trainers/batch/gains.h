// The gain of a candidate: the number that hope adds to the model score and fear subtracts.
//
//   plus1       the metric of the sentence alone, smoothed where it must be: BLEU+1 of Lin and Och (2004), as Tan et al. (2013)
//               and Gimpel and Smith (2012) take it. It ignores the lengths of the other sentences: a corpus of hopes may
//               be too short.
//   linear      the first-order change of the metric of the corpus: B(D) + M slope.b, where D is the document of the M best
//               candidates under the current weights, slope the derivative of B there and b the candidate's statistics.
//               Linear BLEU of Chiang (2012, A.3), around the whole corpus. The mean over D is B(D).
//   background  the metric of the candidate in a decaying corpus of hopes: Chiang et al. (2008), Cherry and Foster (2012).
//               Metrics other than BLEU have no such form and keep their sentence score.
//
// All three are in units of the metric of an average sentence, about 0 to 1, so that a constant that fits one fits all.
#pragma once
#include <string>
#include <vector>

#include "trainers/lists.h"

namespace hopefear {

enum class Gain { plus1, linear, background };

Gain gain_by_name(const std::string& name);

struct GainOptions {
  Gain kind;
  double decay;  // of the background, after each sentence
};

/// The derivative of the gain in the statistics of a document, by central differences: statistics are few.
std::vector<double> gain_slope(const Metric& metric, const double* stats);

/// Threads for a pass over existing numbers, which takes less time than threads take to start, except for long lists.
inline int light_jobs(const Lists& lists, int jobs) { return lists.rows() < 1'000'000 ? 1 : jobs; }

/// w.h of each row.
std::vector<double> row_scores(const Lists& lists, const double* w, int jobs);

/// The gains of all rows, around the current weights.
class SentenceGains {
 public:
  SentenceGains(const Lists& lists, const GainOptions& options, int jobs);

  /// The gains around these scores of rows: a number for each row, valid until the next call. A background continues from call to call.
  const std::vector<double>& at(const std::vector<double>& model);
  /// Whether they do not depend on the weights.
  bool fixed() const { return options_.kind == Gain::plus1; }
  /// The factor from these units to those of context_gains(): for BLEU the words of an average reference, 1 for other metrics.
  double words() const { return words_; }

 private:
  void linear(const std::vector<double>& model);
  void background(const std::vector<double>& model);

  const Lists& lists_;
  const GainOptions options_;
  const int jobs_;
  const bool bleu_;
  double words_ = 1;
  std::vector<double> gain_;
  std::vector<double> context_;  // the background, which starts with counts of one
};

}  // namespace hopefear
