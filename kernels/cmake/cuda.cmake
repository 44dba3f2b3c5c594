# kernel_lab_cuda: the ops that have a version for NVIDIA GPUs. Never needed: without nvcc the rest builds as it is.
set(NIGHTSHIFT_CUDA AUTO CACHE STRING "kernel_lab_cuda: AUTO (where nvcc is found), ON or OFF")
set_property(CACHE NIGHTSHIFT_CUDA PROPERTY STRINGS AUTO ON OFF)
if(NOT NIGHTSHIFT_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "NIGHTSHIFT_CUDA must be AUTO, ON or OFF, found '${NIGHTSHIFT_CUDA}'")
endif()
if(NIGHTSHIFT_CUDA STREQUAL "OFF")
  message(STATUS "kernels: kernel_lab_cuda skipped (NIGHTSHIFT_CUDA=OFF)")
  return()
endif()

# A toolkit is often installed without being on the PATH. enable_language() fails hard, hence the check.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(NIGHTSHIFT_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(NIGHTSHIFT_NVCC)
    set(CMAKE_CUDA_COMPILER ${NIGHTSHIFT_NVCC})
  endif()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real)
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(NIGHTSHIFT_CUDA STREQUAL "ON")
    message(FATAL_ERROR "NIGHTSHIFT_CUDA=ON, but no nvcc works here; install it or set CUDACXX")
  endif()
  message(STATUS "kernels: kernel_lab_cuda skipped (no nvcc found)")
  return()
endif()
enable_language(CUDA)

# CMake 3.25 does not know how newer nvcc releases spell C++20.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_STANDARD__HAS_FULL_SUPPORT ON)

# A library of its own, because nvcc refuses the warning flags that the other targets carry.
add_library(kernels_cuda STATIC
  attention/paged_decode.cu
  kda_decode/kda_decode.cu
  lab/device_memory.cu
  matmul/w8a8.cu)
set_target_properties(kernels_cuda PROPERTIES
  CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY Static)
target_include_directories(kernels_cuda PRIVATE ${repository})

add_executable(kernel_lab_cuda
  attention/cuda_op.cc
  kda_decode/cuda_op.cc
  lab/cuda_ops.cc
  lab/kernel_lab_cuda.cc
  matmul/cuda_op.cc)
set_target_properties(kernel_lab_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static)
target_link_libraries(kernel_lab_cuda PRIVATE
  kernels_cuda kernels_checks kernels_lab benchmark::benchmark)
