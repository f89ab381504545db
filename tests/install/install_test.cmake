# SPDX-License-Identifier: Apache-2.0
#
# cmake -DSOURCE=… -DWORK=… -DCOMPILER=… -DGENERATOR=… -DPKG_CONFIG=… -P install_test.cmake
cmake_minimum_required(VERSION 3.25)

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(toolchain -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER})

# Core alone needs no package: any that it asked for would be refused here.
set(no_packages)
foreach(package fmt CLI11 nlohmann_json ZLIB LibLZMA zstd GTest rapidcheck benchmark)
  list(APPEND no_packages -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
run("configuring the core alone" ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build ${toolchain}
    -DVLAG_CORE_ONLY=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=${WORK}/first
    ${no_packages})
run("building the core alone" ${CMAKE_COMMAND} --build ${WORK}/build)
run("installing the core" ${CMAKE_COMMAND} --install ${WORK}/build)

# An installed tree may be moved.
file(RENAME ${WORK}/first ${WORK}/moved)

run("configuring a program with find_package" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer
    -B ${WORK}/consumer ${toolchain} -DEXAMPLES=${SOURCE}/examples -DCMAKE_PREFIX_PATH=${WORK}/moved)
run("building it" ${CMAKE_COMMAND} --build ${WORK}/consumer)
run("running it" ${WORK}/consumer/consumer)
set(expected "3 ms at nice 5: 9170149 virtual ns\n")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "the program built with find_package printed '${output}', not '${expected}'")
endif()

run("running the example" ${WORK}/consumer/tenants)
file(READ ${SOURCE}/examples/tenants/expected.txt expected_of_example)
if(NOT output STREQUAL expected_of_example)
  message(FATAL_ERROR "the example built with find_package printed '${output}'")
endif()

# Again by pkg-config, with neither exceptions nor run-time types, in core and in the programs.
set(plain -fno-exceptions -fno-rtti)
run("configuring the core without exceptions and run-time types" ${CMAKE_COMMAND} -S ${SOURCE}
    -B ${WORK}/plain_build ${toolchain} -DVLAG_CORE_ONLY=ON -DCMAKE_BUILD_TYPE=Debug
    "-DCMAKE_CXX_FLAGS=-fno-exceptions -fno-rtti" -DCMAKE_CXX_FLAGS_DEBUG=-O0
    -DCMAKE_INSTALL_PREFIX=${WORK}/plain ${no_packages})
run("building that" ${CMAKE_COMMAND} --build ${WORK}/plain_build)
run("installing that" ${CMAKE_COMMAND} --install ${WORK}/plain_build)
file(GLOB_RECURSE pc_file ${WORK}/plain/vlag.pc)
cmake_path(GET pc_file PARENT_PATH pc_dir)
run("asking pkg-config" ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_dir}
    ${PKG_CONFIG} --cflags --libs vlag)
separate_arguments(flags UNIX_COMMAND "${output}")
foreach(program ${CMAKE_CURRENT_LIST_DIR}/consumer/consumer.cpp
        ${SOURCE}/examples/tenants/tenants.cpp)
  cmake_path(GET program STEM name)
  run("compiling ${name} with pkg-config's flags" ${COMPILER} -std=c++20 ${plain}
      -o ${WORK}/${name}_pc ${program} ${flags})
  run("running that" ${WORK}/${name}_pc)
  if(name STREQUAL "tenants")
    set(expected "${expected_of_example}")
  endif()
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "${name} built with pkg-config printed '${output}', not '${expected}'")
  endif()
endforeach()
