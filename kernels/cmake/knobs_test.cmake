# Script: bad knobs are refused with a message that names the key. FOLDER is scratch, COMPILER a C++ compiler.
cmake_minimum_required(VERSION 3.25)
get_filename_component(kernels ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
get_filename_component(repository ${kernels} DIRECTORY)
set(header ${FOLDER}/kernels/kda_decode/knobs.h)

function(generate text)  # sets `code` and `output` for the caller
  file(WRITE ${FOLDER}/knobs.yaml "${text}")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -DKNOBS=${FOLDER}/knobs.yaml -DOP=kda_decode -DKEYS=variant,v_tile,ring
            -DOUTPUT=${header} -P ${kernels}/cmake/knobs.cmake
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(code ${code} PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(refused text message)
  generate("${text}")
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(code EQUAL 0 OR NOT output MATCHES "${message}")
    message(SEND_ERROR "expected an error '${message}' for:\n${text}\nfound (${code}): ${output}")
  endif()
endfunction()

function(compiles text message)  # an empty message: it must compile
  generate("${text}")
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${repository} -I${FOLDER}
                          ${kernels}/kda_decode/selection.cc
                  RESULT_VARIABLE code ERROR_VARIABLE output)
  if(message STREQUAL "" AND NOT code EQUAL 0)
    message(SEND_ERROR "expected to compile:\n${text}\n${output}")
  elseif(NOT message STREQUAL "" AND (code EQUAL 0 OR NOT output MATCHES "${message}"))
    message(SEND_ERROR "expected an error '${message}' for:\n${text}\nfound (${code}): ${output}")
  endif()
endfunction()

set(rest "kda_decode.v_tile: 32\nkda_decode.ring: 16\n")
refused("${rest}" "kda_decode.variant is missing")
refused("kda_decode.variant: 1\nkda_decode.variant: 2\n${rest}" "yaml:2: kda_decode.variant is given twice")
refused("# first\n\nkda_decode.varient: 1\n${rest}" "yaml:3: unknown knob kda_decode.varient")
refused("kda_decode.variant: fast\n${rest}" "kda_decode.variant must be a whole number, found 'fast'")
refused("kda_decode.variant 1\n${rest}" "yaml:1: expected 'op.knob: value'")

compiles("kda_decode.variant: 3 # merged\nother_op.speed: high\n${rest}" "")
compiles("kda_decode.variant: 4\n${rest}" "kda_decode.variant must be 0, 1, 2 or 3")
compiles("kda_decode.variant: 1\nkda_decode.v_tile: 48\nkda_decode.ring: 16\n" "kda_decode.v_tile must divide V")
compiles("kda_decode.variant: 1\nkda_decode.v_tile: 32\nkda_decode.ring: 0\n" "kda_decode.ring must be 1 to 64")
