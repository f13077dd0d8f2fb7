// What `translate --nbest` does: one thread writes a candidate list while another adds words to the same vocabulary.
#include <cstdio>
#include <string>
#include <thread>

#include "formats/write_nbest.h"

using namespace hopefear;

int main() {
  Pool pool;
  std::string expected = "0 |||";
  ForestBuilder builder(pool.vocab, pool.features);
  builder.add_node();
  std::vector<int32_t> words;
  for (int i = 0; i < 100; ++i) {
    expected += " word" + std::to_string(i);
    words.push_back(pool.vocab->add("word" + std::to_string(i)));
  }
  builder.add_edge({}, words, nullptr);
  pool.sentences.push_back({"0", "", builder.finish(), {}});
  expected += " ||| ||| 0\n";

  std::thread ahead([&] {
    for (int i = 0; i < 20000; ++i) pool.vocab->add("new" + std::to_string(i));
  });
  bool same = true;
  for (int i = 0; i < 200; ++i) {
    std::string out;
    append_nbest(out, pool, 0, NbestFormat::moses, nullptr);
    same = same && out == expected;
    const int32_t newest = pool.vocab->size() - 1;  // what a writer of forests asks
    same = same && !(*pool.vocab)[newest].empty();
  }
  ahead.join();
  std::puts(same ? "same" : "different");
  return same ? 0 : 1;
}
