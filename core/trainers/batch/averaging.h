// The weights that a pass over the lists ends with, and those that the next one begins with.
#pragma once
#include <string>
#include <vector>

#include "trainers/averager.h"
#include "util/error.h"

namespace hopefear {

enum class Average {
  none,     // a pass ends with its last weights,
  pass,     // with the average of those after each of its sentences; the next pass goes on from the last ones
  running,  // with the same average, from which the next pass goes on
  all,      // with the average over all sentences of all passes so far; the next pass goes on from the last ones
};

inline Average average_by_name(const std::string& name) {
  if (name == "none") return Average::none;
  if (name == "pass") return Average::pass;
  if (name == "running") return Average::running;
  if (name == "all") return Average::all;
  throw InputError("average must be none, pass, running or all, not " + name);
}

/// Gets every change of w during a pass.
class Averaging {
 public:
  Averaging(Average kind, size_t features) : kind_(kind), averager_(features) {}
  Averager& averager() { return averager_; }
  /// The weights that the pass ends with; w becomes those that the next one begins with.
  std::vector<double> end_pass(std::vector<double>& w) {
    if (kind_ == Average::none) return w;
    std::vector<double> average = averager_.average(w);
    if (kind_ == Average::running) w = average;
    if (kind_ != Average::all) averager_ = Averager(w.size());
    return average;
  }

 private:
  Average kind_;
  Averager averager_;
};

}  // namespace hopefear
