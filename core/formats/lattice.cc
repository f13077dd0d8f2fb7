#include "formats/lattice.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "util/text.h"

namespace hopefear {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;

bool is_no_word(std::string_view label) {
  return label == "<eps>" || label == "<s>" || label == "</s>" || label == "!NULL" || label == "!SENT_START" ||
         label == "!SENT_END";
}

/// HTK's strings: a backslash escapes a character, or begins the three octal digits of a byte.
std::string unescaped(std::string_view text) {
  const auto digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '7' ? text[i] - '0' : -1; };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
    } else if (digit(i + 1) >= 0 && digit(i + 2) >= 0 && digit(i + 3) >= 0) {
      plain += static_cast<char>(64 * digit(i + 1) + 8 * digit(i + 2) + digit(i + 3));
      i += 3;
    } else {
      plain += text[++i];
    }
  }
  return plain;
}

/// Whether the arcs of an OpenFST text have two labels. If nothing else decides, four columns have two labels if these are equal.
bool is_transducer(const std::vector<std::vector<std::string>>& rows) {
  bool four = false, numbers = true, fractions = false;
  for (const auto& row : rows) {
    if (row.size() == 5) return true;
    if (row.size() != 4) continue;
    four = true;
    double value = 0;
    const Number kind = parse_number(row[3], value);
    numbers = numbers && kind != Number::not_a_number;
    fractions = fractions || kind == Number::not_finite || row[3].find_first_of(".e-") != std::string::npos;
  }
  if (!four || (numbers && fractions)) return false;
  if (!numbers) return true;
  return std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.size() != 4 || row[2] == row[3]; });
}

}  // namespace

int32_t Lattice::state(int64_t name) {
  const auto [found, added] = states_.try_emplace(name, static_cast<int32_t>(names_.size()));
  if (added) names_.push_back(name);
  return found->second;
}

void Lattice::word(PoolBuilder& builder, std::string_view text) {
  if (is_no_word(text)) return;
  words_.push_back(builder.vocab()->add(text));
}

void Lattice::end_arc(int32_t from, int32_t to) { close(from, to); }
void Lattice::end_state(int32_t state) { close(state, -1); }

void Lattice::close(int32_t from, int32_t to) {
  feature(count, static_cast<double>(words_.size()));
  arcs_.push_back({from, to, std::exchange(words_, {}), std::exchange(features_, {})});
}

/// Which states can be reached from the start, or lead to an end.
std::vector<uint8_t> Lattice::reached(bool forwards) const {
  std::vector<std::vector<int32_t>> next(names_.size());
  std::vector<uint8_t> seen(names_.size(), 0);
  std::vector<int32_t> todo;
  const auto visit = [&](int32_t state) {
    if (!std::exchange(seen[state], 1)) todo.push_back(state);
  };
  for (const Arc& arc : arcs_) {
    if (arc.to < 0) {
      if (!forwards) visit(arc.from);
    } else {
      forwards ? next[arc.from].push_back(arc.to) : next[arc.to].push_back(arc.from);
    }
  }
  if (forwards) visit(start);
  while (!todo.empty()) {
    const int32_t state = todo.back();
    todo.pop_back();
    for (const int32_t other : next[state]) visit(other);
  }
  return seen;
}

void Lattice::emit(PoolBuilder& builder, const std::string& where) const {
  if (start < 0) throw InputError(where + ": the lattice has no arcs. Leave the utterance out");
  const std::vector<uint8_t> reachable = reached(true), leads = reached(false);
  if (!leads[start]) throw InputError(where + ": no path leads from the start to an end state. Was the file cut off?");
  // The start is no node of the forest: its arcs have no tails. The goal comes last.
  ForestDraft draft;
  std::vector<int32_t> node(names_.size(), -1);
  for (size_t s = 0; s < names_.size(); ++s)
    if (static_cast<int32_t>(s) != start && reachable[s] && leads[s]) {
      node[s] = draft.nodes++;
      draft.names.push_back(names_[s]);
    }
  draft.goal = draft.nodes++;
  draft.names.push_back(-1);
  for (const Arc& arc : arcs_) {
    if (!reachable[arc.from] || (arc.to >= 0 && !leads[arc.to])) continue;
    if (arc.to == start)
      throw InputError(where + ": an arc leads back to the start: the lattice is cyclic. Write it without cycles");
    if (arc.from != start) {
      draft.tails.push_back(node[arc.from]);
      draft.words.push_back(slot(0));
    }
    draft.words.insert(draft.words.end(), arc.words.begin(), arc.words.end());
    for (const auto& [id, value] : arc.features) {
      draft.feature_ids.push_back(id);
      draft.feature_values.push_back(value);
    }
    draft.end_edge(arc.to < 0 ? draft.goal : node[arc.to]);
  }
  draft.emit(builder, where);
}

void LatticeReader::begin_file(std::string name, Format format) {
  format_ = format;
  lattices_ = 0;
  const size_t slash = name.find_last_of('/');
  stem_ = name.substr(slash == std::string::npos ? 0 : slash + 1);
  stem_ = stem_.substr(0, stem_.find('.'));
  lines_.begin_file(std::move(name));
  reset();
}

void LatticeReader::symbols(std::string_view text, const std::string& file) {
  Lines lines;
  lines.begin_file(file);
  const auto entry = [&](std::string_view line) {
    std::vector<std::string_view> words;
    for_each_word(line, [&](std::string_view word) { words.push_back(word); });
    if (words.empty()) return;
    if (words.size() != 2) lines.fail("expected a word and its number. Is this a table of symbols (words.txt)?");
    symbols_[std::string(words[1])] = words[0];
  };
  lines.feed(text, entry);
  lines.end_file(entry);
}

void LatticeReader::reset() {
  lattice_ = {};
  lattice_.count = builder_.feature("words");
  id_.clear();
  begun_ = false;
  rows_.clear();
  nodes_.clear();
  links_.clear();
  start_ = end_ = nodes_wanted_ = links_wanted_ = -1;
  base_ = 0;
}

bool LatticeReader::ends(std::string_view text) const {
  text = trim(text);
  return format_ == Format::slf ? text.starts_with("VERSION=") && nodes_wanted_ >= 0 : text.empty();
}

void LatticeReader::read(std::string_view text) {
  if (!std::exchange(begun_, true)) {
    first_line_ = lines_.number();
    if (format_ == Format::kaldi) {
      id_ = trim(text);
      if (std::any_of(id_.begin(), id_.end(), is_blank))
        fail("expected the name of an utterance, found " + quoted(text) + ". Is this a lattice archive of Kaldi (ark,t)?");
      return;
    }
  }
  format_ == Format::slf ? slf_line(text) : fst_line(text);
}

int64_t LatticeReader::whole(std::string_view text, const char* what) const {
  int64_t value = -1;
  const auto [p, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || p != text.data() + text.size() || value < 0 || value > kMost)
    fail(std::string(what) + " must be a whole number, found " + quoted(text) + ". Is this the format that was named?");
  return value;
}

double LatticeReader::number(std::string_view text, const char* what) const {
  double value = 0;
  if (parse_number(text, value) != Number::good) fail(std::string(what) + " is " + quoted(text) + ". Write a finite number");
  return value;
}

void LatticeReader::word(std::string_view label) {
  if (!symbols_.empty()) {
    const auto found = symbols_.find(std::string(label));
    if (found == symbols_.end()) fail("the label " + quoted(label) + " is not in the table of symbols. Use that of the lattices");
    label = found->second;
  } else if (label == "0") {
    return;
  }
  lattice_.word(builder_, label);
}

/// Kaldi: graph cost, acoustic cost, and what follows.
void LatticeReader::costs(std::string_view text) {
  if (text.empty()) return;
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos)
    fail("expected two costs and a comma, found " + quoted(text) + ". Is this a lattice of Kaldi?");
  const std::string_view rest = text.substr(comma + 1);
  lattice_.feature(builder_.feature("graph"), -number(text.substr(0, comma), "the graph cost"));
  lattice_.feature(builder_.feature("acoustic"), -number(rest.substr(0, rest.find(',')), "the acoustic cost"));
}

void LatticeReader::fst_line(std::string_view text) {
  fields_.clear();
  for_each_word(text, [&](std::string_view field) { fields_.push_back(field); });
  if (fields_.size() > 5) fail("expected an arc or an end state, found " + quoted(text) + ". Is this the format that was named?");
  if (format_ == Format::kaldi) return fst_arc();
  rows_.emplace_back(fields_.begin(), fields_.end());
  whole(fields_[0], "a state");
  if (fields_.size() > 2) whole(fields_[1], "a state");
  if (fields_.size() == 5) number(fields_[4], "a cost");
}

void LatticeReader::fst_arc() {
  const int32_t from = lattice_.state(whole(fields_[0], "a state"));
  if (lattice_.start < 0) lattice_.start = from;
  if (fields_.size() <= 2) {
    costs(fields_.size() == 2 ? fields_[1] : "");
    return lattice_.end_state(from);
  }
  const int32_t to = lattice_.state(whole(fields_[1], "a state"));
  const bool weighted = fields_.back().find(',') != std::string_view::npos && fields_.size() > 3;
  if (weighted) costs(fields_.back());
  word(fields_[fields_.size() - (weighted ? 2 : 1)]);
  lattice_.end_arc(from, to);
}

void LatticeReader::emit() {
  const std::string where = lines_.file() + ":" + std::to_string(first_line_);
  if (format_ == Format::openfst) {
    const bool transducer = is_transducer(rows_);
    const int32_t score = builder_.feature("score");
    for (const auto& row : rows_) {
      const int32_t from = lattice_.state(whole(row[0], "a state"));
      if (lattice_.start < 0) lattice_.start = from;
      const size_t plain = row.size() <= 2 ? 1 : transducer ? 4 : 3;
      if (row.size() > plain) {
        double cost = 0;
        if (parse_number(row[plain], cost) != Number::good)
          throw InputError(where + ": the cost " + quoted(row[plain]) + " is not a finite number. Prune such arcs");
        lattice_.feature(score, -cost);
      }
      if (row.size() <= 2) {
        lattice_.end_state(from);
        continue;
      }
      const int32_t to = lattice_.state(whole(row[1], "a state"));
      word(row[std::min(plain, row.size()) - 1]);
      lattice_.end_arc(from, to);
    }
    if (++lattices_ == 1) id_ = stem_;
  } else if (format_ == Format::slf) {
    slf_link();
    if (++lattices_ == 1 && id_.empty()) id_ = stem_;
  }
  lattice_.emit(builder_, where);
}

void LatticeReader::slf_line(std::string_view text) {
  text = trim(text);
  if (text.starts_with('#')) return;
  fields_.clear();
  for_each_word(text, [&](std::string_view field) { fields_.push_back(field); });
  const auto value = [&](std::string_view shorter, std::string_view longer) -> std::string_view {
    for (const std::string_view field : fields_) {
      const size_t equals = field.find('=');
      if (equals == std::string_view::npos)
        fail("expected name=value, found " + quoted(field) + ". Is this a lattice of HTK (SLF)?");
      if (field.substr(0, equals) == shorter || field.substr(0, equals) == longer) return field.substr(equals + 1);
    }
    return {};
  };
  if (const auto node = value("I", "NODE"); !node.empty()) {
    const auto label = value("W", "WORD");
    nodes_[whole(node, "a node")] = {unescaped(label), !label.empty()};
  } else if (!value("J", "LINK").empty()) {
    const auto label = value("W", "WORD"), a = value("a", "acoustic"), l = value("l", "language"), r = value("r", "pron");
    links_.push_back({whole(value("S", "START"), "the start of a link"), whole(value("E", "END"), "the end of a link"),
                      unescaped(label), !label.empty(), a.empty() ? 0 : number(a, "an acoustic score"),
                      l.empty() ? 0 : number(l, "a language score"), r.empty() ? 0 : number(r, "a pronunciation score")});
  } else {
    for (const std::string_view field : fields_) slf_field(field.substr(0, field.find('=')), field.substr(field.find('=') + 1));
  }
}

void LatticeReader::slf_field(std::string_view name, std::string_view value) {
  if (name == "UTTERANCE" || name == "U") id_ = value;
  if (name == "start") start_ = whole(value, "the start");
  if (name == "end") end_ = whole(value, "the end");
  if (name == "N" || name == "NODES") nodes_wanted_ = whole(value, "the number of nodes");
  if (name == "L" || name == "LINKS") links_wanted_ = whole(value, "the number of links");
  if (name != "base") return;
  const double base = number(value, "the base of logarithms");
  if (base <= 0 || base == 1) fail("scores are not logarithms (base=" + std::string(value) + "). Write them with base=2.71828");
  base_ = std::log(base);
}

/// The links of a complete lattice; a node's word belongs to the links that lead to it.
void LatticeReader::slf_link() {
  const auto count = [&](int64_t wanted, size_t found, const char* what) {
    if (wanted >= 0 && static_cast<size_t>(wanted) != found)
      fail("the lattice has " + std::to_string(found) + " " + what + ", but its head says " + std::to_string(wanted) +
           ". Was the file cut off?");
  };
  count(nodes_wanted_, nodes_.size(), "nodes");
  count(links_wanted_, links_.size(), "links");
  std::vector<int64_t> names;
  for (const auto& [name, node] : nodes_) names.push_back(name);
  std::sort(names.begin(), names.end());
  std::unordered_map<int64_t, int> in, out;
  for (const Link& link : links_) {
    if (!nodes_.contains(link.from) || !nodes_.contains(link.to))
      fail("a link uses a node that does not exist. Was the file cut off?");
    ++out[link.from];
    ++in[link.to];
  }
  const auto lonely = [&](std::unordered_map<int64_t, int>& where, int64_t given, const char* what) {
    if (given >= 0) return given;
    int64_t chosen = -1;
    for (const int64_t name : names)
      if (!where.contains(name)) {
        if (chosen >= 0)
          fail(std::string("nodes ") + std::to_string(chosen) + " and " + std::to_string(name) + " could both be the " + what +
               ". Say which: " + what + "=" + std::to_string(chosen));
        chosen = name;
      }
    if (chosen < 0) fail(std::string("no node can be the ") + what + ": the lattice is cyclic. Write it without cycles");
    return chosen;
  };
  if (names.empty()) fail("the lattice has no nodes. Was the file cut off?");
  const int64_t start = lonely(in, start_, "start"), end = lonely(out, end_, "end");
  if (!nodes_.contains(start) || !nodes_.contains(end))
    fail("the start or the end is no node of the lattice. Was the file cut off?");
  lattice_.start = lattice_.state(start);
  const double scale = base_ == 0 ? 1 : base_;
  // a score that no link has is no feature
  const auto there = [&](double Link::* score) {
    return std::any_of(links_.begin(), links_.end(), [&](const Link& link) { return link.*score != 0; });
  };
  std::vector<std::pair<int32_t, double Link::*>> scores;
  if (there(&Link::acoustic)) scores.emplace_back(builder_.feature("acoustic"), &Link::acoustic);
  if (there(&Link::language)) scores.emplace_back(builder_.feature("lm"), &Link::language);
  if (there(&Link::pronunciation)) scores.emplace_back(builder_.feature("pron"), &Link::pronunciation);
  // A word at the start node comes before all others.
  const bool opens = nodes_[start].given && !is_no_word(nodes_[start].word);
  for (const Link& link : links_) {
    if (opens && link.from == start && !link.named) lattice_.word(builder_, nodes_[start].word);
    for (const auto& [id, score] : scores) lattice_.feature(id, scale * (link.*score));
    const std::string& label = link.named ? link.word : nodes_[link.to].word;
    if (!label.empty()) lattice_.word(builder_, label);
    lattice_.end_arc(lattice_.state(link.from), lattice_.state(link.to));
  }
  lattice_.end_state(lattice_.state(end));
}

}  // namespace hopefear
