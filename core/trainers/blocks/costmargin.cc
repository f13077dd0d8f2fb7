#include "trainers/blocks/costmargin.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>

#include "blocks/sequence_features.h"
#include "trainers/shuffle.h"
#include "util/error.h"
#include "util/id_map.h"
#include "util/parallel.h"

namespace hopefear {

/// One sentence: its sequences over the features that any of them has. Reused from sentence to sentence.
struct CostMargin::Local {
  struct Entry {
    uint32_t feature;
    float value;
  };
  std::vector<uint64_t> keys;
  std::vector<Entry> entries;
  std::vector<size_t> begin;  // of each sequence's entries
  std::vector<double> bleu;
  size_t truths = 0;
  std::vector<size_t> slots;      // of the table
  std::vector<double> w, before;  // of each feature
  std::vector<double> scores, x;

  KeyMap<uint32_t> features;   // numbers of keys
  std::vector<double> values;  // of the current sequence
  std::vector<uint32_t> touched;

  void clear() {
    features.clear(std::max<size_t>(2048, keys.size()));  // sentences are of similar size
    keys.clear();
    entries.clear();
    begin.assign(1, 0);
    bleu.clear();
    values.clear();
    truths = 0;
  }
  void add(uint64_t key, double value) {
    const uint32_t feature = features.add(key);
    if (feature == keys.size()) {
      keys.push_back(key);
      values.push_back(0);
    }
    if (values[feature] == 0) touched.push_back(feature);
    values[feature] += value;
  }
  void end_sequence(double b) {
    for (const uint32_t feature : touched) {
      if (values[feature] != 0) entries.push_back({feature, static_cast<float>(values[feature])});
      values[feature] = 0;
    }
    touched.clear();
    begin.push_back(entries.size());
    bleu.push_back(b);
  }
  size_t sequences() const { return bleu.size(); }
};

CostMargin::CostMargin(const BlockDecoder& decoder, const std::vector<BlockSource>& sources, const std::vector<bool>& reals)
    : decoder_(decoder), sources_(sources), reals_(reals) {
  reals_.resize(kBlockReals, false);
  for (size_t i = kCopy; i < kBlockReals; ++i) reals_[i] = true;
  for (size_t m = 0; m < 2; ++m)
    if (reals_[kLm + m]) {
      if (m >= decoder.lms())
        throw InputError("the model has no language model for the feature " + std::string(kBlockReal[kLm + m]));
      lms_ = true;
    }
}

void CostMargin::add(std::shared_ptr<const SequenceFile> file, bool truths) {
  (truths ? truths_ : alternatives_).push_back(std::move(file));
}

/// F of all sequences of a sentence, truths first.
void CostMargin::expand(size_t sentence, Local& local) const {
  local.clear();
  double reals[kBlockReals];
  KeySink sink{[&](uint64_t key) { local.add(key, 1.0); }};
  const auto sequence = [&](const SequenceFile& file, uint64_t s) {
    std::fill(reals, reals + kBlockReals, 0.0);
    sequence_features(decoder_, sources_[sentence], file.blocks(s), file.bag(), lms_, sink,
                      [&](size_t i, double value) { reals[i] += value; });
    for (size_t i = 0; i < kBlockReals; ++i)
      if (reals_[i] && reals[i] != 0) local.add(feature_key(kBlockReal[i]), reals[i]);
    local.end_sequence(static_cast<double>(file.bleu(s)));
  };
  for (const auto& file : truths_)
    for (auto [s, end] = file->of(sentence); s < end; ++s) sequence(*file, s);
  local.truths = local.sequences();
  const auto is_truth = [&](std::span<const StoredBlock> blocks) {
    for (const auto& file : truths_)
      for (auto [s, end] = file->of(sentence); s < end; ++s)
        if (const auto truth = file->blocks(s);
            truth.size() == blocks.size() &&
            (blocks.empty() || std::memcmp(truth.data(), blocks.data(), blocks.size_bytes()) == 0))
          return true;
    return false;
  };
  for (const auto& file : alternatives_)
    for (auto [s, end] = file->of(sentence); s < end; ++s)
      if (file->bag() || !is_truth(file->blocks(s))) sequence(*file, s);
}

template <class Body>
void CostMargin::each_sentence(int jobs, Body&& body) const {
  std::vector<Local> locals(static_cast<size_t>(resolve_jobs(jobs)));
  parallel_for(sources_.size(), jobs, [&](size_t i, int thread) {
    Local& local = locals[thread];
    expand(i, local);
    body(i, local);
  });
}

namespace {

/// A sketch of the keys that occur in two sentences or more; it has no false negatives. It does not depend on the order of keys,
/// so the number of threads changes nothing.
class SeenTwice {
 public:
  explicit SeenTwice(int bits) : bits_(bits), once_(size_t{1} << (bits - 6), 0), twice_(once_.size(), 0) {}
  /// Returns whether `has` is true from now on and was not before.
  bool add(uint64_t key) { return seen(once_, key) && !seen(twice_, key); }
  bool has(uint64_t key) const { return twice_[word_of(key)] & bit_of(key); }
  /// No more keys will be added.
  void finish() { once_ = {}; }

 private:
  size_t word_of(uint64_t key) const { return mix_key(key) >> (64 - bits_) >> 6; }
  uint64_t bit_of(uint64_t key) const { return uint64_t{1} << ((mix_key(key) >> (64 - bits_)) & 63); }
  /// Sets the bit of a key, and returns whether it was set.
  bool seen(std::vector<uint64_t>& words, uint64_t key) const {
    const uint64_t bit = bit_of(key);
    return std::atomic_ref(words[word_of(key)]).fetch_or(bit, std::memory_order_relaxed) & bit;
  }

  int bits_;
  std::vector<uint64_t> once_, twice_;
};

/// Counts to two; does not write a count of two again.
void count_to_two(uint8_t& count) {
  std::atomic_ref<uint8_t> seen(count);
  const uint8_t before = seen.load(std::memory_order_relaxed);
  if (before == 0 ? seen.fetch_add(1, std::memory_order_relaxed) == 1 : before == 1) seen.store(2, std::memory_order_relaxed);
}

}  // namespace

/// About how many keys all sentences have, a key counted once per sentence; by a sample.
uint64_t CostMargin::estimated_keys() const {
  uint64_t total = 0;
  const size_t every = sources_.size() / 500 + 1;
  Local local;
  for (size_t i = 0; i < sources_.size(); i += every) {
    expand(i, local);
    total += local.keys.size() * every;
  }
  return total;
}

/// Every key that `wanted` accepts, with the number of its sentences (2: two or more) by slot. `room` is the expected number.
template <class Wanted>
CostMargin::Counted CostMargin::count_keys(size_t room, int jobs, Wanted&& wanted) const {
  for (;; room *= 2) {
    Counted out{std::make_unique<FeatureTable>(room), {}};
    out.count.assign(out.table->capacity(), 0);
    std::atomic<bool> full{false};
    each_sentence(jobs, [&](size_t, Local& local) {
      if (full.load(std::memory_order_relaxed)) return;
      if (!out.table->has_room(local.keys.size() * static_cast<size_t>(resolve_jobs(jobs)))) {
        full = true;
        return;
      }
      for (const uint64_t key : local.keys)
        if (wanted(key)) count_to_two(out.count[out.table->insert(key)]);
    });
    if (!full) return out;
  }
}

void CostMargin::find_features(bool drop_once, int jobs) {
  const uint64_t total = estimated_keys();
  std::optional<SeenTwice> sketch;
  uint64_t expected = total;
  if (drop_once) {  // only keys in the sketch get a slot in a table, where they are counted exactly
    sketch.emplace(std::clamp(static_cast<int>(std::bit_width(4 * total)), 20, 32));
    std::atomic<uint64_t> candidates{0};
    each_sentence(jobs, [&](size_t, Local& local) {
      for (const uint64_t key : local.keys)
        if (sketch->add(key)) candidates.fetch_add(1, std::memory_order_relaxed);
    });
    sketch->finish();
    expected = candidates;
  }
  const Counted counted =
      count_keys(expected + expected / 4 + 4096, jobs, [&](uint64_t key) { return !sketch || sketch->has(key); });
  sketch.reset();
  uint64_t reals[kBlockReals];  // never dropped
  std::ranges::transform(kBlockReal, reals, [](const char* name) { return feature_key(name); });
  const auto keeps = [&](size_t slot) {
    const uint64_t key = counted.table->key(slot);
    return key && (!drop_once || counted.count[slot] >= 2 || std::ranges::find(reals, key) != std::end(reals));
  };
  size_t kept = 0;
  for (size_t slot = 0; slot < counted.table->capacity(); ++slot) kept += keeps(slot);
  auto table = std::make_shared<FeatureTable>(kept);
  for (size_t slot = 0; slot < counted.table->capacity(); ++slot)
    if (keeps(slot)) table->set(counted.table->key(slot), table_->get(counted.table->key(slot)));
  table_ = std::move(table);
}

/// Weights of the features of a sentence.
void CostMargin::gather(Local& local, const FeatureTable& table, double scale) const {
  local.slots.resize(local.keys.size());
  local.w.resize(local.keys.size());
  constexpr size_t kAhead = 16;
  for (size_t f = 0; f < local.keys.size(); ++f) {
    if (f + kAhead < local.keys.size()) table.prefetch(local.keys[f + kAhead]);
    local.slots[f] = table.find(local.keys[f]);
    local.w[f] = local.slots[f] == FeatureTable::kNone ? 0.0 : scale * table.weight(local.slots[f]);
  }
}

/// Phi of a sentence; with eta > 0 its weights are moved, truth by truth.
double CostMargin::phi(Local& local, double eta, uint64_t& updates) const {
  const size_t n = local.sequences();
  local.scores.resize(n);
  const auto rescore = [&] {
    for (size_t s = 0; s < n; ++s) {
      double sum = 0;
      for (size_t e = local.begin[s]; e < local.begin[s + 1]; ++e)
        sum += local.w[local.entries[e].feature] * static_cast<double>(local.entries[e].value);
      local.scores[s] = sum;
    }
  };
  rescore();
  local.before = local.w;
  double total = 0;
  for (size_t k = 0; k < local.truths; ++k) {
    double worst = 0;
    size_t chosen = n;
    for (size_t a = local.truths; a < n; ++a) {  // max over z' of psi, eq. (4)
      const double gap = local.bleu[k] - local.bleu[a], slack = 1.0 - (local.scores[k] - local.scores[a]);
      if (gap <= 0 || slack <= 0) continue;
      if (const double psi = gap * slack * slack; psi > worst) {
        worst = psi;
        chosen = a;
      }
    }
    total += worst;
    if (chosen == n || eta <= 0) continue;
    local.x.assign(local.keys.size(), 0.0);  // x_k = F(z_k) - F(z'_k), of the features that are learnt
    for (size_t e = local.begin[k]; e < local.begin[k + 1]; ++e)
      local.x[local.entries[e].feature] += static_cast<double>(local.entries[e].value);
    for (size_t e = local.begin[chosen]; e < local.begin[chosen + 1]; ++e)
      local.x[local.entries[e].feature] -= static_cast<double>(local.entries[e].value);
    double norm = 0;
    for (size_t f = 0; f < local.x.size(); ++f) {
      if (local.slots[f] == FeatureTable::kNone) local.x[f] = 0;
      norm += local.x[f] * local.x[f];
    }
    if (norm == 0) continue;
    const double slack = 1.0 - (local.scores[k] - local.scores[chosen]);
    const double step = std::min(eta * (local.bleu[k] - local.bleu[chosen]), 1.0 / norm) * slack;  // eq. (7)
    for (size_t f = 0; f < local.x.size(); ++f) local.w[f] += step * local.x[f];
    ++updates;
    rescore();
  }
  return local.truths ? total / static_cast<double>(local.truths) : 0.0;
}

void CostMargin::changes(const Local& local, std::vector<Change>& out) const {
  for (size_t f = 0; f < local.w.size(); ++f)
    if (local.w[f] != local.before[f]) out.push_back({local.slots[f], local.w[f] - local.before[f]});
}

CostMarginPass CostMargin::pass(const CostMarginOptions& options, int jobs) {
  if (!(options.eta > 0) || !(options.lambda >= 0) || options.eta * options.lambda >= 1 || options.batch < 1)
    throw InputError("eta must be above 0, l2 not below 0, their product below 1, and batch at least 1");
  std::vector<size_t> order = in_order(sources_.size());
  Random random(options.seed);
  shuffle(order, random);
  CostMarginPass out;
  double scale = 1.0;  // w = scale * (weight in the table), so that lambda costs nothing in a step
  const auto batch = static_cast<size_t>(options.batch);
  std::vector<Local> locals(static_cast<size_t>(resolve_jobs(jobs)));
  std::vector<std::vector<Change>> changed(batch);
  std::vector<double> losses(batch);
  std::vector<uint64_t> updates(batch);
  for (size_t begin = 0; begin < order.size(); begin += batch) {
    const size_t count = std::min(batch, order.size() - begin);
    parallel_for(count, jobs, [&](size_t i, int thread) {
      Local& local = locals[thread];
      expand(order[begin + i], local);
      gather(local, *table_, scale);
      updates[i] = 0;
      losses[i] = phi(local, options.eta, updates[i]);
      changed[i].clear();
      changes(local, changed[i]);
    });
    apply_means({changed.data(), count}, scale, jobs);
    for (size_t i = 0; i < count; ++i) {
      out.loss += losses[i];
      out.updates += updates[i];
    }
    scale *= std::pow(1.0 - options.eta * options.lambda, static_cast<double>(count));
  }
  if (scale != 1.0)
    for (size_t slot = 0; slot < table_->capacity(); ++slot)
      if (table_->key(slot)) table_->weight(slot) *= scale;
  if (!order.empty()) out.loss /= static_cast<double>(order.size());
  return out;
}

/// Every weight that some sentences change moves by the mean of their changes. Each weight belongs to one thread, which takes the
/// sentences in order.
void CostMargin::apply_means(std::span<const std::vector<Change>> changed, double scale, int jobs) {
  struct Mean {
    size_t slot;
    double sum, count;
  };
  const size_t shares = changed.size() > 1 ? static_cast<size_t>(resolve_jobs(jobs)) : 1;
  parallel_for(shares, jobs, [&](size_t share, int) {
    const size_t capacity = table_->capacity(), low = capacity / shares * share,
                 high = share + 1 == shares ? capacity : capacity / shares * (share + 1);
    IdMap places(1024);
    std::vector<Mean> means;
    for (const std::vector<Change>& of_sentence : changed)
      for (const Change& change : of_sentence) {
        if (change.slot < low || change.slot >= high) continue;
        const auto place = static_cast<size_t>(places.add(change.slot));
        if (place == means.size()) means.push_back({change.slot, 0.0, 0.0});
        means[place].sum += change.by;
        means[place].count += 1;
      }
    for (const Mean& mean : means) table_->weight(mean.slot) += mean.sum / mean.count / scale;
  });
}

double CostMargin::objective(double lambda, int jobs) const {
  std::vector<double> losses(sources_.size());
  each_sentence(jobs, [&](size_t i, Local& local) {
    uint64_t updates = 0;
    gather(local, *table_, 1.0);
    losses[i] = phi(local, 0.0, updates);
  });
  double squares = 0;
  if (lambda > 0)
    for (size_t slot = 0; slot < table_->capacity(); ++slot)
      if (table_->key(slot)) squares += table_->weight(slot) * table_->weight(slot);
  return (losses.empty() ? 0.0 : std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size())) +
         lambda * squares;
}

size_t CostMargin::write_weights(const std::string& path) const {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) throw InputError(path + ": cannot be written. Is there room, and may you write there?");
  std::vector<bool> written(table_->capacity(), false);
  std::string text;
  size_t lines = 0;
  bool good = true;
  const auto put = [&](uint64_t key, auto&& name) {
    const size_t slot = table_->find(key);
    if (slot == FeatureTable::kNone || written[slot]) return;
    written[slot] = true;
    const double weight = table_->weight(slot);
    if (weight == 0) return;
    char number[32];
    const auto end = std::to_chars(number, number + sizeof number, weight).ptr;
    text += name();
    text += ' ';
    text.append(number, end);
    text += '\n';
    ++lines;
    if (text.size() > (1 << 20)) {
      good = good && std::fwrite(text.data(), 1, text.size(), file) == text.size();
      text.clear();
    }
  };
  for (const char* real : kBlockReal) put(feature_key(real), [&] { return std::string(real); });
  NameSink sink{put};
  for (size_t i = 0; i < sources_.size(); ++i)
    for (const auto* files : {&truths_, &alternatives_})
      for (const auto& file_of : *files)
        for (auto [s, end] = file_of->of(i); s < end; ++s)
          sequence_features(decoder_, sources_[i], file_of->blocks(s), file_of->bag(), false, sink, [](size_t, double) {});
  good = good && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !good) throw InputError(path + ": could not be written whole. Is the disk full?");
  return lines;
}

}  // namespace hopefear
