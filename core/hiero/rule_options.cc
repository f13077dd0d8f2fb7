#include "hiero/rule_options.h"

#include <algorithm>

#include "forest/forest.h"

namespace hopefear {
namespace {

/// Source sides are forgotten when so many symbols and features of them are kept.
constexpr size_t kKept = size_t{1} << 22;

}  // namespace

std::vector<Affiliation> affiliations(std::span<const int32_t> source, std::span<const int32_t> target,
                                      std::span<const PackedLink> links) {
  const std::vector<Affiliation> at = source_places(source);
  std::vector<Affiliation> affiliations(target.size()), first, last;  // of target symbols, nonterminals
  for (size_t s = 0; s < source.size(); ++s) {
    if (source[s] >= 0) continue;
    first.push_back(at[s]);
    last.push_back({static_cast<int16_t>(first.size()), -1});
  }
  std::vector<uint8_t> known(target.size(), 0);
  std::vector<size_t> linked;
  for (size_t t = 0; t < target.size(); ++t) {
    linked.clear();
    for (const PackedLink link : links)
      if (link.t == t && link.s < source.size()) linked.push_back(link.s);
    known[t] = target[t] < 0 || !linked.empty();
    if (target[t] < 0 || linked.empty()) continue;
    std::sort(linked.begin(), linked.end());
    affiliations[t] = at[linked[(linked.size() - 1) / 2]];
  }
  for (size_t t = 0; t < target.size(); ++t) {
    if (known[t]) continue;
    for (size_t d = 1; d < target.size(); ++d) {
      if (const size_t r = t + d; r < target.size() && known[r]) {
        affiliations[t] = target[r] < 0 ? first[slot_tail(target[r])] : affiliations[r];
        break;
      }
      if (t >= d && known[t - d]) {
        affiliations[t] = target[t - d] < 0 ? last[slot_tail(target[t - d])] : affiliations[t - d];
        break;
      }
    }
  }
  return affiliations;
}

void RuleOptions::start(const double* w, int64_t max_options, std::span<const SourceRule> rules) {
  w_ = w;
  own_rules_ = rules;
  max_options_ = max_options;
  const auto weight = [&](int32_t id) { return id >= 0 ? w[id] : 0.0; };
  w_word_ = weight(m_.word_id);
  w_rule_ = weight(m_.rule_id);
  for (size_t l = 0; l < m_.lms.size(); ++l) w_lm_[l] = weight(m_.lm_id[l]);
  w_joint_ = weight(m_.joint_id);
  ++sentence_;
  options_.clear();
  own().clear();
  if (kept().size() <= kKept) return;
  side_of_.clear();
  sides_.clear();
  rules_.clear();
  kept().clear();
  for (LmSeams& seams : seams_) seams.clear();
}

void RuleOptions::Store::clear() {
  targets.clear();
  for (auto& each : parts) each.clear();
  joint_targets.clear();
  affiliated.clear();
  sparse_ids.clear();
  sparse_values.clear();
}

int32_t RuleOptions::add_side(uint32_t first_rule, uint32_t end_rule, std::span<const int32_t> symbols) {
  const auto number = static_cast<int32_t>(sides_.size());
  sides_.push_back({first_rule, static_cast<uint32_t>(rules_.size()), end_rule - first_rule, 0, 0, 0});
  for (uint32_t rule = first_rule; rule < end_rule; ++rule) {
    const auto target = g_.target(rule);
    rules_.push_back(new_rule(kept(), target, nullptr));
    if (m_.joint)
      std::ranges::copy(affiliations(symbols, target, g_.links(rule)), kept().affiliated.begin() + rules_.back().target);
    if (m_.templates) add_sparse(kept(), rules_.back(), symbols, target, g_.links(rule), g_.row(rule));
  }
  side_of_.add(first_rule, number);
  return number;
}

void RuleOptions::choose(Side& side, const RulePlace& place) {
  ranked_.clear();
  for (uint32_t k = 0; k < side.rules; ++k) {
    const HieroRule& rule = rules_[side.rule + k];
    const auto row = g_.row(side.first + k);
    double score = w_word_ * rule.words + w_rule_;
    for (const auto& [column, id] : m_.columns) score += w_[id] * static_cast<double>(row[column]);
    score = sparse_score(kept(), rule, score);
    double estimate = score;
    for (size_t l = 0; l < m_.lms.size(); ++l) estimate += w_lm_[l] * rule.lm[l];
    if (m_.joint) estimate += w_joint_ * joint_alone(rule, place);
    ranked_.push_back({score, estimate, k});
  }
  std::sort(ranked_.begin(), ranked_.end(), [](const Ranked& a, const Ranked& b) {
    return a.estimate > b.estimate || (a.estimate == b.estimate && a.rule < b.rule);
  });
  if (max_options_ > 0 && ranked_.size() > static_cast<size_t>(max_options_)) ranked_.resize(max_options_);
  side.sentence = sentence_;
  side.option = size();
  side.options = static_cast<uint32_t>(ranked_.size());
  for (const Ranked& r : ranked_) {
    HieroOption& option = options_.emplace_back();
    static_cast<HieroRule&>(option) = rules_[side.rule + r.rule];
    option.score = r.score;
    option.rule = side.first + r.rule;
  }
}

HieroOption& RuleOptions::add(std::span<const int32_t> target, const LmWords* lm, int32_t extra) {
  HieroOption& option = options_.emplace_back();
  static_cast<HieroRule&>(option) = new_rule(own(), target, lm);
  option.extra = extra;
  option.score = w_word_ * option.words + (extra >= 0 ? w_[extra] : 0.0);
  return option;
}

void RuleOptions::add_copy(int32_t source, int32_t target, const std::array<uint32_t, kMaxLms>& lm, uint32_t joint,
                           int32_t extra) {
  HieroOption& option = add({&target, 1}, &lm, extra);
  if (m_.joint) own().joint_targets.back() = static_cast<int32_t>(joint);
  if (!m_.templates) return;
  if (source < 0) source = g_.source_vocab()->size();
  const PackedLink link{0, 0};
  add_sparse(own(), option, {&source, 1}, {&target, 1}, {&link, 1}, {});
  option.score = sparse_score(own(), option, option.score);
}

void RuleOptions::add_rule(size_t number) {
  const SourceRule& rule = own_rules_[number];
  HieroOption& option = add(rule.target, rule.lm.data(), -1);
  option.rule = -2 - static_cast<int64_t>(number);
  if (m_.joint) {
    std::ranges::copy(rule.joint, own().joint_targets.begin() + option.target);
    std::ranges::copy(affiliations(rule.source, rule.target, rule.links), own().affiliated.begin() + option.target);
  }
  fired_.clear();
  if (m_.templates) m_.templates->add_rule(rule.source, rule.target, rule.links, {}, fired_);
  for (const auto& [id, value] : rule.features) {
    if (id < m_.dense_width)
      option.score += w_[id] * value;
    else
      fired_.push_back({id, static_cast<float>(value)});
  }
  add_fired(own(), option);
  if (places_.any()) option.place = PlaceFeatures::number(rule.target);
  option.score = sparse_score(own(), option, option.score);
}

HieroRule RuleOptions::new_rule(Store& store, std::span<const int32_t> target, const LmWords* lm) {
  HieroRule rule;
  rule.target = static_cast<uint32_t>(store.targets.size());
  rule.symbols = static_cast<uint32_t>(target.size());
  rule.words = static_cast<uint32_t>(std::count_if(target.begin(), target.end(), [](int32_t s) { return s >= 0; }));
  store.targets.insert(store.targets.end(), target.begin(), target.end());
  add_parts(store, rule, target, lm);
  if (m_.joint) {
    for (const int32_t symbol : target)
      store.joint_targets.push_back(symbol < 0 || lm ? symbol : static_cast<int32_t>(m_.joint_words[symbol]));
    store.affiliated.resize(store.targets.size());
  }
  return rule;
}

/// Sorted by id, one entry per id.
void RuleOptions::add_sparse(Store& store, HieroRule& rule, std::span<const int32_t> source, std::span<const int32_t> target,
                             std::span<const PackedLink> links, std::span<const float> row) {
  fired_.clear();
  m_.templates->add_rule(source, target, links, row, fired_);
  add_fired(store, rule);
  if (places_.any()) rule.place = PlaceFeatures::number(target);
}

/// Sorts what has fired.
void RuleOptions::add_fired(Store& store, HieroRule& rule) {
  std::sort(fired_.begin(), fired_.end());
  rule.sparse = static_cast<uint32_t>(store.sparse_ids.size());
  for (size_t k = 0; k < fired_.size(); ++k) {
    if (k > 0 && fired_[k].first == fired_[k - 1].first) {
      store.sparse_values.back() += static_cast<double>(fired_[k].second);
    } else {
      store.sparse_ids.push_back(fired_[k].first);
      store.sparse_values.push_back(static_cast<double>(fired_[k].second));
    }
  }
  rule.sparse_end = static_cast<uint32_t>(store.sparse_ids.size());
}

/// A score with w.h of the sparse features added, one by one.
double RuleOptions::sparse_score(const Store& store, const HieroRule& rule, double score) const {
  for (uint32_t f = rule.sparse; f < rule.sparse_end; ++f) score += w_[store.sparse_ids[f]] * store.sparse_values[f];
  return score;
}

/// Its parts, and what language models say of its words alone.
void RuleOptions::add_parts(Store& store, HieroRule& rule, std::span<const int32_t> target, const LmWords* lm) {
  for (size_t l = 0; l < m_.lms.size(); ++l) {
    std::vector<int32_t>& parts = store.parts[l];
    rule.part = static_cast<uint32_t>(parts.size());
    double sum = 0;
    for (size_t k = 0; k < target.size(); ++k) {
      if (target[k] < 0) {
        parts.push_back(target[k]);
        continue;
      }
      run_.push_back(lm ? lm[k][l] : m_.lm_words[l][target[k]]);
      if (k + 1 < target.size() && target[k + 1] >= 0) continue;
      const uint32_t run = seams_[l].run(run_, &store == &own());
      run_.clear();
      parts.push_back(static_cast<int32_t>(run));
      sum += seams_[l].alone(run);
    }
    rule.parts = static_cast<uint32_t>(parts.size()) - rule.part;
    rule.lm[l] = kLn10 * sum;
  }
}

/// What the joint model says of the words of a rule alone, at a place.
double RuleOptions::joint_alone(const HieroRule& rule, const RulePlace& place) {
  const auto words = kept().joint_target(rule);
  const auto at = kept().affiliated_words(rule);
  JointScores::History history;
  history.fill(JointModel::kNull);
  double sum = 0;
  for (size_t k = 0; k < words.size(); ++k) {
    if (words[k] < 0) {
      history.fill(JointModel::kNull);
      continue;
    }
    const auto word = static_cast<uint32_t>(words[k]);
    sum += static_cast<double>(joint_(static_cast<uint32_t>(place[at[k].after] + at[k].words), history, word));
    history = {word, history[0], history[1]};
  }
  return sum;
}

}  // namespace hopefear
