# What `cmake --install` puts down beside the program: the man page, completions and definitions that it makes itself,
# the pages, the CMake package and the pkg-config file (docs/projects.md).
include(CMakePackageConfigHelpers)

# Shared libraries of a prefix that the system does not search (conda, ~/.local) are found after installing, too.
set_target_properties(sectile PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS sectile EXPORT sectileTargets RUNTIME DESTINATION bin)
set(generated ${PROJECT_BINARY_DIR}/share)
file(MAKE_DIRECTORY ${generated})
add_custom_command(TARGET sectile POST_BUILD
  COMMAND sectile generate man > ${generated}/sectile.1
  COMMAND sectile generate bash > ${generated}/sectile
  COMMAND sectile generate zsh > ${generated}/_sectile
  COMMAND sectile generate fish > ${generated}/sectile.fish
  COMMAND sectile generate lua > ${generated}/sectile.lua VERBATIM)
install(FILES ${generated}/sectile.1 DESTINATION share/man/man1)
install(FILES ${generated}/sectile DESTINATION share/bash-completion/completions)
install(FILES ${generated}/_sectile DESTINATION share/zsh/site-functions)
install(FILES ${generated}/sectile.fish DESTINATION share/fish/vendor_completions.d)
install(FILES ${generated}/sectile.lua DESTINATION share/sectile/lua)

install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE cmake/licences.txt DESTINATION share/doc/sectile)
install(DIRECTORY docs examples DESTINATION share/doc/sectile)

set(package lib/cmake/sectile)
write_basic_package_version_file(${generated}/sectileConfigVersion.cmake COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT)
install(EXPORT sectileTargets NAMESPACE sectile:: DESTINATION ${package})
install(FILES cmake/sectileConfig.cmake cmake/add_kernel.cmake ${generated}/sectileConfigVersion.cmake DESTINATION ${package})
configure_file(cmake/sectile.pc.in ${generated}/sectile.pc @ONLY)
install(FILES ${generated}/sectile.pc DESTINATION share/pkgconfig)

# cpack -G DEB: the same tree below /usr. scripts/package says which libc6 it needs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Sectile authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tunes memory-bound CUDA kernels and writes them down as headers")
set(CPACK_PACKAGE_DESCRIPTION "The program compiles with NVRTC, which it finds in a CUDA toolkit, in packages of NVIDIA or of Python
(pip install nvidia-cuda-nvrtc); sectile doctor says what is missing.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libstdc++6, libgcc-s1") # of NVRTC's other half
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cuda-nvrtc-13-0 | cuda-nvrtc-12-9 | python3-pip")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
if(PROJECT_IS_TOP_LEVEL)
  include(CPack)
endif()
