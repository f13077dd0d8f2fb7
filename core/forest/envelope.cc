#include "forest/envelope.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "forest/each_sentence.h"
#include "forest/keep_envelope.h"
#include "forest/semiring.h"

namespace hopefear {
namespace {

/// Vectors of two doubles, which every machine has: without vectors of four, compilers select element by element.
using Two = double __attribute__((vector_size(16)));
constexpr size_t kLanes = 8;
using Lanes = std::array<Two, kLanes / 2>;

/// A derivation on the envelope.
struct KnownLine {
  double a, b;
  double magnitude_a, magnitude_b;  // sums of absolute edge scores: rounding is judged by them
  std::vector<int32_t> edges;
  const KnownLine* checked = nullptr;  // the right neighbour, if it is proven that nothing lies in between

  /// How far the score at x may be off by rounding.
  double slack(double x) const {
    const double additions = static_cast<double>(edges.size() + 4);
    return 2.0 * additions * std::numeric_limits<double>::epsilon() * (magnitude_a + std::abs(x) * magnitude_b);
  }
};

class ForestEnvelope {
 public:
  ForestEnvelope(const Forest& forest, std::span<const double> a, std::span<const double> b) : forest_(forest), a_(a), b_(b) {}

  Envelope run() {
    KnownLine* left = add(extreme(-1.0));
    KnownLine* right = add(extreme(+1.0));
    hull_ = {left, right};
    rebuild();
    if (hull_.size() > 1) {
      ask(seeds());
      while (true) {
        std::vector<double> where;
        std::vector<KnownLine*> whose;
        for (size_t i = 0; i + 1 < hull_.size() && where.size() < kLanes; ++i)
          if (hull_[i]->checked != hull_[i + 1]) {
            where.push_back(x_[i + 1]);
            whose.push_back(hull_[i]);
          }
        if (where.empty()) break;
        ask_between(where, whose);
      }
    }
    Envelope out;
    out.edge_begin.push_back(0);
    for (size_t i = 0; i < hull_.size(); ++i) {
      out.x.push_back(x_[i]);
      out.intercept.push_back(hull_[i]->a);
      out.slope.push_back(hull_[i]->b);
      out.edges.insert(out.edges.end(), hull_[i]->edges.begin(), hull_[i]->edges.end());
      out.edge_begin.push_back(static_cast<int64_t>(out.edges.size()));
    }
    return out;
  }

 private:
  KnownLine* add(KnownLine&& line) {
    for (int32_t e : line.edges) {
      line.a += a_[e];
      line.b += b_[e];
      line.magnitude_a += std::abs(a_[e]);
      line.magnitude_b += std::abs(b_[e]);
    }
    if (!std::isfinite(line.magnitude_a) || !std::isfinite(line.magnitude_b)) throw_out_of_range();
    lines_.push_back(std::make_unique<KnownLine>(std::move(line)));
    return lines_.back().get();
  }

  void rebuild() {
    // Of equal lines the first one stays, so that checks done with it remain valid.
    const auto by_slope = [](const KnownLine* p, const KnownLine* q) { return p->b != q->b ? p->b < q->b : p->a > q->a; };
    std::stable_sort(hull_.begin(), hull_.end(), by_slope);
    keep_envelope(hull_, x_, [](const KnownLine* line) { return std::make_pair(line->a, line->b); });
  }

  /// The best derivation as x goes to -inf or +inf: the extreme slope first, then the intercept.
  KnownLine extreme(double sign) const {
    const size_t nodes = forest_.nodes();
    std::vector<double> first(nodes, kLogZero), second(nodes, kLogZero);
    std::vector<int32_t> back(nodes, -1);
    for (int32_t v = 0; v < forest_.nodes(); ++v)
      for (int32_t e = forest_.edge_begin[v]; e < forest_.edge_begin[v + 1]; ++e) {
        double p = sign * b_[e], q = a_[e];
        for (int32_t tail : forest_.edge_tails(e)) {
          p += first[tail];
          q += second[tail];
        }
        if (p > first[v] || (p == first[v] && q > second[v])) {
          first[v] = p;
          second[v] = q;
          back[v] = e;
        }
      }
    if (back[forest_.goal()] < 0) throw_no_derivation();
    KnownLine line{};
    unroll(forest_, [&](int32_t v) { return back[v]; }, line.edges);
    return line;
  }

  /// The first values of x: around the size at which the direction matters as much as the weights.
  std::vector<double> seeds() const {
    double a = 0.0, b = 0.0;
    for (double s : a_) a += std::abs(s);
    for (double s : b_) b += std::abs(s);
    const double scale = a > 0.0 && std::isfinite(a / b) ? a / b : 1.0;
    std::vector<double> where;
    for (double x : {-3.0, -1.0, -0.4, -0.1, 0.1, 0.4, 1.0, 3.0}) where.push_back(x * scale);
    return where;
  }

  /// Viterbi at up to eight x at once.
  void sweep(const std::vector<double>& where) {
    Lanes x{};
    for (size_t l = 0; l < kLanes; ++l) x[l / 2][l % 2] = where[l < where.size() ? l : 0];
    best_.resize(forest_.nodes());
    for (int32_t v = 0; v < forest_.nodes(); ++v) {
      Lanes best;
      best.fill(Two{kLogZero, kLogZero});
      for (int32_t e = forest_.edge_begin[v]; e < forest_.edge_begin[v + 1]; ++e)
        for (size_t l = 0; l < best.size(); ++l) {
          Two s = a_[e] + x[l] * b_[e];
          for (int32_t tail : forest_.edge_tails(e)) s += best_[tail][l];
          best[l] = s > best[l] ? s : best[l];
        }
      best_[v] = best;
    }
  }

  /// The derivation of a lane in the last sweep: the first edge whose score equals the best, to the last bit.
  KnownLine winner(size_t lane, double x) const {
    KnownLine line{};
    unroll(
        forest_,
        [&](int32_t v) {
          const double best = best_[v][lane / 2][lane % 2];
          for (int32_t e = forest_.edge_begin[v];; ++e) {
            double s = a_[e] + x * b_[e];
            for (int32_t tail : forest_.edge_tails(e)) s += best_[tail][lane / 2][lane % 2];
            if (s == best || e + 1 == forest_.edge_begin[v + 1]) return e;
          }
        },
        line.edges);
    return line;
  }

  void ask(const std::vector<double>& where) {
    sweep(where);
    for (size_t l = 0; l < where.size(); ++l) hull_.push_back(add(winner(l, where[l])));
    rebuild();
  }

  void ask_between(const std::vector<double>& where, const std::vector<KnownLine*>& whose) {
    sweep(where);
    bool grown = false;
    const std::vector<KnownLine*> hull = hull_;
    for (size_t l = 0; l < where.size(); ++l) {
      const double x = where[l];
      KnownLine* left = whose[l];
      const KnownLine* right = *(std::find(hull.begin(), hull.end(), left) + 1);
      const double value = best_[forest_.goal()][l / 2][l % 2];
      const double known = std::max(left->a + x * left->b, right->a + x * right->b);
      if (std::isfinite(x) && value > known + std::max(left->slack(x), right->slack(x))) {
        KnownLine* between = add(winner(l, x));
        if (between->b > left->b && between->b < right->b) {
          hull_.push_back(between);
          grown = true;
          continue;
        }
      }
      left->checked = right;
    }
    if (grown) rebuild();
  }

  const Forest& forest_;
  std::span<const double> a_, b_;
  std::vector<std::unique_ptr<KnownLine>> lines_;
  std::vector<KnownLine*> hull_;
  std::vector<double> x_;
  std::vector<Lanes> best_;
};

}  // namespace

size_t Envelope::at(double where) const {
  return static_cast<size_t>(std::upper_bound(x.begin() + 1, x.end(), where) - x.begin()) - 1;
}

Envelope envelope(const Forest& forest, std::span<const double> intercepts, std::span<const double> slopes) {
  if (!forest.is_list()) return ForestEnvelope(forest, intercepts, slopes).run();
  Envelope out;
  LineEnvelope lines;
  lines.compute(intercepts.data(), slopes.data(), forest.edges());
  if (lines.line.empty()) throw InputError("the list has no candidate");
  out.edges = std::move(lines.line);
  out.x = std::move(lines.begin);
  out.edge_begin.push_back(0);
  for (int32_t e : out.edges) {
    out.intercept.push_back(intercepts[e]);
    out.slope.push_back(slopes[e]);
    out.edge_begin.push_back(out.edge_begin.back() + 1);
  }
  return out;
}

Envelope envelope(const Forest& forest, const double* w, const double* direction) {
  std::vector<double> a(forest.edges()), b(a.size());
  edge_scores(forest, w, a.data());
  edge_scores(forest, direction, b.data());
  return envelope(forest, a, b);
}

std::vector<Envelope> envelopes(const Pool& pool, const double* w, const double* direction, int jobs) {
  std::vector<Envelope> all(pool.size());
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) { all[i] = envelope(s.forest, w, direction); });
  return all;
}

}  // namespace hopefear
