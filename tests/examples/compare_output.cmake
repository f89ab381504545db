# SPDX-License-Identifier: Apache-2.0
#
# cmake -DPROGRAM=… [-DEMULATOR=…] -DEXPECTED=FILE -P compare_output.cmake
cmake_minimum_required(VERSION 3.25)
separate_arguments(EMULATOR)
execute_process(COMMAND ${EMULATOR} ${PROGRAM} RESULT_VARIABLE result OUTPUT_VARIABLE output)
file(READ ${EXPECTED} expected)
if(NOT result EQUAL 0 OR NOT output STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} ended with ${result} and printed\n${output}not\n${expected}")
endif()
