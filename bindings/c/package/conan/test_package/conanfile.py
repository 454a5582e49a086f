"""Builds and runs a program with the package."""

from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class TestFlakeid(ConanFile):
    """A consumer of the package, which Conan runs at the end of `conan create`."""

    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self) -> None:
        """Requires the package under test."""
        self.requires(self.tested_reference_str)

    def layout(self) -> None:
        """Chooses the folders of the build."""
        cmake_layout(self)

    def build(self) -> None:
        """Builds the program."""
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self) -> None:
        """Runs the program, if this machine can run it."""
        if can_run(self):
            program = Path(self.build_folder, self.cpp.build.bindir, "quickstart")
            self.run(str(program), env="conanrun")
