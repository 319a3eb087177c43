# Writes OUT, a C file with the bytes of each of FILES (comma-separated, relative to SOURCE) as
# `const char report_asset_<name>[]` (NUL-terminated) and their SHA-256 as 64 hex digits beside it.
string(REPLACE "," ";" files "${FILES}")
set(text "#include \"report/assets.h\"\n")
foreach(file ${files})
    file(READ ${SOURCE}/${file} bytes HEX)
    file(SHA256 ${SOURCE}/${file} hash)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "[^a-z0-9]" "_" name "${file}")
    string(APPEND text "\nconst char report_asset_${name}[] = {${bytes}0};\n")
    string(APPEND text "const char report_asset_${name}_sha256[] = \"${hash}\";\n")
endforeach()
file(CONFIGURE OUTPUT ${OUT} CONTENT "${text}" @ONLY)
