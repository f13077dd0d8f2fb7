#include "common.h"
#include "grammar/extract.h"
#include "grammar/grammar.h"
#include "grammar/grammar_writer.h"
#include "grammar/lexical.h"
#include "grammar/parallel_text.h"
#include "grammar/rounding.h"
#include "grammar/rule_table.h"
#include "grammar/templates.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

template <class T>
Out<const T> look(std::span<const T> values, nb::handle owner) {
  return Out<const T>(values.data(), {values.size()}, owner);
}
template <class T>
Out<const T> look(const std::vector<T>& values, nb::handle owner) {
  return look(std::span<const T>(values), owner);
}

Out2<const uint16_t> look_at_links(std::span<const Link> links, nb::handle owner) {
  static_assert(sizeof(Link) == 2 * sizeof(uint16_t));
  return Out2<const uint16_t>(reinterpret_cast<const uint16_t*>(links.data()), {links.size(), 2}, owner);
}

Out2<uint16_t> give_links(std::span<const Link> links) {
  std::vector<uint16_t> flat;
  for (const Link link : links) flat.push_back(link.s), flat.push_back(link.t);
  return give(std::move(flat), 2);
}

/// A text that keeps its arrays alive.
void bind_arrays(nb::class_<ParallelText>& text) {
  text.def(
          "arrays",
          [](nb::handle_t<ParallelText> h) {
            const ParallelText& t = nb::cast<ParallelText&>(h);
            const auto& v = t.view();
            return std::make_tuple(look(v.source, h), look(v.source_begin, h), look(v.target, h), look(v.target_begin, h),
                                   look_at_links(v.links, h), look(v.link_begin, h), t.source_types(), t.target_types());
          },
          "What over() takes: words, links, where each pair's begin, and how many distinct words there are.")
      .def_static(
          "over",
          [](In<int32_t> source, In<int64_t> source_begin, In<int32_t> target, In<int64_t> target_begin, In2<uint16_t> links,
             In<int64_t> link_begin, int32_t source_types, int32_t target_types) {
            const std::span<const Link> pairs(reinterpret_cast<const Link*>(links.data()), links.shape(0));
            return std::make_shared<ParallelText>(
                ParallelText::View{view(source), view(target), pairs, view(source_begin), view(target_begin), view(link_begin)},
                source_types, target_types);
          },
          "source"_a, "source_begin"_a, "target"_a, "target_begin"_a, "links"_a, "link_begin"_a, "source_types"_a,
          "target_types"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>(),
          nb::keep_alive<0, 5>(), nb::keep_alive<0, 6>(),
          "A text for extraction, without spelling, out of arrays, which are not copied.");
}

/// The words and links of the pairs, and their counts.
void bind_words(nb::class_<ParallelText>& text) {
  text.def_prop_ro(
          "source", [](nb::handle_t<ParallelText> h) { return look(nb::cast<ParallelText&>(h).view().source, h); },
          "All source words in a row.")
      .def_prop_ro("target", [](nb::handle_t<ParallelText> h) { return look(nb::cast<ParallelText&>(h).view().target, h); })
      .def_prop_ro("source_begin",
                   [](nb::handle_t<ParallelText> h) { return look(nb::cast<ParallelText&>(h).view().source_begin, h); })
      .def_prop_ro("target_begin",
                   [](nb::handle_t<ParallelText> h) { return look(nb::cast<ParallelText&>(h).view().target_begin, h); })
      .def(
          "trigger_counts",
          [](const ParallelText& t, In<int32_t> rank, int32_t limit, int jobs) {
            if (rank.size() != static_cast<size_t>(t.target_vocab->size()))
              throw InputError("rank needs one entry per target word");
            nb::gil_scoped_release release;
            std::vector<int32_t> flat;
            for (const auto& row : trigger_counts(t, view(rank), limit, jobs)) flat.insert(flat.end(), row.begin(), row.end());
            nb::gil_scoped_acquire acquire;
            return give(std::move(flat), 3);
          },
          "rank"_a, "limit"_a, "jobs"_a = 0, "Rows (d, e, occurrences of e with d before it), for words of a rank below limit.")
      .def(
          "links",
          [](const ParallelText& t, size_t n) {
            if (n >= t.size()) throw nb::index_error("no such pair");
            return give_links(t.links(n));
          },
          "index"_a)
      .def(
          "pharaoh",
          [](const ParallelText& t, size_t n) {
            if (n >= t.size()) throw nb::index_error("no such pair");
            return t.pharaoh(n);
          },
          "index"_a, "The links of a pair as `0-0 1-2`.");
}

void bind_parallel_text(nb::module_& m) {
  nb::class_<ParallelText> text(m, "ParallelText", "Word-aligned sentence pairs.");
  text.def(nb::init<>())
      .def("__len__", &ParallelText::size)
      .def(
          "add",
          [](ParallelText& t, const std::vector<std::string_view>& source, const std::vector<std::string_view>& target) {
            if (source.size() != target.size()) throw InputError("source and target have different numbers of lines");
            for (size_t i = 0; i < source.size(); ++i) t.add(source[i], target[i]);
          },
          "source"_a, "target"_a, "Lines of words separated by blanks.")
      .def_prop_ro("source_vocab", [](const ParallelText& t) { return t.source_vocab; })
      .def_prop_ro("target_vocab", [](const ParallelText& t) { return t.target_vocab; })
      .def_prop_ro("source_words", &ParallelText::source_words)
      .def_prop_ro("target_words", &ParallelText::target_words)
      .def_prop_ro("link_count", &ParallelText::link_count)
      .def_prop_ro("aligned", &ParallelText::aligned)
      .def(
          "symmetrize",
          [](ParallelText& t, In<int32_t> forward, In<int32_t> backward, int jobs) {
            nb::gil_scoped_release release;
            t.symmetrize(view(forward), view(backward), jobs);
          },
          "forward"_a, "backward"_a, "jobs"_a = 0,
          "grow-diag-final-and. forward: each target word's source word; backward: each source word's target word; -1: none.")
      .def(
          "add_pharaoh",
          [](ParallelText& t, const std::vector<std::string_view>& lines, const std::string& where,
             const std::vector<long>& numbers) {
            if (lines.size() != numbers.size()) throw InputError("as many line numbers as lines are needed");
            for (size_t i = 0; i < lines.size(); ++i) t.add_pharaoh(lines[i], where, numbers[i]);
          },
          "lines"_a, "where"_a, "numbers"_a, "The links of the next pairs, `0-0 1-2`; numbers are line numbers for messages.")
      .def(
          "add_links", [](ParallelText& t, const std::vector<int32_t>& flat) { t.add_links(flat); }, "flat"_a,
          "The links of the next pair: s0, t0, s1, t1, ...");
  bind_words(text);
  bind_arrays(text);
}

void bind_lexical(nb::module_& m) {
  nb::class_<LexicalTable>(m, "LexicalTable", "Word translation probabilities of a word-aligned text; -1 is NULL.")
      .def(nb::init<const ParallelText&>(), "text"_a)
      .def("ef", &LexicalTable::ef, "f"_a, "e"_a, "w(e|f)")
      .def("fe", &LexicalTable::fe, "f"_a, "e"_a, "w(f|e)")
      .def(
          "pairs",
          [](const LexicalTable& t) {
            std::vector<int32_t> f, e;
            std::vector<double> count;
            for (const auto& pair : t.pairs()) f.push_back(pair.f), e.push_back(pair.e), count.push_back(pair.count);
            return std::make_tuple(give(std::move(f)), give(std::move(e)), give(std::move(count)));
          },
          "(f, e, count) of all linked pairs, sorted.");
}

void bind_rules(nb::module_& m) {
  nb::class_<RuleTable>(m, "RuleTable", "Synchronous rules in flat arrays, sorted by source side.")
      .def_prop_ro("sides", &RuleTable::sides)
      .def("__len__", &RuleTable::rules)
      .def_ro("names", &RuleTable::names)
      .def_prop_ro("source_vocab", [](const RuleTable& t) { return t.source_vocab; })
      .def_prop_ro("target_vocab", [](const RuleTable& t) { return t.target_vocab; })
      .def_prop_ro("source_begin", [](nb::handle_t<RuleTable> h) { return look(nb::cast<RuleTable&>(h).source_begin, h); })
      .def_prop_ro("source", [](nb::handle_t<RuleTable> h) { return look(nb::cast<RuleTable&>(h).source, h); })
      .def_prop_ro("rule_begin", [](nb::handle_t<RuleTable> h) { return look(nb::cast<RuleTable&>(h).rule_begin, h); })
      .def_prop_ro("target_begin", [](nb::handle_t<RuleTable> h) { return look(nb::cast<RuleTable&>(h).target_begin, h); })
      .def_prop_ro("target", [](nb::handle_t<RuleTable> h) { return look(nb::cast<RuleTable&>(h).target, h); })
      .def_prop_ro("link_begin", [](nb::handle_t<RuleTable> h) { return look(nb::cast<RuleTable&>(h).link_begin, h); })
      .def_prop_ro("links", [](nb::handle_t<RuleTable> h) { return look_at_links(nb::cast<RuleTable&>(h).links, h); })
      .def_prop_ro("columns",
                   [](nb::handle_t<RuleTable> h) {
                     const RuleTable& t = nb::cast<RuleTable&>(h);
                     return Out2<const float>(t.columns.data(), {t.rules(), t.names.size()}, h);
                   })
      .def(
          "selected", [](const RuleTable& t, In<uint8_t> keep) { return t.selected(view(keep)); }, "keep"_a,
          "The rules with a mark other than 0, and the source sides that have some.")
      .def("rounded", &rounded, "step"_a, "The same rules with values that are multiples of a step.");
}

void bind_extractor(nb::module_& m) {
  nb::class_<Extractor>(m, "Extractor", "Hiero rules, or phrase pairs with orientations, of a word-aligned text.")
      .def(
          "__init__",
          [](Extractor* self, std::shared_ptr<ParallelText> text, int max_phrase, int max_source_symbols, int max_nonterminals,
             int min_hole, bool tight, bool fractional, int min_occurrences, int min_hierarchical, int max_options,
             bool orientations) {
            new (self) Extractor(std::move(text), {.max_phrase = max_phrase,
                                                   .max_source_symbols = max_source_symbols,
                                                   .max_nonterminals = max_nonterminals,
                                                   .min_hole = min_hole,
                                                   .tight = tight,
                                                   .fractional = fractional,
                                                   .min_occurrences = min_occurrences,
                                                   .min_hierarchical = min_hierarchical,
                                                   .max_options = max_options,
                                                   .orientations = orientations});
          },
          "text"_a, nb::kw_only(), "max_phrase"_a, "max_source_symbols"_a, "max_nonterminals"_a, "min_hole"_a, "tight"_a,
          "fractional"_a, "min_occurrences"_a, "min_hierarchical"_a, "max_options"_a, "orientations"_a)
      .def_ro_static("PARTS", &Extractor::kParts, "That the source sides are split into.")
      .def(
          "take", [](Extractor& e, int part) { return give(e.take(part)); }, "part"_a,
          "The entries of one part so far, which are no longer held here.")
      .def(
          "merged",
          [](Extractor& e, const std::vector<In<uint8_t>>& taken, int jobs) {
            std::vector<std::span<const uint8_t>> views;
            for (const auto& one : taken) views.push_back(view(one));
            std::vector<uint8_t> bytes;
            {
              nb::gil_scoped_release release;
              bytes = e.merged(views, jobs);
            }
            return give(std::move(bytes));
          },
          "taken"_a, "jobs"_a = 0, "The rules of one part out of all that was taken of it anywhere: what write_grammar reads.")
      .def("run", &Extractor::run, "begin"_a, "end"_a, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>())
      .def("finish", &Extractor::finish, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("instances", &Extractor::instances, "Rule occurrences seen.")
      .def_prop_ro("entries", &Extractor::entries, "Distinct rules and alignments held now.")
      .def_prop_ro("rules", &Extractor::rules, "Distinct rules, before any was dropped.");
  m.def(
      "write_grammar",
      [](const ParallelText& text, const std::vector<std::string>& merged, const std::string& folder, const std::string& out,
         bool orientations, double least_ef, double least_symmetric, int jobs) {
        nb::gil_scoped_release release;
        WrittenGrammar made =
            write_grammar(text, merged, folder, out,
                          {.orientations = orientations, .least_ef = least_ef, .least_symmetric = least_symmetric}, jobs);
        return std::make_pair(std::move(made.words), made.rules_seen);
      },
      "text"_a, "merged"_a, "folder"_a, "out"_a, nb::kw_only(), "orientations"_a, "least_ef"_a, "least_symmetric"_a, "jobs"_a = 0,
      "A grammar file out of files with the merged parts, which are used up. Returns the rules of single words, and how many "
      "rules "
      "there were before any was dropped. Without rules, no file is written.");
}

void bind_templates(nb::module_& m) {
  m.def(
      "feature_name",
      [](const std::vector<std::string>& parts) {
        if (parts.empty()) throw InputError("a feature needs a template");
        return feature_name(parts);
      },
      "parts"_a);
  m.def("grammar_shapes", &grammar_shapes, "grammar"_a, nb::call_guard<nb::gil_scoped_release>(),
        "The names of all shapes of a grammar's rules, those of most rules first.");
  m.def("parse_feature", [](std::string_view name) { return parse_feature(name); }, "name"_a);
  nb::class_<FeatureTemplates>(m, "FeatureTemplates",
                               "Sparse features declared by name; feature i of the list has the id first + i.")
      .def(
          "__init__",
          [](FeatureTemplates* self, const std::vector<std::string>& names, int32_t first, const Grammar& g,
             const std::string& where) {
            new (self) FeatureTemplates(names, first, *g.source_vocab(), *g.target_vocab(), g.names(), where);
          },
          "names"_a, "first"_a, "grammar"_a, "where"_a)
      .def_ro_static("TRIGGER_DISTANCE", &FeatureTemplates::kTriggerDistance)
      .def_ro_static("DISTANCES", &FeatureTemplates::kDistances)
      .def("__len__", &FeatureTemplates::size)
      .def_prop_ro("stateful", &FeatureTemplates::stateful, "Some feature needs more than one rule: bigrams, trigrams, triggers.")
      .def(
          "rule_features",
          [](const FeatureTemplates& t, const Grammar& g, In<int64_t> rules) {
            std::vector<int64_t> begin{0};
            std::vector<int32_t> ids;
            std::vector<float> values;
            FeatureTemplates::Values features;
            for (int64_t rule : view(rules)) {
              if (rule < 0 || rule >= g.rules()) throw nb::index_error("no such rule");
              const auto r = static_cast<uint32_t>(rule);
              features.clear();
              t.add_rule(g.source(r), g.target(r), g.links(r), g.row(r), features);
              for (const auto& [id, value] : features) ids.push_back(id), values.push_back(value);
              begin.push_back(static_cast<int64_t>(ids.size()));
            }
            return std::make_tuple(give(std::move(begin)), give(std::move(ids)), give(std::move(values)));
          },
          "grammar"_a, "rules"_a, "(begin, ids, values) of the templates that see one rule only; an id may come several times.")
      .def("unigram", &FeatureTemplates::unigram, "e"_a, "The id, or -1.")
      .def("bigram", &FeatureTemplates::bigram, "d"_a, "e"_a)
      .def("trigram", &FeatureTemplates::trigram, "c"_a, "d"_a, "e"_a)
      .def("trigger", &FeatureTemplates::trigger, "d"_a, "e"_a);
}

}  // namespace

void init_extraction(nb::module_& m) {
  bind_parallel_text(m);
  bind_lexical(m);
  bind_rules(m);
  bind_extractor(m);
  bind_templates(m);
}

}  // namespace hopefear
