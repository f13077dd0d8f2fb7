#include "bleu.h"
#include "common.h"
#include "corpus.h"
#include "error.h"
#include "metric.h"

namespace hopefear {
namespace {

void check_size(const Metric& metric, size_t size) {
  if (size != static_cast<size_t>(metric.size())) throw nb::value_error("wrong number of statistics");
}

/// f of every row.
template <class F>
Out<double> each_row(const Metric& metric, const In2<double>& stats, F&& f) {
  check_size(metric, stats.shape(1));
  std::vector<double> values(stats.shape(0));
  for (size_t i = 0; i < values.size(); ++i) values[i] = f(stats.data() + i * stats.shape(1));
  return give(std::move(values));
}

}  // namespace

void init_metrics(nb::module_& m) {
  nb::class_<Metric>(m, "Metric", "Additive statistics and a function of their sum.")
      .def_prop_ro("name", &Metric::name)
      .def_prop_ro("size", &Metric::size, "How many statistics a candidate has.")
      .def_prop_ro("higher_is_better", &Metric::higher_is_better)
      .def("score", [](const Metric& metric, In<double> stats) {
        check_size(metric, stats.size());
        return metric.score(stats.data());
      }, "stats"_a, "The score of a document, as the field prints it.")
      .def("gain", [](const Metric& metric, In<double> stats) {
        check_size(metric, stats.size());
        return metric.gain(stats.data());
      }, "stats"_a, "Larger is better, about 0 to 1.")
      .def("sentence_gain", [](const Metric& metric, In<double> stats) {
        check_size(metric, stats.size());
        return metric.sentence_gain(stats.data());
      }, "stats"_a, "The gain of one sentence, smoothed where the metric needs it.")
      .def("scores", [](const Metric& metric, In2<double> stats) {
        return each_row(metric, stats, [&](const double* row) { return metric.score(row); });
      }, "stats"_a, "score() of every row.")
      .def("sentence_gains", [](const Metric& metric, In2<double> stats) {
        return each_row(metric, stats, [&](const double* row) { return metric.sentence_gain(row); });
      }, "stats"_a, "sentence_gain() of every row.")
      .def("stats", [](const Metric& metric, const Pool& pool, int jobs) {
        std::vector<double> stats;
        {
          nb::gil_scoped_release release;
          stats = pool_stats(metric, pool, jobs);
        }
        return give(std::move(stats), static_cast<size_t>(metric.size()));
      }, "pool"_a, "jobs"_a = 0, "One line of statistics a candidate, for a pool of lists.");

  nb::class_<Bleu, Metric>(m, "Bleu", "BLEU over word ids.")
      .def("__init__", [](Bleu* self, int max_order, const std::string& reference_length) {
        new (self) Bleu(max_order, reference_length_by_name(reference_length));
      }, "max_order"_a = 4, "reference_length"_a = "closest")
      .def_prop_ro("max_order", &Bleu::max_order);

  m.def("corpus_pool", [](const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::optional<std::string>>>& references) {
    nb::gil_scoped_release release;
    return corpus_pool(hypotheses, references);
  }, "hypotheses"_a, "references"_a, "Lines of text as a pool: one candidate a sentence, words as str.split() gives them.");
  m.def("split_all", [](const std::vector<std::string>& texts, Vocab& vocab) {
    std::vector<int64_t> begin;
    std::vector<int32_t> words;
    split_all(texts, vocab, begin, words);
    return std::make_pair(give(std::move(begin)), give(std::move(words)));
  }, "texts"_a, "vocab"_a, "The words of each string under ids of a vocabulary: what Pool.retokenized wants.");
  m.def("with_texts", &with_texts, "pool"_a, "texts"_a, "references"_a, "A pool of lists with other words: a text for each candidate.");
  m.def("has_space", &has_space, "vocab"_a, "Whether str.split() would split one of the words.");
}

}  // namespace hopefear
