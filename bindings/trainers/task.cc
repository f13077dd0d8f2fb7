#include "task.h"

namespace hopefear {

Task::Task(const Pool& pool, const std::optional<In2<double>>& stats, const Metric& metric, const In<double>& start,
           const In<double>& lower, const In<double>& upper)
    : lists(pool, stats ? stats->data() : nullptr, metric), initial(start.data()), bounds{lower.data(), upper.data()} {
  if (stats && (stats->shape(0) != lists.rows() || stats->shape(1) != lists.width))
    throw nb::value_error("statistics do not fit the pool and the metric");
  const auto features = static_cast<size_t>(lists.features());
  if (start.size() != features || lower.size() != features || upper.size() != features)
    throw nb::value_error("weights and bounds must have one number for each feature");
  for (size_t j = 0; j < features; ++j)
    if (!(lower.data()[j] <= initial[j] && initial[j] <= upper.data()[j]))
      throw InputError(
          "an initial weight is outside its bounds, or no number: are values of features too large? Divide those features");
}

const double* rows_of(const Task& task, const In<double>& values) {
  if (values.size() != task.lists.rows()) throw nb::value_error("one number for each row is needed");
  return values.data();
}

void set_places(Task& task, const Places& places) {
  if (!places) return;
  if (places->size() != task.lists.rows()) throw nb::value_error("one place for each row is needed");
  task.lists.place = places->data();
}

OnEpoch reporter(const nb::object& callback) {
  return [&callback](const EpochReport& report) {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (callback.is_none()) return true;
    std::vector<double> weights = report.weights;
    return nb::cast<bool>(callback(report.epoch, report.score, give(std::move(weights)), report.updates));
  };
}

}  // namespace hopefear
