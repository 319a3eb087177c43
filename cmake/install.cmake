# What `cmake --install` puts where. The program finds share/keet-opt from where it is, so that an
# installed tree may be moved.
include(GNUInstallDirs)

# The man page and the completions are printed by the program, from its tables.
set(printed ${CMAKE_BINARY_DIR}/printed)
add_custom_command(OUTPUT ${printed}/keet-opt.1 ${printed}/keet-opt.bash ${printed}/keet-opt.zsh
        ${printed}/keet-opt.fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${printed}
    COMMAND keet-opt man > ${printed}/keet-opt.1
    COMMAND keet-opt completion bash > ${printed}/keet-opt.bash
    COMMAND keet-opt completion zsh > ${printed}/keet-opt.zsh
    COMMAND keet-opt completion fish > ${printed}/keet-opt.fish
    DEPENDS keet-opt VERBATIM)
add_custom_target(printed ALL DEPENDS ${printed}/keet-opt.1)

install(TARGETS keet-opt RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS keet LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES src/lib/keet.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY prompts kernels DESTINATION ${CMAKE_INSTALL_DATADIR}/keet-opt)
# What `keet-opt mcp` serves.
install(FILES docs/reference/task-language.md DESTINATION ${CMAKE_INSTALL_DATADIR}/keet-opt/docs/reference)
install(FILES docs/how-to/agents.md DESTINATION ${CMAKE_INSTALL_DATADIR}/keet-opt/docs/how-to)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The CUDA that setup.sh got, where it got one: a link, and none in a package.
install(CODE "
    if(EXISTS \"${PROJECT_SOURCE_DIR}/.deps/cuda\" AND NOT
            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\" MATCHES _CPack_Packages)
        file(CREATE_LINK \"${PROJECT_SOURCE_DIR}/.deps/cuda\"
            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/keet-opt/cuda\" SYMBOLIC)
    endif()")

# The software driver and runtime, and the names under which other programs look for them.
install(TARGETS keet-cuda keet-cudart keet-cudart12 keet-inject LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/keet-opt)
install(DIRECTORY ${CMAKE_BINARY_DIR}/swdriver DESTINATION ${CMAKE_INSTALL_LIBDIR}/keet-opt
    USE_SOURCE_PERMISSIONS)

install(FILES ${printed}/keet-opt.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${printed}/keet-opt.bash RENAME keet-opt
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
foreach(folder site-functions vendor-completions) # zsh's own, and Debian's for packages
    install(FILES ${printed}/keet-opt.zsh RENAME _keet-opt
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder})
endforeach()
install(FILES ${printed}/keet-opt.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
