# sectile_add_kernel(TARGET SPEC STORE [FORM inline|cuda|c] [HEADER NAME.h] [PARAMS N=V...])
#
# Files of TARGET may include NAME.h, by default called as SPEC is, which `sectile emit` writes from STORE
# when the spec, what it reads or the store has changed. Nothing is tuned here: a spec that STORE does
# not hold fails the build, and the message says which command tunes it. FORM, PARAMS: `sectile help emit`.
function(sectile_add_kernel target spec store)
  cmake_parse_arguments(PARSE_ARGV 3 kernel "" "FORM;HEADER" "PARAMS")
  if(kernel_UNPARSED_ARGUMENTS OR kernel_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "sectile_add_kernel(${target} ...): expected TARGET SPEC STORE and then FORM, HEADER or "
      "PARAMS with values, got: ${kernel_UNPARSED_ARGUMENTS} ${kernel_KEYWORDS_MISSING_VALUES}")
  endif()
  get_filename_component(spec ${spec} ABSOLUTE)
  get_filename_component(store ${store} ABSOLUTE)
  if(NOT kernel_HEADER)
    get_filename_component(kernel_HEADER ${spec} NAME_WLE)
    string(APPEND kernel_HEADER .h)
  endif()
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/sectile)
  set(header ${directory}/${kernel_HEADER})
  set(command emit ${spec} --store ${store} -o ${header} --deps ${header}.d -q)
  if(kernel_FORM)
    list(APPEND command --form ${kernel_FORM})
  endif()
  foreach(param IN LISTS kernel_PARAMS)
    list(APPEND command --param ${param})
  endforeach()
  get_source_file_property(known ${header} SECTILE_COMMAND)
  if(known AND NOT known STREQUAL "${command}")
    message(FATAL_ERROR "sectile_add_kernel(${target} ...): two kernels of this directory would write "
      "${kernel_HEADER}; name one of them with HEADER")
  elseif(NOT known)
    set_source_files_properties(${header} PROPERTIES SECTILE_COMMAND "${command}")
    file(MAKE_DIRECTORY ${directory})
    add_custom_command(OUTPUT ${header} COMMAND sectile::sectile ${command}
      DEPENDS ${spec} ${store} DEPFILE ${header}.d COMMENT "Writing ${kernel_HEADER} from ${store}" VERBATIM)
  endif()
  target_sources(${target} PRIVATE ${header})
  target_include_directories(${target} PRIVATE ${directory})
endfunction()
