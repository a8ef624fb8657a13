#include "numpy_value.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <typeinfo>
#include <vector>

#include "buffer.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::bindings {
namespace {

using engine::Buffer;
using engine::Ref;
using engine::Value;
using kernels::DataType;
using kernels::TensorView;

/// References that lost their last engine owner while the GIL was not held.
class PendingReferences {
 public:
  void add(PyObject* object) {
    std::lock_guard lock(mutex_);
    objects_.push_back(object);
    any_.store(true, std::memory_order_release);
  }
  void drop() {
    if (!any_.load(std::memory_order_acquire)) return;
    std::vector<PyObject*> objects;
    {
      std::lock_guard lock(mutex_);
      objects.swap(objects_);
      any_.store(false, std::memory_order_release);
    }
    for (PyObject* object : objects) Py_DECREF(object);
  }

 private:
  std::mutex mutex_;
  std::vector<PyObject*> objects_;
  std::atomic<bool> any_{false};
};

PendingReferences& pending() {
  static PendingReferences references;
  return references;
}

/// Owns one reference to a Python object.
class PythonOwner final : public engine::Owner {
 public:
  explicit PythonOwner(PyObject* object) : object_(object) { Py_INCREF(object); }
  PyObject* object() const noexcept { return object_; }

 private:
  void dispose() noexcept override {
    if (PyGILState_Check()) {
      Py_DECREF(object_);
    } else {
      pending().add(object_);
    }
    delete this;
  }
  PyObject* object_;
};

PyObject* python_object(const Value& value) {
  engine::Owner* owner = value.owner() ? value.owner()->of_memory() : nullptr;
  if (owner == nullptr || typeid(*owner) != typeid(PythonOwner)) return nullptr;
  return static_cast<PythonOwner*>(owner)->object();
}

struct ExtensionType {
  DataType dtype;
  const char* ml_dtypes_name;
};

constexpr ExtensionType kExtensionTypes[] = {
    {DataType::kBFloat16, "bfloat16"},
    {DataType::kFloat8E4M3FN, "float8_e4m3fn"},
    {DataType::kFloat8E4M3FNUZ, "float8_e4m3fnuz"},
    {DataType::kFloat8E5M2, "float8_e5m2"},
    {DataType::kFloat8E5M2FNUZ, "float8_e5m2fnuz"},
    {DataType::kFloat8E8M0, "float8_e8m0fnu"},
    {DataType::kUInt4, "uint4"},
    {DataType::kInt4, "int4"},
    {DataType::kFloat4E2M1, "float4_e2m1fn"},
    {DataType::kUInt2, "uint2"},
    {DataType::kInt2, "int2"},
};

constexpr int kNoNumpyType = -1;

/// numpy's type number of each ONNX type. ml_dtypes is imported when the first of its types is met.
class NumpyTypes {
 public:
  static NumpyTypes& get() {
    static NumpyTypes types;
    return types;
  }

  int number(DataType dtype) {
    const auto index = static_cast<size_t>(dtype);
    if (numbers_[index] == kNoNumpyType) load_extension_types();
    return numbers_[index];
  }

  DataType data_type(int number) {
    switch (number) {
      case NPY_FLOAT:
        return DataType::kFloat;
      case NPY_DOUBLE:
        return DataType::kDouble;
      case NPY_BOOL:
        return DataType::kBool;
      case NPY_INT8:
        return DataType::kInt8;
      case NPY_UINT8:
        return DataType::kUInt8;
      case NPY_INT16:
        return DataType::kInt16;
      case NPY_UINT16:
        return DataType::kUInt16;
      case NPY_INT:
        return DataType::kInt32;
      case NPY_UINT:
        return DataType::kUInt32;
      case NPY_LONG:
        return sizeof(long) == 8 ? DataType::kInt64 : DataType::kInt32;
      case NPY_ULONG:
        return sizeof(long) == 8 ? DataType::kUInt64 : DataType::kUInt32;
      case NPY_LONGLONG:
        return DataType::kInt64;
      case NPY_ULONGLONG:
        return DataType::kUInt64;
      case NPY_HALF:
        return DataType::kFloat16;
      case NPY_CFLOAT:
        return DataType::kComplex64;
      case NPY_CDOUBLE:
        return DataType::kComplex128;
      case NPY_OBJECT:
      case NPY_UNICODE:
      case NPY_STRING:
        return DataType::kString;
      default:
        break;
    }
    if (number < NPY_USERDEF) return DataType::kUndefined;
    load_extension_types();
    for (const ExtensionType& type : kExtensionTypes) {
      if (numbers_[static_cast<size_t>(type.dtype)] == number) return type.dtype;
    }
    return DataType::kUndefined;
  }

 private:
  NumpyTypes() {
    numbers_.fill(kNoNumpyType);
    const auto set = [&](DataType dtype, int number) { numbers_[static_cast<size_t>(dtype)] = number; };
    set(DataType::kFloat, NPY_FLOAT);
    set(DataType::kDouble, NPY_DOUBLE);
    set(DataType::kBool, NPY_BOOL);
    set(DataType::kInt8, NPY_INT8);
    set(DataType::kUInt8, NPY_UINT8);
    set(DataType::kInt16, NPY_INT16);
    set(DataType::kUInt16, NPY_UINT16);
    set(DataType::kInt32, NPY_INT32);
    set(DataType::kUInt32, NPY_UINT32);
    set(DataType::kInt64, NPY_INT64);
    set(DataType::kUInt64, NPY_UINT64);
    set(DataType::kFloat16, NPY_HALF);
    set(DataType::kComplex64, NPY_COMPLEX64);
    set(DataType::kComplex128, NPY_COMPLEX128);
    set(DataType::kString, NPY_OBJECT);
  }

  void load_extension_types() {
    if (loaded_) return;
    const nb::module_ ml_dtypes = nb::module_::import_("ml_dtypes");
    const nb::object dtype_class = nb::module_::import_("numpy").attr("dtype");
    for (const ExtensionType& type : kExtensionTypes) {
      if (!nb::hasattr(ml_dtypes, type.ml_dtypes_name)) continue;
      const nb::object dtype = dtype_class(ml_dtypes.attr(type.ml_dtypes_name));
      numbers_[static_cast<size_t>(type.dtype)] = reinterpret_cast<PyArray_Descr*>(dtype.ptr())->type_num;
    }
    loaded_ = true;
  }

  std::array<int, kernels::kDataTypeCount> numbers_;
  bool loaded_ = false;
};

/// Throws the Python error that a null result stands for.
nb::object steal_or_throw(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

PyArrayObject* as_array(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

// npy_intp and int64_t are the same on every 64-bit platform; numpy's shapes are used as ours.
static_assert(sizeof(npy_intp) == sizeof(int64_t), "numpy's dimensions must be 64 bits wide");

const int64_t* array_dims(PyArrayObject* array) { return reinterpret_cast<const int64_t*>(PyArray_DIMS(array)); }

nb::object new_array(DataType dtype, const TensorView& view) {
  const int number = NumpyTypes::get().number(dtype);
  if (number == kNoNumpyType) {
    kernels::fail(kernels::ErrorKind::kNotImplemented, std::string("the installed ml_dtypes has no ") +
                                                           kernels::data_type_name(dtype) + ": install a newer one");
  }
  return steal_or_throw(PyArray_SimpleNew(static_cast<int>(view.rank),
                                          reinterpret_cast<npy_intp*>(const_cast<int64_t*>(view.dims)), number));
}

// Sub-byte elements: low bits first, one a byte on numpy's side. ml_dtypes keeps an int4 sign-extended in its byte.
Value pack(PyArrayObject* array, DataType dtype) {
  const auto bits = static_cast<unsigned>(kernels::bit_size(dtype));
  const unsigned per_byte = 8 / bits;
  const unsigned mask = (1u << bits) - 1;
  const int64_t count = PyArray_SIZE(array);
  Ref<Buffer> buffer = Buffer::allocate(*kernels::checked_byte_size(dtype, count), nullptr);
  auto* out = static_cast<uint8_t*>(buffer->data());
  std::memset(out, 0, *kernels::checked_byte_size(dtype, count));
  const auto* in = static_cast<const uint8_t*>(PyArray_DATA(array));
  for (int64_t i = 0; i < count; ++i) {
    out[i / per_byte] = static_cast<uint8_t>(out[i / per_byte] | ((in[i] & mask) << (i % per_byte * bits)));
  }
  return Value::tensor(dtype, array_dims(array), static_cast<size_t>(PyArray_NDIM(array)), out, std::move(buffer));
}

nb::object unpack(const TensorView& view) {
  nb::object array = new_array(view.dtype, view);
  const auto bits = static_cast<unsigned>(kernels::bit_size(view.dtype));
  const unsigned per_byte = 8 / bits;
  const unsigned mask = (1u << bits) - 1;
  const bool is_signed = view.dtype == DataType::kInt4 || view.dtype == DataType::kInt2;
  const unsigned sign = 1u << (bits - 1);
  const auto* in = view.as<const uint8_t>();
  auto* out = static_cast<uint8_t*>(PyArray_DATA(as_array(array.ptr())));
  for (int64_t i = 0; i < view.element_count; ++i) {
    unsigned element = (in[i / per_byte] >> (i % per_byte * bits)) & mask;
    if (is_signed) element = (element ^ sign) - sign;
    out[i] = static_cast<uint8_t>(element);
  }
  return array;
}

std::string utf8(PyObject* text) {
  if (PyBytes_Check(text)) return std::string(PyBytes_AS_STRING(text), static_cast<size_t>(PyBytes_GET_SIZE(text)));
  if (!PyUnicode_Check(text)) {
    kernels::invalid_argument(std::string("a string tensor holds str or bytes elements, and this array holds a ") +
                              Py_TYPE(text)->tp_name);
  }
  Py_ssize_t size = 0;
  if (const char* data = PyUnicode_AsUTF8AndSize(text, &size)) return std::string(data, static_cast<size_t>(size));
  // Bytes that were no UTF-8 left as surrogates, and come back as the bytes that they were.
  PyErr_Clear();
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape"));
  if (!bytes.is_valid()) {
    PyErr_Clear();
    kernels::invalid_argument("an element of a string tensor is no text that UTF-8 can hold");
  }
  return std::string(PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
}

Value strings_from_array(nb::object array) {
  if (PyArray_TYPE(as_array(array.ptr())) != NPY_OBJECT) array = array.attr("astype")("O");
  array = steal_or_throw(PyArray_FROM_OF(array.ptr(), NPY_ARRAY_C_CONTIGUOUS));
  PyArrayObject* objects = as_array(array.ptr());
  const npy_intp count = PyArray_SIZE(objects);
  // Not charged to a session, as numeric arrays are not, which a value borrows.
  auto* buffer =
      new engine::StringBuffer(count, engine::Buffer::allocate(engine::StringBuffer::byte_size(count), nullptr));
  Ref<> owner = Ref<>::adopt(buffer);
  auto* const* items = static_cast<PyObject**>(PyArray_DATA(objects));
  for (npy_intp i = 0; i < count; ++i) buffer->data()[i] = utf8(items[i]);
  return Value::tensor(DataType::kString, array_dims(objects), static_cast<size_t>(PyArray_NDIM(objects)),
                       buffer->data(), std::move(owner));
}

nb::object array_from_strings(const TensorView& view) {
  nb::object array = new_array(DataType::kString, view);
  auto** items = static_cast<PyObject**>(PyArray_DATA(as_array(array.ptr())));
  const auto* strings = view.as<const std::string>();
  for (int64_t i = 0; i < view.element_count; ++i) {
    const std::string& text = strings[i];
    // Bytes that are no UTF-8 survive a round trip as surrogates.
    PyObject* item = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
    if (item == nullptr) throw nb::python_error();
    Py_XDECREF(items[i]);
    items[i] = item;
  }
  return array;
}

nb::object copy_to_array(const TensorView& view) {
  nb::object array = new_array(view.dtype, view);
  const size_t bytes = kernels::checked_byte_size(view.dtype, view.element_count).value_or(0);
  if (bytes != 0) std::memcpy(PyArray_DATA(as_array(array.ptr())), view.data, bytes);
  return array;
}

void release_owner_capsule(PyObject* capsule) {
  static_cast<engine::Owner*>(PyCapsule_GetPointer(capsule, nullptr))->release();
}

// An array over the value's memory; the array's base keeps the owner.
nb::object array_over(const Value& value) {
  const TensorView& view = value.view();
  nb::object base = steal_or_throw(PyCapsule_New(value.owner().get(), nullptr, release_owner_capsule));
  value.owner().get()->retain();
  const int number = NumpyTypes::get().number(view.dtype);
  nb::object array = steal_or_throw(PyArray_New(&PyArray_Type, static_cast<int>(view.rank),
                                                reinterpret_cast<npy_intp*>(const_cast<int64_t*>(view.dims)), number,
                                                nullptr, view.data, 0, NPY_ARRAY_CARRAY, nullptr));
  if (PyArray_SetBaseObject(as_array(array.ptr()), base.release().ptr()) < 0) throw nb::python_error();
  return array;
}

bool has_numpy_layout(DataType dtype) {
  return dtype != DataType::kUndefined && dtype != DataType::kString && !kernels::is_sub_byte(dtype);
}

// A sequence, map or optional with containers and arrays of its own: those of a value may be a feed's or a constant's.
nb::object own_copy(nb::handle object) {
  if (PyArray_Check(object.ptr())) return steal_or_throw(PyArray_NewCopy(as_array(object.ptr()), NPY_CORDER));
  if (nb::isinstance<nb::list>(object)) {
    nb::list copy;
    for (nb::handle item : object) copy.append(own_copy(item));
    return copy;
  }
  if (nb::isinstance<nb::dict>(object)) {
    nb::dict copy;
    for (auto [key, item] : nb::borrow<nb::dict>(object)) copy[key] = own_copy(item);
    return copy;
  }
  return nb::borrow(object);
}

// The array that a Python kernel made this value from, if the value still is that array.
PyObject* same_array(const Value& value) {
  PyObject* object = python_object(value);
  if (object == nullptr || !PyArray_Check(object)) return nullptr;
  PyArrayObject* array = as_array(object);
  const TensorView& view = value.view();
  const bool same = PyArray_DATA(array) == view.data && static_cast<size_t>(PyArray_NDIM(array)) == view.rank &&
                    std::equal(view.dims, view.dims + view.rank, PyArray_DIMS(array)) &&
                    array_data_type(object) == view.dtype;
  return same ? object : nullptr;
}

}  // namespace

void import_numpy() {
  if (_import_array() < 0) throw nb::python_error();
}

DataType array_data_type(PyObject* array) { return NumpyTypes::get().data_type(PyArray_TYPE(as_array(array))); }

nb::object numpy_dtype(DataType dtype) {
  const int number = NumpyTypes::get().number(dtype);
  if (number == kNoNumpyType) {
    kernels::invalid_argument(std::string("numpy has no dtype for ") + kernels::data_type_name(dtype));
  }
  return steal_or_throw(reinterpret_cast<PyObject*>(PyArray_DescrFromType(number)));
}

Value value_from_array(PyObject* object) {
  const DataType dtype = array_data_type(object);
  if (dtype == DataType::kUndefined) {
    nb::object name = nb::str(nb::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(as_array(object)))));
    kernels::invalid_argument("an array of dtype " + nb::cast<std::string>(name) + " has no ONNX element type");
  }
  if (dtype == DataType::kString) return strings_from_array(nb::borrow(object));
  nb::object array = nb::borrow(object);
  if (!PyArray_IS_C_CONTIGUOUS(as_array(object)) || !PyArray_ISALIGNED(as_array(object)) ||
      !PyArray_ISNOTSWAPPED(as_array(object))) {
    array = steal_or_throw(PyArray_FROM_OF(object, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED));
  }
  PyArrayObject* dense = as_array(array.ptr());
  if (kernels::is_sub_byte(dtype)) return pack(dense, dtype);
  Value value;
  value.set_tensor(dtype, array_dims(dense), static_cast<size_t>(PyArray_NDIM(dense)), PyArray_SIZE(dense),
                   PyArray_DATA(dense), Ref<>::adopt(new PythonOwner(array.ptr())));
  return value;
}

// Shares the memory of an array of any strides, where they are whole elements.
static Value strided_value_from_array(PyObject* object) {
  PyArrayObject* array = as_array(object);
  const auto rank = static_cast<size_t>(PyArray_NDIM(array));
  const DataType dtype = array_data_type(object);
  if (PyArray_IS_C_CONTIGUOUS(array) || !PyArray_ISALIGNED(array) || !PyArray_ISNOTSWAPPED(array) ||
      rank > kernels::kMaxStridedRank || !has_numpy_layout(dtype)) {
    return value_from_array(object);
  }
  const int64_t width = PyArray_ITEMSIZE(array);
  std::array<int64_t, kernels::kMaxStridedRank> strides;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t bytes = PyArray_STRIDE(array, static_cast<int>(d));
    if (bytes % width != 0) return value_from_array(object);  // a field of a structure
    strides[d] = bytes / width;
  }
  Value value;
  value.set_strided_tensor(dtype, array_dims(array), strides.data(), rank, PyArray_SIZE(array), PyArray_DATA(array),
                           Ref<>::adopt(new PythonOwner(object)));
  return value;
}

Value value_from_object(nb::handle object, bool strides) {
  if (PyArray_Check(object.ptr())) {
    return strides ? strided_value_from_array(object.ptr()) : value_from_array(object.ptr());
  }
  if (nb::isinstance<Value>(object)) return nb::cast<const Value&>(object);
  if (PyArray_CheckScalar(object.ptr()) || PyBool_Check(object.ptr()) || PyFloat_Check(object.ptr()) ||
      PyLong_Check(object.ptr())) {
    return value_from_array(steal_or_throw(PyArray_FROM_O(object.ptr())).ptr());
  }
  return Value::object(Ref<>::adopt(new PythonOwner(object.ptr())));
}

nb::object object_from_value(const Value& value) {
  if (value.empty()) return nb::none();
  if (!value.is_tensor()) {
    PyObject* object = python_object(value);
    if (object == nullptr) {
      kernels::fail(kernels::ErrorKind::kNotImplemented, "this value is neither a tensor nor a Python object");
    }
    return nb::borrow(object);
  }
  const TensorView& view = value.view();
  if (view.dtype == DataType::kString) return array_from_strings(view);
  if (kernels::is_sub_byte(view.dtype)) return unpack(view);
  if (PyObject* array = same_array(value)) return nb::borrow(array);
  return value.owner() ? array_over(value) : copy_to_array(view);
}

nb::object readonly_object(const Value& value) {
  // A view of its own: the flag is the array's, and the array may be the caller's.
  nb::object object = value.is_tensor() && value.owner() && has_numpy_layout(value.view().dtype)
                          ? array_over(value)
                          : object_from_value(value);
  if (PyArray_Check(object.ptr()) && value.is_tensor()) PyArray_CLEARFLAGS(as_array(object.ptr()), NPY_ARRAY_WRITEABLE);
  return object;
}

nb::object publish_value(const Value& value) {
  if (!value.is_tensor()) return own_copy(object_from_value(value));
  if (!has_numpy_layout(value.view().dtype)) return object_from_value(value);
  engine::Owner* owner = value.owner().get();
  if (owner != nullptr && owner->unique()) {
    if (owner->as_buffer() != nullptr) return array_over(value);
    // A kernel's own fresh array: it owns its memory, and only this value refers to it.
    PyObject* array = same_array(value);
    if (array != nullptr && Py_REFCNT(array) == 1 && PyArray_CHKFLAGS(as_array(array), NPY_ARRAY_OWNDATA)) {
      return nb::borrow(array);
    }
  }
  return copy_to_array(value.view());
}

void drop_pending_references() { pending().drop(); }

}  // namespace onnx_light_ort::bindings
