#include "hiero/hiero_decoder.h"

#include <algorithm>
#include <numeric>

#include "forest/each_sentence.h"
#include "forest/kbest.h"
#include "forest/prune.h"
#include "hiero/hiero_search.h"
#include "util/error.h"
#include "util/parallel.h"

namespace hopefear {

HieroDecoder::HieroDecoder(std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms,
                           const std::vector<std::string>& names, const std::vector<std::string>& sparse,
                           std::shared_ptr<const FeatureTemplates> templates, const std::vector<std::string>& arcs,
                           std::shared_ptr<const JointModel> joint)
    : model_(std::move(grammar), std::move(lms), names, sparse, std::move(templates), arcs, std::move(joint)) {
  if (model_.templates) stateful_ = stateful_features(model_.templates);
}

HieroDecoder::~HieroDecoder() = default;

std::vector<HieroSource> HieroDecoder::prepare(const std::vector<std::string>& ids, const std::vector<std::string>& lines,
                                               const std::vector<std::string>& kinds,
                                               const std::vector<std::vector<SentenceRule>>& rules) {
  if (ids.size() != lines.size() || kinds.size() != lines.size())
    throw InputError("one id, one line and the kinds of its words per sentence");
  if (!rules.empty() && rules.size() != lines.size())
    throw InputError("rules of " + std::to_string(rules.size()) + " sentences for " + std::to_string(lines.size()) +
                     " lines. Give a list for each line");
  std::vector<HieroSource> sources;
  sources.reserve(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    sources.push_back(prepare(ids[i], lines[i], kinds[i]));
    if (!rules.empty()) add_rules(model_, sources.back(), rules[i]);
  }
  return sources;
}

std::vector<HieroSource> HieroDecoder::prepare(const Pool& lattices, std::string_view kinds) {
  std::vector<HieroSource> sources;
  sources.reserve(lattices.size());
  for (const Sentence& s : lattices.sentences) naming(s.id, [&] { sources.push_back(prepare(s.id, s.forest, kinds)); });
  return sources;
}

std::vector<int32_t> HieroDecoder::reference(const std::vector<std::string>& words) {
  std::vector<int32_t> ids;
  for (const auto& word : words) ids.push_back(model_.vocab->add(word));
  return ids;
}

/// A search for one thread, given back at the end.
struct HieroDecoder::Borrowed {
  explicit Borrowed(const HieroDecoder& from) : decoder(from) {
    std::lock_guard<std::mutex> lock(decoder.idle_mutex_);
    if (!decoder.idle_.empty()) {
      search = std::move(decoder.idle_.back());
      decoder.idle_.pop_back();
    }
  }
  ~Borrowed() {
    if (!search || !search->modest()) return;
    std::lock_guard<std::mutex> lock(decoder.idle_mutex_);
    decoder.idle_.push_back(std::move(search));
  }
  Forest run(const HieroSource& source, const double* w, const HieroOptions& options) {
    if (!search) search = std::make_unique<HieroSearch>(decoder.model_);
    return search->run(source, w, options);
  }
  const HieroDecoder& decoder;
  std::unique_ptr<HieroSearch> search;
};

Forest HieroDecoder::decode(const HieroSource& source, const double* w, const HieroOptions& options) const {
  if (stateful_.empty()) return Borrowed(*this).run(source, w, options);
  HieroOptions wide = options;
  wide.max_edges = options.rescore_edges;
  wide.beam = -1;
  const Forest forest =
      rescored(Borrowed(*this).run(source, w, wide), model_.features, stateful_, nullptr, w, options.rescore_limit);
  PruneOptions prune;
  if (options.max_edges > 0) prune.max_edges = options.max_edges;
  if (options.beam >= 0) prune.beam = options.beam;
  return prune.max_edges || prune.beam ? pruned(forest, w, prune).forest : forest;
}

Pool HieroDecoder::empty_pool() const {
  Pool pool;
  pool.vocab = model_.vocab;
  pool.features = model_.features;
  pool.dense_width = model_.dense_width;
  return pool;
}

Pool HieroDecoder::each(const std::vector<HieroSource>& sources, int jobs,
                        const std::function<Forest(const HieroSource&)>& body) const {
  Pool pool = empty_pool();
  pool.sentences.resize(sources.size());
  std::vector<size_t> order(sources.size());  // long sentences first, so that no thread is left with one at the end
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].words.size() > sources[b].words.size(); });
  parallel_for(sources.size(), jobs, [&](size_t k, int) {
    const size_t i = order[k];
    pool.sentences[i] = {sources[i].id, sources[i].text, body(sources[i]), {}};
  });
  return pool;
}

Pool HieroDecoder::decode(const std::vector<HieroSource>& sources, const double* w, const HieroOptions& options, int jobs) const {
  return each(sources, jobs, [&](const HieroSource& source) { return decode(source, w, options); });
}

Pool HieroDecoder::kbest(const std::vector<HieroSource>& sources, const double* w, const HieroOptions& options, int64_t k,
                         bool distinct, int jobs) const {
  HieroOptions limits = options;
  if (k == 1) limits.beam = 1e-6;  // the best, and all that might be the best but for rounding
  return each(sources, jobs, [&](const HieroSource& source) {
    Pool one = empty_pool();
    one.sentences.push_back({source.id, source.text, decode(source, w, limits), {}});
    return hopefear::kbest(one, w, k, distinct, 1).sentences.front().forest;
  });
}

size_t HieroDecoder::stored() const {
  std::lock_guard<std::mutex> lock(idle_mutex_);
  size_t sum = 0;
  for (const auto& search : idle_) sum += search->stored();
  return sum;
}

}  // namespace hopefear
