#include <algorithm>
#include <cmath>
#include <numeric>

#include "common.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/corpus.h"
#include "metrics/external.h"
#include "metrics/metric.h"
#include "metrics/oracle_document.h"
#include "metrics/rank.h"
#include "metrics/ratio.h"
#include "metrics/rouge.h"
#include "metrics/significance.h"
#include "metrics/ter.h"
#include "util/array_store.h"
#include "util/error.h"

namespace hopefear {
namespace {

template <class Of>
void check_size(const Of& of, size_t size) {
  if (size != static_cast<size_t>(of.size())) throw nb::value_error("wrong number of statistics");
}

/// f of every row.
template <class Of, class F>
Out<double> each_row(const Of& of, const In2<double>& stats, F&& f) {
  check_size(of, stats.shape(1));
  std::vector<double> values(stats.shape(0));
  for (size_t i = 0; i < values.size(); ++i) values[i] = f(stats.data() + i * stats.shape(1));
  return give(std::move(values));
}

/// A metric whose score is a function of Python: it may be called from any thread, and takes the interpreter each time.
class Custom final : public Metric {
 public:
  Custom(std::string name, int size, nb::callable score, bool higher_is_better, double scale)
      : name_(std::move(name)), size_(size), score_(std::move(score)), higher_is_better_(higher_is_better), scale_(scale) {
    if (size < 1) throw InputError("a metric needs one statistic at least");
    if (!(scale > 0 && std::isfinite(scale))) throw InputError("scale of a metric must be above 0");
  }

  std::string name() const override { return name_; }
  int size() const override { return size_; }
  bool higher_is_better() const override { return higher_is_better_; }
  double score(const double* stats) const override {
    nb::gil_scoped_acquire acquire;
    return nb::cast<double>(score_(give(std::vector<double>(stats, stats + size_))));
  }
  double gain(const double* stats) const override { return (higher_is_better_ ? score(stats) : -score(stats)) / scale_; }

 private:
  std::string name_;
  int size_;
  nb::callable score_;
  bool higher_is_better_;
  double scale_;
};

using In3 = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// Statistics of a pool that may be larger than memory: of some sentences at a time.
Out2<double> kept_stats(const Metric& metric, const Pool& pool, int jobs) {
  constexpr size_t kSome = 4096;
  const auto row_begin = pool.row_begin();
  const auto rows = static_cast<size_t>(row_begin.back()), width = static_cast<size_t>(metric.size());
  auto stats = std::make_unique<std::shared_ptr<double[]>>(kept_array<double>(rows * width));
  double* data = stats->get();
  nb::capsule owner(stats.release(), [](void* p) noexcept { delete static_cast<std::shared_ptr<double[]>*>(p); });
  {
    nb::gil_scoped_release release;
    for (size_t i = 0; i < pool.size(); i += kSome) {
      std::vector<int64_t> some(std::min(kSome, pool.size() - i));
      std::iota(some.begin(), some.end(), static_cast<int64_t>(i));
      const auto part = some.size() == pool.size() ? pool_stats(metric, pool, jobs)  //
                                                   : pool_stats(metric, subset(pool, some), jobs);
      std::ranges::copy(part, data + static_cast<size_t>(row_begin[i]) * width);
    }
  }
  return Out2<double>(data, {rows, width}, owner);
}

Runs runs(const Metric& metric, const In3& stats) {
  check_size(metric, stats.shape(2));
  if (stats.shape(0) == 0 || stats.shape(1) == 0) throw InputError("there is no sentence to resample");
  return {stats.data(), stats.shape(0), stats.shape(1)};
}

void bind_metric(nb::module_& m) {
  nb::class_<Metric>(m, "Metric", "Additive statistics and a function of their sum.")
      .def_prop_ro("name", &Metric::name)
      .def_prop_ro("size", &Metric::size, "How many statistics a candidate has.")
      .def_prop_ro("higher_is_better", &Metric::higher_is_better)
      .def(
          "score",
          [](const Metric& metric, In<double> stats) {
            check_size(metric, stats.size());
            return metric.score(stats.data());
          },
          "stats"_a, "The score of a document, as the field prints it.")
      .def(
          "gain",
          [](const Metric& metric, In<double> stats) {
            check_size(metric, stats.size());
            return metric.gain(stats.data());
          },
          "stats"_a, "Larger is better, about 0 to 1.")
      .def(
          "sentence_gain",
          [](const Metric& metric, In<double> stats) {
            check_size(metric, stats.size());
            return metric.sentence_gain(stats.data());
          },
          "stats"_a, "The gain of one sentence, smoothed where the metric needs it.")
      .def(
          "scores",
          [](const Metric& metric, In2<double> stats) {
            return each_row(metric, stats, [&](const double* row) { return metric.score(row); });
          },
          "stats"_a, "score() of every row.")
      .def(
          "sentence_gains",
          [](const Metric& metric, In2<double> stats) {
            return each_row(metric, stats, [&](const double* row) { return metric.sentence_gain(row); });
          },
          "stats"_a, "sentence_gain() of every row.")
      .def(
          "stats", [](const Metric& metric, const Pool& pool, int jobs) { return kept_stats(metric, pool, jobs); }, "pool"_a,
          "jobs"_a = 0, "One line of statistics per candidate, for a pool of lists.");
}

void bind_metrics(nb::module_& m) {
  nb::class_<Bleu, Metric>(m, "Bleu", "BLEU over word ids.")
      .def(
          "__init__",
          [](Bleu* self, int max_order, const std::string& reference_length) {
            new (self) Bleu(max_order, reference_length_by_name(reference_length));
          },
          "max_order"_a, "reference_length"_a)
      .def_prop_ro("max_order", &Bleu::max_order);

  nb::class_<Chrf, Metric>(m, "Chrf", "chrF over the characters of words.")
      .def(nb::init<int, int, double>(), "char_order"_a, "word_order"_a, "beta"_a);
  nb::class_<Ter, Metric>(m, "Ter", "TER over word ids.").def(nb::init<>());
  nb::class_<Wer, Metric>(m, "Wer", "WER over word ids.").def(nb::init<>());
  nb::class_<RougeS, Metric>(m, "RougeS", "ROUGE-S over word ids.").def(nb::init<int, double>(), "skip"_a, "beta"_a);
  nb::class_<External, Metric>(m, "External", "A number of each candidate, averaged.")
      .def(nb::init<std::string, bool, double>(), "column"_a, "higher_is_better"_a, "scale"_a);
  nb::class_<Ratio, Metric>(m, "Ratio", "Sums of columns over sums of columns.")
      .def(nb::init<std::string, std::vector<std::string>, std::vector<double>, std::vector<double>, bool>(), "name"_a,
           "columns"_a, "above"_a, "below"_a, "higher_is_better"_a);
  nb::class_<RankMetric, Metric>(m, "RankMetric", "A metric of the whole order of a list.")
      .def(nb::init<const std::string&, std::string, int, double, bool, std::string>(), "kind"_a, "column"_a, "k"_a, "level"_a,
           "exponential"_a, "retrieved"_a);
}

constexpr const char* kOracleDocument =
    "The document of earlier outputs, b-bar, in whose context B scores a sentence (Chiang 2012, section 2.4).\n\n"
    "It starts as one perfect sentence of K words: m_k = n_k = K + 1 - k, rho = K.\n\n"
    ">>> document = hf.OracleDocument()\n"
    ">>> stats = hf.Bleu().corpus_stats([\"the cat sat down\", \"cat the sat\"], [[\"the cat sat down\"] * 2])\n"
    ">>> document.Bs(stats)\n"
    "array([ 0.        , -1.24238952])\n"
    ">>> document.update(stats[0])\n"
    ">>> document.bleu()\n"
    "1.0";

void bind_oracle_document(nb::module_& m) {
  nb::class_<Custom, Metric>(m, "Custom", "A metric in Python: a function of the sum of statistics.")
      .def(nb::init<std::string, int, nb::typed<nb::callable, double(nb::object)>, bool, double>(), "name"_a, "size"_a, "score"_a,
           "higher_is_better"_a, "scale"_a);

  nb::class_<OracleDocument>(m, "OracleDocument", kOracleDocument)
      .def(nb::init<int, double>(), "max_order"_a = 4, "decay"_a = 0.9)
      .def_prop_ro("max_order", &OracleDocument::max_order)
      .def_prop_ro("decay", &OracleDocument::decay)
      .def_prop_rw(
          "counts", [](const OracleDocument& d) { return give(std::vector<double>(d.counts().begin(), d.counts().end())); },
          [](OracleDocument& d, In<double> counts) { d.set_counts(view(counts)); }, nb::for_getter(nb::rv_policy::move),
          "b-bar, laid out as the statistics of BLEU.")
      .def(
          "bleu",
          [](const OracleDocument& d, std::optional<In<double>> b) {
            if (!b) return d.bleu();
            check_size(d, b->size());
            return d.bleu(b->data());
          },
          "b"_a = nb::none(), "BLEU(b-bar + b), 0 to 1, not smoothed.")
      .def(
          "B",
          [](const OracleDocument& d, In<double> b) {
            check_size(d, b.size());
            return d.B(b.data());
          },
          "b"_a, "B of one candidate, eq. (3).")
      .def(
          "Bs",
          [](const OracleDocument& d, In2<double> stats) {
            return each_row(d, stats, [&](const double* row) { return d.B(row); });
          },
          "stats"_a, "B of every row.")
      .def(
          "update",
          [](OracleDocument& d, In<double> b) {
            check_size(d, b.size());
            d.update(b.data());
          },
          "b"_a, "b-bar <- decay (b-bar + b).")
      .def(
          "decay_and_add",
          [](OracleDocument& d, In<double> b) {
            check_size(d, b.size());
            d.decay_and_add(b.data());
          },
          "b"_a, "b-bar <- decay b-bar + b: the background corpus of Cherry and Foster (2012).")
      .def(
          "linear",
          [](const OracleDocument& d) {
            std::vector<double> weights(d.size());
            d.linear(weights.data());
            return give(std::move(weights));
          },
          "Linear BLEU (A.3): weights whose product with b is B(b) to the first order.");
}

void bind_significance(nb::module_& m) {
  m.def(
      "run_scores", [](const Metric& metric, In3 stats) { return give(run_scores(metric, runs(metric, stats))); }, "metric"_a,
      "stats"_a, "The score of each run: runs x sentences x statistics.");
  m.def(
      "bootstrap",
      [](const Metric& metric, const std::vector<In3>& stats, size_t samples, uint64_t seed, int jobs) {
        std::vector<Runs> systems;
        for (const auto& system : stats) systems.push_back(runs(metric, system));
        if (systems.empty()) throw InputError("there is no system to resample");
        for (const auto& system : systems)
          if (system.sentences != systems[0].sentences) throw InputError("the systems must have the same number of sentences");
        std::vector<double> scores;
        {
          nb::gil_scoped_release release;
          scores = bootstrap(metric, systems, samples, seed, jobs);
        }
        return give(std::move(scores), systems.size());
      },
      "metric"_a, "stats"_a, "samples"_a, "seed"_a, "jobs"_a = 0,
      "Scores of resampled documents: a row per sample, a column per system.");
  m.def(
      "randomization",
      [](const Metric& metric, In3 a, In3 b, size_t samples, uint64_t seed, int jobs) {
        const Runs first = runs(metric, a), second = runs(metric, b);
        if (first.runs != second.runs || first.sentences != second.sentences)
          throw InputError("both systems must have the same number of runs and sentences");
        std::vector<double> differences;
        {
          nb::gil_scoped_release release;
          differences = randomization(metric, first, second, samples, seed, jobs);
        }
        return give(std::move(differences));
      },
      "metric"_a, "a"_a, "b"_a, "samples"_a, "seed"_a, "jobs"_a = 0,
      "Differences of scores after sentences have changed sides at random.");
}

void bind_corpora(nb::module_& m) {
  m.def(
      "corpus_pool",
      [](const std::vector<std::string>& hypotheses, const std::vector<std::vector<std::optional<std::string>>>& references) {
        nb::gil_scoped_release release;
        return corpus_pool(hypotheses, references);
      },
      "hypotheses"_a, "references"_a, "Lines of text as a pool: one candidate per sentence, words as str.split() gives them.");
  m.def(
      "split_all",
      [](const std::vector<std::string>& texts, Vocab& vocab) {
        std::vector<int64_t> begin;
        std::vector<int32_t> words;
        split_all(texts, vocab, begin, words);
        return std::make_pair(give(std::move(begin)), give(std::move(words)));
      },
      "texts"_a, "vocab"_a, "The words of each string under ids of a vocabulary: what Pool.retokenized wants.");
  m.def("with_texts", &with_texts, "pool"_a, "texts"_a, "references"_a,
        "A pool of lists with other words: a text for each candidate.");
  m.def("has_space", &has_space, "vocab"_a, "Whether str.split() would split one of the words.");
}

}  // namespace

void init_metrics(nb::module_& m) {
  bind_metric(m);
  bind_metrics(m);
  bind_oracle_document(m);
  bind_significance(m);
  bind_corpora(m);
}

}  // namespace hopefear
