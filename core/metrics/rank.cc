#include "metrics/rank.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "metrics/columns.h"

namespace hopefear {
namespace {

RankMetric::Kind kind_of(const std::string& name) {
  if (name == "ndcg") return RankMetric::Kind::ndcg;
  if (name == "mrr") return RankMetric::Kind::mrr;
  if (name == "map") return RankMetric::Kind::map;
  if (name == "recall-at") return RankMetric::Kind::recall;
  throw InputError("there is no rank metric " + name);
}

/// 1 / log2(rank + 1), from a table if possible.
double discount(int32_t rank) {
  static const std::vector<double> table = [] {
    std::vector<double> values(1024);
    for (size_t r = 1; r < values.size(); ++r) values[r] = 1 / std::log2(static_cast<double>(r + 1));
    return values;
  }();
  return static_cast<size_t>(rank) < table.size() ? table[static_cast<size_t>(rank)] : 1 / std::log2(rank + 1.0);
}

}  // namespace

RankMetric::RankMetric(const std::string& kind, std::string column, int k, double level, bool exponential, std::string retrieved)
    : name_(kind),
      kind_(kind_of(kind)),
      column_(std::move(column)),
      k_(k),
      level_(level),
      exponential_(exponential),
      retrieved_(std::move(retrieved)) {
  if (k < 0) throw InputError("metric " + kind + ": k must be 0 (all ranks) or more");
}

void RankMetric::list_stats(const Pool& pool, const Sentence& sentence, double* rows) const {
  const Forest& f = sentence.forest;
  const size_t column = number_column(pool, f, column_);
  const size_t flag = retrieved_.empty() ? 0 : number_column(pool, f, retrieved_);
  for (int32_t e = 0; e < f.edges(); ++e) {
    rows[2 * e] = number_of(f, e, column, column_);
    rows[2 * e + 1] = retrieved_.empty() || number_of(f, e, flag, retrieved_) != 0 ? 1 : 0;
  }
}

RankMetric::Judged RankMetric::judged(const double* rows, int32_t count) const {
  Judged list;
  std::vector<double> all;
  for (int32_t e = 0; e < count; ++e) {
    const double grade = rows[2 * e];
    if (kind_ == Kind::ndcg ? !(grade > 0) : !(grade >= level_)) continue;
    const double gain = kind_ != Kind::ndcg ? 1.0 : exponential_ ? std::exp2(grade) - 1 : grade;
    all.push_back(gain);
    if (rows[2 * e + 1] == 0) continue;
    list.relevant.push_back(e);
    list.gain.push_back(gain);
  }
  if (kind_ != Kind::ndcg) {
    list.ideal = static_cast<double>(all.size());
    return list;
  }
  std::sort(all.begin(), all.end(), std::greater<>());
  for (size_t r = 0; r < all.size() && matters(static_cast<int32_t>(r + 1)); ++r)
    list.ideal += all[r] * discount(static_cast<int32_t>(r + 1));
  return list;
}

double RankMetric::value(const Judged& judged, const std::vector<int32_t>& rank) const {
  if (judged.ideal <= 0) return 0;
  const size_t count = rank.size();
  double sum = 0;
  switch (kind_) {
    case Kind::ndcg:
      for (size_t j = 0; j < count; ++j)
        if (matters(rank[j])) sum += judged.gain[j] * discount(rank[j]);
      return sum / judged.ideal;
    case Kind::recall:
      for (size_t j = 0; j < count; ++j) sum += matters(rank[j]) ? 1 : 0;
      return sum / judged.ideal;
    case Kind::mrr: {
      if (count == 0) return 0;
      const int32_t first = *std::min_element(rank.begin(), rank.end());
      return matters(first) ? 1.0 / first : 0;
    }
    case Kind::map: {
      std::vector<int32_t> order(rank);
      std::sort(order.begin(), order.end());
      for (size_t j = 0; j < count && matters(order[j]); ++j) sum += static_cast<double>(j + 1) / order[j];
      return sum / judged.ideal;
    }
  }
  return 0;
}

double RankMetric::change(const Judged& judged, const std::vector<int32_t>& rank, size_t j, int32_t before) const {
  const int32_t now = rank[j];
  const auto counted = [&](int32_t r, double worth) { return matters(r) ? worth : 0.0; };
  switch (kind_) {
    case Kind::ndcg: return judged.gain[j] * (counted(now, discount(now)) - counted(before, discount(before))) / judged.ideal;
    case Kind::recall: return (counted(now, 1) - counted(before, 1)) / judged.ideal;
    case Kind::mrr: {
      int32_t others = std::numeric_limits<int32_t>::max();
      for (size_t e = 0; e < rank.size(); ++e)
        if (e != j) others = std::min(others, rank[e]);
      const int32_t first = std::min(others, now), was = std::min(others, before);
      return counted(first, 1.0 / first) - counted(was, 1.0 / was);
    }
    case Kind::map: {
      const auto place = static_cast<double>(std::count_if(rank.begin(), rank.end(), [&](int32_t r) { return r <= now; }));
      return (counted(now, place / now) - counted(before, place / before)) / judged.ideal;
    }
  }
  return 0;
}

double RankMetric::value(const double* rows, const double* scores, int32_t count) const {
  const Judged list = judged(rows, count);
  std::vector<int32_t> rank;
  for (const int32_t c : list.relevant) {
    int32_t above = 0;
    for (int32_t e = 0; e < count; ++e)
      if (rows[2 * e + 1] != 0 && (scores[e] > scores[c] || (scores[e] == scores[c] && e < c))) ++above;
    rank.push_back(above + 1);
  }
  return value(list, rank);
}

}  // namespace hopefear
