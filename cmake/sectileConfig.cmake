# find_package(sectile): the program as the target sectile::sectile, and sectile_add_kernel().
if(CMAKE_VERSION VERSION_LESS 3.20)
  set(sectile_FOUND FALSE)
  set(sectile_NOT_FOUND_MESSAGE "sectile_add_kernel() needs CMake 3.20, for dependency files")
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/sectileTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/add_kernel.cmake)
