// Minimum Bayes risk on lists and forests.
#include "metrics/consensus.h"

#include "common.h"
#include "hope_fear/forest_consensus.h"
#include "util/error.h"
#include "util/parallel.h"
#include "util/words.h"

namespace hopefear {
namespace {

constexpr int64_t kMaxEdges = 4'000'000;

void check_weights(const std::vector<const Forest*>& forests, size_t size) {
  for (const Forest* forest : forests)
    if (size < static_cast<size_t>(forest->features->size()))
      throw InputError("the weight vector is shorter than the number of features");
}

std::vector<Out<double>> list_gains(const std::vector<const Forest*>& lists, const std::string& metric, In<double> w,
                                    double scale, size_t exact_limit, int jobs) {
  const ConsensusMetric wanted = consensus_metric(metric);
  check_weights(lists, w.size());
  std::vector<std::vector<double>> gains(lists.size());
  {
    nb::gil_scoped_release release;
    parallel_for(lists.size(), jobs, [&](size_t i, int) {
      const Forest& list = *lists[i];
      if (!list.is_list()) throw InputError("a forest, not a list of candidates. Take its k best first");
      Texts texts;
      for (int32_t e = 0; e < list.edges(); ++e) texts.push_back(list.edge_words(e));
      gains[i] = expected_gains(*list.vocab, texts, list_posterior(list, w.data(), scale), wanted, exact_limit);
    });
  }
  std::vector<Out<double>> out;
  for (auto& own : gains) out.push_back(give(std::move(own)));
  return out;
}

using Candidates = std::vector<std::pair<std::string, double>>;

std::vector<Candidates> consensus(const std::vector<const Forest*>& forests, In<double> w, double scale, int64_t k, int jobs) {
  check_weights(forests, w.size());
  std::vector<ConsensusCandidates> candidates(forests.size());
  {
    nb::gil_scoped_release release;
    parallel_for(forests.size(), jobs,
                 [&](size_t i, int) { candidates[i] = forest_consensus(*forests[i], w.data(), scale, k, kMaxEdges); });
  }
  std::vector<Candidates> out(forests.size());
  for (size_t i = 0; i < forests.size(); ++i)
    for (size_t c = 0; c < candidates[i].texts.size(); ++c)
      out[i].emplace_back(text_of(*forests[i]->vocab, candidates[i].texts[c]), candidates[i].gains[c]);
  return out;
}

}  // namespace

void init_consensus(nb::module_& m) {
  m.def("list_gains", &list_gains, "lists"_a, "metric"_a, "w"_a.noconvert(), "scale"_a, "exact_limit"_a, "jobs"_a = 0,
        "The expected gain of each candidate of each list.");
  m.def("forest_consensus", &consensus, "forests"_a, "w"_a.noconvert(), "scale"_a, "k"_a, "jobs"_a = 0,
        "The k best strings of each forest, and BLEU of each against the expected n-gram counts of the whole forest.");
}

}  // namespace hopefear
