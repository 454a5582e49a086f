'use strict';

// Finds and loads the native add-on, which bundles cannot contain.

const { missing, platformPackage } = require('./platform.js');

// Bundlers replace calls of `require`, and would fail to read the add-on, but they keep this value.
const requireAtRunTime =
  typeof __webpack_require__ === 'undefined' ? require : __non_webpack_require__;

function load() {
  const name = platformPackage();
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

const addon = load();

module.exports = { addon, addonPaths };
