# SPDX-License-Identifier: Apache-2.0
#
# cmake -DWEB=web -DUPLOT=node_modules/uplot -DSOURCE=page_template.cpp -P make_html_page.cmake
#
# Replaces {{NAME}} in report.html by the file NAME and writes the result as a C++ source; {{data}}
# stays. Without UPLOT the page is empty.
cmake_minimum_required(VERSION 3.25)

set(page "")
if(UPLOT)
  file(READ ${WEB}/report.html page)
  file(GLOB pieces ${WEB}/*.css ${WEB}/*.js ${UPLOT}/dist/uPlot.iife.min.js
       ${UPLOT}/dist/uPlot.min.css ${UPLOT}/LICENSE)
  foreach(piece ${pieces})
    cmake_path(GET piece FILENAME name)
    file(READ ${piece} text)
    string(FIND "${page}" "{{${name}}}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "report.html has no place for ${name}")
    endif()
    string(FIND "${text}" "</script" ends_element)
    if(NOT ends_element EQUAL -1)
      message(FATAL_ERROR "${name} holds </script")
    endif()
    string(REPLACE "{{${name}}}" "${text}" page "${page}")
  endforeach()
  string(REGEX MATCHALL "{{[A-Za-z._]+}}" left "${page}")
  if(NOT left STREQUAL "{{data}}")
    message(FATAL_ERROR "left without a file in report.html: ${left}")
  endif()
endif()

cmake_path(GET SOURCE PARENT_PATH folder)
file(WRITE ${folder}/page.html "${page}")
file(READ ${folder}/page.html bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REPEAT "0x..," 16 line)
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
file(WRITE ${SOURCE}.new "// Generated from web/ by cmake/make_html_page.cmake.
#include \"report/page_template.hpp\"

namespace vlag {
namespace {
constexpr unsigned char page[] = {
${bytes}0};
}  // namespace

std::string_view page_template() noexcept {
  return {reinterpret_cast<const char*>(page), sizeof page - 1};
}

}  // namespace vlag
")
file(RENAME ${SOURCE}.new ${SOURCE})
