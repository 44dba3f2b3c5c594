# kernels_test (Catch2), the knob script's test, and kernel_lab as the night calls it.
find_package(Catch2 2 REQUIRED)
include(Catch)

add_executable(kernels_test
  attention/attention_test.cc
  kda/kda_test.cc
  kda_decode/check_test.cc
  kda_decode/compare_test.cc
  kda_decode/reference_test.cc
  kda_decode/report_test.cc
  kda_decode/variants_test.cc
  lab/engine_ops_test.cc
  matmul/matmul_test.cc
  sampling/sampling_test.cc)
set_target_properties(kernels_test PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
target_link_libraries(kernels_test PRIVATE kernels_checks kernels_lab nlohmann_json::nlohmann_json Catch2::Catch2WithMain)
catch_discover_tests(kernels_test TEST_PREFIX "kernels_test: " PROPERTIES LABELS unit TIMEOUT 120)

add_test(NAME "kernels: knobs" COMMAND ${CMAKE_COMMAND} -DCOMPILER=${CMAKE_CXX_COMPILER}
  -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/knobs_test -P ${CMAKE_CURRENT_LIST_DIR}/knobs_test.cmake)
add_test(NAME "kernels: check" COMMAND kernel_lab check kda_decode --seed 3)
add_test(NAME "kernels: bench" COMMAND kernel_lab bench kda_decode --benchmark_repetitions=1
  --benchmark_min_time=0.001 --benchmark_format=json)
set_tests_properties("kernels: bench" PROPERTIES PASS_REGULAR_EXPRESSION "\"name\": \"kda_decode\"")

foreach(op attention cache elementwise kda matmul mla norm quantize rope routing sampling short_conv)
  add_test(NAME "kernels: check ${op}" COMMAND kernel_lab check ${op} --seed 3)
  add_test(NAME "kernels: bench ${op}" COMMAND kernel_lab bench ${op} --batch 3
    --benchmark_repetitions=1 --benchmark_min_time=0.001 --benchmark_format=json)
  set_tests_properties("kernels: check ${op}" PROPERTIES
    PASS_REGULAR_EXPRESSION "\"check\":\"${op}\",\"ok\":true")
  set_tests_properties("kernels: bench ${op}" PROPERTIES
    PASS_REGULAR_EXPRESSION "\"name\": \"${op}")
  set_tests_properties("kernels: check ${op}" "kernels: bench ${op}" PROPERTIES
    LABELS unit TIMEOUT 60)
endforeach()

# Usage errors must end with 2, never with the 1 of a failed check.
add_test(NAME "kernels: exit codes" COMMAND ${CMAKE_COMMAND} -DLAB=$<TARGET_FILE:kernel_lab>
  -P ${CMAKE_CURRENT_LIST_DIR}/exit_codes_test.cmake)
set_tests_properties("kernels: knobs" "kernels: check" "kernels: bench" "kernels: exit codes"
  PROPERTIES LABELS unit TIMEOUT 60)
