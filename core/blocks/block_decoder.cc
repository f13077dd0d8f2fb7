#include "blocks/block_decoder.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "blocks/block_search.h"
#include "forest/kbest.h"
#include "metrics/bleu.h"
#include "util/error.h"
#include "util/parallel.h"
#include "util/text.h"

namespace hopefear {
namespace {

constexpr double kLn10 = 2.302585092994045684;

/// w.f and real-valued features of one block by itself.
double inside_score(const BlockDecoder& d, const BlockView& b, uint32_t rule, uint8_t copy, const FeatureTable& table,
                    const auto& real) {
  double sum = real(kWord) * static_cast<double>(b.target.size());
  if (copy) {
    sum += real(kCopy + copy - 1);
  } else {
    sum += real(kRule);
    const auto row = d.grammar().row(rule);
    for (size_t k = 0; k < 4; ++k)
      if (d.columns()[k] >= 0) sum += real(kColumns + k) * static_cast<double>(row[d.columns()[k]]);
  }
  uint64_t keys[256];  // a batch, so that the memory is asked for all of them before any is looked at
  int n = 0;
  const auto flush = [&] {
    for (int k = 0; k < n; ++k) sum += table.get(keys[k]);
    n = 0;
  };
  KeySink sink{[&](uint64_t key) {
    table.prefetch(key);
    keys[n++] = key;
    if (n == 256) flush();
  }};
  FeatureEmitter<BlockDecoder, decltype(sink)>(d, d.which(), sink).inside(b);
  flush();
  return sum;
}

/// log10 of words behind a context.
double lm_score(const BlockDecoder& d, size_t model, const LmContext& before, std::span<const int32_t> words, LmContext& after) {
  LmContext context[2] = {before, {}};
  int now = 0;
  double log = 0;
  for (const int32_t e : words) {
    log += d.lm(model).score(context[now], d.lm_word(model, e), context[1 - now]).prob;
    now = 1 - now;
  }
  after = context[now];
  return log;
}

/// Eq. (1). L language models have weights.
template <size_t L>
class ModelScorer {
 public:
  struct State {
    int32_t c, d;  // the last two target words
    std::array<LmContext, L> lm;
  };

  ModelScorer(const BlockDecoder& decoder, const BlockWeights& w) : d_(decoder), w_(w), which_(decoder.which()) {}

  State start() const {
    State state{kNothing, kBosWord, {}};
    for (size_t m = 0; m < L; ++m) state.lm[m] = d_.lm(m).begin_sentence();
    return state;
  }

  void option(BlockOption& option) const {
    if (w_.inside() && !option.copy) {
      option.score = w_.inside()[option.rule];
    } else {
      uint64_t hash = kPhrase;
      for (const int32_t e : option.view.target) hash = phrase_add(hash, d_.target(e));
      option.view.target_hash = hash;
      option.score = inside_score(d_, option.view, option.rule, option.copy, w_.table(), [&](size_t i) { return w_.real(i); });
    }
    option.rank = option.score;
    for (size_t m = 0; m < L; ++m) {  // the words of the block alone
      LmContext out;
      option.rank += w_.real(kLm + m) * kLn10 * lm_score(d_, m, {}, option.view.target, out);
    }
  }

  double extend(double score, const State& state, const BlockOption* before, const BlockOption& option, Orientation o,
                int32_t jump, int32_t, State& next) const {
    double sum = score + option.score;
    uint64_t keys[16];
    int n = 0;
    KeySink sink{[&](uint64_t key) {
      w_.table().prefetch(key);
      keys[n++] = key;
    }};
    FeatureEmitter<BlockDecoder, decltype(sink)>(d_, which_, sink)
        .between(before ? &before->view : nullptr, state.c, state.d, option.view, o, jump);
    if (o == Orientation::left) sum += w_.real(kSwap);
    const auto target = option.view.target;
    next.c = target.size() > 1 ? target[target.size() - 2] : state.d;
    next.d = target.back();
    for (size_t m = 0; m < L; ++m) sum += w_.real(kLm + m) * kLn10 * lm_score(d_, m, state.lm[m], target, next.lm[m]);
    for (int k = 0; k < n; ++k) sum += w_.table().get(keys[k]);
    return sum;
  }

  double finish(double score, const State& state, const BlockOption* before) const {
    if (!before) return score;  // an empty sentence
    KeySink sink{[&](uint64_t key) { score += w_.table().get(key); }};
    FeatureEmitter<BlockDecoder, decltype(sink)>(d_, which_, sink).end(&before->view, state.c, state.d);
    for (size_t m = 0; m < L; ++m) {
      LmContext out;
      score += w_.real(kLm + m) * kLn10 * d_.lm(m).score(state.lm[m], kEos, out).prob;
    }
    return score;
  }

  uint64_t hash(const State& state, const BlockOption& option) const {
    uint64_t h = 0;
    if (which_.phrase) h = option.copy ? ~static_cast<uint64_t>(option.view.target[0]) : option.rule;
    if (which_.word)
      h = mix_key(h + static_cast<uint64_t>(static_cast<uint32_t>(state.c)) * 0x9fb21c651e98df25ULL) +
          static_cast<uint32_t>(state.d);
    for (size_t m = 0; m < L; ++m) h = state.lm[m].hash(h);
    return h;
  }
  bool same(const State& a, const BlockOption& of_a, const State& b, const BlockOption& of_b) const {
    if (which_.phrase && (of_a.copy != 0) != (of_b.copy != 0)) return false;
    if (which_.phrase && (of_a.copy ? of_a.view.target[0] != of_b.view.target[0] : of_a.rule != of_b.rule)) return false;
    if (which_.word && (a.c != b.c || a.d != b.d)) return false;
    for (size_t m = 0; m < L; ++m)
      if (!(a.lm[m] == b.lm[m])) return false;
    return true;
  }

 private:
  const BlockDecoder& d_;
  const BlockWeights& w_;
  const BlockFeatures which_;
};

}  // namespace

BlockWeights::BlockWeights(std::shared_ptr<const FeatureTable> table, const BlockDecoder& decoder, bool precompute, int jobs)
    : table_(std::move(table)) {
  for (size_t i = 0; i < kBlockReals; ++i) real_[i] = table_->get(feature_key(kBlockReal[i]));
  if (!precompute) return;
  const Grammar& g = decoder.grammar();
  inside_.resize(g.rules());
  // By the subtrees of the trie below its first words.
  const auto [begin, end] = g.children(Grammar::kRoot);
  const uint32_t first = begin;
  parallel_for(end - begin, jobs, [&](size_t k, int) {
    struct Item {
      uint32_t node, depth;
    };
    std::vector<Item> open{{first + static_cast<uint32_t>(k), 1}};
    std::vector<int32_t> words;
    std::vector<uint64_t> phrases{kPhrase};
    while (!open.empty()) {
      const Item item = open.back();
      open.pop_back();
      const int32_t word = g.symbol(item.node);
      if (word < 0) continue;  // a nonterminal: not ours
      words.resize(item.depth);
      phrases.resize(item.depth + 1);
      words[item.depth - 1] = word;
      phrases[item.depth] = phrase_add(phrases[item.depth - 1], decoder.source(word));
      const auto [rule_begin, rule_end] = g.rules_of(item.node);
      for (uint32_t rule = rule_begin; rule < rule_end; ++rule) {
        uint64_t hash = kPhrase;
        for (const int32_t e : g.target(rule)) hash = phrase_add(hash, decoder.target(e));
        const BlockView view{words, g.target(rule), phrases[item.depth], hash, 0, static_cast<int32_t>(item.depth)};
        inside_[rule] = inside_score(decoder, view, rule, 0, *table_, [&](size_t i) { return real_[i]; });
      }
      const auto [child, last] = g.children(item.node);
      for (uint32_t c = child; c < last; ++c) open.push_back({c, item.depth + 1});
    }
  });
}

BlockDecoder::BlockDecoder(std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms,
                           BlockFeatures features)
    : grammar_(std::move(grammar)), lms_(std::move(lms)), which_(features) {
  if (lms_.size() > kMaxLms) throw InputError("a decoder has at most " + std::to_string(kMaxLms) + " language models");
  const auto take = [](const Vocab& from, Vocab& to, std::vector<uint64_t>& hashes) {
    for (int32_t word = 0; word < from.size(); ++word) {
      to.add(from[word]);
      hashes.push_back(text_hash(from[word]));
    }
  };
  take(*grammar_->source_vocab(), *source_vocab_, source_hash_);
  take(*grammar_->target_vocab(), *vocab_, target_hash_);
  for (const char* name : kBlockReal) features_->add(name);
  for (size_t k = 0; k < 4; ++k) columns_[k] = grammar_->column(kBlockReal[kColumns + k]);
  for (uint32_t rule = 0; rule < grammar_->rules(); ++rule) {
    if (grammar_->target(rule).empty()) throw InputError("a block has no target words. Build the model again");
    for (const int32_t e : grammar_->target(rule))
      if (e < 0) throw InputError("this grammar has nonterminals, and blocks have none. Build one: hopefear build --kind blocks");
  }
  for (const auto& lm : lms_) lm->map_words(*vocab_, lm_words_.emplace_back());
}

uint8_t BlockDecoder::copy_kind(const BlockSource& source, size_t i, bool known, bool has_blocks) {
  if (source.kinds[i] == WordKind::number) return 3;
  if (source.kinds[i] == WordKind::name) return 4;
  if (!known) return 2;
  return has_blocks ? 0 : 1;
}

/// The id of a target word. Pools share the vocabulary and add words of their own, references say, of which we hear only here.
int32_t BlockDecoder::target_word(std::string_view word) {
  const int32_t id = vocab_->add(word);
  for (auto next = static_cast<int32_t>(target_hash_.size()); next <= id; ++next) {
    target_hash_.push_back(text_hash((*vocab_)[next]));
    for (size_t m = 0; m < lms_.size(); ++m) lm_words_[m].push_back(lms_[m]->find_in_text((*vocab_)[next]));
  }
  return id;
}

BlockSource BlockDecoder::prepare(std::string id, std::string_view text, std::string_view kinds) {
  BlockSource source{std::move(id), std::string(text), {}, {}, {}};
  for_each_word(text, [&](std::string_view word) {
    const size_t place = source.words.size();
    const char kind = place < kinds.size() ? kinds[place] : 'w';
    const int32_t id_of = source_vocab_->add(word);
    if (static_cast<size_t>(id_of) == source_hash_.size()) source_hash_.push_back(text_hash(word));
    source.words.push_back(id_of);
    source.kinds.push_back(kind == 'n' ? WordKind::number : kind == 'c' ? WordKind::name : WordKind::word);
    const uint32_t node = knows(id_of) ? grammar_->child(Grammar::kRoot, id_of) : Grammar::kNone;
    const bool alone = node != Grammar::kNone && grammar_->rules_of(node).first != grammar_->rules_of(node).second;
    int32_t copy = -1;
    if (copy_kind(source, place, knows(id_of), alone)) copy = target_word(word);
    source.copies.push_back(copy);
  });
  if (source.words.size() > 65535)
    throw InputError("sentence " + source.id + " has " + std::to_string(source.words.size()) + " words. Split it");
  return source;
}

std::vector<int32_t> BlockDecoder::reference(std::string_view text) {
  std::vector<int32_t> words;
  for_each_word(text, [&](std::string_view word) { words.push_back(target_word(word)); });
  return words;
}

BlockView BlockDecoder::view(const BlockSource& source, const StoredBlock& block) const {
  BlockView view{std::span<const int32_t>(source.words).subspan(block.begin, block.length),
                 target_of(source, block),
                 kPhrase,
                 kPhrase,
                 block.begin,
                 block.begin + block.length};
  for (const int32_t f : view.source) view.source_hash = phrase_add(view.source_hash, this->source(f));
  for (const int32_t e : view.target) view.target_hash = phrase_add(view.target_hash, target(e));
  return view;
}

namespace {

/// body(search) with the scorer that these weights need; a thread makes it once.
template <class Body>
auto with_search(const BlockDecoder& d, const BlockWeights& w, Body&& body) {
  const auto run = [&](auto scorer) {
    BlockSearch<decltype(scorer)> search(d, scorer);
    return body(search);
  };
  if (d.lms() == 2) return run(ModelScorer<2>(d, w));
  if (d.lms() == 1) return run(ModelScorer<1>(d, w));
  return run(ModelScorer<0>(d, w));
}

constexpr size_t kBatch = 64;  // sentences a thread takes at a time

}  // namespace

BlockSequences BlockDecoder::best(const std::vector<BlockSource>& sources, const std::vector<std::vector<int32_t>>& references,
                                  const BlockWeights& w, const BlockOptions& options, int jobs) const {
  if (!references.empty() && references.size() != sources.size()) throw InputError("one reference a sentence is needed");
  std::vector<std::vector<StoredBlock>> found(sources.size());
  std::vector<float> bleu(sources.size(), 0.0f);
  const Bleu metric(4);
  parallel_for((sources.size() + kBatch - 1) / kBatch, jobs, [&](size_t batch, int) {
    with_search(*this, w, [&](auto& search) {
      std::vector<int32_t> words;
      for (size_t i = batch * kBatch; i < std::min(sources.size(), (batch + 1) * kBatch); ++i) {
        search.run(sources[i], options, which_.swap, false);
        search.best(found[i]);
        if (references.empty()) continue;
        words.clear();
        for (const StoredBlock& b : found[i]) {
          const auto target = target_of(sources[i], b);
          words.insert(words.end(), target.begin(), target.end());
        }
        const ReferenceNgrams ngrams({references[i]}, 4);
        double stats[9];
        BleuCounter(ngrams, 4, ReferenceLength::closest).stats(words, stats);
        bleu[i] = static_cast<float>(metric.sentence_gain(stats));
      }
    });
  });
  BlockSequences out;
  out.bleu = std::move(bleu);
  for (const auto& blocks : found) {
    out.blocks.insert(out.blocks.end(), blocks.begin(), blocks.end());
    out.block_begin.push_back(out.blocks.size());
    out.sentence_begin.push_back(out.block_begin.size() - 1);
  }
  return out;
}

/// A forest whose sparse features are keys still. A list is one node.
struct BlockDecoder::Draft {
  struct Node {
    int32_t begin, end, edges;
  };
  std::vector<Node> nodes;
  std::vector<int32_t> tails;  // one an edge; -1: none
  std::vector<uint32_t> word_begin{0}, key_begin{0};
  std::vector<int32_t> words;
  std::vector<double> dense;
  std::vector<uint64_t> keys;
  std::vector<std::pair<uint64_t, std::string>> names;  // of keys that were not known

  void end_edge(int32_t tail) {
    tails.push_back(tail);
    word_begin.push_back(static_cast<uint32_t>(words.size()));
    key_begin.push_back(static_cast<uint32_t>(keys.size()));
    ++nodes.back().edges;
  }
};

namespace {

/// Features of single edges of a lattice into a draft.
template <class Search, class Draft>
class EdgeFeatures {
 public:
  EdgeFeatures(const BlockDecoder& d, const Search& search, const FeatureTable& known, Draft& draft)
      : d_(d), search_(search), known_(known), draft_(draft) {}

  /// Adds h of a block edge to the row, and its keys to the draft.
  void block(const BlockEdge& edge, double* h) {
    const BlockOption& option = search_.options()[edge.option];
    const auto& tail = search_.nodes()[edge.tail];
    const BlockOption* before = tail.option >= 0 ? &search_.options()[tail.option] : nullptr;
    auto sink = names();
    FeatureEmitter<BlockDecoder, decltype(sink)> emit(d_, d_.which(), sink);
    emit.inside(option.view);
    emit.between(before ? &before->view : nullptr, tail.state.c, tail.state.d, option.view, edge.orientation,
                 option.view.begin - tail.end);
    if (edge.orientation == Orientation::left) h[kSwap] += 1;
    h[kWord] += static_cast<double>(option.view.target.size());
    if (option.copy) {
      h[kCopy + option.copy - 1] += 1;
    } else {
      h[kRule] += 1;
      const auto row = d_.grammar().row(option.rule);
      for (size_t k = 0; k < 4; ++k)
        if (d_.columns()[k] >= 0) h[kColumns + k] += static_cast<double>(row[d_.columns()[k]]);
    }
    for (size_t m = 0; m < tail.state.lm.size(); ++m) {
      LmContext out;
      h[kLm + m] += kLn10 * lm_score(d_, m, tail.state.lm[m], option.view.target, out);
    }
  }

  void end(int32_t v, double* h) {
    const auto& node = search_.nodes()[v];
    if (node.option < 0) return;
    auto sink = names();
    FeatureEmitter<BlockDecoder, decltype(sink)>(d_, d_.which(), sink)
        .end(&search_.options()[node.option].view, node.state.c, node.state.d);
    for (size_t m = 0; m < node.state.lm.size(); ++m) {
      LmContext out;
      h[kLm + m] += kLn10 * d_.lm(m).score(node.state.lm[m], kEos, out).prob;
    }
  }

 private:
  auto names() {
    return NameSink{[this](uint64_t key, auto&& name) {
      draft_.keys.push_back(key);
      if (known_.find(key) == FeatureTable::kNone && named_.insert(key).second) draft_.names.emplace_back(key, name());
    }};
  }

  const BlockDecoder& d_;
  const Search& search_;
  const FeatureTable& known_;
  Draft& draft_;
  std::unordered_set<uint64_t> named_;
};

/// The lattice without features: its nodes are `kept` of the search, then the goal. Edge scores are those of the search.
struct Skeleton {
  Forest forest;
  std::vector<double> scores;
  std::vector<int32_t> edges;  // of the search; -1 - f: the end of final f
  std::vector<int32_t> kept;   // nodes of the search
};

template <class Search>
Skeleton skeleton(const BlockDecoder& d, const Search& search) {
  const auto& nodes = search.nodes();
  const auto& edges = search.edges();
  std::vector<uint32_t> begin(nodes.size() + 1, 0), by_head(edges.size());
  for (const BlockEdge& e : edges) ++begin[static_cast<size_t>(e.head) + 1];
  for (size_t v = 0; v < nodes.size(); ++v) begin[v + 1] += begin[v];
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (uint32_t e = 0; e < edges.size(); ++e) by_head[next[edges[e].head]++] = e;
  std::vector<int32_t> place(nodes.size(), -1);
  for (const auto& final : search.finals()) place[final.node] = 0;
  for (size_t v = nodes.size(); v-- > 0;)
    if (place[v] >= 0)
      for (uint32_t k = begin[v]; k < begin[v + 1]; ++k) place[edges[by_head[k]].tail] = 0;
  Skeleton out;
  ForestBuilder builder(d.vocab(), d.features());
  std::vector<int32_t> words;
  for (size_t v = 1; v < nodes.size(); ++v) {  // node 0 is the start: edges from it have no tail
    if (place[v] < 0) continue;
    place[v] = builder.add_node(0, nodes[v].covered);
    out.kept.push_back(static_cast<int32_t>(v));
    for (uint32_t k = begin[v]; k < begin[v + 1]; ++k) {
      const BlockEdge& edge = edges[by_head[k]];
      const auto target = search.options()[edge.option].view.target;
      words.clear();
      if (edge.tail > 0) words.push_back(slot(0));
      words.insert(words.end(), target.begin(), target.end());
      const int32_t tail[] = {place[edge.tail]};
      builder.add_edge({tail, edge.tail > 0 ? size_t{1} : size_t{0}}, words, nullptr);
      out.scores.push_back(edge.score);
      out.edges.push_back(static_cast<int32_t>(by_head[k]));
    }
  }
  builder.add_node(0, nodes.empty() ? 0 : nodes.back().covered);
  for (size_t f = 0; f < search.finals().size(); ++f) {
    const auto& final = search.finals()[f];
    const int32_t tail[] = {place[final.node]}, word[] = {slot(0)};
    const size_t arity = final.node > 0;
    builder.add_edge({tail, arity}, {word, arity}, nullptr);
    out.scores.push_back(final.score - nodes[final.node].score);
    out.edges.push_back(-1 - static_cast<int32_t>(f));
  }
  out.forest = builder.finish();
  return out;
}

}  // namespace

template <class Fill>
std::vector<BlockDecoder::Draft> BlockDecoder::drafts(const std::vector<BlockSource>& sources, const BlockWeights& w,
                                                      const BlockOptions& options, int jobs, Fill&& fill) const {
  std::vector<Draft> out(sources.size());
  parallel_for(sources.size(), jobs, [&](size_t i, int) {
    with_search(*this, w, [&](auto& search) {
      search.run(sources[i], options, which_.swap, true);
      const Skeleton lattice = skeleton(*this, search);
      EdgeFeatures<std::remove_reference_t<decltype(search)>, Draft> features(*this, search, *ids_, out[i]);
      const auto add = [&](int32_t edge, double* h) {
        if (const int32_t e = lattice.edges[edge]; e >= 0)
          features.block(search.edges()[e], h);
        else
          features.end(search.finals()[-1 - e].node, h);
      };
      fill(lattice, out[i], add);
    });
  });
  return out;
}

std::vector<BlockDecoder::Draft> BlockDecoder::lattices(const std::vector<BlockSource>& sources, const BlockWeights& w,
                                                        const BlockOptions& options, int jobs) const {
  return drafts(sources, w, options, jobs, [](const Skeleton& lattice, Draft& draft, auto&& add) {
    const Forest& f = lattice.forest;
    draft.dense.assign(static_cast<size_t>(f.edges()) * kBlockReals, 0.0);
    for (int32_t v = 0; v < f.nodes(); ++v) {
      draft.nodes.push_back({f.spans[2 * static_cast<size_t>(v)], f.spans[2 * static_cast<size_t>(v) + 1], 0});
      for (int32_t e = f.edge_begin[v]; e < f.edge_begin[static_cast<size_t>(v) + 1]; ++e) {
        add(e, draft.dense.data() + static_cast<size_t>(e) * kBlockReals);
        const auto words = f.edge_words(e);
        draft.words.insert(draft.words.end(), words.begin(), words.end());
        draft.end_edge(f.edge_tails(e).empty() ? -1 : f.edge_tails(e)[0]);
      }
    }
  });
}

Pool BlockDecoder::decode(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int jobs,
                          const Locked& locked) {
  auto made = lattices(sources, w, options, jobs);
  return finish(made, sources, jobs, locked);
}

Forest BlockDecoder::lattice(const BlockSource& source, const BlockWeights& w, const BlockOptions& options) const {
  if (which_.phrase || which_.word)
    throw InputError("online trainers learn the real-valued features of blocks only. Choose none of the binary ones");
  return made(lattices({source}, w, options, 1).front());
}

Pool BlockDecoder::kbest(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int64_t k,
                         bool distinct, int jobs, const Locked& locked) {
  auto made = drafts(sources, w, options, jobs, [&](const Skeleton& lattice, Draft& draft, auto&& add) {
    draft.nodes.push_back({0, lattice.forest.source_length(), 0});
    std::vector<int32_t> words;
    YieldScratch scratch;
    for (const Derivation& derivation : hopefear::kbest(lattice.forest, lattice.scores, k, distinct)) {
      const size_t row = draft.dense.size();
      draft.dense.resize(row + kBlockReals, 0.0);
      for (const int32_t e : derivation.edges) add(e, draft.dense.data() + row);
      yield(lattice.forest, derivation.edges, words, scratch);
      draft.words.insert(draft.words.end(), words.begin(), words.end());
      draft.end_edge(-1);
    }
  });
  return finish(made, sources, jobs, locked);
}

/// New features get ids in the order of the sentences.
void BlockDecoder::name(std::vector<Draft>& drafts) {
  for (Draft& draft : drafts) {
    if (!ids_->has_room(draft.names.size())) {
      auto larger = std::make_shared<FeatureTable>(2 * (ids_->size() + draft.names.size()));
      for (size_t i = 0; i < ids_->capacity(); ++i)
        if (ids_->key(i)) larger->set(ids_->key(i), ids_->weight(i));
      ids_ = std::move(larger);
    }
    for (const auto& [key, name] : draft.names) ids_->set(key, features_->add(name));
    draft.names.clear();
  }
}

Pool BlockDecoder::finish(std::vector<Draft>& drafts, const std::vector<BlockSource>& sources, int jobs, const Locked& locked) {
  locked([&] { name(drafts); });
  Pool pool;
  pool.vocab = vocab_;
  pool.features = features_;
  pool.dense_width = static_cast<int32_t>(kBlockReals);
  pool.sentences.resize(sources.size());
  parallel_for(sources.size(), jobs,
               [&](size_t i, int) { pool.sentences[i] = {sources[i].id, sources[i].text, made(drafts[i]), {}}; });
  return pool;
}

Forest BlockDecoder::made(const Draft& draft) const {
  ForestBuilder builder(vocab_, features_, static_cast<int32_t>(kBlockReals));
  std::vector<int32_t> ids, unique;
  std::vector<double> values;
  size_t e = 0;
  for (const auto& node : draft.nodes) {
    builder.add_node(node.begin, node.end);
    for (int32_t k = 0; k < node.edges; ++k, ++e) {
      ids.clear();
      for (uint32_t key = draft.key_begin[e]; key < draft.key_begin[e + 1]; ++key)
        ids.push_back(static_cast<int32_t>(ids_->get(draft.keys[key])));
      std::sort(ids.begin(), ids.end());
      unique.clear();
      values.clear();
      for (const int32_t id : ids) {
        if (!unique.empty() && unique.back() == id) {
          values.back() += 1.0;
          continue;
        }
        unique.push_back(id);
        values.push_back(1.0);
      }
      const int32_t tail[] = {draft.tails[e]};
      builder.add_edge(
          {tail, draft.tails[e] >= 0 ? size_t{1} : size_t{0}},
          std::span<const int32_t>(draft.words).subspan(draft.word_begin[e], draft.word_begin[e + 1] - draft.word_begin[e]),
          draft.dense.data() + e * kBlockReals, unique, values);
    }
  }
  return builder.finish();
}

}  // namespace hopefear
