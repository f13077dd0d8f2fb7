// A fast 64-bit checksum for the sections of our files: detects every truncation and every flipped byte; not cryptographic.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hopefear {

/// The checksum of data that arrives in pieces.
class Checksum {
 public:
  void add(std::span<const std::byte> data) {
    size_ += data.size();
    if (left_ > 0) {
      const size_t more = std::min(data.size(), sizeof rest_ - left_);
      std::memcpy(rest_ + left_, data.data(), more);
      left_ += more;
      data = data.subspan(more);
      if (left_ < sizeof rest_) return;
      mix(rest_);
      left_ = 0;
    }
    for (; data.size() >= sizeof rest_; data = data.subspan(sizeof rest_)) mix(data.data());
    left_ = data.size();
    if (left_ > 0) std::memcpy(rest_, data.data(), left_);
  }

  uint64_t value() const {
    uint64_t sum = size_;
    for (uint64_t lane : lane_) sum = (std::rotl(sum, 23) ^ lane) * kOther;
    for (size_t at = 0; at < left_; at += 8) {
      uint64_t block = 0;
      std::memcpy(&block, rest_ + at, std::min<size_t>(left_ - at, 8));
      sum = (std::rotl(sum, 23) ^ block) * kOther;
    }
    sum ^= sum >> 32;
    sum *= kPrime;
    return sum ^ (sum >> 29);
  }

 private:
  static constexpr uint64_t kPrime = 0x9e3779b97f4a7c15ULL, kOther = 0xbf58476d1ce4e5b9ULL;
  void mix(const std::byte* p) {
    uint64_t block[4];
    std::memcpy(block, p, sizeof block);
    for (int i = 0; i < 4; ++i) lane_[i] = std::rotl(lane_[i] ^ block[i], 29) * kPrime;  // a bijection of lane and of block
  }

  uint64_t lane_[4] = {1, 2, 3, 4};  // four chains, so that the multiplications overlap
  std::byte rest_[32] = {};          // bytes that do not fill a block yet
  size_t left_ = 0;                  // of them
  uint64_t size_ = 0;
};

inline uint64_t checksum(std::span<const std::byte> data) {
  Checksum sum;
  sum.add(data);
  return sum.value();
}

}  // namespace hopefear
