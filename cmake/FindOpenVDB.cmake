# Finds OpenVDB 10 and Imath, whose half-precision numbers its headers use; defines OpenVDB::openvdb.
find_path(OpenVDB_INCLUDE_DIR openvdb/openvdb.h)
find_library(OpenVDB_LIBRARY openvdb)
find_library(OpenVDB_IMATH_LIBRARY NAMES Imath Imath-3_1)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenVDB REQUIRED_VARS OpenVDB_LIBRARY OpenVDB_IMATH_LIBRARY
  OpenVDB_INCLUDE_DIR)
if(OpenVDB_FOUND AND NOT TARGET OpenVDB::openvdb)
  add_library(OpenVDB::openvdb UNKNOWN IMPORTED)
  set_target_properties(OpenVDB::openvdb PROPERTIES IMPORTED_LOCATION ${OpenVDB_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OpenVDB_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES ${OpenVDB_IMATH_LIBRARY})
endif()
