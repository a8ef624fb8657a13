// NonMaxSuppression: of each class the boxes with the highest scores that do not overlap a chosen one too much. Of
// equal scores the lower index comes first; a box without an area suppresses nothing and is suppressed by nothing.
#include <algorithm>
#include <numeric>

#include "dims.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

struct Box {
  float low[2];
  float high[2];

  float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }

  float intersection(const Box& other) const {
    float product = 1;
    for (int i = 0; i < 2; ++i) {
      product *= std::max(0.0f, std::min(high[i], other.high[i]) - std::max(low[i], other.low[i]));
    }
    return product;
  }
};

class NonMaxSuppressionKernel final : public Kernel {
 public:
  explicit NonMaxSuppressionKernel(const Node& node)
      : by_center_(node.attribute_or<int64_t>("center_point_box", 0) != 0) {}

  void compute(RunContext& context) override {
    const TensorView& boxes = context.required_input(0);
    const TensorView& scores = context.required_input(1);
    if (boxes.rank != 3 || boxes.dims[2] != 4 || scores.rank != 3 || scores.dims[0] != boxes.dims[0] ||
        scores.dims[2] != boxes.dims[1]) {
      invalid_argument("NonMaxSuppression: boxes of shape " + to_string(boxes) + " do not fit scores of shape " +
                       to_string(scores));
    }
    const int64_t most = std::max<int64_t>(0, scalar<int64_t>(context.input(2), 0));
    const float overlap_limit = scalar<float>(context.input(3), 0.0f);
    const TensorView* score_limit = context.input(4);
    const int64_t classes = scores.dims[1];
    const int64_t count = scores.dims[2];
    std::vector<std::vector<int64_t>> chosen(static_cast<size_t>(scores.dims[0] * classes));
    context.parallel_for(scores.dims[0] * classes, std::max<int64_t>(1, 256 / std::max<int64_t>(1, count)),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i) {
                             const float* own = boxes.as<float>() + i / classes * count * 4;
                             chosen[static_cast<size_t>(i)] =
                                 choose(own, scores.as<float>() + i * count, count, most, overlap_limit, score_limit);
                           }
                         });
    int64_t rows = 0;
    for (const auto& indices : chosen) rows += static_cast<int64_t>(indices.size());
    const int64_t dims[] = {rows, 3};
    auto* y = context.output(0, dims, 2).as<int64_t>();
    for (int64_t i = 0; i < static_cast<int64_t>(chosen.size()); ++i) {
      for (const int64_t box : chosen[static_cast<size_t>(i)]) {
        *y++ = i / classes;
        *y++ = i % classes;
        *y++ = box;
      }
    }
  }

 private:
  template <class T>
  static T scalar(const TensorView* view, T absent) {
    return view != nullptr && view->element_count > 0 ? *view->as<T>() : absent;
  }

  Box box_at(const float* values) const {
    Box box;
    for (int i = 0; i < 2; ++i) {
      const float a = values[i];
      const float b = values[i + 2];
      box.low[i] = by_center_ ? a - b / 2 : std::min(a, b);
      box.high[i] = by_center_ ? a + b / 2 : std::max(a, b);
    }
    return box;
  }

  std::vector<int64_t> choose(const float* boxes, const float* scores, int64_t count, int64_t most, float overlap_limit,
                              const TensorView* score_limit) const {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count && most > 0; ++i) {
      if (score_limit == nullptr || score_limit->element_count == 0 || scores[i] > *score_limit->as<float>()) {
        order.push_back(i);
      }
    }
    std::stable_sort(order.begin(), order.end(), [scores](int64_t a, int64_t b) { return scores[a] > scores[b]; });
    std::vector<int64_t> chosen;
    std::vector<Box> kept;
    for (const int64_t i : order) {
      if (static_cast<int64_t>(chosen.size()) == most) break;
      const Box box = box_at(boxes + i * 4);
      const bool is_free = std::none_of(kept.begin(), kept.end(), [&](const Box& other) {
        const float intersection = other.intersection(box);
        return intersection > 0 && intersection > overlap_limit * (other.area() + box.area() - intersection);
      });
      if (!is_free) continue;
      chosen.push_back(i);
      kept.push_back(box);
    }
    return chosen;
  }

  bool by_center_;
};

std::unique_ptr<Kernel> make_non_max_suppression(const Node& node) {
  return std::make_unique<NonMaxSuppressionKernel>(node);
}

}  // namespace

void register_non_max_suppression(KernelRegistry& registry) {
  add_kernel(registry, "NonMaxSuppression", 10, 11,
             {{"boxes", kFloatType},
              {"scores", kFloatType},
              {"max_output_boxes_per_class", kInt64Type},
              {"iou_threshold", kFloatType},
              {"score_threshold", kFloatType},
              {"selected_indices", kInt64Type}},
             &make_non_max_suppression);
}

}  // namespace onnx_light_ort::kernels
