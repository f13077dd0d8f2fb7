#include "grammar/parallel_text.h"

#include <algorithm>
#include <charconv>

#include "util/parallel.h"
#include "util/text.h"

namespace hopefear {
namespace {

void append_words(std::string_view text, Vocab& vocab, std::vector<int32_t>& words) {
  size_t i = 0;
  while ((i = text.find_first_not_of(' ', i)) != std::string_view::npos) {
    const size_t j = std::min(text.find(' ', i), text.size());
    words.push_back(vocab.add(text.substr(i, j - i)));
    i = j;
  }
}

}  // namespace

ParallelText::ParallelText(const View& view, int32_t source_types, int32_t target_types) : ParallelText() {
  const auto whole = [](std::span<const int64_t> begin, size_t size) {
    return !begin.empty() && begin.front() == 0 && begin.back() == static_cast<int64_t>(size) && std::ranges::is_sorted(begin);
  };
  if (!whole(view.source_begin, view.source.size()) || !whole(view.target_begin, view.target.size()) ||
      !whole(view.link_begin, view.links.size()) || view.source_begin.size() != view.target_begin.size() ||
      view.source_begin.size() != view.link_begin.size())
    throw InputError("the arrays of a parallel text do not fit together");
  view_ = view;
  types_[0] = source_types, types_[1] = target_types;
}

void ParallelText::add(std::string_view source, std::string_view target) {
  append_words(source, *source_vocab, source_);
  append_words(target, *target_vocab, target_);
  source_begin_.push_back(static_cast<int64_t>(source_.size()));
  target_begin_.push_back(static_cast<int64_t>(target_.size()));
  look();
  const size_t n = size() - 1;
  if (this->source(n).size() > kMaxWords || this->target(n).size() > kMaxWords)
    throw InputError("sentence pair " + std::to_string(n + 1) + ": more than " + std::to_string(kMaxWords) +
                     " words. Leave it out");
}

std::vector<Link> grow_diag_final_and(int n, int m, std::span<const int32_t> forward, std::span<const int32_t> backward) {
  const auto at = [m](int s, int t) { return static_cast<size_t>(s) * m + t; };
  std::vector<char> in_union(static_cast<size_t>(n) * m), chosen(in_union.size());
  std::vector<char> s_aligned(n), t_aligned(m);
  const auto add = [&](int s, int t) { chosen[at(s, t)] = s_aligned[s] = t_aligned[t] = 1; };
  for (int t = 0; t < m; ++t)
    if (forward[t] >= 0) in_union[at(forward[t], t)] = 1;
  for (int s = 0; s < n; ++s) {
    const int t = backward[s];
    if (t < 0) continue;
    if (in_union[at(s, t)]) add(s, t);  // the intersection
    in_union[at(s, t)] = 1;
  }

  // grow-diag: over target words, then source words, as published (e outside, f inside)
  static constexpr int kNeighbours[8][2] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
  for (bool added = true; added;) {
    added = false;
    for (int t = 0; t < m; ++t) {
      for (int s = 0; s < n; ++s) {
        if (!chosen[at(s, t)]) continue;
        for (const auto& [dt, ds] : kNeighbours) {
          const int t2 = t + dt, s2 = s + ds;
          if (t2 < 0 || t2 >= m || s2 < 0 || s2 >= n || !in_union[at(s2, t2)]) continue;
          if (s_aligned[s2] && t_aligned[t2]) continue;
          add(s2, t2);
          added = true;
        }
      }
    }
  }
  // final-and, first of one direction, then of the other
  for (int t = 0; t < m; ++t) {
    const int s = forward[t];
    if (s >= 0 && !s_aligned[s] && !t_aligned[t]) add(s, t);
  }
  for (int t = 0; t < m; ++t)
    for (int s = 0; s < n; ++s)
      if (backward[s] == t && !s_aligned[s] && !t_aligned[t]) add(s, t);

  std::vector<Link> links;
  for (int s = 0; s < n; ++s)
    for (int t = 0; t < m; ++t)
      if (chosen[at(s, t)]) links.push_back({static_cast<uint16_t>(s), static_cast<uint16_t>(t)});
  return links;
}

void ParallelText::symmetrize(std::span<const int32_t> forward, std::span<const int32_t> backward, int jobs) {
  if (forward.size() != target_.size() || backward.size() != source_.size())
    throw InputError("directed alignments need one entry per target word and one per source word");
  std::vector<std::vector<Link>> links_of(size());
  parallel_for(size(), jobs, [&](size_t n, int) {
    const auto f = forward.subspan(target_begin_[n], target(n).size());
    const auto b = backward.subspan(source_begin_[n], source(n).size());
    const int source_size = static_cast<int>(b.size()), target_size = static_cast<int>(f.size());
    for (int32_t s : f)
      if (s < -1 || s >= source_size)
        throw InputError("sentence pair " + std::to_string(n + 1) + ": a link beyond the source sentence");
    for (int32_t t : b)
      if (t < -1 || t >= target_size)
        throw InputError("sentence pair " + std::to_string(n + 1) + ": a link beyond the target sentence");
    links_of[n] = grow_diag_final_and(source_size, target_size, f, b);
  });
  clear_links();
  for (auto& links : links_of) finish_pair(links);
}

void ParallelText::finish_pair(std::vector<Link>& links) {
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  links_.insert(links_.end(), links.begin(), links.end());
  link_begin_.push_back(static_cast<int64_t>(links_.size()));
  look();
}

void ParallelText::clear_links() {
  links_.clear(), link_begin_.assign(1, 0);
  look();
}

void ParallelText::add_pharaoh(std::string_view text, const std::string& where, long line) {
  if (aligned()) throw input_error(where, line, "more lines than sentence pairs. Are these the alignments of this text?");
  const size_t n = link_begin_.size() - 1;
  const size_t sizes[2] = {source(n).size(), target(n).size()};
  std::vector<Link> links;
  const char *p = text.data(), *end = p + text.size();
  for (;;) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) ++p;
    if (p == end) break;
    const char* token_end = std::find_if(p, end, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    const std::string token(p, token_end);
    size_t value[2] = {0, 0};
    const auto first = std::from_chars(p, token_end, value[0]);
    const bool dash = first.ec == std::errc() && first.ptr < token_end && *first.ptr == '-';
    const auto second = dash ? std::from_chars(first.ptr + 1, token_end, value[1]) : first;
    if (!dash || second.ec != std::errc() || second.ptr != token_end)
      throw input_error(where, line, quoted(token) + " is no alignment point. Expected source-target, as in 0-0 1-2");
    for (int side = 0; side < 2; ++side)
      if (value[side] >= sizes[side])
        throw input_error(where, line,
                          token.substr(0, 40) + " is out of range: the " + (side ? "target" : "source") + " sentence has " +
                              std::to_string(sizes[side]) + " words (points count from 0). Was the text tokenised alike?");
    links.push_back({static_cast<uint16_t>(value[0]), static_cast<uint16_t>(value[1])});
    p = token_end;
  }
  finish_pair(links);
}

std::string ParallelText::pharaoh(size_t n) const {
  std::string line;
  for (const Link link : links(n)) line += (line.empty() ? "" : " ") + std::to_string(link.s) + "-" + std::to_string(link.t);
  return line;
}

void ParallelText::add_links(std::span<const int32_t> flat) {
  if (aligned()) throw InputError("more alignments than sentence pairs");
  if (flat.size() % 2) throw InputError("an alignment is a list of pairs");
  const size_t n = link_begin_.size() - 1;
  std::vector<Link> links;
  for (size_t i = 0; i < flat.size(); i += 2) {
    if (flat[i] < 0 || flat[i] >= static_cast<int32_t>(source(n).size()) || flat[i + 1] < 0 ||
        flat[i + 1] >= static_cast<int32_t>(target(n).size()))
      throw InputError("sentence pair " + std::to_string(n + 1) + ": alignment point out of range");
    links.push_back({static_cast<uint16_t>(flat[i]), static_cast<uint16_t>(flat[i + 1])});
  }
  finish_pair(links);
}

}  // namespace hopefear
