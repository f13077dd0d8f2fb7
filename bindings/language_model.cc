#include "lm/language_model.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/variant.h>

#include <variant>

#include "common.h"
#include "lm/arpa.h"
#include "lm/lm_estimate.h"
#include "lm/lm_scores.h"
#include "lm/lm_seams.h"
#include "util/error.h"
#include "util/memory_map.h"

namespace hopefear {
namespace {

using Model = std::shared_ptr<const LanguageModel>;

Model built(BackoffModel&& lists) { return std::make_shared<const LanguageModel>(LanguageModel::build(std::move(lists))); }

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

/// States keep their model: slots are meaningless in any other.
struct Context {
  Model model;
  LmContext state;
};
struct Chart {
  Model model;
  LmState state;
};

/// The state that chart decoders use instead of LmState, with its model.
struct Seams {
  explicit Seams(Model m) : model(std::move(m)), seams(*model) {}
  Model model;
  LmSeams seams;
  std::vector<LmItem> items{seams.empty()};  // item numbers from elsewhere would be unsafe
};

uint32_t checked(const LanguageModel& model, int64_t word) {
  if (word < 0 || word >= static_cast<int64_t>(model.words())) throw nb::index_error("no such word id");
  return static_cast<uint32_t>(word);
}

std::vector<uint32_t> words_of(const LmContext& context) { return {context.word, context.word + context.length}; }

void bind_texts(nb::module_& m) {
  nb::class_<LmText>(m, "LmText", "Text to estimate a language model from.")
      .def(nb::init<>())
      .def(
          "add",
          [](LmText& t, nb::bytes text, const std::string& name, int jobs) {
            const std::string_view data = view(text);
            nb::gil_scoped_release release;
            t.add(data, name, jobs);
          },
          "text"_a, "name"_a, "jobs"_a = 0, "More lines, one per sentence.")
      .def(
          "add_file",
          [](LmText& t, const std::string& path, int jobs) {
            const auto file = MemoryMap::file(path);
            t.add({reinterpret_cast<const char*>(file->data()), file->size()}, path, jobs);
          },
          "path"_a, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>())
      .def_ro("sentences", &LmText::sentences)
      .def_prop_ro(
          "tokens", [](const LmText& t) { return t.words.size() - 2 * t.sentences; }, "Words, without <s> and </s>.")
      .def_ro("skipped", &LmText::skipped, "<s> and </s> inside sentences, which are left out.")
      .def(
          "spec",
          [](const LmText& t, int order, std::vector<uint64_t> prune) {
            NgramSpec spec = ngram_spec(t, order, std::move(prune));
            return std::make_tuple(spec.vocab, spec.order, spec.prune);
          },
          "order"_a, "prune"_a,
          "What count_slice and merge_slices count: the size of the vocabulary, the order, a threshold per order.")
      .def(
          "slice",
          [](const LmText& t, size_t k, size_t count) {
            const auto words = t.slice(k, count);
            return give(std::vector<uint32_t>(words.begin(), words.end()));
          },
          "k"_a, "count"_a, "Word ids of the k-th of so many slices, which are whole sentences.")
      .def(
          "ranges",
          [](const LmText& t, size_t count) { return ngram_ranges(t.words, static_cast<uint32_t>(t.vocab->size()), count); },
          "count"_a, "Where ranges of words begin that occur about equally often, and where the last one ends.");
}

using Spec = std::tuple<uint32_t, int, std::vector<uint64_t>>;

NgramSpec spec_of(const Spec& spec) { return {std::get<0>(spec), std::get<1>(spec), std::get<2>(spec)}; }

std::vector<std::span<const uint8_t>> views(const std::vector<In<uint8_t>>& arrays) {
  std::vector<std::span<const uint8_t>> views;
  for (const auto& array : arrays) views.push_back(hopefear::view(array));
  return views;
}

void bind_counting(nb::module_& m) {
  m.def(
      "count_slice",
      [](In<uint32_t> words, const Spec& spec, const std::vector<uint32_t>& cuts) {
        std::vector<std::vector<uint8_t>> parts;
        {
          nb::gil_scoped_release release;
          parts = count_slice(hopefear::view(words), spec_of(spec), cuts);
        }
        std::vector<Out<uint8_t>> given;
        for (auto& part : parts) given.push_back(give(std::move(part)));
        return given;
      },
      "words"_a, "spec"_a, "cuts"_a, "The n-grams of a slice of a text, by ranges of their last words.");
  m.def(
      "merge_slices",
      [](const std::vector<In<uint8_t>>& slices, const Spec& spec, uint32_t first, uint32_t last) {
        std::vector<uint8_t> merged;
        const auto bytes = views(slices);
        {
          nb::gil_scoped_release release;
          merged = merge_slices(bytes, spec_of(spec), first, last);
        }
        return give(std::move(merged));
      },
      "slices"_a, "spec"_a, "first"_a, "last"_a, "What all slices have of a range of words, as LanguageModel.estimate takes it.");
}

void bind_results(nb::module_& m) {
  nb::class_<LmDiscounts>(m, "LmDiscounts", "The discounts D(1), D(2), D(3+) of one order.")
      .def_prop_ro("d", [](const LmDiscounts& d) { return std::make_tuple(d.d[0], d.d[1], d.d[2]); })
      .def_ro("fallback", &LmDiscounts::fallback, "True: the counts of counts gave none.");

  nb::class_<LmEvaluation>(m, "LmEvaluation", "How well a model predicts a text.")
      .def_ro("sentences", &LmEvaluation::sentences)
      .def_ro("tokens", &LmEvaluation::tokens, "Words and </s>.")
      .def_ro("unknown", &LmEvaluation::unknown, "Words that the model does not know.")
      .def_ro("log10_prob", &LmEvaluation::log10_prob)
      .def_ro("log10_prob_unknown", &LmEvaluation::log10_prob_unknown, "The part of log10_prob that unknown words have.");
}

void bind_states(nb::module_& m) {
  nb::class_<Context>(m, "LmContext", "The words that can still matter to the next ones, as minimised by the model.")
      .def_prop_ro(
          "words", [](const Context& c) { return words_of(c.state); }, "Word ids, the last one first.")
      .def(
          "__eq__", [](const Context& a, const Context& b) { return a.model == b.model && a.state == b.state; },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Context& c) { return static_cast<Py_hash_t>(c.state.hash() >> 1); });

  nb::class_<Chart>(m, "LmState", "The state of a chart item: what words to its left and right can still change.")
      .def_prop_ro(
          "left",
          [](const Chart& c) { return std::vector<uint32_t>(c.state.left.word, c.state.left.word + c.state.left.length); },
          "Ids of the first words.")
      .def_prop_ro(
          "full", [](const Chart& c) { return c.state.left.full != 0; },
          "True: the words behind `left` are independent of what stands to the left.")
      .def_prop_ro(
          "right", [](const Chart& c) { return words_of(c.state.right); }, "Ids of the last words, the last one first.")
      .def(
          "compare", [](const Chart& a, const Chart& b) { return a.state.compare(b.state); }, "other"_a)
      .def(
          "__eq__", [](const Chart& a, const Chart& b) { return a.model == b.model && a.state == b.state; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Chart& c) { return static_cast<Py_hash_t>(c.state.hash() >> 1); });
}

void bind_making(nb::class_<LanguageModel>& model) {
  model
      .def_static(
          "estimate",
          [](LmText& text, int order, std::vector<uint64_t> prune, std::array<double, 3> fallback, int jobs,
             const std::vector<In<uint8_t>>& ranges) {
            std::vector<LmDiscounts> discounts;
            LmEstimateOptions options{
                .order = order, .prune = std::move(prune), .fallback_discounts = fallback, .jobs = jobs, .ranges = views(ranges)};
            nb::gil_scoped_release release;
            Model made = built(estimate(std::move(text), options, &discounts));
            return std::make_pair(std::const_pointer_cast<LanguageModel>(made), discounts);
          },
          "text"_a, "order"_a, "prune"_a, "fallback"_a, "jobs"_a = 0, "ranges"_a = std::vector<In<uint8_t>>{},
          "Interpolated modified Kneser-Ney; the text is used up. `ranges`: its n-grams, if they are counted already.")
      .def_static(
          "read_arpa",
          [](nb::bytes text, const std::string& name) {
            const std::string_view data = view(text);
            nb::gil_scoped_release release;
            return std::const_pointer_cast<LanguageModel>(built(read_arpa(data, name)));
          },
          "text"_a, "name"_a)
      .def_static(
          "read_arpa_file",
          [](const std::string& path) {
            const auto file = MemoryMap::file(path);
            return std::const_pointer_cast<LanguageModel>(
                built(read_arpa({reinterpret_cast<const char*>(file->data()), file->size()}, path)));
          },
          "path"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_static(
          "open",
          [](const std::string& path, bool verify) { return std::make_shared<LanguageModel>(LanguageModel::open(path, verify)); },
          "path"_a, "verify"_a = true, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "write_arpa",
          [](const LanguageModel& m, nb::typed<nb::callable, nb::object(nb::bytes)> write) {
            nb::gil_scoped_release release;
            write_arpa(m.lists(), [&](std::string_view piece) {
              nb::gil_scoped_acquire acquire;
              write(nb::bytes(piece.data(), piece.size()));
            });
          },
          "write"_a, "Calls write(bytes) with piece after piece of the ARPA text.");
}

void bind_contents(nb::class_<LanguageModel>& model) {
  model
      .def_prop_ro(
          "data",
          [](nb::handle_t<LanguageModel> h) {
            const auto bytes = nb::cast<LanguageModel&>(h).bytes();
            return Out<const uint8_t>(reinterpret_cast<const uint8_t*>(bytes.data()), {bytes.size()}, h);
          },
          "The file, as one array.")
      .def_prop_ro("order", &LanguageModel::order)
      .def_prop_ro(
          "counts",
          [](const LanguageModel& m) {
            std::vector<uint64_t> counts;
            for (int n = 1; n <= m.order(); ++n) counts.push_back(m.count(n));
            return counts;
          },
          "n-grams of each order.")
      .def("__len__", &LanguageModel::words)
      .def(
          "word", [](const LanguageModel& m, int64_t id) { return m.word(checked(m, id)); }, "id"_a)
      .def("words",
           [](const LanguageModel& m) {
             std::vector<std::string_view> words;
             for (uint32_t i = 0; i < m.words(); ++i) words.push_back(m.word(i));
             return words;
           })
      .def("find", &LanguageModel::find, "word"_a, "The id of a word; 0, which is <unk>, when the model does not know it.")
      .def("find_in_text", &LanguageModel::find_in_text, "word"_a, "As find, but \"<s>\" and \"</s>\" are unknown words.")
      .def(
          "map_words",
          [](const LanguageModel& m, const Vocab& vocab) {
            std::vector<uint32_t> map;
            m.map_words(vocab, map);
            return give(std::move(map));
          },
          "vocab"_a, "For each id of another vocabulary, the id here.");
}

void bind_seams(nb::module_& m) {
  nb::class_<Seams>(m, "LmSeams", "Scores in a chart, each of them computed once: what the decoder uses.")
      .def(nb::init<Model>(), "model"_a)
      .def(
          "score_rule",
          [](Seams& s, const std::vector<std::variant<std::vector<int64_t>, int64_t>>& parts, bool begin_sentence) {
            LmItem out;
            SeamScore rule(s.seams, out);
            if (begin_sentence) rule.begin_sentence();
            for (const auto& part : parts) {
              if (const auto* item = std::get_if<int64_t>(&part)) {
                if (*item < 0 || *item >= static_cast<int64_t>(s.items.size())) throw nb::index_error("no such item");
                rule.nonterminal(s.items[static_cast<size_t>(*item)]);
                continue;
              }
              std::vector<uint32_t> words;
              for (const int64_t word : std::get<0>(part)) words.push_back(checked(*s.model, word));
              if (!words.empty()) rule.run(s.seams.run(words));
            }
            const auto known = std::find(s.items.begin(), s.items.end(), out);
            const auto number = static_cast<int64_t>(known - s.items.begin());
            if (known == s.items.end()) s.items.push_back(out);
            return std::make_pair(rule.sum(), number);
          },
          "parts"_a, "begin_sentence"_a = false,
          "What a rule adds to the scores of its children (runs of word ids, and items by number), and its item. Item 0 is "
          "empty.")
      .def(
          "rest",
          [](const Seams& s, int64_t item) {
            if (item < 0 || item >= static_cast<int64_t>(s.items.size())) throw nb::index_error("no such item");
            return s.seams.rest(s.items[static_cast<size_t>(item)]);
          },
          "item"_a, "What the first words of an item are expected to gain once it is known what stands before them.");
}

void bind_text_scores(nb::class_<LanguageModel>& model) {
  model
      .def(
          "score", [](const LanguageModel& m, std::string_view line, bool bos, bool eos) { return m.score_text(line, bos, eos); },
          "line"_a, "bos"_a = true, "eos"_a = true)
      .def(
          "full_scores",
          [](const LanguageModel& m, std::string_view line, bool bos, bool eos) {
            std::vector<WordScore> each;
            m.score_text(line, bos, eos, &each);
            std::vector<std::tuple<double, int, bool>> result;
            for (const WordScore& word : each) result.emplace_back(word.prob, word.matched, word.unknown);
            return result;
          },
          "line"_a, "bos"_a = true, "eos"_a = true)
      .def(
          "evaluate",
          [](const LanguageModel& m, nb::bytes text, int jobs) {
            const std::string_view data = view(text);
            nb::gil_scoped_release release;
            return evaluate(m, data, jobs);
          },
          "text"_a, "jobs"_a = 0)
      .def(
          "score_ids",
          [](const LanguageModel& m, In<uint32_t> words, In<int64_t> begin, bool bos, int jobs) {
            std::vector<double> scores;
            {
              nb::gil_scoped_release release;
              scores = score_ids(m, hopefear::view(words), hopefear::view(begin), bos, jobs);
            }
            return give(std::move(scores));
          },
          "words"_a, "begin"_a, "bos"_a = true, "jobs"_a = 0, "log10 p of each word; sequence s is words[begin[s]:begin[s + 1]].")
      .def(
          "bracketed_scores",
          [](const LanguageModel& m, In<uint32_t> words, In<int64_t> begin, uint64_t seed, bool marks, int jobs) {
            BracketedScores result;
            {
              nb::gil_scoped_release release;
              result = bracketed_scores(m, hopefear::view(words), hopefear::view(begin), seed, marks, jobs);
            }
            return std::make_pair(give(std::move(result.scores)), result.rules);
          },
          "words"_a, "begin"_a, "seed"_a, "marks"_a = true, "jobs"_a = 0,
          "log10 p of each sequence, through a random tree of rules, and the number of rules.");
}

void bind_state_scores(nb::class_<LanguageModel>& model) {
  model
      .def(
          "context",
          [](std::shared_ptr<LanguageModel> m, bool bos) { return Context{m, bos ? m->begin_sentence() : LmContext{}}; },
          "bos"_a = true)
      .def(
          "score_word",
          [](std::shared_ptr<LanguageModel> m, const Context& in, int64_t word) {
            if (in.model != m) throw InputError("a context of another language model");
            Context out{m, {}};
            const WordScore got = m->score(in.state, checked(*m, word), out.state);
            return std::make_tuple(got.prob, got.matched, out);
          },
          "context"_a, "word"_a, "log10 p, length of the n-gram found, new context.")
      .def(
          "score_rule",
          [](std::shared_ptr<LanguageModel> m, const std::vector<std::variant<int64_t, Chart>>& items, bool begin_sentence) {
            Chart out{m, {}};
            RuleScore rule(*m, out.state);
            if (begin_sentence) rule.begin_sentence();
            for (const auto& item : items) {
              if (const auto* word = std::get_if<int64_t>(&item)) {
                rule.terminal(checked(*m, *word));
              } else {
                if (std::get<Chart>(item).model != m) throw InputError("a state of another language model");
                rule.nonterminal(std::get<Chart>(item).state);
              }
            }
            const double score = rule.finish();
            return std::make_pair(score, out);
          },
          "items"_a, "begin_sentence"_a = false,
          "What a rule adds to the scores of its children (word ids and states), and the new state.");
}

}  // namespace

void init_language_model(nb::module_& m) {
  bind_texts(m);
  bind_counting(m);
  bind_results(m);
  bind_states(m);
  bind_seams(m);
  nb::class_<LanguageModel> model(m, "LanguageModel", "A back-off n-gram model, ready to be asked.");
  bind_making(model);
  bind_contents(model);
  bind_text_scores(model);
  bind_state_scores(model);
}

}  // namespace hopefear
