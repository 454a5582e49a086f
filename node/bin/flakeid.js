#!/usr/bin/env node
'use strict';

// Runs the command, which is a program in the package for this platform.

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const { missing, platformPackage } = require('../lib/platform.js');

function find() {
  const name = platformPackage();
  try {
    return require.resolve(`${name}/flakeid${process.platform === 'win32' ? '.exe' : ''}`);
  } catch (cause) {
    throw missing(name, cause);
  }
}

const command = spawn(find(), process.argv.slice(2), { stdio: 'inherit' });
process.on('SIGINT', () => {
  // A terminal sends the signal to the command, too, and this process ends after the command.
});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => command.kill(signal));
command.on('error', (error) => {
  throw error;
});
command.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal];
});
