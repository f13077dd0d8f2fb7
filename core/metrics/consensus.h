// Consensus in a candidate list: the expected gain of a candidate if the truth is a random candidate of the same list.
//
//   G(e) = sum over e' of p(e') gain(e; e')     minimum Bayes risk (Kumar and Byrne 2004): exact, quadratic in the candidates
//   G(e) = gain(e; E[counts])                   fast consensus decoding (DeNero, Chiang and Knight 2009): linear; the n-grams of
//                                               the reference are expected counts, and so is its length
//
// The gain is that of one sentence as sacreBLEU scores it, from 0 to 1: BLEU with smoothing "exp" and effective order, chrF (6
// orders of characters, beta 2), 1 - TER. The second form has no TER: TER uses the most probable candidates only.
// A candidate is compared with itself too, as the formula says.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "forest/pool.h"

namespace hopefear {

enum class ConsensusMetric { bleu, chrf, ter };
/// Throws InputError.
ConsensusMetric consensus_metric(const std::string& name);

using Texts = std::vector<std::span<const int32_t>>;

/// BLEU of a sentence of `length` words with these clipped matches of orders 1 to 4, as sacreBLEU's sentence_bleu has it.
double sentence_bleu(const double* matches, double length, double reference_length);

/// p of the candidates of a list: proportional to exp(scale w.h); the same for all where w is null.
std::vector<double> list_posterior(const Forest& list, const double* w, double scale);

/// G of each text under p; exact for lists of at most `exact_limit` different texts.
std::vector<double> expected_gains(const Vocab& vocab, const Texts& texts, std::span<const double> p, ConsensusMetric metric,
                                   size_t exact_limit);

/// Agreement of each candidate with the n-grams and words of its list: a row of kAgreementColumns numbers.
///   posterior_1 .. posterior_4   the mean over the candidate's n-grams g of the sum of p(e') over the e' that have g; 0 without any
///   votes                        the sum of p(e') over the e' with the same words
///   centroid                     the edits (insertions, deletions, substitutions of words) to the candidate whose expected edits
///                                to the others are fewest, the first of several; above the limit, to the most probable ones
inline constexpr int kAgreementColumns = 6;
std::vector<double> agreement(const Texts& texts, std::span<const double> p, size_t exact_limit);

/// The similarity of a text to some of the texts, itself left out: a row of kLikenessColumns numbers.
///   like_1 .. like_4   the mean over its n-grams of the share of those texts that have it
///   longer             its words less the mean of theirs; unlike: the absolute value of that
/// `member[i]`: text i is one of them. Zeros where there are none.
inline constexpr int kLikenessColumns = 6;
std::vector<double> likeness(const Texts& texts, std::span<const uint8_t> member);

/// G of every row of a pool of lists.
std::vector<double> pool_expected_gains(const Pool& pool, const double* w, double scale, ConsensusMetric metric,
                                        size_t exact_limit, int jobs);
/// For every row, G by each metric, then its agreement.
std::vector<double> consensus_columns(const Pool& pool, const double* w, double scale, std::span<const ConsensusMetric> metrics,
                                      size_t exact_limit, int jobs);

/// The likeness of every row to the members of each of `systems` lists; member is a matrix with a line for each row.
std::vector<double> likeness_columns(const Pool& pool, std::span<const uint8_t> member, size_t systems, int jobs);

}  // namespace hopefear
