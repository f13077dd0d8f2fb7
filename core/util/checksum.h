// A quick 64-bit checksum for the sections of our files: finds every cut and every flipped byte, and is no cryptography.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace hopefear {

inline uint64_t checksum(std::span<const std::byte> data) {
  constexpr uint64_t kPrime = 0x9e3779b97f4a7c15ULL, kOther = 0xbf58476d1ce4e5b9ULL;
  uint64_t lane[4] = {1, 2, 3, 4};  // four chains, so that the multiplications overlap
  const std::byte* p = data.data();
  size_t left = data.size();
  for (; left >= 32; left -= 32, p += 32) {
    uint64_t block[4];
    std::memcpy(block, p, 32);
    for (int i = 0; i < 4; ++i) lane[i] = std::rotl(lane[i] ^ block[i], 29) * kPrime;  // a bijection of lane and of block
  }
  uint64_t sum = data.size();
  for (uint64_t value : lane) sum = (std::rotl(sum, 23) ^ value) * kOther;
  while (left > 0) {
    uint64_t block = 0;
    const size_t size = left < 8 ? left : 8;
    std::memcpy(&block, p, size);
    sum = (std::rotl(sum, 23) ^ block) * kOther;
    left -= size, p += size;
  }
  sum ^= sum >> 32;
  sum *= kPrime;
  return sum ^ (sum >> 29);
}

}  // namespace hopefear
