// Hope, fear and max-BLEU derivations: Chiang 2012, sections 4 and 5 and appendix A.3.
//
// The task is argmax_d  phi(d) = w.h(d) + mu loss(d) = w.h(d) - mu B(b(d)) + constant:  mu = -1 is hope, eq. (12), mu = +1 fear,
// and max-BLEU leaves w.h(d) out.
//
// Approximation::forest   forest reranking (5.2): every node keeps one derivation, the best by phi of what is below it, together
//                         with its b and the words at its ends. Inside the search m_k is not clipped (18), rho is the
//                         average reference length, and a node has the share of it that it has of the source (19).
//                         Where the forest does not know its spans, the share is that of the yield: words below the
//                         node to words in all, in the best derivation by w.h that uses the node.
// Approximation::linear   the same search with linear BLEU (A.3) in place of B. This is exact wherever the n-grams of an edge
//                         do not depend on the derivations of its tails: see linear_bleu.h.
// Approximation::kbest    the best by phi, with the exact b, of the k best derivations by w.h.
// A list is searched candidate by candidate with the exact b, except by `linear`.
//
// The b that is returned is always counted from the words of the result, clipped and with the closest reference.
// Of equal phi the higher w.h(d) wins, then the lower edge index.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "forest/derivation.h"
#include "forest/pool.h"
#include "hope_fear/boundary.h"
#include "metrics/oracle_document.h"

namespace hopefear {

enum class Approximation { forest, linear, kbest };

Approximation approximation_by_name(const std::string& name);

/// A derivation with its exact statistics.
struct Rated {
  Derivation derivation;  // its score is w.h(d)
  std::vector<double> b;  // [m_1 .. m_K, n_1 .. n_K, rho]
  double gain = 0.0;      // B(b), eq. (3)
};

/// All searches of one sentence with the same weights: edge scores and reference n-grams are computed once.
class HopeFear {
 public:
  /// The forest, the references and the document must outlive this.
  HopeFear(const Forest& forest, const References& references, const double* w, const OracleDocument& document,
           Approximation approximation = Approximation::forest, int k = 100);

  /// argmax w.h(d) - mu B. mu = 0 is Viterbi.
  Rated find(double mu) { return search(1.0, -mu); }
  /// argmax B.
  Rated max_bleu() { return search(0.0, 1.0); }
  /// The same forest with new weights.
  void reweigh();
  /// A derivation of this forest with its exact statistics.
  Rated rate(Derivation&& derivation);

  const std::vector<double>& scores() const { return scores_; }
  const BoundaryAutomaton& automaton() const { return automaton_; }

 private:
  Rated search(double model, double gain);
  Rated search_list(double model, double gain);
  Rated search_forest(double model, double gain);
  Rated search_kbest(double model, double gain);
  void share_source();
  double gain_of(const double* b) const;

  const Forest& forest_;
  const OracleDocument& document_;
  BoundaryAutomaton automaton_;
  BleuCounter counter_;
  Approximation approximation_;
  int k_;
  const double* w_;
  std::vector<double> scores_;
  std::vector<double> rho_;     // of each node
  std::vector<double> linear_;  // weights of linear BLEU
  std::vector<Derivation> kbest_;
  std::vector<double> list_stats_;
};

/// What an online learner needs of a sentence.
struct HopeFearTriple {
  Rated hope, best, fear;
};

/// For every sentence of a pool, against the same document. mu is that of hope; fear has +1.
std::vector<HopeFearTriple> hope_fear(const Pool& pool, const double* w, const OracleDocument& document, double mu,
                                      Approximation approximation, int k, int jobs);

/// The max-BLEU derivation of every sentence.
std::vector<Rated> max_bleu(const Pool& pool, const double* w, const OracleDocument& document, Approximation approximation, int k,
                            int jobs);

}  // namespace hopefear
