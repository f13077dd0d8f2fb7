#include "formats/write_forests.h"

#include <algorithm>

#include "forest/edge_features.h"
#include "formats/json.h"
#include "util/id_map.h"
#include "util/text.h"

namespace hopefear {
namespace {

/// The useful part of a forest, with its nodes numbered anew.
struct Useful {
  const Pool& pool;
  const Forest& f;
  size_t sentence;
  std::vector<int32_t> nodes;               // useful ones in topological order, the goal last
  std::vector<int32_t> number;              // of each node, or -1
  std::vector<std::vector<int32_t>> edges;  // of each useful node

  Useful(const Pool& p, size_t i) : pool(p), f(p.sentences[i].forest), sentence(i), number(f.nodes(), -1) {
    const size_t count = f.nodes();
    std::vector<uint8_t> derives(count, 0), needed(count, 0);
    auto complete = [&](int32_t e) {
      return std::all_of(f.edge_tails(e).begin(), f.edge_tails(e).end(), [&](int32_t t) { return derives[t]; });
    };
    for (size_t v = 0; v < count; ++v)
      for (int32_t e = f.edge_begin[v]; e < f.edge_begin[v + 1] && !derives[v]; ++e) derives[v] = complete(e);
    if (!derives[count - 1]) fail("it has no derivation. Leave the sentence out");
    needed[count - 1] = 1;
    for (size_t v = count; v-- > 0;) {
      if (!needed[v]) continue;
      for (int32_t e = f.edge_begin[v]; e < f.edge_begin[v + 1]; ++e)
        if (complete(e))
          for (const int32_t t : f.edge_tails(e)) needed[t] = 1;
    }
    for (size_t v = 0; v < count; ++v) {
      if (!needed[v]) continue;
      number[v] = static_cast<int32_t>(nodes.size());
      nodes.push_back(static_cast<int32_t>(v));
      edges.emplace_back();
      for (int32_t e = f.edge_begin[v]; e < f.edge_begin[v + 1]; ++e)
        if (complete(e)) edges.back().push_back(e);
    }
  }

  [[noreturn]] void fail(const std::string& finding) const {
    throw InputError("sentence " + std::to_string(sentence) + ": " + finding);
  }
  const std::string& word(int32_t id) const { return (*pool.vocab)[id]; }
  int32_t tail(int32_t e, int32_t t) const { return number[f.edge_tails(e)[t]]; }

  /// feature(id, value) for every feature of an edge that is not 0.
  template <class Feature>
  void features(int32_t e, Feature&& feature) const {
    std::vector<std::pair<int32_t, double>> h;
    edge_features(f, e, false, h);
    for (const auto& [id, value] : h) feature(id, value);
  }
  const std::string& feature_name(int32_t id) const { return (*pool.features)[id]; }
};

void append_whole(std::string& out, int64_t value) { out += std::to_string(value); }

template <class Values, class One>
void append_list(std::string& out, const Values& values, One&& one) {
  bool first = true;
  for (const auto& value : values) {
    if (!first) out += ", ";
    first = false;
    one(value);
  }
}

void append_feature_object(std::string& out, const Useful& u, int32_t e) {
  out += '{';
  bool first = true;
  u.features(e, [&](int32_t id, double value) {
    if (!first) out += ", ";
    first = false;
    append_json_string(out, u.feature_name(id));
    out += ": ";
    append_number(out, value);
  });
  out += '}';
}

bool in_brackets(const std::string& word) { return word.size() > 2 && word.front() == '[' && word.back() == ']'; }

bool is_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos; }

/// [1] or [X,1]
bool names_tail(const std::string& word) {
  if (!in_brackets(word)) return false;
  const std::string_view inside = std::string_view(word).substr(1, word.size() - 2);
  const size_t comma = inside.rfind(',');
  return is_digits(comma == std::string_view::npos ? inside : inside.substr(comma + 1));
}

std::string cdec_rule(const Useful& u, int32_t e) {
  std::string rule = "[X] |||";
  for (const int32_t word : u.f.edge_words(e)) {
    rule += ' ';
    if (word < 0) {
      if (slot_tail(word) > 8) u.fail("an edge has more than 9 tails, which cdec cannot say. Write the native format");
      rule += '[' + std::to_string(slot_tail(word) + 1) + ']';
      continue;
    }
    const std::string& text = u.word(word);
    if (text == "|||" || names_tail(text))
      u.fail("the word " + quoted(text) + " means something else to cdec. Write the native format");
    rule += text;
  }
  if (u.f.edge_words(e).empty()) rule += ' ';
  return rule;
}

void append_cdec_edge(std::string& out, const Useful& u, size_t node, int32_t e, const IdMap& feature_numbers, int32_t rule) {
  out += "{\"tail\":[";
  for (size_t t = 0; t < u.f.edge_tails(e).size(); ++t) {
    if (t) out += ',';
    append_whole(out, u.tail(e, static_cast<int32_t>(t)));
  }
  out += "],\"spans\":[";
  append_whole(out, u.f.spans.empty() ? -1 : u.f.spans[2 * node]);
  out += ',';
  append_whole(out, u.f.spans.empty() ? -1 : u.f.spans[2 * node + 1]);
  out += ",-1,-1],\"feats\":[";
  bool first = true;
  u.features(e, [&](int32_t id, double value) {
    if (!first) out += ',';
    first = false;
    append_whole(out, feature_numbers.find(id));
    out += ',';
    append_number(out, value);
  });
  out += "],\"rule\":";
  append_whole(out, rule);
  out += '}';
}

}  // namespace

void append_cdec_forest(std::string& out, const Pool& pool, size_t sentence) {
  const Useful u(pool, sentence);
  Vocab rules;  // their numbers count from 1 in the file
  std::vector<int32_t> rule_of(u.f.edges(), 0);
  IdMap feature_numbers;
  std::vector<int32_t> names;
  for (const auto& edges : u.edges)
    for (const int32_t e : edges) {
      rule_of[e] = 1 + rules.add(cdec_rule(u, e));
      u.features(e, [&](int32_t id, double) {
        if (feature_numbers.add(id) == static_cast<int32_t>(names.size())) names.push_back(id);
      });
    }
  out += "{\"rules\":[";
  for (int32_t k = 0; k < rules.size(); ++k) {
    if (k) out += ',';
    append_whole(out, k + 1);
    out += ',';
    append_json_string(out, rules[k]);
  }
  out += "],\"features\":[";
  for (size_t k = 0; k < names.size(); ++k) {
    if (k) out += ',';
    append_json_string(out, u.feature_name(names[k]));
  }
  out += ']';
  int64_t count = 0;
  for (size_t v = 0; v < u.nodes.size(); ++v) {
    out += ",\"edges\":[";
    for (size_t k = 0; k < u.edges[v].size(); ++k) {
      if (k) out += ',';
      append_cdec_edge(out, u, u.nodes[v], u.edges[v][k], feature_numbers, rule_of[u.edges[v][k]]);
    }
    out += "],\"node\":{\"in_edges\":[";
    for (size_t k = 0; k < u.edges[v].size(); ++k) {
      if (k) out += ',';
      append_whole(out, count++);
    }
    out += "],\"cat\":\"X\"}";
  }
  out += "}\n";
}

void append_travatar_forest(std::string& out, const Pool& pool, size_t sentence) {
  const Useful u(pool, sentence);
  // the goal is node 0, so the nodes are numbered from the top
  const auto last = static_cast<int32_t>(u.nodes.size()) - 1;
  out += "{\"nodes\": [";
  for (int32_t i = 0; i <= last; ++i) {
    const size_t v = u.nodes[last - i];
    out += i ? ", {\"sym\": \"X\", \"span\": [" : "{\"sym\": \"X\", \"span\": [";
    append_whole(out, u.f.spans.empty() ? -1 : u.f.spans[2 * v]);
    out += ", ";
    append_whole(out, u.f.spans.empty() ? -1 : u.f.spans[2 * v + 1]);
    out += "], \"id\": ";
    append_whole(out, i);
    out += '}';
  }
  out += "], \"edges\": [";
  int64_t id = 0;
  for (int32_t i = 0; i <= last; ++i)
    for (const int32_t e : u.edges[last - i]) {
      out += id ? ", {\"id\": " : "{\"id\": ";
      append_whole(out, id++);
      out += ", \"head\": ";
      append_whole(out, i);
      if (!u.f.edge_tails(e).empty()) {
        out += ", \"tails\": [";
        append_list(out, u.f.edge_tails(e), [&](int32_t t) { append_whole(out, last - u.number[t]); });
        out += ']';
      }
      out += ", \"trg\": [{\"words\": [";
      append_list(out, u.f.edge_words(e), [&](int32_t word) {
        if (word < 0)
          append_whole(out, word);
        else
          append_json_string(out, u.word(word));
      });
      out += "]}], \"features\": ";
      append_feature_object(out, u, e);
      out += '}';
    }
  out += "], \"words\": [";
  std::vector<std::string_view> source;
  for_each_word(pool.sentences[sentence].source, [&](std::string_view word) { source.push_back(word); });
  append_list(out, source, [&](std::string_view word) { append_json_string(out, word); });
  out += "]}\n";
}

void append_cicada_forest(std::string& out, const Pool& pool, size_t sentence) {
  const Useful u(pool, sentence);
  Vocab rules;  // their numbers count from 1 in the file
  std::string nodes;
  for (size_t v = 0; v < u.nodes.size(); ++v) {
    nodes += v ? ", [" : "[";
    for (size_t k = 0; k < u.edges[v].size(); ++k) {
      const int32_t e = u.edges[v][k];
      std::string rule = "[x] |||";
      for (const int32_t word : u.f.edge_words(e)) {
        rule += ' ';
        if (word < 0) {
          rule += "[x," + std::to_string(slot_tail(word) + 1) + ']';
          continue;
        }
        const std::string& text = u.word(word);
        if (text == "|||" || text == "<epsilon>" || in_brackets(text))
          u.fail("the word " + quoted(text) + " means something else to Cicada. Write the native format");
        rule += text;
      }
      if (u.f.edge_words(e).empty()) rule += " <epsilon>";
      nodes += k ? ", {" : "{";
      if (!u.f.edge_tails(e).empty()) {
        nodes += "\"tail\": [";
        append_list(nodes, u.f.edge_tails(e), [&](int32_t t) { append_whole(nodes, u.number[t]); });
        nodes += "], ";
      }
      nodes += "\"feature\": ";
      append_feature_object(nodes, u, e);
      nodes += ", \"rule\": ";
      append_whole(nodes, 1 + rules.add(rule));
      nodes += '}';
    }
    nodes += ']';
  }
  out += "{\"rules\": [";
  append_list(out, rules.texts(), [&](const std::string& rule) { append_json_string(out, rule); });
  out += "], \"nodes\": [";
  out += nodes;
  out += "], \"goal\": ";
  append_whole(out, static_cast<int64_t>(u.nodes.size()) - 1);
  out += "}\n";
}

void append_moses_hypergraph(std::string& out, const Pool& pool, size_t sentence) {
  const Useful u(pool, sentence);
  size_t edges = 0;
  for (const auto& e : u.edges) edges += e.size();
  out += "# target ||| features ||| source-covered\n" + std::to_string(u.nodes.size()) + ' ' + std::to_string(edges) + '\n';
  for (size_t v = 0; v < u.nodes.size(); ++v) {
    const size_t node = u.nodes[v];
    const int32_t covered = u.f.spans.empty() ? 0 : u.f.spans[2 * node + 1] - u.f.spans[2 * node];
    out += "# node " + std::to_string(v) + '\n' + std::to_string(u.edges[v].size()) + '\n';
    for (const int32_t e : u.edges[v]) {
      for (const int32_t word : u.f.edge_words(e)) {
        if (word < 0) {  // tails are in no order in this format: words name them
          out += '[' + std::to_string(u.tail(e, slot_tail(word))) + "] ";
          continue;
        }
        const std::string& text = u.word(word);
        if (text == "|||" || text == "<s>" || text == "</s>" ||
            (in_brackets(text) && is_digits(std::string_view(text).substr(1, text.size() - 2))))
          u.fail("the word " + quoted(text) + " means something else to Moses. Write the native format");
        out += text + ' ';
      }
      out += "|||";
      u.features(e, [&](int32_t id, double value) {
        const std::string& name = u.feature_name(id);
        if (name.empty() || std::any_of(name.begin(), name.end(), is_blank))
          u.fail("the feature name " + quoted(name) + " is empty or has a blank in it. Rename the feature");
        out += ' ' + name + '=';
        append_number(out, value);
      });
      out += " ||| " + std::to_string(covered) + '\n';
    }
  }
}

namespace {

/// An arc of a lattice.
struct Arc {
  int32_t from, to;
  const std::string* word;
  int32_t edge;  // whose features it carries, or -1
};

/// An arc has at most one word: an edge with several becomes a chain. The numbers of the nodes leave room for the chains,
/// which come directly before the node they lead to: arcs to node v start at numbers below.
std::vector<Arc> arcs_of(const Useful& u, int32_t& next) {
  std::vector<Arc> arcs;
  std::vector<int32_t> number(u.nodes.size());
  next = 1;  // 0 is the start
  for (size_t v = 0; v < u.nodes.size(); ++v) {
    const size_t first = arcs.size();
    for (const int32_t e : u.edges[v]) {
      const auto edge_words = u.f.edge_words(e);
      const bool tail = !u.f.edge_tails(e).empty();
      if (u.f.edge_tails(e).size() > 1 || (tail && edge_words[0] >= 0))
        u.fail("an edge has two tails, or words before its tail: this is no lattice. Write the native format");
      int32_t from = tail ? number[u.tail(e, 0)] : 0;
      const auto words = edge_words.subspan(tail ? 1 : 0);
      for (size_t k = 0; k + 1 < words.size(); ++k) {
        arcs.push_back({from, next, &u.word(words[k]), k ? -1 : e});
        from = next++;
      }
      arcs.push_back({from, -1, words.empty() ? nullptr : &u.word(words.back()), words.size() > 1 ? -1 : e});
    }
    number[v] = next++;
    for (size_t k = first; k < arcs.size(); ++k)
      if (arcs[k].to < 0) arcs[k].to = number[v];
  }
  std::stable_sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.from < b.from; });
  return arcs;
}

}  // namespace

void append_plf(std::string& out, const Pool& pool, size_t sentence) {
  const Useful u(pool, sentence);
  const size_t width = pool.features->size();
  if (width > 1000)
    u.fail("it has " + std::to_string(width) +
           " features, and PLF writes a number for each on every arc. Write the native format");
  int32_t next = 0;
  const std::vector<Arc> arcs = arcs_of(u, next);
  out += '(';
  std::vector<double> row(width);
  size_t at = 0;
  for (int32_t from = 0; from < next - 1; ++from) {
    out += '(';
    for (; at < arcs.size() && arcs[at].from == from; ++at) {
      out += "('";
      if (!arcs[at].word) {
        out += "*EPS*";
      } else {
        if (*arcs[at].word == "*EPS*") u.fail("the word \"*EPS*\" means no word in PLF. Write the native format");
        for (const char c : *arcs[at].word) {
          if (c == '\'' || c == '\\') out += '\\';
          out += c;
        }
      }
      out += "',";
      std::fill(row.begin(), row.end(), 0.0);
      if (arcs[at].edge >= 0) u.features(arcs[at].edge, [&](int32_t id, double value) { row[id] += value; });
      for (const double value : row) {
        append_number(out, value);
        out += ',';
      }
      if (row.empty()) out += "0,";
      append_whole(out, arcs[at].to - from);
      out += "),";
    }
    out += "),";
  }
  out += ")\n";
}

}  // namespace hopefear
