# SPDX-License-Identifier: Apache-2.0
#
# Installs the command with its man pages and completion, which the command itself writes from its
# definitions, and makes two Debian packages with CPack: vlag, and libvlag-dev with the core library.
include(GNUInstallDirs)

set(vlag_share ${PROJECT_BINARY_DIR}/share)
add_custom_command(
  OUTPUT ${vlag_share}/generated
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${vlag_share}
  COMMAND vlag generate ${vlag_share}
  COMMAND ${CMAKE_COMMAND} -E touch ${vlag_share}/generated
  DEPENDS vlag COMMENT "Writing man pages and completion" VERBATIM)
add_custom_target(command_share ALL DEPENDS ${vlag_share}/generated)

install(TARGETS vlag COMPONENT command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${vlag_share}/man/ COMPONENT command DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${vlag_share}/bash-completion/ COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/vlag FILES_MATCHING PATTERN "*.json")
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/vlag)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/vlag)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright COMPONENT core
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libvlag-dev)
# Debian's zsh looks into site-functions under /usr/local only.
install(CODE "
  set(functions site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(functions vendor-completions)
  endif()
  file(INSTALL \"${vlag_share}/zsh/site-functions/_vlag\"
       DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${functions}\")"
  COMPONENT command)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vlag)
set(CPACK_PACKAGE_CONTACT "the vlag authors <vlag@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command core)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME vlag)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS linux-perf)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
    "Replays recorded scheduling under other policies and settings,\n and says who waits how long.")
set(CPACK_DEBIAN_CORE_PACKAGE_NAME libvlag-dev)
set(CPACK_DEBIAN_CORE_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_CORE_DESCRIPTION
    "The core library: a static library, its headers,\n and files for CMake and pkg-config.")
include(CPack)
