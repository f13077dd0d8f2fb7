#include "trainers/batch/losses.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "forest/expectations.h"
#include "forest/viterbi.h"
#include "util/parallel.h"

namespace hopefear {

const std::vector<Loss>& losses() {
  static const std::vector<Loss> table{
      {"ramp1", "(6)", {Over::all, 0, false}, {Over::all, +1, false}},
      {"ramp2", "(7)", {Over::all, -1, false}, {Over::all, 0, false}},
      {"ramp3", "(8)", {Over::all, -1, false}, {Over::all, +1, false}},
      {"softramp1", "(6), both max softened", {Over::all, 0, true}, {Over::all, +1, true}},
      {"softramp2", "(7), both max softened", {Over::all, -1, true}, {Over::all, 0, true}},
      {"softramp3", "(8), both max softened", {Over::all, -1, true}, {Over::all, +1, true}},
      {"perceptron", "(12), y^(i) replaced by the k-best oracle (10)", {Over::oracle, 0, false}, {Over::all, 0, false}},
      {"latentperceptron", "(9), over all derivations of the oracle", {Over::oracles, 0, false}, {Over::all, 0, false}},
      {"hinge", "section 3.3, (13)", {Over::oracle, 0, false}, {Over::all, +1, false}},
      {"log", "example 2", {Over::oracle, 0, false}, {Over::all, 0, true}},
      {"latentlog", "(9) softened", {Over::oracles, 0, true}, {Over::all, 0, true}},
      {"risk", "(5), Bayes risk", {Over::all, 0, true}, {Over::all, 0, true}, true},
      {"jensen", "(6) softened: the Jensen risk bound of section 3.4", {Over::all, 0, true}, {Over::all, +1, true}},
  };
  return table;
}

const Loss& loss_by_name(const std::string& name) {
  std::string known;
  for (const Loss& loss : losses()) {
    if (loss.name == name) return loss;
    known += " " + loss.name;
  }
  throw InputError("there is no loss '" + name + "'. Known:" + known);
}

namespace {

double list_term(const double* scores, const double* costs, int32_t count, const Term& term, double factor,
                 double* coefficients) {
  double lowest = std::numeric_limits<double>::infinity();
  if (term.over != Over::all)
    for (int32_t e = 0; e < count; ++e) lowest = std::min(lowest, costs[e]);
  auto value = [&](int32_t e) { return term.cost == 0 ? scores[e] : scores[e] + term.cost * costs[e]; };
  int32_t top = -1;
  for (int32_t e = 0; e < count; ++e) {
    if (term.over != Over::all && costs[e] > lowest) continue;
    if (top < 0 || (term.over != Over::oracle && value(e) > value(top))) top = e;
  }
  if (!term.soft || term.over == Over::oracle) {
    coefficients[top] += factor;
    return value(top);
  }
  std::vector<double> p(static_cast<size_t>(count), 0.0);
  double sum = 0;
  for (int32_t e = 0; e < count; ++e)
    if (term.over == Over::all || costs[e] <= lowest) sum += p[e] = std::exp(value(e) - value(top));
  for (int32_t e = 0; e < count; ++e) coefficients[e] += factor * p[e] / sum;
  return value(top) + std::log(sum);
}

/// Edges of derivations of lowest cost: those whose cost and tails add up to the lowest cost of their head.
std::vector<uint8_t> tight_edges(const Forest& forest, const double* costs) {
  Viterbi cheapest;
  viterbi(forest, [&](int32_t e) { return -costs[e]; }, cheapest);
  std::vector<uint8_t> tight(static_cast<size_t>(forest.edges()), 0);
  for (int32_t v = 0; v < forest.nodes(); ++v)
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[static_cast<size_t>(v) + 1]; ++e) {
      double value = -costs[e];
      for (int32_t tail : forest.edge_tails(e)) value += cheapest.best[tail];
      const double best = cheapest.best[v];
      tight[e] = value >= best - 1e-12 * std::max(1.0, std::abs(best));  // equal except for rounding
    }
  return tight;
}

double forest_term(const Forest& forest, const double* scores, const double* costs, const Term& term, double factor,
                   double* coefficients) {
  std::vector<double> value(static_cast<size_t>(forest.edges()));
  for (size_t e = 0; e < value.size(); ++e) value[e] = term.cost == 0 ? scores[e] : scores[e] + term.cost * costs[e];
  if (term.over == Over::oracles) {
    const auto tight = tight_edges(forest, costs);
    for (size_t e = 0; e < value.size(); ++e)
      if (!tight[e]) value[e] = -std::numeric_limits<double>::infinity();
  }
  if (term.soft && term.over != Over::oracle) {
    Expectations x;
    posteriors(forest, value, x);
    for (size_t e = 0; e < value.size(); ++e) coefficients[e] += factor * x.edge[e];
    return x.log_z;
  }
  Viterbi best;
  if (term.over == Over::oracle)
    viterbi(forest, [&](int32_t e) { return -costs[e]; }, best);
  else
    viterbi(forest, [&](int32_t e) { return value[e]; }, best);
  double sum = 0;
  for (int32_t e : viterbi_derivation(forest, best).edges) {
    sum += value[e];
    coefficients[e] += factor;
  }
  return sum;
}

}  // namespace

double term(const Forest& forest, const double* scores, const double* costs, const Term& term, double factor,
            double* coefficients) {
  if (forest.edges() == 0) return 0;
  return forest.is_list() ? list_term(scores, costs, forest.edges(), term, factor, coefficients)
                          : forest_term(forest, scores, costs, term, factor, coefficients);
}

double loss_value(const Forest& forest, const double* scores, const double* costs, const Loss& loss, double* coefficients) {
  if (!loss.risk)
    return -term(forest, scores, costs, loss.up, -1.0, coefficients) + term(forest, scores, costs, loss.down, +1.0, coefficients);
  Expectations x;
  expectations(forest, {scores, static_cast<size_t>(forest.edges())}, {costs, static_cast<size_t>(forest.edges())}, x);
  for (size_t e = 0; e < x.covariance.size(); ++e) coefficients[e] += x.covariance[e];
  return x.gain;
}

LossAt forest_loss(const Forest& forest, const double* costs, const double* w, const Loss& loss) {
  std::vector<double> scores(static_cast<size_t>(forest.edges())), coefficients(scores.size(), 0.0);
  edge_scores(forest, w, scores.data());
  LossAt out{loss_value(forest, scores.data(), costs, loss, coefficients.data()),
             std::vector<double>(static_cast<size_t>(forest.features->size()), 0.0)};
  for (int32_t e = 0; e < forest.edges(); ++e)
    if (coefficients[e] != 0) add_features(forest, e, coefficients[e], out.gradient.data());
  return out;
}

LossAt pool_loss(const Lists& lists, const double* costs, const double* w, const Loss& loss, int jobs) {
  std::vector<double> values(lists.sentences(), 0.0), coefficients(lists.rows(), 0.0);
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    std::vector<double> scores(static_cast<size_t>(lists.candidates(i)));
    edge_scores(lists.list(i), w, scores.data());
    values[i] =
        loss_value(lists.list(i), scores.data(), costs + lists.row_begin[i], loss, coefficients.data() + lists.row_begin[i]);
  });
  return {std::accumulate(values.begin(), values.end(), 0.0), weighted_features(lists, coefficients.data(), jobs)};
}

}  // namespace hopefear
