// Columns of evidence for the candidates of lists.
#include "common.h"
#include "forest/more_features.h"
#include "grammar/grammar.h"
#include "grammar/lexical_scores.h"
#include "grammar/shallow_features.h"
#include "lm/lm_columns.h"
#include "metrics/consensus.h"
#include "util/error.h"

namespace hopefear {
namespace {

using Weights = std::optional<In<double>>;

const double* vector_for(const Pool& pool, const Weights& w) {
  if (w && w->size() < static_cast<size_t>(pool.features->size()))
    throw InputError("the weight vector is shorter than the number of features");
  return w ? w->data() : nullptr;
}

/// A matrix of rows with this many columns, computed without the GIL.
template <class Compute>
Out2<double> matrix(size_t columns, Compute&& compute) {
  std::vector<double> values;
  {
    nb::gil_scoped_release release;
    values = compute();
  }
  return give(std::move(values), columns);
}

Pool add_columns(const Pool& pool, const std::vector<std::string>& names, In2<double> values, int jobs) {
  if (values.shape(1) != names.size() || values.shape(0) != static_cast<size_t>(pool.row_begin().back()))
    throw InputError("the matrix needs a line for each candidate and a column for each name");
  nb::gil_scoped_release release;
  return with_columns(pool, names, values.data(), jobs);
}

Out2<double> consensus(const Pool& pool, const std::vector<std::string>& metrics, Weights w, double scale, size_t exact_limit,
                       int jobs) {
  std::vector<ConsensusMetric> wanted;
  for (const std::string& name : metrics) wanted.push_back(consensus_metric(name));
  const double* weights = vector_for(pool, w);
  return matrix(wanted.size() + kAgreementColumns,
                [&] { return consensus_columns(pool, weights, scale, wanted, exact_limit, jobs); });
}

Out<double> gains(const Pool& pool, const std::string& metric, Weights w, double scale, size_t exact_limit, int jobs) {
  const ConsensusMetric wanted = consensus_metric(metric);
  const double* weights = vector_for(pool, w);
  std::vector<double> values;
  {
    nb::gil_scoped_release release;
    values = pool_expected_gains(pool, weights, scale, wanted, exact_limit, jobs);
  }
  return give(std::move(values));
}

Out2<double> like(const Pool& pool, In2<uint8_t> member, int jobs) {
  if (member.shape(0) != static_cast<size_t>(pool.row_begin().back())) throw InputError("a line for each candidate is needed");
  const size_t systems = member.shape(1);
  return matrix(systems * kLikenessColumns,
                [&] { return likeness_columns(pool, {member.data(), member.size()}, systems, jobs); });
}

}  // namespace

void init_evidence(nb::module_& m) {
  m.def("text_columns", [] { return kTextColumns; }, "The names of the first of shallow_columns.");
  m.def("source_columns", [] { return kSourceColumns; }, "The names of the others.");
  m.def("lexical_names", [] { return kLexicalColumns; }, "The names of lexical_columns.");
  m.def(
      "shallow_columns",
      [](const Pool& pool, int jobs) {
        return matrix(kTextColumns.size() + kSourceColumns.size(), [&] { return shallow_columns(pool, jobs); });
      },
      "pool"_a, "jobs"_a = 0, "The surface of each candidate, alone and beside its source.");
  m.def(
      "lm_columns",
      [](const Pool& pool, const LanguageModel& model, int jobs) {
        return matrix(2, [&] { return lm_columns(pool, model, jobs); });
      },
      "pool"_a, "model"_a, "jobs"_a = 0, "ln p and unknown words of each candidate.");
  m.def(
      "lexical_columns",
      [](const Pool& pool, const std::vector<std::string>& sources, const Grammar& grammar, int jobs) {
        return matrix(kLexicalColumns.size(), [&] { return lexical_columns(pool, sources, grammar, jobs); });
      },
      "pool"_a, "sources"_a, "grammar"_a, "jobs"_a = 0, "Word translation in both directions.");
  m.def(
      "joint_column",
      [](const Pool& pool, const std::vector<std::string>& sources, const Grammar& grammar, const JointModel& joint, int jobs) {
        return matrix(1, [&] { return joint_column(pool, sources, grammar, joint, jobs); });
      },
      "pool"_a, "sources"_a, "grammar"_a, "joint"_a, "jobs"_a = 0, "The log probability of each candidate by a joint model.");
  m.def("consensus_columns", &consensus, "pool"_a, "metrics"_a, nb::arg("w").noconvert().none(), "scale"_a, "exact_limit"_a,
        "jobs"_a = 0, "Expected gains by each metric, then n-gram posteriors, votes and centroid.");
  m.def("expected_gains", &gains, "pool"_a, "metric"_a, nb::arg("w").noconvert().none(), "scale"_a, "exact_limit"_a, "jobs"_a = 0,
        "The expected gain of each candidate against a random one of its list.");
  m.def("likeness_columns", &like, "pool"_a, "member"_a, "jobs"_a = 0,
        "How each candidate agrees with the candidates of each system, itself left out.");
  m.def("add_columns", &add_columns, "pool"_a, "names"_a, "values"_a, "jobs"_a = 0, "The same lists with more features.");
}

}  // namespace hopefear
