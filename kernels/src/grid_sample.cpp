// GridSample: an image read at positions between its elements, in one to three spatial dimensions. What surrounds a
// position is looked up once for all channels. Cubic: R. Keys, "Cubic convolution interpolation for digital image
// processing", 1981, with a = -3/4.
#include <algorithm>
#include <cmath>

#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

constexpr size_t kMaxSpatial = 3;

// Back and forth between the borders.
template <class T>
T reflected(T x, T low, T high) {
  const T range = high - low;
  if (!(range > 0)) return low;
  const T beyond = x < low ? low - x : x > high ? x - high : T(-1);
  if (beyond < 0) return x;
  const T times = std::floor(beyond / range);
  const T rest = beyond - times * range;
  const bool even = std::fmod(times, T(2)) == 0;
  return (x < low) == even ? low + rest : high - rest;
}

template <class T>
class GridSampleKernel final : public Kernel {
 public:
  explicit GridSampleKernel(const Node& node)
      : mode_(mode_of(node)),
        padding_(padding_of(node)),
        aligns_(node.attribute_or<int64_t>("align_corners", 0) != 0) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& grid = context.required_input(1);
    const size_t spatial = x.rank - 2;
    if (x.rank < 3 || grid.rank != x.rank || grid.dims[0] != x.dims[0] ||
        grid.dims[grid.rank - 1] != static_cast<int64_t>(spatial)) {
      invalid_argument("GridSample: input of shape " + to_string(x) + " and grid of shape " + to_string(grid));
    }
    if (spatial > kMaxSpatial) fail(ErrorKind::kNotImplemented, "GridSample: more than three spatial dimensions");
    Dims dims(x);
    for (size_t d = 0; d < spatial; ++d) dims[d + 2] = grid.dims[d + 1];
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const int64_t plane = product(x.dims, 2, x.rank);
    if (plane == 0) invalid_argument("GridSample: the input of shape " + to_string(x) + " is empty");
    const int64_t points = product(dims.data(), 2, dims.size());
    const int64_t blocks = (points + kBlock - 1) / kBlock;
    const int64_t channels = x.dims[1];
    context.parallel_for(x.dims[0] * blocks, std::max<int64_t>(1, 16384 / (kBlock * channels)),
                         [&](int64_t begin, int64_t end) {
                           Surroundings found;
                           for (int64_t i = begin; i < end; ++i) {
                             const int64_t image = i / blocks;
                             const int64_t first = i % blocks * kBlock;
                             const int64_t count = std::min(kBlock, points - first);
                             const T* at = grid.as<T>() + (image * points + first) * static_cast<int64_t>(spatial);
                             look(at, count, x.dims + 2, spatial, found);
                             for (int64_t c = 0; c < channels; ++c) {
                               const int64_t own = image * channels + c;
                               gather(x.as<T>() + own * plane, found, count, y.as<T>() + own * points + first);
                             }
                           }
                         });
  }

 private:
  static constexpr int64_t kBlock = 64;

  // Of each point as many elements as count: where they are and what they weigh.
  struct Surroundings {
    size_t count = 1;
    std::vector<int64_t> offsets;
    std::vector<T> weights;
  };

  static Mode mode_of(const Node& node) {
    const auto mode = node.attribute_or<std::string>("mode", "linear");
    if (mode == "nearest") return Mode::kNearest;
    if (mode == "linear" || mode == "bilinear") return Mode::kLinear;
    if (mode == "cubic" || mode == "bicubic") return Mode::kCubic;
    invalid_argument("GridSample: mode is '" + mode + "'");
  }

  static Padding padding_of(const Node& node) {
    const auto padding = node.attribute_or<std::string>("padding_mode", "zeros");
    if (padding == "zeros") return Padding::kZeros;
    if (padding == "border") return Padding::kBorder;
    if (padding == "reflection") return Padding::kReflection;
    invalid_argument("GridSample: padding_mode is '" + padding + "'");
  }

  T low() const { return aligns_ ? T(0) : T(-0.5); }
  T high(int64_t extent) const { return static_cast<T>(extent) - (aligns_ ? T(1) : T(0.5)); }

  // The coordinate in elements of one in [-1, 1].
  T position(T normalized, int64_t extent) const {
    const auto n = static_cast<T>(extent);
    const T x = aligns_ ? (normalized + 1) / 2 * (n - 1) : ((normalized + 1) * n - 1) / 2;
    if (!(std::abs(x) < T(0x1p62))) return low();  // NaN too
    return mode_ == Mode::kNearest ? std::nearbyint(x) : x;
  }

  // The element that stands for one perhaps outside; -1: zero. Elements are moved inside, positions are not, as in ORT.
  int64_t element(int64_t i, int64_t extent) const {
    if (i >= 0 && i < extent) return i;
    if (padding_ == Padding::kZeros) return -1;
    if (padding_ == Padding::kReflection) {
      i = static_cast<int64_t>(reflected(static_cast<T>(i), low(), high(extent)));
    }
    return std::clamp<int64_t>(i, 0, extent - 1);
  }

  size_t taps() const { return mode_ == Mode::kNearest ? 1 : mode_ == Mode::kLinear ? 2 : 4; }

  // Weights of the taps around a position; returns the first of them.
  int64_t weigh(T at, T* weights) const {
    const T whole = std::floor(at);
    const T t = at - whole;
    const auto first = static_cast<int64_t>(whole);
    if (mode_ == Mode::kNearest) {
      weights[0] = 1;
      return first;
    }
    if (mode_ == Mode::kLinear) {
      weights[0] = 1 - t;
      weights[1] = t;
      return first;
    }
    constexpr T a = T(-0.75);
    const auto near = [](T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    const auto far = [](T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    weights[0] = far(t + 1);
    weights[1] = near(t);
    weights[2] = near(1 - t);
    weights[3] = far(2 - t);
    return first - 1;
  }

  void look(const T* grid, int64_t count, const int64_t* extents, size_t spatial, Surroundings& found) const {
    const size_t each = taps();
    found.count = 1;
    for (size_t d = 0; d < spatial; ++d) found.count *= each;
    found.offsets.resize(static_cast<size_t>(count) * found.count);
    found.weights.resize(static_cast<size_t>(count) * found.count);
    int64_t* offset = found.offsets.data();
    T* weight = found.weights.data();
    for (int64_t point = 0; point < count; ++point, grid += spatial) {
      int64_t elements[kMaxSpatial][4];
      T weights[kMaxSpatial][4];
      for (size_t d = 0; d < spatial; ++d) {
        // The grid names the last dimension first.
        const int64_t first = weigh(position(grid[spatial - 1 - d], extents[d]), weights[d]);
        for (size_t k = 0; k < each; ++k) elements[d][k] = element(first + static_cast<int64_t>(k), extents[d]);
      }
      for (size_t i = 0; i < found.count; ++i) {
        size_t rest = i;
        int64_t stride = 1;
        *offset = 0;
        *weight = 1;
        bool inside = true;
        for (size_t d = spatial; d-- > 0; rest /= each) {
          const int64_t at = elements[d][rest % each];
          inside = inside && at >= 0;
          *offset += at * stride;
          *weight *= weights[d][rest % each];
          stride *= extents[d];
        }
        if (!inside) {
          *offset = 0;
          *weight = 0;
        }
        ++offset;
        ++weight;
      }
    }
  }

  static void gather(const T* plane, const Surroundings& found, int64_t count, T* y) {
    const int64_t* offset = found.offsets.data();
    const T* weight = found.weights.data();
    for (int64_t point = 0; point < count; ++point) {
      T sum = 0;
      for (size_t k = 0; k < found.count; ++k, ++offset, ++weight) {
        // What is outside does not count, whatever the element at the front is.
        if (*weight != 0) sum += *weight * plane[*offset];
      }
      y[point] = sum;
    }
  }

  Mode mode_;
  Padding padding_;
  bool aligns_;
};

std::unique_ptr<Kernel> make_grid_sample(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<GridSampleKernel<double>>(node);
  return std::make_unique<GridSampleKernel<float>>(node);
}

}  // namespace

void register_grid_sample(KernelRegistry& registry) {
  add_kernel(registry, "GridSample", 16, 22, {{"T1", kFloatTypes}, {"T2", kFloatTypes}},
             &with_one_float<&make_grid_sample>);
}

}  // namespace onnx_light_ort::kernels
