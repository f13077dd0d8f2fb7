// Sentences that the hierarchical decoder translates again each time a learner needs them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "hiero/hiero_decoder.h"
#include "search/examples.h"

namespace hopefear {

/// The decoder must outlive this.
class HieroExamples final : public Examples {
 public:
  HieroExamples(const HieroDecoder& decoder, std::vector<HieroSource> sources, std::vector<References> references,
                HieroOptions options)
      : decoder_(decoder), sources_(std::move(sources)), references_(std::move(references)), options_(options) {
    if (sources_.size() != references_.size()) throw InputError("one set of references per sentence is needed");
  }
  size_t size() const override { return sources_.size(); }
  int32_t features() const override { return decoder_.features()->size(); }
  const std::string& id(size_t i) const override { return sources_[i].id; }
  const References& references(size_t i) const override { return references_[i]; }
  Forest decode(size_t i, const double* w, int64_t edges_per_word) const override {
    HieroOptions options = options_;
    options.max_edges = edges_per_word * static_cast<int64_t>(sources_[i].words.size());
    return decoder_.decode(sources_[i], w, options);
  }

 private:
  const HieroDecoder& decoder_;
  std::vector<HieroSource> sources_;
  std::vector<References> references_;
  HieroOptions options_;
};

}  // namespace hopefear
