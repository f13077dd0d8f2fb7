// A parallel loop over the sentences of a pool whose errors say which sentence they are about.
#pragma once
#include <string>

#include "forest/pool.h"
#include "util/parallel.h"

namespace hopefear {

/// body() with "sentence ID: " before the message of an InputError.
template <class Body>
auto naming(const std::string& id, Body&& body) {
  try {
    return body();
  } catch (const InputError& error) {
    throw InputError("sentence " + id + ": " + error.what());
  }
}

/// body(i, sentence) for every sentence.
template <class Body>
void each_sentence(const Pool& pool, int jobs, Body&& body) {
  parallel_for(pool.size(), jobs, [&](size_t i, int) {
    const Sentence& sentence = pool.sentences[i];
    naming(sentence.id, [&] { body(i, sentence); });
  });
}

}  // namespace hopefear
