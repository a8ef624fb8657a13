// Native kernels against plain loops. Each test is a function whose name is the sentence that it proves.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>

#include "element_conversion.h"
#include "element_type.h"
#include "onnx_light_ort/kernels/error.h"
#include "onnx_light_ort/kernels/kernel_registry.h"
#include "serial_context.h"

namespace onnx_light_ort::kernels::test {
namespace {

std::mt19937& random_bits() {
  static std::mt19937 generator(20240229);
  return generator;
}

int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_bits()); }

[[noreturn]] void fail_check(const std::string& what, int line) {
  throw std::logic_error("line " + std::to_string(line) + ": " + what);
}

#define CHECK(condition) \
  if (!(condition)) fail_check(#condition, __LINE__)

using Shape = std::vector<int64_t>;

template <class T>
OwnedTensor tensor(const Shape& shape, const std::vector<T>& values) {
  OwnedTensor made(kDataTypeOf<T>, shape.data(), shape.size());
  CHECK(static_cast<size_t>(made.view.element_count) == values.size());
  std::copy(values.begin(), values.end(), made.view.as<T>());
  return made;
}

template <class T>
OwnedTensor random_tensor(const Shape& shape, double low = -2, double high = 2) {
  OwnedTensor made(kDataTypeOf<T>, shape.data(), shape.size());
  std::uniform_real_distribution<double> value(low, high);
  for (int64_t i = 0; i < made.view.element_count; ++i) made.view.as<T>()[i] = static_cast<T>(value(random_bits()));
  return made;
}

Shape random_shape(size_t rank, int64_t largest) {
  Shape shape(rank);
  for (int64_t& extent : shape) extent = pick(0, 9) == 0 ? 0 : pick(1, largest);
  return shape;
}

struct Call {
  std::string op;
  int version = 13;
  std::vector<const TensorView*> inputs;
  std::vector<DataType> outputs;
  std::map<std::string, Attribute, std::less<>> attributes = {};
  std::vector<bool> constant = {};
  int threads = 1;
  int reuse = -1;

  std::unique_ptr<SerialContext> run() const {
    Node node;
    node.name = "node";
    node.op_type = op;
    node.since_version = version;
    for (size_t i = 0; i < inputs.size(); ++i) {
      node.input_types.push_back(inputs[i] != nullptr ? inputs[i]->dtype : DataType::kUndefined);
      node.constant_inputs.push_back(i < constant.size() && constant[i] ? inputs[i] : nullptr);
    }
    node.output_types = outputs;
    node.attributes = attributes;
    for (const KernelEntry& entry : native_kernels().entries()) {
      if (entry.op_type != op || version < entry.since_version || version > entry.end_version) continue;
      const std::unique_ptr<Kernel> kernel = entry.factory(node);
      for (size_t i = 0; i < inputs.size(); ++i) {
        CHECK(inputs[i] == nullptr || inputs[i]->is_dense() || kernel->reads_strides(i));
      }
      auto context = std::make_unique<SerialContext>(inputs, outputs, threads);
      if (reuse >= 0) context->allow_reuse(static_cast<size_t>(reuse));
      kernel->compute(*context);
      return context;
    }
    throw std::logic_error("no kernel for " + op);
  }
};

template <class T>
void check_close(const TensorView& got, const std::vector<T>& expected, double tolerance, int line) {
  if (static_cast<size_t>(got.element_count) != expected.size()) fail_check("element counts differ", line);
  for (size_t i = 0; i < expected.size(); ++i) {
    const double a = static_cast<double>(got.as<T>()[i]);
    const double b = static_cast<double>(expected[i]);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= tolerance * (1 + std::abs(b)))) {
      std::ostringstream text;
      text << "element " << i << " is " << a << ", expected " << b;
      fail_check(text.str(), line);
    }
  }
}

void check_same_bytes(const TensorView& a, const TensorView& b, int line) {
  const size_t bytes = checked_byte_size(a.dtype, a.element_count).value();
  if (a.element_count != b.element_count || (bytes > 0 && std::memcmp(a.data, b.data, bytes) != 0)) {
    fail_check(std::string("two runs of type ") + data_type_name(a.dtype) + " differ", line);
  }
}

// Products ------------------------------------------------------------------------------------------------------------

template <class T>
std::vector<T> naive_product(const T* a, const T* b, int64_t m, int64_t n, int64_t k, bool transpose_a,
                             bool transpose_b) {
  std::vector<T> c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t s = 0; s < k; ++s) {
        sum += static_cast<double>(a[transpose_a ? s * m + i : i * k + s]) *
               static_cast<double>(b[transpose_b ? j * k + s : s * n + j]);
      }
      c[static_cast<size_t>(i * n + j)] = static_cast<T>(sum);
    }
  }
  return c;
}

template <class T>
void gemm_case(int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b, bool constant, int threads) {
  const OwnedTensor a = random_tensor<T>(transpose_a ? Shape{k, m} : Shape{m, k});
  const OwnedTensor b = random_tensor<T>(transpose_b ? Shape{n, k} : Shape{k, n});
  const Call call{"Gemm",
                  13,
                  {&a.view, &b.view},
                  {kDataTypeOf<T>},
                  {{"transA", int64_t{transpose_a}}, {"transB", int64_t{transpose_b}}},
                  {false, constant},
                  threads};
  const std::vector<T> expected = naive_product(a.view.as<T>(), b.view.as<T>(), m, n, k, transpose_a, transpose_b);
  check_close(call.run()->result(0), expected, sizeof(T) == 4 ? 1e-4 : 1e-12, __LINE__);
}

void gemm_equals_the_plain_product_for_every_edge_of_its_tiles() {
  for (const int64_t m : {1, 2, 4, 5, 12, 13, 25, 40}) {
    for (const int64_t n : {1, 3, 16, 17, 31, 32, 33, 70}) {
      for (const int64_t k : {1, 2, 7, 64}) {
        const bool flip_a = pick(0, 1) != 0;
        const bool flip_b = pick(0, 1) != 0;
        const bool constant = pick(0, 1) != 0;
        gemm_case<float>(m, n, k, flip_a, flip_b, constant, 1);
        gemm_case<double>(m, n, k, flip_a, flip_b, constant, 1);
      }
    }
  }
}

void gemm_equals_the_plain_product_beyond_its_blocks_and_with_threads() {
  for (const bool constant : {false, true}) {
    gemm_case<float>(37, 600, 530, false, false, constant, 3);
    gemm_case<float>(300, 45, 300, false, true, constant, 3);
    gemm_case<float>(1, 3000, 259, false, false, constant, 2);
    gemm_case<float>(1, 300, 259, false, true, constant, 2);
    gemm_case<double>(130, 270, 258, true, false, constant, 2);
  }
  gemm_case<float>(3, 4, 0, false, false, false, 1);
  gemm_case<float>(0, 4, 5, false, false, false, 1);
}

void matmul_broadcasts_batches_and_drops_the_dimensions_of_vectors() {
  const OwnedTensor a = random_tensor<float>({2, 1, 3, 4});
  const OwnedTensor b = random_tensor<float>({5, 4, 6});
  const auto context = Call{"MatMul", 13, {&a.view, &b.view}, {DataType::kFloat}, {}, {}, 2}.run();
  const TensorView& y = context->result(0);
  CHECK((Shape(y.dims, y.dims + y.rank) == Shape{2, 5, 3, 6}));
  for (int64_t i = 0; i < 10; ++i) {
    const auto expected =
        naive_product(a.view.as<float>() + i / 5 * 12, b.view.as<float>() + i % 5 * 24, 3, 6, 4, false, false);
    TensorView one = y;
    one.data = y.as<float>() + i * 18;
    one.element_count = 18;
    check_close(one, expected, 1e-5, __LINE__);
  }
  const OwnedTensor v = random_tensor<float>({4});
  CHECK((Call{"MatMul", 13, {&v.view, &v.view}, {DataType::kFloat}}.run()->result(0).rank == 0));
}

void matmul_of_integers_wraps_around() {
  const OwnedTensor a = tensor<int32_t>({1, 2}, {std::numeric_limits<int32_t>::max(), 1});
  const OwnedTensor b = tensor<int32_t>({2, 1}, {2, 3});
  CHECK((*Call{"MatMul", 13, {&a.view, &b.view}, {DataType::kInt32}}.run()->result(0).as<int32_t>() == 1));
}

void matmul_integer_is_exact_for_extreme_values_and_long_sums() {
  const int64_t k = 700;
  const OwnedTensor a = tensor<uint8_t>({1, k}, std::vector<uint8_t>(static_cast<size_t>(k), 255));
  const OwnedTensor b = tensor<int8_t>({k, 1}, std::vector<int8_t>(static_cast<size_t>(k), -128));
  const OwnedTensor zero = tensor<int8_t>({}, {127});
  const auto context = Call{"MatMulInteger", 10, {&a.view, &b.view, nullptr, &zero.view}, {DataType::kInt32}}.run();
  CHECK(*context->result(0).as<int32_t>() == 700 * 255 * -255);
}

// Convolution ---------------------------------------------------------------------------------------------------------

void convolution_equals_the_plain_sum_over_random_windows() {
  for (int round = 0; round < 150; ++round) {
    const int64_t groups = pick(1, 3);
    const int64_t channels = groups * pick(1, 3);
    const int64_t filters = groups * pick(1, 4);
    const int64_t kernel[] = {pick(1, 3), pick(1, 5)};
    const int64_t stride[] = {pick(1, 3), pick(1, 3)};
    const int64_t dilation[] = {pick(1, 2), pick(1, 2)};
    const int64_t pads[] = {pick(0, 2), pick(0, 2), pick(0, 2), pick(0, 2)};
    const int64_t in[] = {pick(5, 9), pick(9, 45)};
    const int64_t batch = pick(1, 2);
    int64_t out[2];
    for (int d = 0; d < 2; ++d) {
      out[d] = (in[d] + pads[d] + pads[d + 2] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
    }
    const OwnedTensor x = random_tensor<float>({batch, channels, in[0], in[1]});
    const OwnedTensor w = random_tensor<float>({filters, channels / groups, kernel[0], kernel[1]});
    const OwnedTensor bias = random_tensor<float>({filters});
    std::vector<float> expected;
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t f = 0; f < filters; ++f) {
        for (int64_t oh = 0; oh < out[0]; ++oh) {
          for (int64_t ow = 0; ow < out[1]; ++ow) {
            double sum = bias.view.as<float>()[f];
            for (int64_t c = 0; c < channels / groups; ++c) {
              const int64_t channel = f / (filters / groups) * (channels / groups) + c;
              for (int64_t kh = 0; kh < kernel[0]; ++kh) {
                for (int64_t kw = 0; kw < kernel[1]; ++kw) {
                  const int64_t ih = oh * stride[0] - pads[0] + kh * dilation[0];
                  const int64_t iw = ow * stride[1] - pads[1] + kw * dilation[1];
                  if (ih < 0 || iw < 0 || ih >= in[0] || iw >= in[1]) continue;
                  sum += double{x.view.as<float>()[((n * channels + channel) * in[0] + ih) * in[1] + iw]} *
                         w.view.as<float>()[((f * (channels / groups) + c) * kernel[0] + kh) * kernel[1] + kw];
                }
              }
            }
            expected.push_back(static_cast<float>(sum));
          }
        }
      }
    }
    const Call call{"Conv",
                    11,
                    {&x.view, &w.view, &bias.view},
                    {DataType::kFloat},
                    {{"group", groups},
                     {"strides", Shape(stride, stride + 2)},
                     {"dilations", Shape(dilation, dilation + 2)},
                     {"pads", Shape(pads, pads + 4)}},
                    {false, pick(0, 1) != 0},
                    static_cast<int>(pick(1, 2))};
    check_close(call.run()->result(0), expected, 1e-4, __LINE__);
  }
}

// Elementwise ---------------------------------------------------------------------------------------------------------

// Offset into a tensor of `own` for the index-th element of the broadcast shape.
int64_t broadcast_offset(const Shape& out, const Shape& own, int64_t index) {
  int64_t offset = 0;
  int64_t stride = 1;
  for (size_t from_back = 0; from_back < out.size(); ++from_back) {
    const int64_t extent = out[out.size() - 1 - from_back];
    if (from_back < own.size()) {
      const int64_t own_extent = own[own.size() - 1 - from_back];
      if (own_extent != 1) offset += index % extent * stride;
      stride *= own_extent;
    }
    index /= extent;
  }
  return offset;
}

void binary_operators_broadcast_like_the_index_rule_in_place_or_not() {
  for (int round = 0; round < 300; ++round) {
    const Shape out = random_shape(static_cast<size_t>(pick(0, 5)), 6);
    Shape shapes[2] = {out, out};
    for (Shape& shape : shapes) {
      for (int64_t& extent : shape) extent = pick(0, 2) == 0 && extent != 0 ? 1 : extent;
      shape.erase(shape.begin(), shape.begin() + pick(0, static_cast<int64_t>(shape.size())));
    }
    OwnedTensor a = random_tensor<float>(shapes[0]);
    const OwnedTensor b = random_tensor<float>(shapes[1]);
    Shape result;
    for (size_t from_back = 0; from_back < std::max(shapes[0].size(), shapes[1].size()); ++from_back) {
      int64_t extent = 1;
      for (const Shape& shape : shapes) {
        const int64_t own = from_back < shape.size() ? shape[shape.size() - 1 - from_back] : 1;
        extent = own != 1 ? own : extent;
      }
      result.insert(result.begin(), extent);
    }
    const int64_t total = std::accumulate(result.begin(), result.end(), int64_t{1}, std::multiplies<>());
    std::vector<float> expected;
    for (int64_t i = 0; i < total; ++i) {
      expected.push_back(a.view.as<float>()[broadcast_offset(result, shapes[0], i)] -
                         b.view.as<float>()[broadcast_offset(result, shapes[1], i)]);
    }
    const int reuse = shapes[0] == result && pick(0, 1) != 0 ? 0 : -1;
    const auto context = Call{"Sub", 14, {&a.view, &b.view}, {DataType::kFloat}, {}, {}, 2, reuse}.run();
    check_close(context->result(0), expected, 0, __LINE__);
  }
}

void folding_three_shapes_repeats_what_only_the_third_has() {
  const OwnedTensor a = random_tensor<float>({1});
  const OwnedTensor b = random_tensor<float>({1});
  const OwnedTensor c = random_tensor<float>({700, 1, 1});
  for (const char* op : {"Max", "Sum"}) {
    const auto context = Call{op, 13, {&a.view, &b.view, &c.view}, {DataType::kFloat}}.run();
    for (int64_t i = 0; i < 700; ++i) {
      const float x = *a.view.as<float>();
      const float y = *b.view.as<float>();
      const float z = c.view.as<float>()[i];
      CHECK(context->result(0).as<float>()[i] == (op[0] == 'M' ? std::max({x, y, z}) : x + y + z));
    }
  }
}

void threads_see_disjoint_parts_of_a_long_broadcast() {
  const OwnedTensor a = random_tensor<float>({300, 1, 400});
  const OwnedTensor b = random_tensor<float>({3, 1});
  const auto context = Call{"Mul", 14, {&a.view, &b.view}, {DataType::kFloat}, {}, {}, 3}.run();
  for (int64_t i = 0; i < 360000; ++i) {
    const float expected = a.view.as<float>()[i / 1200 * 400 + i % 400] * b.view.as<float>()[i / 400 % 3];
    CHECK(context->result(0).as<float>()[i] == expected);
  }
}

void integer_division_truncates_wraps_and_never_traps() {
  const int32_t lowest = std::numeric_limits<int32_t>::min();
  const OwnedTensor a = tensor<int32_t>({4}, {-7, 7, lowest, 5});
  const OwnedTensor b = tensor<int32_t>({4}, {2, -2, -1, 0});
  check_close<int32_t>(Call{"Div", 14, {&a.view, &b.view}, {DataType::kInt32}}.run()->result(0), {-3, -3, lowest, 0}, 0,
                       __LINE__);
}

void integers_wrap_around_without_overflow() {
  const OwnedTensor a = tensor<uint16_t>({1}, {65535});
  CHECK((*Call{"Mul", 14, {&a.view, &a.view}, {DataType::kUInt16}}.run()->result(0).as<uint16_t>() == 1));
  const OwnedTensor c = tensor<int64_t>({1}, {std::numeric_limits<int64_t>::min()});
  for (const char* op : {"Neg", "Abs"}) {
    CHECK((*Call{op, 13, {&c.view}, {DataType::kInt64}}.run()->result(0).as<int64_t>() == *c.view.as<int64_t>()));
  }
}

void extrema_propagate_nan_and_relu_and_clip_keep_it() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const OwnedTensor a = tensor<float>({3}, {nan, 1, nan});
  const OwnedTensor b = tensor<float>({3}, {1, nan, nan});
  for (const char* op : {"Max", "Min"}) {
    check_close<float>(Call{op, 13, {&a.view, &b.view}, {DataType::kFloat}}.run()->result(0), {nan, nan, nan}, 0,
                       __LINE__);
  }
  const OwnedTensor x = tensor<float>({4}, {nan, -1, 0.5, 9});
  check_close<float>(Call{"Relu", 14, {&x.view}, {DataType::kFloat}}.run()->result(0), {nan, 0, 0.5, 9}, 0, __LINE__);
  const OwnedTensor low = tensor<float>({}, {0});
  const OwnedTensor high = tensor<float>({}, {2});
  check_close<float>(Call{"Clip", 13, {&x.view, &low.view, &high.view}, {DataType::kFloat}}.run()->result(0),
                     {nan, 0, 0.5, 2}, 0, __LINE__);
}

void vectorised_functions_agree_with_the_library_within_a_few_units() {
  std::vector<float> values;
  for (float x = -120; x < 120; x += 0.0371f) values.push_back(x);
  for (int i = -140; i < 120; ++i) values.push_back(std::ldexp(1.37f, i));
  const OwnedTensor x = tensor<float>({static_cast<int64_t>(values.size())}, values);
  const auto compare = [&](const char* op, auto&& exact) {
    const auto context = Call{op, 13, {&x.view}, {DataType::kFloat}}.run();
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = exact(static_cast<double>(values[i]));
      const double got = static_cast<double>(context->result(0).as<float>()[i]);
      const bool same_special = std::isnan(expected) == std::isnan(got) && static_cast<float>(expected) == got;
      if (std::isnan(expected) && std::isnan(got)) continue;
      if (!same_special && !(std::abs(got - expected) <= 6e-7 * std::abs(expected) + 1e-44)) {
        std::ostringstream text;
        text << op << "(" << values[i] << ") is " << got << ", expected " << expected;
        fail_check(text.str(), __LINE__);
      }
    }
  };
  compare("Exp", [](double v) { return std::exp(v); });
  compare("Log", [](double v) { return std::log(v); });
  compare("Tanh", [](double v) { return std::tanh(v); });
  compare("Erf", [](double v) { return std::erf(v); });
  compare("Sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); });
}

// Types ---------------------------------------------------------------------------------------------------------------

void every_16_bit_float_survives_the_way_through_float() {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Float16 half{static_cast<uint16_t>(bits)};
    const BFloat16 brain{static_cast<uint16_t>(bits)};
    if (std::isnan(to_float(half))) {
      CHECK(std::isnan(to_float(to_float16(to_float(half)))));
    } else {
      CHECK(to_float16(to_float(half)).bits == half.bits);
    }
    if (std::isnan(to_float(brain))) {
      CHECK(std::isnan(to_float(to_bfloat16(to_float(brain)))));
    } else {
      CHECK(to_bfloat16(to_float(brain)).bits == brain.bits);
    }
  }
}

void rounding_to_16_bits_takes_the_nearest_and_the_even_of_two() {
  for (uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const Float16 low{static_cast<uint16_t>(bits)};
    const Float16 high{static_cast<uint16_t>(bits + 1)};
    const float a = to_float(low);
    const float b = bits + 1 == 0x7C00 ? 65536.0f : to_float(high);
    const float middle = a + (b - a) / 2;
    CHECK(to_float16(middle).bits == (bits % 2 == 0 ? bits : bits + 1));
    CHECK(to_float16(std::nextafter(middle, 0.0f)).bits == bits);
    CHECK(to_float16(-std::nextafter(middle, 1e9f)).bits == (0x8000u | (bits + 1)));
  }
}

void bfloat16_arithmetic_is_floats_rounded_once() {
  const int64_t n = 3001;
  OwnedTensor a(DataType::kBFloat16, &n, 1);
  OwnedTensor b(DataType::kBFloat16, &n, 1);
  for (int64_t i = 0; i < n; ++i) {
    a.view.as<BFloat16>()[i] = to_bfloat16(static_cast<float>(pick(-1000, 1000)) / 64);
    b.view.as<BFloat16>()[i] = to_bfloat16(static_cast<float>(pick(-1000, 1000)) / 64);
  }
  const auto context = Call{"Mul", 14, {&a.view, &b.view}, {DataType::kBFloat16}}.run();
  for (int64_t i = 0; i < n; ++i) {
    const float exact = to_float(a.view.as<BFloat16>()[i]) * to_float(b.view.as<BFloat16>()[i]);
    CHECK(context->result(0).as<BFloat16>()[i].bits == to_bfloat16(exact).bits);
  }
}

template <class In>
void cast_specials(const std::vector<In>& values) {
  const OwnedTensor x = tensor<In>({static_cast<int64_t>(values.size())}, values);
  for (const DataType to : kNumericTypes + kBoolType) {
    const auto context = Call{"Cast", 13, {&x.view}, {to}, {{"to", static_cast<int64_t>(to)}}}.run();
    CHECK(context->result(0).element_count == x.view.element_count);
  }
}

void casts_of_any_value_to_any_type_are_defined() {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  cast_specials<double>({infinity, -infinity, nan, 1e300, -1e300, 3e9, -3e9, 1e19, 9.3e18, -0.5, 255.9, 1e-310});
  const auto f = [](double x) { return static_cast<float>(x); };
  cast_specials<float>({f(infinity), f(-infinity), f(nan), 3e38f, -3e38f, 3e9f, -3e9f, 1e19f, -0.5f, 255.9f, 1e-40f});
  cast_specials<int64_t>({std::numeric_limits<int64_t>::min(), -1, 0, std::numeric_limits<int64_t>::max()});
  cast_specials<uint64_t>({std::numeric_limits<uint64_t>::max(), 0, 300});

  const OwnedTensor x = tensor<float>({5}, {f(nan), 3e9f, -3e9f, -1.5f, 2.7f});
  const int32_t lowest = std::numeric_limits<int32_t>::min();
  check_close<int32_t>(Call{"Cast", 13, {&x.view}, {DataType::kInt32}, {{"to", int64_t{6}}}}.run()->result(0),
                       {lowest, lowest, lowest, -1, 2}, 0, __LINE__);
}

// Shapes --------------------------------------------------------------------------------------------------------------

void transposing_random_shapes_equals_the_index_rule() {
  for (int round = 0; round < 200; ++round) {
    const Shape shape = random_shape(static_cast<size_t>(pick(1, 5)), pick(0, 3) == 0 ? 40 : 7);
    Shape perm(shape.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random_bits());
    const OwnedTensor x = random_tensor<float>(shape);
    const auto context = Call{"Transpose", 13, {&x.view}, {DataType::kFloat}, {{"perm", perm}}, {}, 2}.run();
    const TensorView& y = context->result(0);
    Shape strides(shape.size(), 1);
    for (size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * shape[d + 1];
    for (int64_t i = 0; i < y.element_count; ++i) {
      int64_t rest = i;
      int64_t from = 0;
      for (size_t d = shape.size(); d-- > 0;) {
        from += rest % y.dims[d] * strides[static_cast<size_t>(perm[d])];
        rest /= y.dims[d];
      }
      CHECK(y.as<float>()[i] == x.view.as<float>()[from]);
    }
  }
}

void slicing_clamps_bounds_as_the_operator_says_for_any_step() {
  for (int round = 0; round < 500; ++round) {
    const int64_t extent = pick(1, 9);
    const int64_t start = pick(-12, 12);
    const int64_t end = pick(-12, 12);
    const int64_t step = pick(0, 1) != 0 ? pick(1, 12) : -pick(1, 12);
    std::vector<int64_t> expected;  // by walking
    const auto wrapped = [&](int64_t i, int64_t low, int64_t high) {
      return std::clamp(i < 0 ? i + extent : i, low, high);
    };
    if (step > 0) {
      for (int64_t i = wrapped(start, 0, extent); i < wrapped(end, 0, extent); i += step) expected.push_back(i);
    } else {
      for (int64_t i = wrapped(start, 0, extent - 1); i > wrapped(end, -1, extent - 1); i += step) {
        expected.push_back(i);
      }
    }
    std::vector<int64_t> values(static_cast<size_t>(extent));
    std::iota(values.begin(), values.end(), 0);
    const OwnedTensor x = tensor<int64_t>({extent}, values);
    const OwnedTensor bounds[] = {tensor<int64_t>({1}, {start}), tensor<int64_t>({1}, {end}), tensor<int64_t>({1}, {0}),
                                  tensor<int64_t>({1}, {step})};
    const auto context = Call{
        "Slice",
        13,
        {&x.view, &bounds[0].view, &bounds[1].view, &bounds[2].view, &bounds[3].view},
        {DataType::kInt64}}.run();
    check_close(context->result(0), expected, 0, __LINE__);
  }
}

void gathering_outside_the_axis_is_an_error() {
  const OwnedTensor x = random_tensor<float>({3});
  for (const int64_t index : {int64_t{3}, int64_t{-4}}) {
    const OwnedTensor at = tensor<int64_t>({}, {index});
    bool refused = false;
    try {
      Call{"Gather", 13, {&x.view, &at.view}, {DataType::kFloat}}.run();
    } catch (const Error& error) {
      refused = error.kind() == ErrorKind::kInvalidArgument;
    }
    CHECK(refused);
  }
}

// Reductions ----------------------------------------------------------------------------------------------------------

void reductions_over_random_axes_equal_the_plain_fold() {
  for (int round = 0; round < 300; ++round) {
    const Shape shape = random_shape(static_cast<size_t>(pick(0, 5)), pick(0, 4) == 0 ? 70 : 5);
    std::vector<int64_t> axes;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (pick(0, 1) != 0)
        axes.push_back(pick(0, 1) != 0 ? static_cast<int64_t>(d)
                                       : static_cast<int64_t>(d) - static_cast<int64_t>(shape.size()));
    }
    const OwnedTensor x = random_tensor<double>(shape);
    const OwnedTensor named = tensor<int64_t>({static_cast<int64_t>(axes.size())}, axes);
    Shape kept(shape);
    for (const int64_t axis : axes)
      kept[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis)] = 1;
    if (axes.empty()) kept.assign(shape.size(), 1);
    const int64_t count = std::accumulate(kept.begin(), kept.end(), int64_t{1}, std::multiplies<>());
    std::vector<double> sums(static_cast<size_t>(count), 0);
    std::vector<double> maxima(static_cast<size_t>(count), -std::numeric_limits<double>::infinity());
    for (int64_t i = 0; i < x.view.element_count; ++i) {
      int64_t rest = i;
      int64_t at = 0;
      int64_t stride = 1;
      for (size_t d = shape.size(); d-- > 0;) {
        if (kept[d] != 1) at += rest % shape[d] * stride;
        stride *= kept[d];
        rest /= shape[d];
      }
      const double value = x.view.as<double>()[i];
      sums[static_cast<size_t>(at)] += value;
      maxima[static_cast<size_t>(at)] = std::max(maxima[static_cast<size_t>(at)], value);
    }
    const auto reduce = [&](const char* op, int version) {
      return Call{op, version, {&x.view, &named.view}, {DataType::kDouble}, {{"keepdims", int64_t{pick(0, 1)}}}, {}, 2}
          .run();
    };
    check_close(reduce("ReduceSum", 13)->result(0), sums, 1e-10, __LINE__);
    check_close(reduce("ReduceMax", 18)->result(0), maxima, 0, __LINE__);
  }
}

void a_long_sum_is_the_same_for_any_number_of_threads() {
  const OwnedTensor x = random_tensor<float>({1000003});
  const auto sum = [&](int threads) {
    return *Call{"ReduceSum", 13, {&x.view}, {DataType::kFloat}, {}, {}, threads}.run()->result(0).as<float>();
  };
  CHECK(sum(1) == sum(2));
  CHECK(sum(1) == sum(5));
}

template <class Half>
void check_columns(const Shape& shape) {
  OwnedTensor x(kDataTypeOf<Half>, shape.data(), shape.size());
  std::vector<double> expected(static_cast<size_t>(shape[1]));
  for (int64_t i = 0; i < x.view.element_count; ++i) {
    Half& element = x.view.as<Half>()[i];
    from_float(static_cast<float>(pick(-64, 64)) / 16, element);  // every partial sum is exact in float
    expected[static_cast<size_t>(i % shape[1])] += static_cast<double>(to_float(element));
  }
  for (const int threads : {1, 2, 5}) {
    const OwnedTensor axis = tensor<int64_t>({1}, {0});
    const auto done = Call{"ReduceSum", 13, {&x.view, &axis.view}, {x.view.dtype}, {}, {}, threads}.run();
    for (int64_t i = 0; i < shape[1]; ++i) {
      Half rounded;
      from_float(static_cast<float>(expected[static_cast<size_t>(i)]), rounded);
      CHECK(done->result(0).as<Half>()[i].bits == rounded.bits);
    }
  }
}

void sums_of_columns_of_16_bit_floats_are_exact_in_float_and_rounded_once() {
  for (const Shape& shape : {Shape{7, 3}, Shape{8, 8}, Shape{29, 131}, Shape{2051, 515}, Shape{64, 9001}}) {
    check_columns<BFloat16>(shape);
    check_columns<Float16>(shape);
  }
}

void a_sum_of_columns_is_the_same_for_any_number_of_threads() {
  const OwnedTensor x = random_tensor<float>({1027, 1031});
  const OwnedTensor axis = tensor<int64_t>({1}, {0});
  const auto sum = [&](int threads) {
    return Call{"ReduceSum", 13, {&x.view, &axis.view}, {DataType::kFloat}, {}, {}, threads}.run();
  };
  const auto alone = sum(1);
  for (const int threads : {2, 3, 7}) check_same_bytes(alone->result(0), sum(threads)->result(0), __LINE__);
}

void a_sum_of_a_row_of_float16_is_rounded_once() {
  for (const int64_t n : {1, 31, 32, 33, 2048, 2049, 5000}) {
    OwnedTensor x(DataType::kFloat16, &n, 1);
    double expected = 0;
    for (int64_t i = 0; i < n; ++i) {
      x.view.as<Float16>()[i] = to_float16(static_cast<float>(pick(-64, 64)) / 16);
      expected += static_cast<double>(to_float(x.view.as<Float16>()[i]));
    }
    const auto done = Call{"ReduceSum", 13, {&x.view}, {DataType::kFloat16}}.run();
    CHECK(done->result(0).as<Float16>()->bits == to_float16(static_cast<float>(expected)).bits);
  }
}

// Powers --------------------------------------------------------------------------------------------------------------

// Places of float between the two, infinities one beyond the largest number.
int64_t units_between(float a, float b) {
  const auto order = [](float x) {
    const auto bits = bits_as<uint32_t>(x);
    const auto magnitude = static_cast<int64_t>(bits & 0x7FFFFFFFu);
    return (bits >> 31) != 0 ? -magnitude : magnitude;
  };
  return std::abs(order(a) - order(b));
}

void check_powers(const OwnedTensor& x, const OwnedTensor& y, int line) {
  const auto done = Call{"Pow", 15, {&x.view, &y.view}, {DataType::kFloat}}.run();
  const TensorView& got = done->result(0);
  for (int64_t i = 0; i < got.element_count; ++i) {
    const float base = x.view.as<float>()[x.view.element_count == 1 ? 0 : i];
    const float exponent = y.view.as<float>()[y.view.element_count == 1 ? 0 : i];
    const auto expected = static_cast<float>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    const float power = got.as<float>()[i];
    if (std::isnan(power) && std::isnan(expected)) continue;
    if (std::signbit(power) != std::signbit(expected) || std::isnan(power) != std::isnan(expected) ||
        units_between(power, expected) > 2) {
      std::ostringstream text;
      text << base << " ^ " << exponent << " is " << power << ", expected " << expected;
      fail_check(text.str(), line);
    }
  }
}

void powers_of_floats_are_within_two_units_and_keep_the_special_cases_of_c() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> special = {
      0.0f,   -0.0f,   1.0f,  -1.0f,   2.0f,   -2.0f,   0.5f,      -0.5f,      3.0f,
      -3.0f,  1.5f,    -1.5f, 1e30f,   -1e30f, 1e-30f,  1e-40f,    -1e-40f,    16777215.0f,
      -0.99f, 32769.f, 1e10f, 3.4e38f, 100.0f, -101.0f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> bases;
  std::vector<float> exponents;
  for (const float base : special) {
    for (const float exponent : special) {
      bases.push_back(base);
      exponents.push_back(exponent);
    }
  }
  const Shape pairs = {static_cast<int64_t>(bases.size())};
  check_powers(tensor<float>(pairs, bases), tensor<float>(pairs, exponents), __LINE__);

  const Shape many = {200003};
  check_powers(random_tensor<float>(many, 0, 10), random_tensor<float>(many, -40, 40), __LINE__);
  check_powers(random_tensor<float>(many, 0.9, 1.1), random_tensor<float>(many, -600, 600), __LINE__);
  check_powers(random_tensor<float>(many, 0.999, 1.001), random_tensor<float>(many, -60000, 60000), __LINE__);
  check_powers(random_tensor<float>(many, 0, 1e38), random_tensor<float>(many, -1.2, 1.2), __LINE__);
  check_powers(random_tensor<float>(many, 0, 10), tensor<float>({1}, {-1.75f}), __LINE__);
  check_powers(random_tensor<float>(many, -10, 10), tensor<float>({1}, {5.0f}), __LINE__);
  check_powers(tensor<float>({1}, {0.3f}), random_tensor<float>(many, -90, 90), __LINE__);
  for (const float exponent : {0.5f, 2.0f, 3.0f, -1.0f, 1.0f, 0.0f}) {
    check_powers(tensor<float>({static_cast<int64_t>(special.size())}, special), tensor<float>({1}, {exponent}),
                 __LINE__);
  }
  for (const int64_t n : {1, 15, 16, 17, 300}) {
    check_powers(random_tensor<float>({n}, 0, 3), random_tensor<float>({n}), __LINE__);
  }
}

// Remainders ----------------------------------------------------------------------------------------------------------

void check_remainders(const OwnedTensor& a, const OwnedTensor& b, int line) {
  const auto done = Call{"Mod", 13, {&a.view, &b.view}, {DataType::kFloat}, {{"fmod", int64_t{1}}}}.run();
  const TensorView& got = done->result(0);
  for (int64_t i = 0; i < got.element_count; ++i) {
    const float dividend = a.view.as<float>()[a.view.element_count == 1 ? 0 : i];
    const float divisor = b.view.as<float>()[b.view.element_count == 1 ? 0 : i];
    const float expected = std::fmod(dividend, divisor);
    const float remainder = got.as<float>()[i];
    if (std::isnan(remainder) && std::isnan(expected)) continue;
    if (bits_as<uint32_t>(remainder) != bits_as<uint32_t>(expected)) {
      std::ostringstream text;
      text << "fmod(" << dividend << ", " << divisor << ") is " << remainder << ", expected " << expected;
      fail_check(text.str(), line);
    }
  }
}

void remainders_of_floats_are_those_of_c_to_the_last_bit() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> special = {0.0f,
                                      -0.0f,
                                      1.0f,
                                      -1.0f,
                                      6.0f,
                                      -6.0f,
                                      3.0f,
                                      -3.0f,
                                      1e-40f,
                                      3e38f,
                                      -1e30f,
                                      1e-30f,
                                      0.1f,
                                      16777217.0f,
                                      kInfinity,
                                      -kInfinity,
                                      std::numeric_limits<float>::quiet_NaN()};
  for (const float divisor : special) {
    const Shape shape = {static_cast<int64_t>(special.size())};
    check_remainders(tensor<float>(shape, special), tensor<float>({1}, {divisor}), __LINE__);
    check_remainders(tensor<float>({1}, {divisor}), tensor<float>(shape, special), __LINE__);
  }
  const Shape many = {100003};
  check_remainders(random_tensor<float>(many, -9, 9), random_tensor<float>(many, -3, 3), __LINE__);
  check_remainders(random_tensor<float>(many, -1e8, 1e8), random_tensor<float>(many, 0.5, 1.5), __LINE__);
  check_remainders(random_tensor<float>(many, -1e30, 1e30), random_tensor<float>(many, 1e-9, 1e-6), __LINE__);
  // Multiples and their neighbours, whose quotients round to integers.
  OwnedTensor a = random_tensor<float>(many, 1, 2);
  const OwnedTensor b = random_tensor<float>(many, 1, 2);
  for (int64_t i = 0; i < many[0]; ++i) {
    const float multiple = b.view.as<float>()[i] * static_cast<float>(pick(1, 1 << 20));
    a.view.as<float>()[i] = bits_as<float>(bits_as<uint32_t>(multiple) + static_cast<uint32_t>(pick(0, 2)) - 1);
  }
  check_remainders(a, b, __LINE__);
}

void a_large_product_is_the_same_for_any_number_of_threads() {
  const OwnedTensor a = random_tensor<float>({517, 803});
  const OwnedTensor b = random_tensor<float>({803, 301});
  const auto product = [&](int threads) {
    return Call{"MatMul", 13, {&a.view, &b.view}, {DataType::kFloat}, {}, {}, threads}.run();
  };
  const auto alone = product(1);
  for (const int threads : {2, 3, 7}) check_same_bytes(alone->result(0), product(threads)->result(0), __LINE__);
}

void products_larger_than_the_blocks_that_threads_share_are_whole() {
  gemm_case<float>(2900, 33, 400, false, false, false, 2);
  gemm_case<float>(33, 2900, 400, true, true, false, 3);
  gemm_case<float>(30, 2900, 400, false, false, true, 2);
  gemm_case<double>(1500, 70, 401, false, true, false, 2);
}

// Registry ------------------------------------------------------------------------------------------------------------

// Narrow types, selection and attention: values are compared with package onnx in Python; here, buffers end where they
// should and threads agree ------------------------------------------------------------------------------------------

OwnedTensor random_codes(DataType type, const Shape& shape) {
  OwnedTensor made(type, shape.data(), shape.size());
  auto* bytes = made.view.as<uint8_t>();
  const size_t count = checked_byte_size(type, made.view.element_count).value();
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(pick(0, type == DataType::kBool ? 1 : 255));
  return made;
}

void casts_between_all_types_keep_to_their_buffers_on_any_number_of_threads() {
  for (const DataType from : kConvertibleTypes) {
    for (const DataType to : kConvertibleTypes) {
      for (const int64_t n : {0, 1, 7, 513, 70001}) {
        if (n > 1000 && !(is_sub_byte(from) || is_sub_byte(to))) continue;
        const OwnedTensor x = random_codes(from, {n});
        Call call{"Cast", 24, {&x.view}, {to}, {{"to", static_cast<int64_t>(to)}}};
        const auto serial = call.run();
        call.threads = 3;
        check_same_bytes(serial->result(0), call.run()->result(0), __LINE__);
      }
    }
  }
}

void blocks_of_any_size_quantize_within_their_buffers() {
  for (const DataType type : {DataType::kInt8, DataType::kUInt4, DataType::kInt2, DataType::kFloat8E5M2,
                              DataType::kFloat4E2M1, DataType::kUInt16}) {
    for (int round = 0; round < 20; ++round) {
      const Shape shape = {pick(1, 3), pick(1, 9), pick(1, 5)};
      const int64_t axis = pick(0, 2);
      const int64_t block = pick(1, 4);
      Shape blocks = shape;
      int64_t& extent = blocks[static_cast<size_t>(axis)];
      extent = (extent + block - 1) / block;
      const OwnedTensor x = random_tensor<float>(shape, -9, 9);
      const OwnedTensor scale = random_tensor<float>(blocks, 0.5, 2);
      const OwnedTensor zero = random_codes(type, blocks);
      std::map<std::string, Attribute, std::less<>> attributes = {{"axis", axis}, {"block_size", block}};
      const auto quantized = Call{"QuantizeLinear", 25, {&x.view, &scale.view, &zero.view}, {type}, attributes}.run();
      const auto back =
          Call{"DequantizeLinear", 25, {&quantized->result(0), &scale.view, &zero.view}, {DataType::kFloat}, attributes}
              .run();
      CHECK(back->result(0).element_count == x.view.element_count);
    }
  }
}

void the_largest_of_each_line_come_in_order() {
  for (int round = 0; round < 50; ++round) {
    const Shape shape = {pick(1, 4), pick(1, 300), pick(1, 3)};
    const OwnedTensor x = random_tensor<float>(shape);
    const int64_t count = pick(0, shape[1]);
    const OwnedTensor k = tensor<int64_t>({1}, {count});
    const auto done = Call{"TopK",
                           24,
                           {&x.view, &k.view},
                           {DataType::kFloat, DataType::kInt64},
                           {{"axis", int64_t{1}}},
                           {},
                           static_cast<int>(pick(1, 3))}
                          .run();
    const float* values = done->result(0).as<float>();
    const int64_t* indices = done->result(1).as<int64_t>();
    for (int64_t outer = 0; outer < shape[0]; ++outer) {
      for (int64_t inner = 0; inner < shape[2]; ++inner) {
        for (int64_t i = 0; i < count; ++i) {
          const int64_t at = (outer * count + i) * shape[2] + inner;
          CHECK(x.view.as<float>()[(outer * shape[1] + indices[at]) * shape[2] + inner] == values[at]);
          CHECK(i == 0 || values[at - shape[2]] >= values[at]);
        }
      }
    }
  }
}

void attention_of_random_shapes_stays_in_its_buffers() {
  for (int round = 0; round < 40; ++round) {
    const int64_t groups = pick(1, 2);
    const Shape q_shape = {pick(1, 2), groups * pick(1, 2), pick(1, 20), pick(1, 9)};
    const int64_t keys = pick(1, 40);
    const OwnedTensor q = random_tensor<float>(q_shape);
    const OwnedTensor k = random_tensor<float>({q_shape[0], groups, keys, q_shape[3]});
    const OwnedTensor v = random_tensor<float>({q_shape[0], groups, keys, 5});
    const OwnedTensor mask = random_tensor<float>({q_shape[2], pick(1, keys)});
    std::map<std::string, Attribute, std::less<>> attributes = {{"is_causal", pick(0, 1)},
                                                                {"left_window_size", pick(-1, 5)}};
    const auto done = Call{"Attention",
                           25,
                           {&q.view, &k.view, &v.view, &mask.view},
                           {DataType::kFloat},
                           attributes,
                           {},
                           static_cast<int>(pick(1, 3))}
                          .run();
    for (int64_t i = 0; i < done->result(0).element_count; ++i) CHECK(std::abs(done->result(0).as<float>()[i]) <= 2);
  }
}

void scattered_updates_land_where_their_indices_say() {
  for (int round = 0; round < 50; ++round) {
    const Shape shape = {pick(1, 5), pick(1, 6)};
    const OwnedTensor data = random_tensor<double>(shape);
    const Shape few = {pick(0, shape[0]), pick(0, shape[1])};
    const OwnedTensor updates = random_tensor<double>(few);
    OwnedTensor indices(DataType::kInt64, few.data(), 2);
    for (int64_t i = 0; i < indices.view.element_count; ++i) {
      indices.view.as<int64_t>()[i] = pick(-shape[1], shape[1] - 1);
    }
    const auto done = Call{"ScatterElements",
                           18,
                           {&data.view, &indices.view, &updates.view},
                           {DataType::kDouble},
                           {{"axis", int64_t{1}}, {"reduction", std::string("add")}}}
                          .run();
    std::vector<double> expected(data.view.as<double>(), data.view.as<double>() + data.view.element_count);
    for (int64_t i = 0; i < updates.view.element_count; ++i) {
      const int64_t index = (indices.view.as<int64_t>()[i] + shape[1]) % shape[1];
      expected[static_cast<size_t>(i / few[1] * shape[1] + index)] += updates.view.as<double>()[i];
    }
    check_close(done->result(0), expected, 1e-15, __LINE__);
  }
}

// Images, sequences and 8-bit integers
// ---------------------------------------------------------------------------------

void a_sequence_that_has_ended_keeps_its_state_and_answers_zeros() {
  for (int round = 0; round < 60; ++round) {
    const bool batch_first = pick(0, 1) == 1;
    const int64_t steps = pick(1, 6);
    const int64_t batch = pick(1, 5);
    const int64_t n = pick(1, 9);
    const int64_t inputs = pick(1, 4);
    const std::string op = std::vector<std::string>{"LSTM", "GRU", "RNN"}[static_cast<size_t>(round % 3)];
    const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
    const int64_t directions = pick(1, 2);
    const OwnedTensor x = random_tensor<float>(batch_first ? Shape{batch, steps, inputs} : Shape{steps, batch, inputs});
    const OwnedTensor w = random_tensor<float>({directions, gates * n, inputs});
    const OwnedTensor r = random_tensor<float>({directions, gates * n, n});
    OwnedTensor lengths(DataType::kInt32, &batch, 1);
    for (int64_t b = 0; b < batch; ++b) lengths.view.as<int32_t>()[b] = static_cast<int32_t>(pick(0, steps));
    std::map<std::string, Attribute, std::less<>> attributes = {
        {"layout", int64_t{batch_first ? 1 : 0}},
        {"direction", std::string(directions == 2 ? "bidirectional" : "forward")},
        {"clip", pick(0, 1) == 1 ? 0.5f : 0.0f}};
    const auto done = Call{op,
                           22,
                           {&x.view, &w.view, &r.view, nullptr, &lengths.view},
                           {DataType::kFloat, DataType::kFloat},
                           attributes,
                           {},
                           static_cast<int>(pick(1, 3))}
                          .run();
    const float* y = done->result(0).as<float>();
    const float* last = done->result(1).as<float>();
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t length = lengths.view.as<int32_t>()[b];
      for (int64_t d = 0; d < directions; ++d) {
        const auto row = [&](int64_t t) {
          return y + (batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) * n;
        };
        const float* state = last + (batch_first ? b * directions + d : d * batch + b) * n;
        for (int64_t j = 0; j < n; ++j) {
          for (int64_t t = length; t < steps; ++t) CHECK(row(t)[j] == 0);
          CHECK(state[j] == (length == 0 ? 0 : row(d == 0 ? length - 1 : 0)[j]));
        }
      }
    }
  }
}

void resizing_keeps_what_is_constant_in_every_mode() {
  const std::vector<std::string> modes = {"nearest", "linear", "cubic"};
  const std::vector<std::string> coordinates = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                                "align_corners", "asymmetric",           "tf_half_pixel_for_nn"};
  for (int round = 0; round < 120; ++round) {
    const Shape shape = {pick(1, 3), pick(1, 9), pick(1, 9)};
    OwnedTensor x(DataType::kFloat, shape.data(), shape.size());
    std::fill_n(x.view.as<float>(), x.view.element_count, 3.0f);
    const OwnedTensor sizes = tensor<int64_t>({3}, {pick(0, 4), pick(1, 20), pick(1, 20)});
    const auto done = Call{"Resize",
                           19,
                           {&x.view, nullptr, nullptr, &sizes.view},
                           {DataType::kFloat},
                           {{"mode", modes[static_cast<size_t>(pick(0, 2))]},
                            {"coordinate_transformation_mode", coordinates[static_cast<size_t>(pick(0, 5))]},
                            {"antialias", pick(0, 1)}},
                           {},
                           static_cast<int>(pick(1, 3))}
                          .run();
    const TensorView& y = done->result(0);
    check_close(y, std::vector<float>(static_cast<size_t>(y.element_count), 3.0f), 1e-5, __LINE__);
  }
}

void indices_of_max_pool_point_at_its_values() {
  for (int round = 0; round < 60; ++round) {
    const Shape shape = {pick(1, 3), pick(1, 3), pick(4, 9), pick(4, 9)};
    const OwnedTensor x = random_tensor<float>(shape);
    const auto done = Call{"MaxPool",
                           12,
                           {&x.view},
                           {DataType::kFloat, DataType::kInt64},
                           {{"kernel_shape", std::vector<int64_t>{pick(1, 3), pick(1, 3)}},
                            {"strides", std::vector<int64_t>{pick(1, 3), pick(1, 3)}},
                            {"ceil_mode", pick(0, 1)}},
                           {},
                           static_cast<int>(pick(1, 3))}
                          .run();
    const TensorView& y = done->result(0);
    for (int64_t i = 0; i < y.element_count; ++i) {
      const int64_t at = done->result(1).as<int64_t>()[i];
      CHECK(at >= 0 && at < x.view.element_count);
      CHECK(x.view.as<float>()[at] == y.as<float>()[i]);
    }
  }
}

void integer_convolution_is_exact_with_constant_weights_or_not() {
  for (int round = 0; round < 40; ++round) {
    const int64_t groups = pick(1, 2);
    const int64_t channels = pick(1, 40);
    const Shape shape = {pick(1, 2), groups * channels, pick(4, 7), pick(4, 7)};
    const OwnedTensor x = random_tensor<uint8_t>(shape, 0, 255.9);
    const OwnedTensor w = random_tensor<int8_t>({groups * pick(1, 3), channels, 3, 3}, -128, 127.9);
    const OwnedTensor x_zero = random_tensor<uint8_t>({}, 0, 255.9);
    const OwnedTensor w_zero = random_tensor<int8_t>({w.dims[0]}, -128, 127.9);
    std::map<std::string, Attribute, std::less<>> attributes = {{"group", groups},
                                                                {"pads", std::vector<int64_t>{1, 1, 1, 1}}};
    OwnedTensor wide_x(DataType::kDouble, shape.data(), shape.size());
    for (int64_t i = 0; i < x.view.element_count; ++i) {
      wide_x.view.as<double>()[i] = x.view.as<uint8_t>()[i] - *x_zero.view.as<uint8_t>();
    }
    OwnedTensor wide_w(DataType::kDouble, w.dims.data(), w.dims.size());
    for (int64_t i = 0; i < w.view.element_count; ++i) {
      wide_w.view.as<double>()[i] = w.view.as<int8_t>()[i] - w_zero.view.as<int8_t>()[i / (channels * 9)];
    }
    const auto exact = Call{"Conv", 11, {&wide_x.view, &wide_w.view}, {DataType::kDouble}, attributes}.run();
    for (const bool constant : {false, true}) {
      const auto done = Call{"ConvInteger",
                             10,
                             {&x.view, &w.view, &x_zero.view, &w_zero.view},
                             {DataType::kInt32},
                             attributes,
                             {false, constant, false, constant},
                             static_cast<int>(pick(1, 3))}
                            .run();
      CHECK(done->result(0).element_count == exact->result(0).element_count);
      for (int64_t i = 0; i < exact->result(0).element_count; ++i) {
        CHECK(done->result(0).as<int32_t>()[i] == exact->result(0).as<double>()[i]);
      }
    }
  }
}

void large_outputs_are_streamed_to_every_element() {
  const Shape shape = {(25 << 20) / 2 + 7};
  const OwnedTensor x = random_codes(DataType::kBFloat16, shape);
  for (const int threads : {1, 3}) {
    const auto done = Call{"Neg", 13, {&x.view}, {DataType::kBFloat16}, {}, {}, threads}.run();
    for (int64_t i = 0; i < shape[0]; ++i) {
      CHECK((x.view.as<uint16_t>()[i] ^ 0x8000) == done->result(0).as<uint16_t>()[i]);
    }
  }
}

void every_entry_names_types_and_an_ordered_range_of_versions() {
  CHECK(native_kernels().entries().size() > 80);
  for (const KernelEntry& entry : native_kernels().entries()) {
    CHECK(entry.domain.empty());
    CHECK(entry.factory != nullptr);
    CHECK(entry.since_version >= 1 && entry.since_version <= entry.end_version);
    CHECK(entry.end_version < 100);
    CHECK(!entry.type_constraints.empty());
    for (const auto& [name, types] : entry.type_constraints) CHECK(!name.empty() && !types.empty());
  }
}

void empty_tensors_pass_through_every_operator_of_one_tensor() {
  const OwnedTensor x = random_tensor<float>({2, 0, 3});
  for (const char* op : {"Relu", "Neg", "Exp", "Sigmoid", "Tanh", "Softmax", "Transpose", "Identity", "Sqrt"}) {
    const auto context = Call{op, 13, {&x.view}, {DataType::kFloat}}.run();
    CHECK(context->result(0).element_count == 0);
  }
  const OwnedTensor one = random_tensor<float>({1});
  for (const char* op : {"Add", "Mul", "Div"}) {
    CHECK((Call{op, 14, {&x.view, &one.view}, {DataType::kFloat}}.run()->result(0).element_count == 0));
    CHECK((Call{op, 14, {&one.view, &x.view}, {DataType::kFloat}}.run()->result(0).element_count == 0));
  }
}

// Strides -------------------------------------------------------------------------------------------------------------

// A view with strides over random elements that holds for its own, and the same elements in a dense tensor.
struct StridedTensor {
  OwnedTensor base;
  Shape dims;
  Shape strides;
  OwnedTensor dense;
  TensorView view;

  // Dimensions of extent 1 get strides that mean nothing. `zero` lets dimensions repeat.
  StridedTensor(DataType type, const Shape& shape, bool zero)
      : base(type, nullptr, 0), dims(shape), strides(shape.size()), dense(type, shape.data(), shape.size()) {
    Shape order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_bits());
    int64_t size = 1;
    int64_t first = 0;
    for (const int64_t d : order) {
      const auto at = static_cast<size_t>(d);
      const int64_t kind = pick(0, 5);
      if (zero && kind == 0) continue;  // stride 0
      const int64_t step = size * (kind == 1 ? pick(2, 3) : 1);
      strides[at] = kind == 2 ? -step : step;
      if (shape[at] == 0) continue;
      if (kind == 2) first += (shape[at] - 1) * step;
      size += (shape[at] - 1) * step;
      if (shape[at] == 1) strides[at] = pick(-9, 9);
    }
    base = random_codes(type, {size});
    if (type == DataType::kFloat) base = random_tensor<float>({size}, 0.1, 2);
    if (type == DataType::kDouble) base = random_tensor<double>({size}, 0.1, 2);
    if (is_half(type)) {  // no NaN, whose bits are nobody's promise
      for (int64_t i = 0; i < size; ++i) base.view.as<uint16_t>()[i] &= 0xBFFF;
    }
    const auto width = byte_width(type);
    view = dense.view;
    view.data = base.view.as<char>() + static_cast<size_t>(first) * width;
    view.dims = dims.data();
    view.strides = strides.data();
    for (int64_t i = 0; i < view.element_count; ++i) {
      int64_t rest = i;
      int64_t offset = 0;
      for (size_t d = shape.size(); d-- > 0;) {
        offset += rest % shape[d] * strides[d];
        rest /= shape[d];
      }
      std::memcpy(dense.view.as<char>() + static_cast<size_t>(i) * width,
                  view.as<char>() + offset * static_cast<int64_t>(width), width);
    }
  }
  StridedTensor(const StridedTensor&) = delete;
};

// Computes with each of the inputs in `strided` as a view with strides and as a dense tensor: no difference.
void check_strides(Call call, std::initializer_list<std::pair<size_t, const StridedTensor*>> strided, int line,
                   double tolerance = 0) {
  for (const auto& [input, tensor] : strided) call.inputs[input] = &tensor->dense.view;
  const auto expected = call.run();
  for (const auto& [input, tensor] : strided) call.inputs[input] = &tensor->view;
  for (const int threads : {1, 3}) {
    call.threads = threads;
    const auto got = call.run();
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      CHECK(got->result(i).is_dense());
      CHECK(Shape(got->result(i).dims, got->result(i).dims + got->result(i).rank) ==
            Shape(expected->result(i).dims, expected->result(i).dims + expected->result(i).rank));
      if (tolerance == 0) {
        check_same_bytes(got->result(i), expected->result(i), line);
      } else {
        const auto* values = expected->result(i).as<float>();
        check_close(got->result(i), std::vector<float>(values, values + expected->result(i).element_count), tolerance,
                    line);
      }
    }
  }
}

// Of any rank, some with short and some with long rows, some empty.
Shape random_strided_shape(size_t rank) {
  Shape shape(rank);
  for (int64_t& extent : shape) extent = pick(0, 29) == 0 ? 0 : pick(0, 3) == 0 ? pick(1, 3) : pick(1, 12);
  if (rank > 0 && pick(0, 2) == 0) shape[static_cast<size_t>(pick(0, static_cast<int64_t>(rank) - 1))] *= 40;
  return shape;
}

void elementwise_operators_read_any_strides() {
  for (int round = 0; round < 150; ++round) {
    const Shape shape = random_strided_shape(static_cast<size_t>(pick(0, 4)));
    for (const DataType type : {DataType::kFloat, DataType::kBFloat16, DataType::kInt8, DataType::kDouble}) {
      const StridedTensor x(type, shape, true);
      for (const char* op : {"Relu", "Neg", "Abs"}) check_strides({op, 13, {nullptr}, {type}}, {{0, &x}}, __LINE__);
      const OwnedTensor low = random_codes(type, {});
      check_strides({"Clip", 13, {nullptr, &low.view}, {type}}, {{0, &x}}, __LINE__);
      for (const DataType to : {DataType::kFloat, DataType::kInt64, DataType::kUInt4, DataType::kFloat8E5M2}) {
        check_strides({"Cast", 24, {nullptr}, {to}, {{"to", static_cast<int64_t>(to)}}}, {{0, &x}}, __LINE__);
      }
    }
    const StridedTensor truth(DataType::kBool, shape, true);
    check_strides({"Not", 1, {nullptr}, {DataType::kBool}}, {{0, &truth}}, __LINE__);
    const StridedTensor pair(DataType::kComplex128, shape, true);
    check_strides({"Identity", 14, {nullptr}, {DataType::kComplex128}}, {{0, &pair}}, __LINE__);
    const StridedTensor word(DataType::kUInt16, shape, true);
    const auto bits = static_cast<int64_t>(DataType::kFloat16);
    check_strides({"BitCast", 26, {nullptr}, {DataType::kFloat16}, {{"to", bits}}}, {{0, &word}}, __LINE__);
  }
}

void operands_of_any_strides_broadcast() {
  for (int round = 0; round < 300; ++round) {
    const Shape out = random_strided_shape(static_cast<size_t>(pick(0, 4)));
    Shape shapes[3] = {out, out, out};
    for (Shape& shape : shapes) {
      for (int64_t& extent : shape) extent = pick(0, 3) == 0 && extent != 0 ? 1 : extent;
      shape.erase(shape.begin(), shape.begin() + (pick(0, 1) != 0 ? pick(0, static_cast<int64_t>(shape.size())) : 0));
    }
    for (const DataType type : {DataType::kFloat, DataType::kFloat16, DataType::kUInt8}) {
      const StridedTensor a(type, shapes[0], true);
      const StridedTensor b(type, shapes[1], true);
      const StridedTensor c(type, shapes[2], true);
      for (const char* op : {"Add", "Mul", "Sub"}) {
        Call call{op, 14, {nullptr, &b.dense.view}, {type}};
        check_strides(call, {{0, &a}}, __LINE__);
        call.inputs = {&a.dense.view, nullptr};
        call.reuse = shapes[0] == out ? 0 : -1;
        if (call.reuse != 0) check_strides(call, {{1, &b}}, __LINE__);
        check_strides({op, 14, {nullptr, nullptr}, {type}}, {{0, &a}, {1, &b}}, __LINE__);
      }
      check_strides({"Less", 13, {nullptr, nullptr}, {DataType::kBool}}, {{0, &a}, {1, &b}}, __LINE__);
      check_strides({"Max", 13, {nullptr, nullptr, nullptr}, {type}}, {{0, &a}, {1, &b}, {2, &c}}, __LINE__);
      const StridedTensor condition(DataType::kBool, shapes[2], true);
      check_strides({"Where", 16, {nullptr, &a.dense.view, &b.dense.view}, {type}}, {{0, &condition}}, __LINE__);
      check_strides({"Where", 16, {nullptr, nullptr, nullptr}, {type}}, {{0, &condition}, {1, &a}, {2, &b}}, __LINE__);
    }
    const StridedTensor base(DataType::kFloat, shapes[0], true);
    const StridedTensor exponent(DataType::kDouble, shapes[1], true);
    check_strides({"Pow", 15, {nullptr, nullptr}, {DataType::kFloat}}, {{0, &base}, {1, &exponent}}, __LINE__);
  }
}

void an_operand_of_any_strides_may_meet_an_output_over_the_other_one() {
  for (int round = 0; round < 100; ++round) {
    const Shape shape = random_strided_shape(static_cast<size_t>(pick(1, 4)));
    const StridedTensor b(DataType::kFloat, shape, true);
    OwnedTensor a = random_tensor<float>(shape);
    const auto expected = Call{"Sub", 14, {&a.view, &b.dense.view}, {DataType::kFloat}}.run();
    const auto got = Call{"Sub", 14, {&a.view, &b.view}, {DataType::kFloat}, {}, {}, 2, 0}.run();
    CHECK(got->result(0).data == a.view.data);
    check_same_bytes(got->result(0), expected->result(0), __LINE__);
  }
}

void operators_that_move_elements_read_any_strides() {
  for (int round = 0; round < 200; ++round) {
    for (const DataType type : {DataType::kFloat, DataType::kUInt8, DataType::kComplex128, DataType::kBFloat16}) {
      const auto rank = static_cast<size_t>(pick(1, 4));
      const Shape shape = random_strided_shape(rank);
      const auto last = static_cast<int64_t>(rank) - 1;
      const int64_t axis = pick(0, last);
      const int64_t extent = shape[static_cast<size_t>(axis)];
      const StridedTensor x(type, shape, true);
      Shape perm(rank);
      std::iota(perm.begin(), perm.end(), 0);
      std::shuffle(perm.begin(), perm.end(), random_bits());
      check_strides({"Transpose", 13, {nullptr}, {type}, {{"perm", perm}}}, {{0, &x}}, __LINE__);
      const OwnedTensor one = tensor<int64_t>({1}, {1});
      const OwnedTensor end = tensor<int64_t>({1}, {pick(-9, 9)});
      const OwnedTensor named = tensor<int64_t>({1}, {axis});
      const OwnedTensor step = tensor<int64_t>({1}, {pick(0, 1) != 0 ? pick(1, 3) : -pick(1, 3)});
      check_strides({"Slice", 13, {nullptr, &one.view, &end.view, &named.view, &step.view}, {type}}, {{0, &x}},
                    __LINE__);
      const OwnedTensor sizes = tensor<int64_t>({2}, {extent / 3, extent - extent / 3});
      check_strides({"Split", 13, {nullptr, &sizes.view}, {type, type}, {{"axis", axis}}}, {{0, &x}}, __LINE__);
      const StridedTensor other(type, shape, true);
      check_strides({"Concat", 13, {nullptr, &x.dense.view, nullptr}, {type}, {{"axis", axis}}}, {{0, &x}, {2, &other}},
                    __LINE__);
      const OwnedTensor flat = tensor<int64_t>({1}, {-1});
      if (x.view.element_count > 0) {
        check_strides({"Reshape", 14, {nullptr, &flat.view}, {type}}, {{0, &x}}, __LINE__);
      }
      check_strides({"Flatten", 13, {nullptr}, {type}, {{"axis", axis}}}, {{0, &x}}, __LINE__);
      check_strides({"Unsqueeze", 13, {nullptr, &named.view}, {type}}, {{0, &x}}, __LINE__);
      check_strides({"Squeeze", 13, {nullptr}, {type}}, {{0, &x}}, __LINE__);
      check_strides({"Shape", 13, {nullptr}, {DataType::kInt64}}, {{0, &x}}, __LINE__);
      std::vector<int64_t> few(rank, 2);
      const OwnedTensor repeats = tensor<int64_t>({static_cast<int64_t>(rank)}, few);
      check_strides({"Tile", 13, {nullptr, &repeats.view}, {type}}, {{0, &x}}, __LINE__);
      few.assign(shape.begin(), shape.end());
      few.insert(few.begin(), 3);
      const OwnedTensor wider = tensor<int64_t>({static_cast<int64_t>(rank) + 1}, few);
      check_strides({"Expand", 13, {nullptr, &wider.view}, {type}}, {{0, &x}}, __LINE__);
      if (x.view.element_count == 0) continue;
      few.assign(2 * rank, 1);
      few[0] = -1;
      const OwnedTensor pads = tensor<int64_t>({static_cast<int64_t>(few.size())}, few);
      for (const char* mode : {"constant", "edge", "wrap"}) {
        check_strides({"Pad", 19, {nullptr, &pads.view}, {type}, {{"mode", std::string(mode)}}}, {{0, &x}}, __LINE__);
      }
      const OwnedTensor rows = tensor<int64_t>({3}, {extent - 1, 0, -1});
      check_strides({"Gather", 13, {nullptr, &rows.view}, {type}, {{"axis", axis}}}, {{0, &x}}, __LINE__);
      const StridedTensor image(type, {pick(1, 2), 4 * pick(1, 2), 2 * pick(1, 9), 2 * pick(1, 9)}, true);
      check_strides({"SpaceToDepth", 13, {nullptr}, {type}, {{"blocksize", int64_t{2}}}}, {{0, &image}}, __LINE__);
      for (const char* mode : {"DCR", "CRD"}) {
        check_strides({"DepthToSpace", 13, {nullptr}, {type}, {{"blocksize", int64_t{2}}, {"mode", std::string(mode)}}},
                      {{0, &image}}, __LINE__);
      }
    }
  }
}

void products_read_matrices_of_any_strides() {
  for (int round = 0; round < 300; ++round) {
    const int64_t m = pick(0, 3) == 0 ? 1 : pick(1, 40);
    const int64_t n = pick(0, 3) == 0 ? 1 : pick(1, 70);
    const int64_t k = pick(0, 3) == 0 ? 1 : pick(1, 40);
    const Shape batches[] = {{}, {3}, {2, 3}, {2, 1}, {1, 1}};
    Shape a_shape = batches[pick(0, 4)];
    Shape b_shape = batches[pick(0, 4)];
    a_shape.insert(a_shape.end(), {m, k});
    b_shape.insert(b_shape.end(), {k, n});
    if (pick(0, 5) == 0) a_shape = {k};
    if (pick(0, 5) == 0) b_shape = {k};
    {
      const DataType type = DataType::kFloat;
      const StridedTensor a(type, a_shape, true);
      const StridedTensor b(type, b_shape, true);
      check_strides({"MatMul", 13, {nullptr, &b.dense.view}, {type}}, {{0, &a}}, __LINE__, 1e-5);
      check_strides({"MatMul", 13, {&a.dense.view, nullptr}, {type}}, {{1, &b}}, __LINE__, 1e-5);
      check_strides({"MatMul", 13, {nullptr, nullptr}, {type}}, {{0, &a}, {1, &b}}, __LINE__, 1e-5);
      const int64_t transpose_a = pick(0, 1);
      const int64_t transpose_b = pick(0, 1);
      const StridedTensor left(type, transpose_a != 0 ? Shape{k, m} : Shape{m, k}, true);
      const StridedTensor right(type, transpose_b != 0 ? Shape{n, k} : Shape{k, n}, true);
      const StridedTensor bias(type, batches[pick(0, 1)].empty() ? Shape{n} : Shape{m, n}, true);
      const float alpha = pick(0, 1) != 0 ? 1.0f : 0.5f;
      check_strides({"Gemm",
                     13,
                     {nullptr, nullptr, nullptr},
                     {type},
                     {{"transA", transpose_a}, {"transB", transpose_b}, {"alpha", alpha}}},
                    {{0, &left}, {1, &right}, {2, &bias}}, __LINE__, 1e-5);
    }
  }
}

struct Test {
  const char* name;
  void (*run)();
};

#define TEST(function) {#function, &function}

constexpr Test kTests[] = {
    TEST(gemm_equals_the_plain_product_for_every_edge_of_its_tiles),
    TEST(gemm_equals_the_plain_product_beyond_its_blocks_and_with_threads),
    TEST(matmul_broadcasts_batches_and_drops_the_dimensions_of_vectors),
    TEST(matmul_of_integers_wraps_around),
    TEST(matmul_integer_is_exact_for_extreme_values_and_long_sums),
    TEST(convolution_equals_the_plain_sum_over_random_windows),
    TEST(binary_operators_broadcast_like_the_index_rule_in_place_or_not),
    TEST(folding_three_shapes_repeats_what_only_the_third_has),
    TEST(threads_see_disjoint_parts_of_a_long_broadcast),
    TEST(integer_division_truncates_wraps_and_never_traps),
    TEST(integers_wrap_around_without_overflow),
    TEST(extrema_propagate_nan_and_relu_and_clip_keep_it),
    TEST(vectorised_functions_agree_with_the_library_within_a_few_units),
    TEST(every_16_bit_float_survives_the_way_through_float),
    TEST(rounding_to_16_bits_takes_the_nearest_and_the_even_of_two),
    TEST(bfloat16_arithmetic_is_floats_rounded_once),
    TEST(casts_of_any_value_to_any_type_are_defined),
    TEST(transposing_random_shapes_equals_the_index_rule),
    TEST(slicing_clamps_bounds_as_the_operator_says_for_any_step),
    TEST(gathering_outside_the_axis_is_an_error),
    TEST(reductions_over_random_axes_equal_the_plain_fold),
    TEST(a_long_sum_is_the_same_for_any_number_of_threads),
    TEST(sums_of_columns_of_16_bit_floats_are_exact_in_float_and_rounded_once),
    TEST(a_sum_of_columns_is_the_same_for_any_number_of_threads),
    TEST(a_sum_of_a_row_of_float16_is_rounded_once),
    TEST(powers_of_floats_are_within_two_units_and_keep_the_special_cases_of_c),
    TEST(remainders_of_floats_are_those_of_c_to_the_last_bit),
    TEST(a_large_product_is_the_same_for_any_number_of_threads),
    TEST(products_larger_than_the_blocks_that_threads_share_are_whole),
    TEST(casts_between_all_types_keep_to_their_buffers_on_any_number_of_threads),
    TEST(blocks_of_any_size_quantize_within_their_buffers),
    TEST(the_largest_of_each_line_come_in_order),
    TEST(attention_of_random_shapes_stays_in_its_buffers),
    TEST(scattered_updates_land_where_their_indices_say),
    TEST(large_outputs_are_streamed_to_every_element),
    TEST(every_entry_names_types_and_an_ordered_range_of_versions),
    TEST(empty_tensors_pass_through_every_operator_of_one_tensor),
    TEST(elementwise_operators_read_any_strides),
    TEST(operands_of_any_strides_broadcast),
    TEST(an_operand_of_any_strides_may_meet_an_output_over_the_other_one),
    TEST(operators_that_move_elements_read_any_strides),
    TEST(products_read_matrices_of_any_strides),
    TEST(a_sequence_that_has_ended_keeps_its_state_and_answers_zeros),
    TEST(resizing_keeps_what_is_constant_in_every_mode),
    TEST(indices_of_max_pool_point_at_its_values),
    TEST(integer_convolution_is_exact_with_constant_weights_or_not),
};

}  // namespace
}  // namespace onnx_light_ort::kernels::test

int main() {
  using namespace onnx_light_ort::kernels::test;
  int failed = 0;
  for (const Test& test : kTests) {
    try {
      test.run();
    } catch (const std::exception& error) {
      std::printf("FAILED %s: %s\n", test.name, error.what());
      ++failed;
    }
  }
  std::printf("%zu tests, %d failed\n", std::size(kTests), failed);
  return failed == 0 ? 0 : 1;
}
