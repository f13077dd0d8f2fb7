// Several learners in one process: Chiang (2012), section 6.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "trainers/online/learner.h"

namespace hopefear {

/// Each learner goes through its own examples, in order; learners run in parallel. The result does not depend on jobs.
std::vector<std::vector<Learnt>> learn(std::span<Learner* const> learners, const Examples& examples,
                                       const std::vector<std::vector<int64_t>>& work, double mu, int jobs);

/// Algorithm 4, lines 8 and 10: every learner receives the messages of the others since the last time, in the order of the learners.
void exchange(std::span<Learner* const> learners);

/// Algorithm 4 in logical time: in a round each learner takes the next example, and after it they exchange working sets.
std::vector<Learnt> simulate(std::span<Learner* const> learners, const Examples& examples, std::span<const int64_t> order,
                             double mu, int jobs);

}  // namespace hopefear
