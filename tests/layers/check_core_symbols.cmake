# SPDX-License-Identifier: Apache-2.0
#
# cmake -DNM=nm -DLIBRARY=libvlag_core.a -P check_core_symbols.cmake
#
# What the core's object code asks of others tells what it can do: it must not ask for memory,
# throw, print, wait, end the program or read a clock.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} --undefined-only ${LIBRARY} OUTPUT_VARIABLE output
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "\\.o:")
  message(FATAL_ERROR "${LIBRARY} holds no object file")
endif()
string(REGEX MATCHALL " [Uwv] [^\n ]+" lines "${output}")

set(forbidden
    "_Zn[wa]" "_Zd[la]" "(m|c|re)alloc$" "free$" "posix_memalign" "aligned_alloc"
    "__cxa_(allocate_exception|throw|rethrow|bad_cast)" "_ZSt[0-9]+__throw_"
    "(f|s|sn|v|vf|vsn|__)*printf(_chk)?$" "f?put[sc]$" "putchar" "f?write$" "_ZNSo"
    "_ZSt4c(out|err|log)"
    "clock_gettime" "gettimeofday" "time$" "nanosleep" "_ZNSt6chrono"
    "pthread_" "_ZNSt6thread" "abort$" "exit$")
list(JOIN forbidden "|" forbidden)
set(found)
foreach(line ${lines})
  string(SUBSTRING "${line}" 3 -1 symbol)
  if(symbol MATCHES "^(${forbidden})")
    list(APPEND found ${symbol})
  endif()
endforeach()
if(found)
  list(REMOVE_DUPLICATES found)
  list(JOIN found ", " found)
  message(NOTICE "${LIBRARY} asks for ${found}")
  message(FATAL_ERROR "core must not")
endif()
