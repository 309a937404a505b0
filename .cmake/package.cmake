# What `cmake --install` and `cpack` put where: the program, its Python packages, desktop file, icon, MIME types, man page and
# completions. `cpack -G DEB` in the build folder makes a .deb whose libraries are found by dpkg-shlibdeps.
include(GNUInstallDirs)

if(SKBUILD)
  # A wheel (engine/python/pyproject.toml): the names of tinygrad stay out of the way until uopscope.as_tinygrad() asks for them.
  install(TARGETS _uopscope LIBRARY DESTINATION . COMPONENT python)
  install(DIRECTORY engine/python/uopscope DESTINATION . COMPONENT python FILES_MATCHING PATTERN "*.py")
  install(DIRECTORY engine/python/tinygrad DESTINATION uopscope/names COMPONENT python FILES_MATCHING PATTERN "*.py")
endif()
if(NOT UOPSCOPE_PROGRAM)
  return()
endif()

install(TARGETS uopscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS uopscope_graphviz RUNTIME DESTINATION lib/uopscope)
if(UOPSCOPE_WINDOW)
  install(TARGETS uopscope_window RUNTIME DESTINATION lib/uopscope)
endif()
install(FILES app/package/uopscope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES app/package/uopscope.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)
install(FILES app/package/uopscope.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/uopscope)
install(DIRECTORY docs/guide docs/lessons samples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/uopscope
  PATTERN "__pycache__" EXCLUDE PATTERN "*.cpp" EXCLUDE)
if(TARGET _uopscope)
  # Python finds it with: PYTHONPATH=/usr/lib/uopscope/python python3 -c "import tinygrad"
  install(TARGETS _uopscope LIBRARY DESTINATION lib/uopscope/python)
  install(DIRECTORY engine/python/tinygrad engine/python/uopscope DESTINATION lib/uopscope/python
    FILES_MATCHING PATTERN "*.py")
endif()

# The program itself writes its completions and its manual page.
set(made ${CMAKE_BINARY_DIR}/package)
add_custom_command(OUTPUT ${made}/uopscope.1
  COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
  COMMAND sh -c "$<TARGET_FILE:uopscope> completion bash > ${made}/uopscope.bash"
  COMMAND sh -c "$<TARGET_FILE:uopscope> completion zsh > ${made}/_uopscope"
  COMMAND sh -c "$<TARGET_FILE:uopscope> completion fish > ${made}/uopscope.fish"
  COMMAND sh -c "$<TARGET_FILE:uopscope> completion man > ${made}/uopscope.1"
  DEPENDS uopscope VERBATIM)
add_custom_target(package_texts DEPENDS ${made}/uopscope.1)
install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target package_texts COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${made}/uopscope.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME uopscope)
install(FILES ${made}/_uopscope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${made}/uopscope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${made}/uopscope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME uopscope)
set(CPACK_PACKAGE_CONTACT "the authors of uopscope <uopscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tensor compiler with a recorder and a debugger over every rewrite")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libcgraph6, libgvc6, python3, python3-numpy, qml6-module-qtquick, qml6-module-qtquick-controls, qml6-module-qtquick-layouts, qml6-module-qtquick-window, qml6-module-qtquick-templates, qml6-module-qtqml, qml6-module-qtqml-workerscript, qml6-module-qtqml-models, qml6-module-qtquick-dialogs, qml6-module-qt-labs-platform, qml6-module-qt-labs-settings, qml6-module-qt-labs-folderlistmodel")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "graphviz, clang-19")
include(CPack)
