// Working sets on their way to other learners: Chiang (2012), algorithm 4, lines 8 and 10.
//
// A message is S_i without d_i, whose x is 0. An update that takes a step has no working set: it sends its x with loss 0, and
// the receiver takes the same step (asynchronous SGD, section 6). On the wire numbers have 32 bits.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/sparse_vector.h"

namespace hopefear {

/// loss - w.x <= xi.
struct Constraint {
  Constraint() = default;
  Constraint(const SparseVector& x, double at) : loss(at), ids(x.ids), values(x.values.begin(), x.values.end()) {}
  SparseVector x() const { return {ids, {values.begin(), values.end()}}; }

  double loss = 0;
  std::vector<int32_t> ids;
  std::vector<float> values;
};

struct Message {
  int64_t sentence = 0;
  std::vector<Constraint> constraints;
};

std::string serialized(const Message& message);
/// Throws InputError if the bytes are not a message over this number of features.
Message deserialized(std::string_view bytes, int32_t features);

}  // namespace hopefear
