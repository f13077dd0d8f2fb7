# Writes a header with a SHA-256 of all sources of the core: what decides a result, apart from the compiler.
#   cmake -DROOT=. -DOUT=source_digest.h -P packaging/digest.cmake
file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/core/*.cc ${ROOT}/core/*.h ${ROOT}/bindings/*.cc ${ROOT}/bindings/*.h)
list(SORT sources)
set(lines "")
foreach(source ${sources})
  file(SHA256 ${ROOT}/${source} digest)
  string(APPEND lines "${source} ${digest}\n")
endforeach()
string(SHA256 all "${lines}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define HOPEFEAR_SOURCES \"${all}\"\n" @ONLY)
