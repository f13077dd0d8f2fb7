// Parallel loops as the core has them, under ThreadSanitizer: from several threads at once, with errors, with arrays that go to disk from inside
// a loop, and a language model.
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "forest/stored_forest.h"
#include "lm/lm_estimate.h"
#include "util/parallel.h"
#include "util/parallel_sort.h"

using namespace hopefear;

namespace {

bool loops() {
  for (int round = 0; round < 50; ++round) {
    std::vector<size_t> places(1000);
    parallel_for(places.size(), 4, [&](size_t i, int) { places[i] = i * i; });
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] != i * i) return false;
    parallel_sort(places, 4, [](size_t a, size_t b) { return a > b; });
    if (places.front() != 999 * 999) return false;
    try {
      parallel_for(1000, 4, [&](size_t i, int) {
        if (i % 300 == 299) throw InputError(std::to_string(i));
      });
      return false;
    } catch (const InputError& error) {
      if (error.what() != std::string("299")) return false;
    }
  }
  return true;
}

bool arrays(const char* folder) {
  ArrayStore::open(folder, 10'000);
  std::vector<Forest> forests(300);
  parallel_for(forests.size(), 4, [&](size_t i, int) {
    ForestBuilder builder(std::make_shared<Vocab>(), std::make_shared<Vocab>(), 3);
    builder.add_node();
    const std::vector<double> row{static_cast<double>(i), 1, 2};
    for (int e = 0; e < 20; ++e) builder.add_edge({}, {}, row.data());
    forests[i] = builder.finish();
    const KeptVector<double> large(20'000, static_cast<double>(i));
    if (large.back() != static_cast<double>(i)) throw InputError("another number");
  });
  ArrayStore::close();
  for (size_t i = 0; i < forests.size(); ++i)
    if (forests[i].dense_row(19)[0] != static_cast<double>(i)) return false;
  return true;
}

bool same_model() {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "w" + std::to_string(i * 7919 % 331) + (i % 12 ? " " : "\n");
  BackoffModel models[2];
  for (int k = 0; k < 2; ++k) {
    LmText words;
    words.add(text, "text", 1 + 3 * k);
    models[k] =
        estimate(std::move(words), {.order = 4, .prune = {}, .fallback_discounts = {0.5, 1, 1.5}, .jobs = 1 + 3 * k}, nullptr);
  }
  for (int n = 0; n < 4; ++n)
    if (models[0].lists[n].prob != models[1].lists[n].prob || models[0].lists[n].word != models[1].lists[n].word) return false;
  return true;
}

}  // namespace

int main(int, char** arguments) {
  bool good[3] = {};
  std::thread other([&] { good[0] = loops(); });
  good[1] = loops();
  other.join();
  good[2] = arrays(arguments[1]) && same_model();
  std::puts(good[0] && good[1] && good[2] ? "same" : "different");
}
