# What a plugin is built with: find_package(onnx_light_ort CONFIG REQUIRED), with the folder that
# onnx_light_ort.cmake_dir() names in onnx_light_ort_ROOT.
#
#   onnx_light_ort::abi                        the C header, for target_link_libraries; it brings no library
#   onnx_light_ort_add_plugin(NAME source...)  a plugin library, libNAME.so
get_filename_component(_onnx_light_ort_package "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(onnx_light_ort_INCLUDE_DIR "${_onnx_light_ort_package}/include")
unset(_onnx_light_ort_package)

if(NOT EXISTS "${onnx_light_ort_INCLUDE_DIR}/onnx_light_ort/ort_abi.h")
  set(onnx_light_ort_FOUND FALSE)
  set(onnx_light_ort_NOT_FOUND_MESSAGE "${onnx_light_ort_INCLUDE_DIR} lacks the header: install onnx-light-ort again")
  return()
endif()

if(NOT TARGET onnx_light_ort::abi)
  add_library(onnx_light_ort::abi INTERFACE IMPORTED)
  set_target_properties(onnx_light_ort::abi PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${onnx_light_ort_INCLUDE_DIR}")
endif()

# Hidden symbols but for the exported entry points, and no GNU unique ones, which would keep the library from being
# unloaded.
function(onnx_light_ort_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE onnx_light_ort::abi)
  set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
                                           VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${name} PRIVATE
                         $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>)
endfunction()
