#!/usr/bin/env node
'use strict';
/* Starts @TOOL@: loads its files, each a function of (exports, require, module), with the code that
   V8 made of them before, where lib/precompile.cjs has kept that for this build and this V8. V8
   checks what it is given and compiles the source when it does not fit. Its version and its help are
   kept as text: they need no code at all. */
const { getBuiltinModule } = process; // A fifth of what require() takes for the first module.
if (getBuiltinModule === undefined) {
  console.error(`@TOOL@: needs Node 20.18 or newer, this is ${process.version}`);
  process.exit(1);
}
const { readFileSync, writeSync } = getBuiltinModule('node:fs');
const { dirname } = getBuiltinModule('node:path');
const { Script } = getBuiltinModule('node:vm');

const dist = dirname(__dirname);
const kept = `${dist}/cache/@TOOL@-@BUILD@-${process.versions.v8}-${process.arch}`;
const modules = new Map();

function compiled(file) {
  try {
    return readFileSync(`${kept}/${file.replaceAll('/', '+')}`);
  } catch {
    return undefined;
  }
}

function load(file) {
  const there = modules.get(file);
  if (there !== undefined) return there;
  const filename = `${dist}/${file}`;
  const source = readFileSync(filename, 'utf8');
  const script = new Script(source, { filename, cachedData: compiled(file) });
  const module = { exports: {} };
  modules.set(file, module);
  script.runInThisContext()(module.exports, requireFrom, module);
  return module;
}

/** What a file exports is made when the first other file asks for it. */
function requireFrom(id) {
  if (!id.startsWith('dist:')) return getBuiltinModule(id);
  const module = load(id.slice(5));
  module.publish?.();
  module.publish = undefined;
  return module.exports;
}

/** The kept text that the command line asks for; undefined where the tool has to look at it. */
function wanted([option, ...more]) {
  if (more.length > 0) return undefined;
  if (option === '--version') return '@TOOL@ @VERSION@\n';
  try {
    return option === '--help' ? readFileSync(`${dist}/lib/@TOOL@/help.txt`, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

/** Whether all of it was written; where not, the tool prints it anew and says what is wrong. */
function isPrinted(text) {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done);
    } catch ({ code }) {
      if (done === 0 || code !== 'EAGAIN') return false;
      // A full pipe that does not block, in the middle of the text: its reader has to go on first.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
  return true;
}

/** Quick commands have a main file that holds nothing of the others, and all that they need at once. */
function mainFile([command, ...more]) {
  const quick = command && '@QUICK@'.split(' ').includes(command);
  const helps = more.includes('--help') || more.includes('-h');
  return quick && !helps ? `lib/@TOOL@/${command}/main.cjs` : 'lib/@TOOL@/main.cjs';
}

const args = process.argv.slice(2);
const text = wanted(args);
if (text !== undefined && isPrinted(text)) process.exit(0);
load(mainFile(args));
