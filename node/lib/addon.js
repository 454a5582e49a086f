'use strict';

// Finds and loads the native add-on, which bundles cannot contain. For platforms without an add-on, loads the
// entry for WebAssembly instead.

const { missing, platformPackage, usesWebAssembly } = require('./platform.js');

const WEBASSEMBLY = 'flakeid-core/wasm';

// Bundlers replace calls of `require`, and would fail to read the add-on, but they keep this value.
const requireAtRunTime =
  typeof __webpack_require__ === 'undefined' ? require : __non_webpack_require__;

function load(name) {
  try {
    return requireAtRunTime(name);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    return loadFromProgram(name);
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    throw missing(name, cause);
  }
}

// In bundles, the replacements of `require` throw errors of other kinds, or errors without a code.
function isMissing({ code }) {
  return code === undefined || code === 'MODULE_NOT_FOUND';
}

// Loads the add-on of the package that is installed in the folder of the running program or in the
// current folder, or in a folder above them. A bundle may be in a folder from which the add-on cannot
// be found, because some package managers link only direct dependencies.
function loadFromProgram(name) {
  const { createRequire } = process.getBuiltinModule?.('node:module') ?? require('node:module');
  const here = `${process.cwd()}/`;
  const paths = [process.argv[1] ?? here, here];
  return createRequire(createRequire(here).resolve('flakeid-core/package.json', { paths }))(name);
}

// Contains the names of all add-ons for tools that copy the files of a program by reading its sources,
// such as the file tracing of Next.js. Bundlers omit the branch or ignore names in `try`, because they
// would read the add-ons. This function is never called.
function addonPaths() {
  if (typeof __webpack_require__ === 'undefined' && !process.turbopack) {
    try {
      return [
        require.resolve('flakeid-core-darwin-arm64'),
        require.resolve('flakeid-core-darwin-x64'),
        require.resolve('flakeid-core-linux-arm64-gnu'),
        require.resolve('flakeid-core-linux-arm64-musl'),
        require.resolve('flakeid-core-linux-x64-gnu'),
        require.resolve('flakeid-core-linux-x64-musl'),
        require.resolve('flakeid-core-win32-x64-msvc'),
      ];
    } catch {
      return [];
    }
  }
  return [];
}

// Threads that this thread starts do not repeat the warning.
function warnOnce(name) {
  const { getEnvironmentData, setEnvironmentData } =
    process.getBuiltinModule?.('node:worker_threads') ?? require('node:worker_threads');
  if (getEnvironmentData(WEBASSEMBLY) !== undefined) return;
  setEnvironmentData(WEBASSEMBLY, true);
  process.emitWarning(
    `flakeid-core has no add-on ${name}, and runs as WebAssembly: each thread has its own instance, and `
      + 'only brokers lease nodes',
    { code: 'FLAKEID_WEBASSEMBLY' },
  );
}

function loadPortable(name) {
  warnOnce(name);
  return load(WEBASSEMBLY);
}

const name = platformPackage();
const portable = usesWebAssembly(name) ? loadPortable(name) : undefined;
const addon = portable === undefined ? load(name) : {};

module.exports = { addon, addonPaths, portable };
