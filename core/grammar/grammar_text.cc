#include "grammar/grammar_text.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "forest/forest.h"
#include "grammar/grammar.h"
#include "util/parallel_sort.h"
#include "util/text.h"

namespace hopefear {
namespace {

/// The number of a nonterminal token ([X,1]; on the target side [1] too), 0 for a word, -1 for a label other than X.
int nonterminal_number(std::string_view token, bool bare) {
  if (token.size() < 3 || token.front() != '[' || token.back() != ']') return 0;
  const std::string_view inside = token.substr(1, token.size() - 2);
  const size_t comma = inside.rfind(',');
  if (comma == std::string_view::npos && !bare) return 0;
  const std::string_view digits = comma == std::string_view::npos ? inside : inside.substr(comma + 1);
  int number = 0;
  const auto [p, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || p != digits.data() + digits.size() || number < 1) return 0;
  return comma == std::string_view::npos || inside.substr(0, comma) == "X" ? number : -1;
}

bool needs_backslash(std::string_view word) {
  return word == "|||" || word.starts_with('\\') || nonterminal_number(word, true) != 0;
}

std::string_view without_backslash(std::string_view token) {
  return token.size() > 1 && token[0] == '\\' && (token[1] == '[' || token[1] == '|' || token[1] == '\\') ? token.substr(1)
                                                                                                          : token;
}

void append_word(std::string& out, std::string_view word) {
  if (needs_backslash(word)) out += '\\';
  out += word;
}

void append_nonterminal(std::string& out, int number) {
  out += "[X,";
  out += std::to_string(number);
  out += ']';
}

void append_float(std::string& out, float value) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

}  // namespace

GrammarTextReader::GrammarTextReader() {
  raw_.source_vocab = std::make_shared<Vocab>();
  raw_.target_vocab = std::make_shared<Vocab>();
}

void GrammarTextReader::add(std::string_view line, const std::string& where, long number) {
  if (trim(line).empty()) return;
  const Place place{where, number};
  std::vector<std::string_view> field = fields(line, place);
  if (field[0] == "[S]") {
    ++glue_;
    return;
  }
  if (field[0] != "[X]")
    throw place.fail("the left-hand side " + quoted(field[0]) + " is not [X]. Only grammars with the one nonterminal X are read");
  field.resize(5);
  Rule rule;
  read_source(field[1], place, rule);
  read_target(field[2], place, rule);
  check(rule, place);
  read_features(field[3], place);
  read_links(field[4], place, rule);

  raw_.source.insert(raw_.source.end(), rule.source.begin(), rule.source.end());
  raw_.source_begin.push_back(static_cast<uint32_t>(raw_.source.size()));
  raw_.target.insert(raw_.target.end(), rule.target.begin(), rule.target.end());
  raw_.target_begin.push_back(static_cast<uint32_t>(raw_.target.size()));
  raw_.links.insert(raw_.links.end(), rule.links.begin(), rule.links.end());
  raw_.link_begin.push_back(static_cast<uint32_t>(raw_.links.size()));
  value_begin_.push_back(values_.size());
  if (raw_.target.size() > 0xfffffff0U || raw_.source.size() > 0xfffffff0U || raw_.links.size() > 0xfffffff0U)
    throw place.fail("the grammar is too large: more than 2^32 symbols");
}

std::vector<std::string_view> GrammarTextReader::fields(std::string_view line, const Place& place) {
  std::vector<std::string_view> fields;
  std::string_view field;
  for (bool more = true; next_field(line, field, more);) {
    if (fields.size() == 5)
      throw place.fail("more than 5 fields between |||. Expected [X] ||| source ||| target ||| features ||| alignment");
    fields.push_back(trim(field));
  }
  if (fields.size() < 3)
    throw place.fail("expected [X] ||| source ||| target ||| features ||| alignment, found " + std::to_string(fields.size()) +
                     " fields. Was the line cut off?");
  return fields;
}

void GrammarTextReader::read_source(std::string_view field, const Place& place, Rule& rule) {
  for_each_word(field, [&](std::string_view token) {
    const int n = nonterminal_number(token, false);
    if (n < 0) throw place.fail("nonterminal " + quoted(token) + ": only X is read");
    if (n > 0 && std::find(rule.numbers.begin(), rule.numbers.end(), n) != rule.numbers.end())
      throw place.fail("nonterminal " + quoted(token) + " stands twice on the source side");
    if (n > 0) rule.numbers.push_back(n);
    rule.source.push_back(n > 0 ? kX : raw_.source_vocab->add(without_backslash(token)));
  });
}

void GrammarTextReader::read_target(std::string_view field, const Place& place, Rule& rule) {
  for_each_word(field, [&](std::string_view token) {
    const int n = nonterminal_number(token, true);
    if (n < 0) throw place.fail("nonterminal " + quoted(token) + ": only X is read");
    if (n == 0) {
      rule.target.push_back(raw_.target_vocab->add(without_backslash(token)));
      return;
    }
    const auto found = std::find(rule.numbers.begin(), rule.numbers.end(), n);
    if (found == rule.numbers.end())
      throw place.fail("nonterminal " + quoted(token) + " of the target side is not on the source side");
    const int32_t symbol = slot(static_cast<int32_t>(found - rule.numbers.begin()));
    if (std::find(rule.target.begin(), rule.target.end(), symbol) != rule.target.end())
      throw place.fail("nonterminal " + quoted(token) + " stands twice on the target side");
    rule.target.push_back(symbol);
  });
}

void GrammarTextReader::check(const Rule& rule, const Place& place) {
  const auto& [numbers, source, target, links] = rule;
  if (source.empty()) throw place.fail("the source side is empty");
  const auto slots = std::count_if(target.begin(), target.end(), [](int32_t symbol) { return symbol < 0; });
  if (static_cast<size_t>(slots) != numbers.size())
    throw place.fail("a nonterminal of the source side is missing on the target side");
  if (numbers.size() > 2) throw place.fail("has " + std::to_string(numbers.size()) + " nonterminals, at most 2 are read");
  if (numbers.size() == source.size() && source.size() == 1)
    throw place.fail("X -> X has no word: decoding would never end. Leave this rule out");
  if (std::max(source.size(), target.size()) > Grammar::kMaxSymbols)
    throw place.fail("has more than " + std::to_string(Grammar::kMaxSymbols) + " symbols on one side");
}

void GrammarTextReader::read_features(std::string_view field, const Place& place) {
  int unnamed = 0;
  const size_t first_value = values_.size();
  for_each_word(field, [&](std::string_view token) {
    const size_t equals = token.rfind('=');
    std::string name(token.substr(0, equals == std::string_view::npos ? 0 : equals));
    if (equals == std::string_view::npos) name = "PhraseModel_" + std::to_string(unnamed++);
    if (name.empty()) throw place.fail("feature " + quoted(token) + " has no name");
    double value = 0;
    if (parse_number(token.substr(equals == std::string_view::npos ? 0 : equals + 1), value) != Number::good)
      throw place.fail("feature " + quoted(token) + " is not a finite number");
    const int32_t column = columns_.add(name);
    for (size_t i = first_value; i < values_.size(); ++i)
      if (values_[i].first == column) throw place.fail("feature " + quoted(name) + " stands twice");
    values_.push_back({column, static_cast<float>(value)});
  });
}

void GrammarTextReader::read_links(std::string_view field, const Place& place, Rule& rule) {
  const auto number_in = [](std::string_view digits, unsigned& value) {
    const auto [p, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && p == digits.data() + digits.size();
  };
  for_each_word(field, [&](std::string_view token) {
    const size_t dash = token.find('-');
    unsigned s = 0, t = 0;
    if (dash == std::string_view::npos || !number_in(token.substr(0, dash), s) || !number_in(token.substr(dash + 1), t))
      throw place.fail(quoted(token) + " is no alignment point. Expected source-target, as in 0-0 1-2");
    if (s >= rule.source.size() || t >= rule.target.size())
      throw place.fail("alignment point " + quoted(token) + " is outside the rule");
    if (rule.source[s] == kX || rule.target[t] < 0) return;  // some toolkits align nonterminals too
    rule.links.push_back({static_cast<uint16_t>(s), static_cast<uint16_t>(t)});
  });
  std::sort(rule.links.begin(), rule.links.end());
  rule.links.erase(std::unique(rule.links.begin(), rule.links.end()), rule.links.end());
}

RuleTable GrammarTextReader::finish(int jobs) {
  const size_t count = raw_.rules(), width = columns_.size();
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  parallel_sort(order, jobs, [&](uint32_t a, uint32_t b) {
    const auto x = raw_.source_of(a), y = raw_.source_of(b);
    const auto [p, q] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
    if (p == x.end() && q == y.end()) return a < b;
    return p == x.end() || (q != y.end() && *p < *q);
  });
  RuleTable table;
  table.source_vocab = raw_.source_vocab;
  table.target_vocab = raw_.target_vocab;
  for (size_t i = 0; i < width; ++i) table.names.push_back(columns_[static_cast<int32_t>(i)]);
  std::vector<uint32_t> of_side;  // rules of the current side by target side, to find repetitions
  const auto before = [&](uint32_t a, uint32_t b) {
    return std::ranges::lexicographical_compare(raw_.target_of(a), raw_.target_of(b));
  };
  for (size_t i = 0, j; i < count; i = j) {
    for (j = i; j < count && std::ranges::equal(raw_.source_of(order[j]), raw_.source_of(order[i]));) ++j;
    of_side.assign(order.begin() + static_cast<std::ptrdiff_t>(i), order.begin() + static_cast<std::ptrdiff_t>(j));
    std::stable_sort(of_side.begin(), of_side.end(), before);
    for (size_t k = i; k < j; ++k) {
      const uint32_t r = order[k];
      if (*std::lower_bound(of_side.begin(), of_side.end(), r, before) != r) {
        ++repeated_;
        continue;
      }
      const auto symbols = raw_.target_of(r);
      const auto links = raw_.links_of(r);
      table.target.insert(table.target.end(), symbols.begin(), symbols.end());
      table.target_begin.push_back(static_cast<uint32_t>(table.target.size()));
      table.links.insert(table.links.end(), links.begin(), links.end());
      table.link_begin.push_back(static_cast<uint32_t>(table.links.size()));
      table.columns.resize(table.columns.size() + width, 0.0f);
      for (size_t v = value_begin_[r]; v < value_begin_[r + 1]; ++v)
        table.columns[table.columns.size() - width + values_[v].first] = values_[v].second;
    }
    const auto symbols = raw_.source_of(order[i]);
    table.source.insert(table.source.end(), symbols.begin(), symbols.end());
    table.source_begin.push_back(static_cast<uint32_t>(table.source.size()));
    table.rule_begin.push_back(static_cast<uint32_t>(table.rules()));
  }
  return table;
}

std::string grammar_text(const RuleTable& table, size_t begin, size_t end) {
  std::string out, source;
  for (size_t side = begin; side < std::min(end, table.sides()); ++side) {
    source.clear();
    int number = 0;
    for (int32_t symbol : table.source_of(side)) {
      source += ' ';
      if (symbol == kX)
        append_nonterminal(source, ++number);
      else
        append_word(source, (*table.source_vocab)[symbol]);
    }
    for (size_t r = table.rule_begin[side]; r < table.rule_begin[side + 1]; ++r) {
      out += "[X] |||";
      out += source;
      out += " |||";
      for (int32_t symbol : table.target_of(r)) {
        out += ' ';
        if (symbol < 0)
          append_nonterminal(out, slot_tail(symbol) + 1);
        else
          append_word(out, (*table.target_vocab)[symbol]);
      }
      out += " |||";
      const auto row = table.row(r);
      for (size_t i = 0; i < row.size(); ++i) {
        out += ' ';
        out += table.names[i];
        out += '=';
        append_float(out, row[i]);
      }
      out += " |||";
      for (const Link link : table.links_of(r)) {
        out += ' ';
        out += std::to_string(link.s);
        out += '-';
        out += std::to_string(link.t);
      }
      out += '\n';
    }
  }
  return out;
}

}  // namespace hopefear
