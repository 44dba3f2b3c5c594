# Warnings, sanitizers and ccache, for our own targets.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without a base folder a second checkout (a worktree) never hits.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
endif()

find_package(Threads REQUIRED)

add_library(nightshift_options INTERFACE)
target_include_directories(nightshift_options INTERFACE ${CMAKE_SOURCE_DIR})
# Assertions stay on in release: they mean bugs only, and a daemon that merges code must stop at one.
target_compile_options(nightshift_options INTERFACE
  -Wall -Wextra -Werror=return-type -Wnon-virtual-dtor -UNDEBUG
  # g++ 12 warns falsely about "a" + std::string, and about fmt's parser of formats.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow>)
if(NIGHTSHIFT_SANITIZE)
  # Undefined behaviour ends the program, so that a test cannot pass over it.
  target_compile_options(nightshift_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(nightshift_options INTERFACE -fsanitize=address,undefined)
elseif(NIGHTSHIFT_TSAN)
  target_compile_options(nightshift_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(nightshift_options INTERFACE -fsanitize=thread)
endif()

# Optimising costs a third of a build, and most of what we compile waits for others: it gets -O1. -O2 (HOT) is for
# what computes: policies, the loop, the store and the codec below them. Tests, which call these, get -O0.
function(nightshift_optimise name level)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:${level}>)
endfunction()

# One static library a folder, compiled as a unity build (docs/decisions.md). The lint build turns that off,
# so that each source is also seen alone.
function(nightshift_library name)
  cmake_parse_arguments(ARG "HOT" "" "SOURCES;DEPENDS;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${NIGHTSHIFT_UNITY})
  if(ARG_HOT)
    nightshift_optimise(${name} -O2)
  else()
    nightshift_optimise(${name} -O1)
  endif()
  target_link_libraries(${name} PUBLIC nightshift_options ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE})
endfunction()

# One Catch2 program a folder, <name>, its cases registered with CTest under a label: unit, sim,
# integration, measurement, browser or gpu. All but unit and sim run alone: they time things or start daemons.
function(nightshift_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;DEPENDS" ${ARGN})
  if(NOT NIGHTSHIFT_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON)
  nightshift_optimise(${name} -O0)
  target_link_libraries(${name} PRIVATE nightshift_options ${ARG_DEPENDS} Catch2::Catch2WithMain)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set(alone TRUE)
  if(ARG_LABEL MATCHES "^(unit|sim)$")
    set(alone FALSE)
  endif()
  # A name that Catch cannot find again (one with a semicolon, say) must not count as passed.
  catch_discover_tests(${name} TEST_PREFIX "${name}: " EXTRA_ARGS -w NoTests
    PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL ${alone})
endfunction()
