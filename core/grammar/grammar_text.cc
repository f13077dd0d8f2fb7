#include "grammar/grammar_text.h"

#include <algorithm>
#include <array>
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
  const auto fail = [&](const std::string& finding) { return input_error(where, number, finding); };
  if (trim(line).empty()) return;
  std::array<std::string_view, 5> fields;
  size_t count = 0;
  for (size_t begin = 0; begin <= line.size();) {
    // a separator stands between blanks or at an end: words may contain bars
    size_t stop = begin;
    for (;; ++stop) {
      stop = std::min(line.find("|||", stop), line.size());
      if (stop == line.size()) break;
      const bool before = stop == 0 || is_blank(line[stop - 1]), after = stop + 3 == line.size() || is_blank(line[stop + 3]);
      if (before && after) break;
    }
    if (count == fields.size())
      throw fail("more than 5 fields between |||. Expected [X] ||| source ||| target ||| features ||| alignment");
    fields[count++] = trim(line.substr(begin, stop - begin));
    begin = stop + 3;
    if (stop == line.size()) break;
  }
  if (count < 3)
    throw fail("expected [X] ||| source ||| target ||| features ||| alignment, found " + std::to_string(count) +
               " fields. Was the line cut off?");
  if (fields[0] == "[S]") {
    ++glue_;
    return;
  }
  if (fields[0] != "[X]")
    throw fail("the left-hand side " + quoted(fields[0]) + " is not [X]. Only grammars with the one nonterminal X are read");

  std::vector<int> numbers;  // of the nonterminals, in source order
  std::vector<int32_t> source, target;
  for_each_word(fields[1], [&](std::string_view token) {
    const int n = nonterminal_number(token, false);
    if (n < 0) throw fail("nonterminal " + quoted(token) + ": only X is read");
    if (n > 0 && std::find(numbers.begin(), numbers.end(), n) != numbers.end())
      throw fail("nonterminal " + quoted(token) + " stands twice on the source side");
    if (n > 0) numbers.push_back(n);
    source.push_back(n > 0 ? kX : raw_.source_vocab->add(without_backslash(token)));
  });
  size_t slots = 0;
  for_each_word(fields[2], [&](std::string_view token) {
    const int n = nonterminal_number(token, true);
    if (n < 0) throw fail("nonterminal " + quoted(token) + ": only X is read");
    if (n == 0) {
      target.push_back(raw_.target_vocab->add(without_backslash(token)));
      return;
    }
    const auto place = std::find(numbers.begin(), numbers.end(), n);
    if (place == numbers.end()) throw fail("nonterminal " + quoted(token) + " of the target side is not on the source side");
    const int32_t symbol = slot(static_cast<int32_t>(place - numbers.begin()));
    if (std::find(target.begin(), target.end(), symbol) != target.end())
      throw fail("nonterminal " + quoted(token) + " stands twice on the target side");
    target.push_back(symbol);
    ++slots;
  });
  if (source.empty()) throw fail("the source side is empty");
  if (slots != numbers.size()) throw fail("a nonterminal of the source side is missing on the target side");
  if (numbers.size() > 2) throw fail("has " + std::to_string(numbers.size()) + " nonterminals, at most 2 are read");
  if (numbers.size() == source.size() && source.size() == 1)
    throw fail("X -> X has no word: decoding would never end. Leave this rule out");
  if (std::max(source.size(), target.size()) > Grammar::kMaxSymbols)
    throw fail("has more than " + std::to_string(Grammar::kMaxSymbols) + " symbols on one side");

  int unnamed = 0;
  const size_t first_value = values_.size();
  for_each_word(fields[3], [&](std::string_view token) {
    const size_t equals = token.rfind('=');
    std::string name(token.substr(0, equals == std::string_view::npos ? 0 : equals));
    if (equals == std::string_view::npos) name = "tm_" + std::to_string(unnamed++);
    if (name.empty()) throw fail("feature " + quoted(token) + " has no name");
    double value = 0;
    if (parse_number(token.substr(equals == std::string_view::npos ? 0 : equals + 1), value) != Number::good)
      throw fail("feature " + quoted(token) + " is not a finite number");
    const int32_t column = columns_.add(name);
    for (size_t i = first_value; i < values_.size(); ++i)
      if (values_[i].first == column) throw fail("feature " + quoted(name) + " stands twice");
    values_.push_back({column, static_cast<float>(value)});
  });
  std::vector<Link> links;
  for_each_word(fields[4], [&](std::string_view token) {
    const size_t dash = token.find('-');
    unsigned s = 0, t = 0;
    const auto number_in = [](std::string_view digits, unsigned& value) {
      const auto [p, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      return error == std::errc() && p == digits.data() + digits.size();
    };
    if (dash == std::string_view::npos || !number_in(token.substr(0, dash), s) || !number_in(token.substr(dash + 1), t))
      throw fail(quoted(token) + " is no alignment point. Expected source-target, as in 0-0 1-2");
    if (s >= source.size() || t >= target.size()) throw fail("alignment point " + quoted(token) + " is outside the rule");
    if (source[s] == kX || target[t] < 0) return;  // some toolkits align nonterminals too
    links.push_back({static_cast<uint16_t>(s), static_cast<uint16_t>(t)});
  });
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());

  raw_.source.insert(raw_.source.end(), source.begin(), source.end());
  raw_.source_begin.push_back(static_cast<uint32_t>(raw_.source.size()));
  raw_.target.insert(raw_.target.end(), target.begin(), target.end());
  raw_.target_begin.push_back(static_cast<uint32_t>(raw_.target.size()));
  raw_.links.insert(raw_.links.end(), links.begin(), links.end());
  raw_.link_begin.push_back(static_cast<uint32_t>(raw_.links.size()));
  value_begin_.push_back(values_.size());
  if (raw_.target.size() > 0xfffffff0U || raw_.source.size() > 0xfffffff0U || raw_.links.size() > 0xfffffff0U)
    throw fail("the grammar is too large: more than 2^32 symbols");
}

RuleTable GrammarTextReader::finish(int jobs) {
  const size_t count = raw_.rules(), width = static_cast<size_t>(columns_.size());
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
        table.columns[table.columns.size() - width + static_cast<size_t>(values_[v].first)] = values_[v].second;
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
