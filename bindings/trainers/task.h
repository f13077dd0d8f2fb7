// Shared by the bindings of trainers: checked arguments, reports, and trained weights.
#pragma once
#include "common.h"
#include "trainers/bounds.h"
#include "trainers/epoch.h"
#include "trainers/lists.h"

namespace hopefear {

inline std::vector<double> copied(const In<double>& values) { return {values.data(), values.data() + values.size()}; }

/// The input of every batch trainer: lists with statistics, or forests without; initial weights and bounds.
struct Task {
  Task(const Pool& pool, const std::optional<In2<double>>& stats, const Metric& metric, const In<double>& start,
       const In<double>& lower, const In<double>& upper);
  /// For functions of given weights.
  Task(const Pool& pool, const std::optional<In2<double>>& stats, const Metric& metric, const In<double>& w)
      : Task(pool, stats, metric, w, w, w) {}

  Lists lists;
  const double* initial;
  Bounds bounds;
};

/// One number per row of the lists.
const double* rows_of(const Task& task, const In<double>& values);

/// The position of each row in the user's list; null if rows are in its order.
using Places = std::optional<In<int32_t>>;
void set_places(Task& task, const Places& places);

/// on_epoch(epoch, score, weights, updates) -> whether to continue; None: no reports. The callback must outlive the result.
OnEpoch reporter(const nb::object& callback);

/// The result of a long computation that touches no Python object, unless it takes the GIL.
template <class Compute>
auto without_gil(Compute&& compute) {
  nb::gil_scoped_release release;
  return compute();
}

/// Trained weights as NumPy arrays.
template <class Train>
Out<double> trained(Train&& train) {
  return give(without_gil(train));
}

}  // namespace hopefear
