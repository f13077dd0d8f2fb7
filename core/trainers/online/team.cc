#include "trainers/online/team.h"

#include <algorithm>
#include <iterator>

#include "forest/each_sentence.h"

namespace hopefear {

std::vector<std::vector<Learnt>> learn(std::span<Learner* const> learners, const Examples& examples,
                                       const std::vector<std::vector<int64_t>>& work, double mu, int jobs) {
  std::vector<std::vector<Learnt>> all(learners.size());
  parallel_for(learners.size(), jobs, [&](size_t k, int) {
    for (int64_t number : work[k]) {
      const auto i = static_cast<size_t>(number);
      all[k].push_back(naming(examples.id(i), [&] { return learners[k]->learn(examples, i, mu); }));
    }
  });
  return all;
}

void exchange(std::span<Learner* const> learners) {
  for (size_t k = 0; k < learners.size(); ++k)
    for (const Message& message : learners[k]->take_outbox())
      for (size_t other = 0; other < learners.size(); ++other)
        if (other != k) learners[other]->hear(message);
}

std::vector<Learnt> simulate(std::span<Learner* const> learners, const Examples& examples, std::span<const int64_t> order,
                             double mu, int jobs) {
  std::vector<Learnt> all;
  std::vector<std::vector<int64_t>> work(learners.size());
  for (size_t at = 0; at < order.size(); at += learners.size()) {
    for (size_t k = 0; k < learners.size(); ++k) {
      work[k].clear();
      if (at + k < order.size()) work[k].push_back(order[at + k]);
    }
    for (auto& own : learn(learners, examples, work, mu, jobs)) std::ranges::move(own, std::back_inserter(all));
    exchange(learners);
  }
  return all;
}

}  // namespace hopefear
