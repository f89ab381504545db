# SPDX-License-Identifier: Apache-2.0
#
# The page of the HTML report: npm brings uPlot at the version and checksum of web/package-lock.json
# into the build folder; style, scripts and uPlot are inlined into web/report.html, and that into a
# C++ source. Without npm vlag builds too; --html then says that it is not there.

# Sets `result` to the folder with uPlot, or to an empty text.
function(vlag_fetch_uplot result)
  set(${result} "" PARENT_SCOPE)
  if(VLAG_HTML STREQUAL "OFF")
    return()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/web)
  set(lock ${PROJECT_SOURCE_DIR}/web/package-lock.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lock})
  file(SHA256 ${lock} wanted)
  set(have "")
  if(EXISTS ${folder}/fetched)
    file(READ ${folder}/fetched have)
  endif()
  if(NOT have STREQUAL wanted)
    find_program(VLAG_NPM npm)
    mark_as_advanced(VLAG_NPM)
    set(problem "npm was not found")
    if(VLAG_NPM)
      file(COPY ${PROJECT_SOURCE_DIR}/web/package.json ${lock} ${PROJECT_SOURCE_DIR}/web/.npmrc
           DESTINATION ${folder})
      execute_process(COMMAND ${VLAG_NPM} ci --prefer-offline --loglevel=error
                      WORKING_DIRECTORY ${folder} RESULT_VARIABLE status
                      OUTPUT_QUIET ERROR_VARIABLE problem TIMEOUT 300)
      if(status EQUAL 0)
        set(have ${wanted})
        file(WRITE ${folder}/fetched ${wanted})
      endif()
    endif()
    if(NOT have STREQUAL wanted)
      set(message "uPlot, which the HTML report is drawn with, could not be fetched: ${problem}")
      if(VLAG_HTML STREQUAL "ON")
        message(FATAL_ERROR "${message}")
      endif()
      message(WARNING "${message}\nvlag is built without --html.")
      return()
    endif()
  endif()
  set(${result} ${folder}/node_modules/uplot PARENT_SCOPE)
endfunction()

# Adds page_template() to a library.
function(vlag_add_html_page target)
  vlag_fetch_uplot(uplot)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(script ${PROJECT_SOURCE_DIR}/cmake/make_html_page.cmake)
  set(source ${PROJECT_BINARY_DIR}/web/page_template.cpp)
  file(GLOB pieces CONFIGURE_DEPENDS ${web}/*.html ${web}/*.css ${web}/*.js)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DWEB=${web} -DUPLOT=${uplot} -DSOURCE=${source} -P ${script}
    DEPENDS ${pieces} ${script} ${web}/package-lock.json
    COMMENT "Inlining the page of the HTML report" VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
