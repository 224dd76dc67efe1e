# The libraries inside the program. A static one is taken where it is, so that one file runs on a bare GPU machine; else
# the shared one (RHEL, Fedora, conda). Both are looked for in CMAKE_PREFIX_PATH, in the system's directories and where
# pkg-config knows them; what is taken has compiled and linked a call.
set(SECTILE_STATIC AUTO CACHE STRING "Libraries inside the program: AUTO (static where they are), ON, OFF (shared)")
if(NOT SECTILE_STATIC MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "SECTILE_STATIC is '${SECTILE_STATIC}'; expected AUTO, ON or OFF")
endif()
include(CheckCSourceCompiles)
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)

# Sets ${out} to `file` if a call links with it.
function(sct_library_links out file)
  if(NOT file)
    return()
  endif()
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_INCLUDES ${lib_include})
  set(CMAKE_REQUIRED_LIBRARIES ${file} Threads::Threads m ${CMAKE_DL_LIBS})
  string(MAKE_C_IDENTIFIER "SECTILE_LINKS_${lib_include}_${file}" check)
  check_c_source_compiles("#include <stddef.h>\n#include <${lib_HEADER}>\n#if !(${lib_NEEDS})\n#error too old\n#endif\n
    int main(void) { return ${lib_CALL} != 0; }" ${check})
  if(${check})
    set(${out} ${file} PARENT_SCOPE)
  endif()
endfunction()

# sct_library(NAME HEADER NEEDS CALL PACKAGES NAMES...): NAME_LIB and NAME_INCLUDE. NAMES are those of files and pkg-config;
# NEEDS is a condition on HEADER's macros, CALL an expression that is compiled and linked, PACKAGES how to install it.
function(sct_library name)
  cmake_parse_arguments(PARSE_ARGV 1 lib "" "HEADER;NEEDS;CALL;PACKAGES" "NAMES")
  if(PKG_CONFIG_FOUND)
    list(TRANSFORM lib_NAMES PREPEND lib OUTPUT_VARIABLE modules)
    pkg_search_module(${name}_PC QUIET ${lib_NAMES} ${modules})
  endif()
  find_path(${name}_INCLUDE ${lib_HEADER} HINTS ${${name}_PC_INCLUDE_DIRS} PATH_SUFFIXES ${lib_NAMES})
  set(lib_include ${${name}_INCLUDE})
  list(TRANSFORM lib_NAMES REPLACE "(.+)" "lib\\1.a" OUTPUT_VARIABLE archives)
  list(TRANSFORM lib_NAMES REPLACE "(.+)" "lib\\1.so" OUTPUT_VARIABLE objects)
  find_library(${name}_STATIC NAMES ${archives} HINTS ${${name}_PC_LIBRARY_DIRS})
  find_library(${name}_SHARED NAMES ${objects} HINTS ${${name}_PC_LIBRARY_DIRS})
  mark_as_advanced(${name}_INCLUDE ${name}_STATIC ${name}_SHARED)
  set(found "")
  if(NOT SECTILE_STATIC STREQUAL "OFF")
    sct_library_links(found "${${name}_STATIC}")
  endif()
  if(NOT found AND NOT SECTILE_STATIC STREQUAL "ON")
    sct_library_links(found "${${name}_SHARED}")
  endif()
  if(NOT found)
    message(FATAL_ERROR "${name}: nothing that compiles and links with ${lib_NEEDS}; ${lib_HEADER}: ${lib_include}, static: "
      "${${name}_STATIC}, shared: ${${name}_SHARED}, SECTILE_STATIC=${SECTILE_STATIC}. Install ${lib_PACKAGES}, or name "
      "its prefix in CMAKE_PREFIX_PATH; CMakeFiles/CMakeError.log or CMakeConfigureLog.yaml has the compiler's words")
  endif()
  message(STATUS "${name}: ${found}")
  set(${name}_LIB ${found} PARENT_SCOPE)
  if(NOT found MATCHES "\\.a$")
    set(SECTILE_SHARED_LIBRARIES ${SECTILE_SHARED_LIBRARIES} ${name} PARENT_SCOPE)
  endif()
endfunction()

sct_library(LUA HEADER lua.h NEEDS "LUA_VERSION_NUM == 504" CALL "lua_version(NULL)"
  NAMES lua5.4 lua-5.4 lua54 lua PACKAGES "Lua 5.4 (Debian liblua5.4-dev, Fedora lua-devel, conda lua)")
sct_library(SQLITE HEADER sqlite3.h NEEDS "SQLITE_VERSION_NUMBER >= 3037000" CALL "sqlite3_libversion_number()"
  NAMES sqlite3 PACKAGES "SQLite 3.37 or later (Debian libsqlite3-dev, Fedora sqlite-devel, conda libsqlite)")
sct_library(JANSSON HEADER jansson.h NEEDS "JANSSON_VERSION_HEX >= 0x020a00" CALL "json_object_seed"
  NAMES jansson PACKAGES "Jansson 2.10 or later (Debian libjansson-dev, Fedora jansson-devel, conda jansson)")
sct_library(XXHASH HEADER xxhash.h NEEDS "XXH_VERSION_NUMBER >= 800" CALL "XXH3_64bits(NULL, 0)"
  NAMES xxhash PACKAGES "xxHash 0.8 or later (Debian libxxhash-dev, Fedora xxhash-devel, conda xxhash)")
if(SECTILE_SHARED_LIBRARIES)
  list(JOIN SECTILE_SHARED_LIBRARIES ", " shared)
  message(STATUS "shared: ${shared}; the program finds them only where they are installed")
endif()
