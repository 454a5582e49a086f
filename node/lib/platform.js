'use strict';

// Names the package that contains the add-on and the command for this platform.

// A bundle in the form of an ES module has no `require`.
const { closeSync, existsSync, openSync, readSync } =
  process.getBuiltinModule?.('node:fs') ?? require('node:fs');

// The platforms of the optional dependencies in package.json.
const PLATFORMS = [
  ...['darwin-arm64', 'darwin-x64', 'win32-x64-msvc', 'linux-arm64-gnu'],
  ...['linux-arm64-musl', 'linux-x64-gnu', 'linux-x64-musl'],
];

const MUSL_LOADERS = { arm64: '/lib/ld-musl-aarch64.so.1', x64: '/lib/ld-musl-x86_64.so.1' };

// Returns glibc or musl, which cannot load each other's add-ons. A program for musl requires the loader of
// musl, but systems with glibc may have that loader, too. The first bytes of an executable contain its
// interpreter; a report contains it, too, but takes five milliseconds.
function abi() {
  if (process.platform === 'win32') return '-msvc';
  if (process.platform !== 'linux') return '';
  if (!existsSync(MUSL_LOADERS[process.arch] ?? '/lib')) return '-gnu';
  const interpreter = /\/ld-(linux|musl)-/.exec(firstBytes(process.execPath));
  if (interpreter !== null) return interpreter[1] === 'musl' ? '-musl' : '-gnu';
  const { header } = process.report.getReport();
  return header.glibcVersionRuntime === undefined ? '-musl' : '-gnu';
}

function firstBytes(path) {
  const bytes = Buffer.alloc(2048);
  try {
    const file = openSync(path, 'r');
    const length = readSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
    return bytes.latin1Slice(0, length);
  } catch {
    // If the executable is not readable, the report is used instead.
    return '';
  }
}

function platformPackage() {
  return `flakeid-core-${process.platform}-${process.arch}${abi()}`;
}

// Whether there is no add-on for the platform of a package. The WebAssembly module and JavaScript read each other's
// numbers in memory, which requires a little-endian processor.
function usesWebAssembly(name) {
  const isListed = PLATFORMS.some((platform) => name === `flakeid-core-${platform}`);
  return !isListed && new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
}

// Returns the error of a program that cannot find the package.
function missing(name, cause) {
  const message =
    `flakeid-core cannot find its package ${name}; npm installs it as an optional dependency, unless `
    + 'optional dependencies are omitted. A bundle does not contain the add-on: name flakeid-core in '
    + '`serverExternalPackages` of Next.js or among the external packages of another bundler, and '
    + 'install it where the bundle runs. Otherwise import flakeid-core/wasm, which needs no add-on';
  return new Error(message, { cause });
}

module.exports = { missing, platformPackage, usesWebAssembly };
