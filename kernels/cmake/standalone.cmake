# Defaults of a build of kernels/ alone; the whole project brings its own.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(NIGHTSHIFT_TESTS "build the tests" OFF)
set(NIGHTSHIFT_CUDA OFF CACHE STRING "kernel_lab_cuda: AUTO (where nvcc is found), ON or OFF")

# The night builds the same sources in many checkouts: paths below the repository must not count.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  cmake_path(GET CMAKE_SOURCE_DIR PARENT_PATH ccache_base)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${ccache_base} ${CCACHE})
endif()
enable_testing()
