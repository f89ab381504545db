# SPDX-License-Identifier: Apache-2.0
#
# Installs the core library for other programs: find_package(vlag) gives the target vlag::core, and
# pkg-config knows it as vlag. Neither pulls in any other package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(vlag_core PROPERTIES EXPORT_NAME core OUTPUT_NAME vlag_core
                                           POSITION_INDEPENDENT_CODE ON)

set(vlag_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vlag)
install(TARGETS vlag_core EXPORT vlag_targets COMPONENT core
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/vlag DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT core FILES_MATCHING PATTERN "*.hpp")
install(EXPORT vlag_targets FILE vlag_targets.cmake NAMESPACE vlag:: COMPONENT core
        DESTINATION ${vlag_package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/vlag-config.cmake.in
                              ${PROJECT_BINARY_DIR}/vlag-config.cmake
                              INSTALL_DESTINATION ${vlag_package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vlag-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vlag-config.cmake
              ${PROJECT_BINARY_DIR}/vlag-config-version.cmake
        DESTINATION ${vlag_package_dir} COMPONENT core)

# The paths in the .pc file follow its own place, so that an installed tree can be moved.
file(RELATIVE_PATH vlag_pc_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/vlag.pc.in ${PROJECT_BINARY_DIR}/vlag.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/vlag.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT core)
