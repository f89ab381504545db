# SPDX-License-Identifier: Apache-2.0
#
# cmake -DROOT=DIR -P check_includes.cmake
#
# Fails, naming file and line, for each #include that goes against the layers: the table below is
# docs/architecture.md's. An #include "…" names its file from include/ or src/: "layer/file.hpp".
cmake_minimum_required(VERSION 3.25)

set(layers core machine input trace vectors workload report)
# May include, besides itself. The public headers of core are "vlag/…"; those in src/core are
# "core/…" and only for core.
set(core_uses vlag)
set(machine_uses vlag)
set(input_uses)
set(trace_uses input)
set(vectors_uses vlag input)
set(workload_uses vlag machine input)
set(report_uses vlag machine trace input)
# Where a recording becomes programs.
set(recording_files "^src/workload/(.*/)?(replay|recorded)[^/]*$")
set(recording_files_use trace)

# What core may take from the standard library: nothing that allocates, throws, prints, waits or
# tells the time.
set(core_std
    algorithm array atomic bit cassert charconv climits compare concepts cstddef cstdint
    cstring initializer_list iterator limits memory new numeric optional ranges span system_error
    string_view tuple type_traits utility variant immintrin.h arm_neon.h)

# The one header that makes system calls, and what it takes for them; nobody else includes it.
set(system_file include/vlag/linux_sched.hpp)
set(system_file_std cerrno sys/syscall.h unistd.h)

cmake_path(ABSOLUTE_PATH ROOT)
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/include/*.[hc]pp ${ROOT}/src/*.[hc]pp)
if(NOT files)
  message(FATAL_ERROR "no sources under ${ROOT}")
endif()

set(faults 0)
function(fault file line text)
  message(NOTICE "${file}:${line}: ${text}")
  math(EXPR count "${faults} + 1")
  set(faults ${count} PARENT_SCOPE)
endfunction()

foreach(file ${files})
  if(file MATCHES "^include/vlag/")
    set(layer core)
    set(allowed vlag)
  elseif(file MATCHES "^src/([^/]+)/" AND CMAKE_MATCH_1 IN_LIST layers)
    set(layer ${CMAKE_MATCH_1})
    set(allowed ${layer} ${${layer}_uses})
    if(file MATCHES "${recording_files}")
      list(APPEND allowed ${recording_files_use})
    endif()
  else()
    fault(${file} 1 "belongs to no layer: the layers are ${layers}")
    continue()
  endif()

  file(READ ${ROOT}/${file} text)
  string(REGEX REPLACE "[][;]" " " text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  set(number 0)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "^ *# *include +\"([^\"]+)\"")
      set(target ${CMAKE_MATCH_1})
      if(target STREQUAL "vlag/linux_sched.hpp")
        fault(${file} ${number} "includes \"${target}\", which is for embedding programs only")
      endif()
      string(REGEX MATCH "^[^/]+/" first "${target}")
      string(REGEX REPLACE "/$" "" first "${first}")
      if(NOT first IN_LIST allowed)
        list(JOIN allowed "/, " names)
        fault(${file} ${number} "includes \"${target}\"; it may include ${names}/")
      endif()
    elseif(line MATCHES "^ *# *include +<([^>]+)>")
      set(target ${CMAKE_MATCH_1})
      if(file STREQUAL system_file AND target IN_LIST system_file_std)
        continue()
      elseif(layer STREQUAL "core" AND NOT target IN_LIST core_std)
        fault(${file} ${number} "includes <${target}>, which core does without")
      elseif(layer STREQUAL "machine" AND target MATCHES "[/.]")
        fault(${file} ${number} "includes <${target}>; machine uses the standard library only")
      elseif(target MATCHES "^(vlag|core|machine|input|trace|vectors|workload|report|apps)/")
        fault(${file} ${number} "includes <${target}>; write \"${target}\"")
      elseif(target MATCHES "^CLI/")
        fault(${file} ${number} "includes <${target}>; only the command parses its arguments")
      endif()
    elseif(line MATCHES "^ *# *include")
      fault(${file} ${number} "an #include that this check cannot read")
    endif()
  endforeach()
endforeach()

list(LENGTH files count)
if(faults GREATER 0)
  message(FATAL_ERROR "${faults} includes against the layers, in ${count} files")
endif()
message(STATUS "${count} files keep to their layers")
