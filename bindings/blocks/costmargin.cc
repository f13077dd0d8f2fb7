#include "trainers/blocks/costmargin.h"

#include "blocks.h"

namespace hopefear {

void bind_costmargin(nb::module_& m) {
  nb::class_<CostMargin>(m, "CostMargin", "SGD on relevant sets, Tillmann and Zhang 2006, section 3.")
      .def(
          "__init__",
          [](CostMargin* self, const BlockDecoder& d, const BlockCorpus& c, const std::vector<std::string>& reals) {
            new (self) CostMargin(d, c.sources, chosen_reals(reals));
          },
          "decoder"_a, "corpus"_a, "reals"_a = std::vector<std::string>{}, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "add", [](CostMargin& c, std::shared_ptr<SequenceFile> file, bool truths) { c.add(std::move(file), truths); }, "file"_a,
          "truths"_a)
      .def("find_features", &CostMargin::find_features, "drop_once"_a, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "run",
          [](CostMargin& c, double eta, double l2, int64_t batch, uint64_t seed, int jobs) {
            CostMarginPass pass;
            {
              nb::gil_scoped_release release;
              pass = c.pass({.eta = eta, .lambda = l2, .batch = batch, .seed = seed}, jobs);
            }
            return std::pair{pass.loss, pass.updates};
          },
          "eta"_a, "l2"_a, "batch"_a, "seed"_a, "jobs"_a = 0, "One pass: the loss as it was met, and the number of updates.")
      .def("objective", &CostMargin::objective, "l2"_a = 0.0, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>(),
           "Eq. (5) as it is now.")
      .def_prop_ro("table", [](const CostMargin& c) { return c.table(); })
      .def("write_weights", &CostMargin::write_weights, "path"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "keys", [](const CostMargin& c) { return give(sorted_keys(*c.table())); }, "All features, by their keys.")
      .def(
          "weights",
          [](const CostMargin& c, In<uint64_t> keys) {
            std::vector<double> w(keys.size());
            for (size_t i = 0; i < keys.size(); ++i) w[i] = c.table()->get(keys.data()[i]);
            return give(std::move(w));
          },
          "keys"_a)
      .def(
          "set_weights", [](CostMargin& c, In<uint64_t> keys, In<double> w) { c.set_table(keyed_table(view(keys), view(w))); },
          "keys"_a, "w"_a, "Exactly these features with these weights.");
}

}  // namespace hopefear
