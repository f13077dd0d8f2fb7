#include "forest/reparameterize.h"

#include <algorithm>
#include <unordered_map>

#include "forest/stored_forest.h"
#include "util/parallel.h"

namespace hopefear {

Pool reparameterized(const Pool& pool, std::span<const int32_t> id, std::span<const double> factor,
                     std::shared_ptr<Vocab> features, int32_t dense_width) {
  struct Arrays {
    std::vector<double> dense, values;
    std::vector<int32_t> begin{0}, ids;
    std::shared_ptr<const void> rest;  // the arrays that did not change
  };
  Pool out = pool;
  out.features = features;
  out.dense_width = dense_width;
  for (Sentence& s : out.sentences) {
    Forest& f = s.forest;
    auto a = std::make_shared<Arrays>();
    a->dense.assign(static_cast<size_t>(f.edges()) * dense_width, 0.0);
    for (int32_t e = 0; e < f.edges(); ++e) {
      double* row = a->dense.data() + static_cast<size_t>(e) * dense_width;
      const size_t first = a->begin.back();
      auto put = [&](int32_t j, double value) {
        const int32_t to = id[j];
        const double scaled = factor[j] * value;
        if (to < dense_width) {
          row[to] += scaled;
          return;
        }
        for (size_t k = first; k < a->ids.size(); ++k)
          if (a->ids[k] == to) {
            a->values[k] += scaled;
            return;
          }
        a->ids.push_back(to);
        a->values.push_back(scaled);
      };
      for (int32_t j = 0; j < f.dense_width; ++j) put(j, f.dense_row(e)[j]);
      if (!f.sparse_begin.empty())
        for (int32_t k = f.sparse_begin[e]; k < f.sparse_begin[e + 1]; ++k) put(f.sparse_ids[k], f.sparse_values[k]);
      a->begin.push_back(static_cast<int32_t>(a->ids.size()));
    }
    a->rest = f.owner;
    f.dense = a->dense;
    f.dense_width = dense_width;
    f.sparse_begin = a->ids.empty() ? std::span<const int32_t>{} : std::span<const int32_t>(a->begin);
    f.sparse_ids = a->ids;
    f.sparse_values = a->values;
    f.features = features;
    f.owner = std::move(a);
    f = stored(std::move(f));
  }
  return out;
}

Pool centred(const Pool& pool, int jobs) {
  struct Arrays {
    std::vector<int32_t> begin{0}, ids;
    std::vector<double> values;
    std::shared_ptr<const void> rest;
  };
  struct Votes {  // Boyer and Moore: if a value has a majority, it remains at the end
    double value = 0;
    int32_t lead = 0, present = 0;
    int32_t marked = -1;  // the last candidate that has it
  };
  Pool out = pool;
  const size_t features = pool.features->size();
  std::vector<std::vector<Votes>> scratch(resolve_jobs(jobs));
  parallel_for(out.size(), jobs, [&](size_t i, int thread) {
    Forest& f = out.sentences[i].forest;
    if (!f.is_list() || f.sparse_begin.empty()) return;
    auto& votes = scratch[thread];
    votes.resize(features);
    std::vector<int32_t> seen;
    for (size_t k = 0; k < f.sparse_ids.size(); ++k) {
      Votes& v = votes[f.sparse_ids[k]];
      if (v.present++ == 0) seen.push_back(f.sparse_ids[k]);
      if (v.lead == 0) v.value = f.sparse_values[k];
      v.lead += v.value == f.sparse_values[k] ? 1 : -1;
    }
    std::vector<int32_t> common;  // features whose most frequent value is not 0 and has a majority
    for (int32_t j : seen) {
      Votes& v = votes[j];
      if (v.lead > f.edges() - v.present && v.value != 0)
        common.push_back(j);
      else
        v.value = 0;
    }
    auto a = std::make_shared<Arrays>();
    auto put = [&](int32_t j, double value) {
      if (value == 0) return;
      a->ids.push_back(j);
      a->values.push_back(value);
    };
    for (int32_t e = 0; e < f.edges(); ++e) {
      for (int32_t k = f.sparse_begin[e]; k < f.sparse_begin[e + 1]; ++k) {
        Votes& v = votes[f.sparse_ids[k]];
        put(f.sparse_ids[k], f.sparse_values[k] - v.value);
        v.marked = e;
      }
      for (int32_t j : common)
        if (votes[j].marked != e) put(j, -votes[j].value);
      a->begin.push_back(static_cast<int32_t>(a->ids.size()));
    }
    for (int32_t j : seen) votes[j] = Votes{};
    a->rest = f.owner;
    f.sparse_begin = a->begin;
    f.sparse_ids = a->ids;
    f.sparse_values = a->values;
    f.owner = std::move(a);
    f = stored(std::move(f));
  });
  return out;
}

std::vector<double> within_variance(const Pool& pool) {
  const size_t features = pool.features->size();
  std::vector<double> variance(features, 0.0);
  struct Moments {  // of the differences from the first value: exactly 0 where all values are equal
    double first = 0, sum = 0, squares = 0, count = 0;
    void add(double value) {
      if (count++ == 0) first = value;
      sum += value - first;
      squares += (value - first) * (value - first);
    }
    double variance(double n) const {  // of n values, where those not added are 0
      const double mean = (sum - (n - count) * first) / n;
      return std::max(0.0, (squares + (n - count) * first * first) / n - mean * mean);
    }
  };
  std::unordered_map<int32_t, Moments> sparse;
  size_t lists = 0;
  for (const Sentence& s : pool.sentences) {
    const Forest& f = s.forest;
    if (f.edges() < 2) continue;
    ++lists;
    const double n = f.edges();
    for (int32_t j = 0; j < f.dense_width; ++j) {
      Moments moments;
      for (int32_t e = 0; e < f.edges(); ++e) moments.add(f.dense_row(e)[j]);
      variance[j] += moments.variance(n);
    }
    if (f.sparse_begin.empty()) continue;
    sparse.clear();
    for (size_t k = 0; k < f.sparse_ids.size(); ++k) sparse[f.sparse_ids[k]].add(f.sparse_values[k]);
    for (const auto& [j, moments] : sparse) variance[j] += moments.variance(n);
  }
  for (double& v : variance) v = lists ? v / static_cast<double>(lists) : 0;
  return variance;
}

std::vector<double> within_covariance(const Pool& pool, int jobs) {
  const size_t width = pool.dense_width;
  constexpr size_t kBlocks = 16;
  std::vector<std::vector<double>> part(kBlocks);
  parallel_for(kBlocks, jobs, [&](size_t b, int) {
    part[b].assign(width * width, 0.0);
    std::vector<double> mean(width), centred(width);  // of differences from the first candidate
    for (size_t i = pool.size() * b / kBlocks; i < pool.size() * (b + 1) / kBlocks; ++i) {
      const Forest& f = pool.sentences[i].forest;
      if (f.edges() < 2) continue;
      const double n = f.edges();
      std::fill(mean.begin(), mean.end(), 0.0);
      for (size_t e = 0; e < static_cast<size_t>(f.edges()); ++e)
        for (size_t j = 0; j < width; ++j) mean[j] += (f.dense[e * width + j] - f.dense[j]) / n;
      for (size_t e = 0; e < static_cast<size_t>(f.edges()); ++e) {
        for (size_t j = 0; j < width; ++j) centred[j] = f.dense[e * width + j] - f.dense[j] - mean[j];
        for (size_t j = 0; j < width; ++j)
          for (size_t k = 0; k <= j; ++k) part[b][j * width + k] += centred[j] * centred[k] / n;
      }
    }
  });
  std::vector<double> covariance(width * width, 0.0);
  const double share = 1.0 / static_cast<double>(std::max<size_t>(1, pool.size()));
  for (const auto& p : part)
    for (size_t j = 0; j < width; ++j)
      for (size_t k = 0; k <= j; ++k) covariance[j * width + k] += share * p[j * width + k];
  for (size_t j = 0; j < width; ++j)
    for (size_t k = 0; k < j; ++k) covariance[k * width + j] = covariance[j * width + k];
  return covariance;
}

}  // namespace hopefear
