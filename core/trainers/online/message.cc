#include "trainers/online/message.h"

#include <cstring>

#include "util/error.h"

namespace hopefear {
namespace {

template <class T>
void put(std::string& bytes, const T* values, size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

struct Taker {
  std::string_view bytes;
  template <class T>
  void take(T* values, size_t count) {
    if (bytes.size() / sizeof(T) < count) throw InputError("a working set was cut short");
    if (count) std::memcpy(values, bytes.data(), count * sizeof(T));
    bytes.remove_prefix(count * sizeof(T));
  }
};

}  // namespace

std::string serialized(const Message& message) {
  std::string bytes;
  const auto count = static_cast<uint32_t>(message.constraints.size());
  put(bytes, &message.sentence, 1);
  put(bytes, &count, 1);
  for (const auto& c : message.constraints) {
    const auto size = static_cast<uint32_t>(c.ids.size());
    put(bytes, &c.loss, 1);
    put(bytes, &size, 1);
    put(bytes, c.ids.data(), size);
    put(bytes, c.values.data(), size);
  }
  return bytes;
}

Message deserialized(std::string_view bytes, int32_t features) {
  Taker from{bytes};
  Message message;
  uint32_t count = 0;
  from.take(&message.sentence, 1);
  from.take(&count, 1);
  for (uint32_t c = 0; c < count; ++c) {
    Constraint one;
    uint32_t size = 0;
    from.take(&one.loss, 1);
    from.take(&size, 1);
    if (size > from.bytes.size()) throw InputError("a working set was cut short");
    one.ids.resize(size);
    one.values.resize(size);
    from.take(one.ids.data(), size);
    from.take(one.values.data(), size);
    for (int32_t j : one.ids)
      if (j < 0 || j >= features) throw InputError("a working set is over other features");
    message.constraints.push_back(std::move(one));
  }
  return message;
}

}  // namespace hopefear
