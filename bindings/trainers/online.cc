#include "search/examples.h"
#include "task.h"
#include "trainers/online/make_update.h"
#include "trainers/online/team.h"

namespace hopefear {
namespace {

using Messages = nb::typed<nb::list, nb::bytes>;

Messages bytes_of(const std::vector<Message>& messages) {
  nb::list all;
  for (const Message& message : messages) {
    const std::string text = serialized(message);
    all.append(nb::bytes(text.data(), text.size()));
  }
  return Messages(all);
}

Message message_for(const Learner& learner, const nb::bytes& bytes) {
  return deserialized({static_cast<const char*>(bytes.data()), bytes.size()}, static_cast<int32_t>(learner.w().size()));
}

void check_work(const std::vector<Learner*>& learners, const Examples& examples, const std::vector<std::vector<int64_t>>& work) {
  if (work.size() != learners.size()) throw nb::value_error("one list of examples for each learner");
  for (const Learner* learner : learners)
    if (learner->w().size() != static_cast<size_t>(examples.features())) throw nb::value_error("a learner over other features");
  for (const auto& own : work)
    for (int64_t i : own)
      if (i < 0 || static_cast<size_t>(i) >= examples.size()) throw nb::value_error("an example is out of range");
}

void bind_examples(nb::module_& m) {
  nb::class_<Examples>(m, "Examples", "Sentences to learn from, with whatever makes their forests.")
      .def("__len__", &Examples::size)
      .def_prop_ro("features", &Examples::features, "How many there are.")
      .def("id", [](const Examples& x, size_t i) { return i < x.size() ? x.id(i) : throw nb::index_error(); }, "i"_a);
  m.def(
      "pool_examples", [](const Pool& pool) -> std::shared_ptr<Examples> { return std::make_shared<PoolExamples>(pool); },
      "pool"_a, "Fixed lists or forests.");
}

void bind_learnt(nb::module_& m) {
  nb::class_<Learnt>(m, "Learnt", "What happened at an example.")
      .def_ro("sentence", &Learnt::sentence)
      .def_ro("skipped", &Learnt::skipped)
      .def_ro("hope", &Learnt::hope)
      .def_ro("best", &Learnt::best)
      .def_ro("fear", &Learnt::fear)
      .def_ro("loss", &Learnt::loss)
      .def_ro("constraints", &Learnt::constraints)
      .def_ro("heard", &Learnt::heard)
      .def_ro("decoding", &Learnt::decoding)
      .def_ro("learning", &Learnt::learning)
      .def_prop_ro("b", [](const Learnt& l) { return give(std::vector<double>(l.b)); }, nb::rv_policy::automatic);
}

void init_learner(Learner* self, In<double> w, std::optional<In<double>> sigma, const std::string& objective,
                  const std::string& algorithm, const std::string& reference, const std::string& approximation, int k, double eta,
                  double lambda, double epsilon, double temperature, double decay, int constraints, int max_planes,
                  int64_t edges_per_word, bool broadcast) {
  const LearnerOptions options{.objective = objective_by_name(objective),
                               .algorithm = algorithm_by_name(algorithm),
                               .target = target_by_name(reference),
                               .approximation = approximation_by_name(approximation),
                               .k = k,
                               .eta = eta,
                               .lambda = lambda,
                               .epsilon = epsilon,
                               .temperature = temperature,
                               .decay = decay,
                               .constraints = constraints,
                               .max_planes = max_planes,
                               .edges_per_word = edges_per_word,
                               .broadcast = broadcast};
  new (self) Learner(options, copied(w), sigma ? copied(*sigma) : std::vector<double>{}, make_update(options));
}

void bind_learner(nb::module_& m) {
  nb::class_<Learner>(m, "Learner", "One online learner: Chiang (2012), algorithms 1 to 4.")
      .def("__init__", &init_learner, "w"_a, "sigma"_a.none(), nb::kw_only(), "objective"_a, "algorithm"_a, "reference"_a,
           "approximation"_a, "k"_a, "eta"_a, "lambda_"_a, "epsilon"_a, "temperature"_a, "decay"_a, "constraints"_a,
           "max_planes"_a, "edges_per_word"_a, "broadcast"_a)
      .def_prop_ro(
          "weights", [](const Learner& l) { return give(std::vector<double>(l.w())); }, nb::rv_policy::automatic)
      .def_prop_ro("t", &Learner::t, "Examples so far.")
      .def(
          "sum", [](const Learner& l) { return give(l.sum()); }, "The sum of the weights after each example.")
      .def(
          "move_to",
          [](Learner& l, In<double> w) {
            if (w.size() != l.w().size()) throw nb::value_error("one number for each weight");
            l.move_to(view(w));
          },
          "w"_a, "Go on from other weights.")
      .def(
          "take_messages", [](Learner& l) { return bytes_of(l.take_outbox()); },
          "Working sets for the other learners, since the last time.")
      .def(
          "hear", [](Learner& l, const nb::bytes& message) { l.hear(message_for(l, message)); }, "message"_a,
          "A working set of another learner, for the next example.")
      .def(
          "state",
          [](const Learner& l) {
            Learner::State s = l.state();
            return std::make_tuple(give(std::move(s.w)), give(std::move(s.u)), give(std::move(s.sigma)),
                                   give(std::move(s.document)), s.t, bytes_of(s.inbox));
          },
          "Everything needed to go on: w, u, Sigma, document, t, inbox.")
      .def(
          "restore",
          [](Learner& l, In<double> w, In<double> u, In<double> sigma, In<double> document, int64_t t,
             const std::vector<nb::bytes>& inbox) {
            Learner::State s{
                .w = copied(w), .u = copied(u), .sigma = copied(sigma), .document = copied(document), .t = t, .inbox = {}};
            for (const nb::bytes& message : inbox) s.inbox.push_back(message_for(l, message));
            l.restore(std::move(s));
          },
          "w"_a, "u"_a, "sigma"_a, "document"_a, "t"_a, "inbox"_a);
}

void bind_team(nb::module_& m) {
  m.def(
      "learn",
      [](const std::vector<Learner*>& learners, const Examples& examples, const std::vector<std::vector<int64_t>>& work,
         double mu, int jobs) {
        check_work(learners, examples, work);
        nb::gil_scoped_release release;
        return learn(learners, examples, work, mu, jobs);
      },
      "learners"_a, "examples"_a, "work"_a, "mu"_a, "jobs"_a,
      "Each learner goes through its own examples; learners run side by side.");
  m.def(
      "simulate",
      [](const std::vector<Learner*>& learners, const Examples& examples, const std::vector<int64_t>& order, double mu,
         int jobs) {
        check_work(learners, examples, {learners.size(), order});
        nb::gil_scoped_release release;
        return simulate(learners, examples, order, mu, jobs);
      },
      "learners"_a, "examples"_a, "order"_a, "mu"_a, "jobs"_a,
      "Asynchronous learners in logical time: in a round each takes the next example, and after it they exchange working sets.");
}

}  // namespace

void init_online(nb::module_& m) {
  bind_examples(m);
  bind_learnt(m);
  bind_learner(m);
  bind_team(m);
}

}  // namespace hopefear
