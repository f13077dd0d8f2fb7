// Translation edit rate (Snover et al. 2006) and word error rate.
//
// Statistics: [edits, reference length]. The score is 100 times their quotient; a document without any reference word
// has 0 when it is empty and 100 when it is not.
//
// TER counts insertions, deletions, substitutions and shifts of blocks. Shifts are found greedily: of all blocks (at most
// 10 words, moved by at most 50) that match the reference elsewhere, of which a word is wrong both where the block is
// and where it goes, the one that lowers the edit distance most is moved (then: the longest, the leftmost, the leftmost
// goal), until none lowers it or 1000 have been tried. The edit distance looks 25 words to each side of the diagonal.
// With these limits, those of sacreBLEU, scores are the same as sacreBLEU's. Edits are those against the nearest
// reference, the length is the mean of all references.
//
// WER has no shifts and no limits. With several references it takes edits and length of the one with the lowest rate.
#pragma once
#include "metrics/metric.h"

namespace hopefear {

class ErrorRate : public Metric {
 public:
  int size() const override { return 2; }
  bool higher_is_better() const override { return false; }
  double score(const double* stats) const override { return stats[1] > 0 ? 100 * stats[0] / stats[1] : stats[0] > 0 ? 100 : 0; }
};

class Ter final : public ErrorRate {
 public:
  std::string name() const override { return "ter"; }
  std::unique_ptr<Scorer> scorer(const Vocab& vocab, const References& references) const override;
};

class Wer final : public ErrorRate {
 public:
  std::string name() const override { return "wer"; }
  std::unique_ptr<Scorer> scorer(const Vocab& vocab, const References& references) const override;
};

}  // namespace hopefear
