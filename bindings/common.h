// Shared by all bindings: array types that are never converted silently, and owned results.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace hopefear {

/// A contiguous array argument; bind it with nb::arg("x") to allow a conversion, .noconvert() to forbid it.
template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <class T>
using Out2 = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;

template <class T>
std::span<const T> view(const In<T>& array) {
  return {array.data(), array.size()};
}

/// Hands a vector to NumPy without a copy.
template <class T>
Out<T> give(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Out<T>(owned->data(), {owned->size()}, owner);
}
template <class T>
Out2<T> give(std::vector<T>&& values, size_t columns) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Out2<T>(owned->data(), {columns ? owned->size() / columns : 0, columns}, owner);
}

}  // namespace hopefear
