#include "trainers/online/options.h"

#include "util/error.h"

namespace hopefear {
namespace {

template <class Value>
Value by_name(const std::string& what, const std::string& name, std::initializer_list<std::pair<const char*, Value>> known) {
  std::string all;
  for (const auto& [known_name, value] : known) {
    if (name == known_name) return value;
    all += (all.empty() ? "" : ", ") + std::string(known_name);
  }
  throw InputError(what + " must be one of " + all + ", not " + name);
}

}  // namespace

Objective objective_by_name(const std::string& name) {
  return by_name<Objective>("objective", name,
                            {{"hinge", Objective::hinge},
                             {"perceptron", Objective::perceptron},
                             {"risk", Objective::risk},
                             {"secant", Objective::secant}});
}
Algorithm algorithm_by_name(const std::string& name) {
  return by_name<Algorithm>("algorithm", name, {{"sgd", Algorithm::sgd}, {"mira", Algorithm::mira}, {"arow", Algorithm::arow}});
}
Target target_by_name(const std::string& name) {
  return by_name<Target>(
      "reference", name,
      {{"hope", Target::hope}, {"local", Target::local}, {"max-bleu", Target::max_bleu}, {"bold", Target::bold}});
}

}  // namespace hopefear
