# Finds the sequential BLIS, a BLAS that picks its kernels from the CPU's features; defines BLIS::BLIS.
# It must stand before CHOLMOD on the link line, so that CHOLMOD's BLAS calls reach it and not libblas.
find_library(BLIS_LIBRARY blis PATH_SUFFIXES blis-serial)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BLIS REQUIRED_VARS BLIS_LIBRARY)
if(BLIS_FOUND AND NOT TARGET BLIS::BLIS)
  add_library(BLIS::BLIS UNKNOWN IMPORTED)
  set_target_properties(BLIS::BLIS PROPERTIES IMPORTED_LOCATION ${BLIS_LIBRARY})
endif()
