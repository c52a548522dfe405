#!/usr/bin/env node
'use strict';
/* Starts @TOOL@: loads its files, each a function of (exports, require, module), with the code that
   V8 made of them before, where lib/precompile.cjs has kept that for this build and this V8. V8
   checks what it is given and compiles the source when it does not fit. */
const { readFileSync } = require('node:fs');
const { dirname } = require('node:path');
const { Script } = require('node:vm');

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
  if (there !== undefined) return there.exports;
  const filename = `${dist}/${file}`;
  const source = readFileSync(filename, 'utf8');
  const script = new Script(source, { filename, cachedData: compiled(file) });
  const module = { exports: {} };
  modules.set(file, module);
  script.runInThisContext()(module.exports, requireFrom, module);
  return module.exports;
}

function requireFrom(id) {
  return id.startsWith('dist:') ? load(id.slice(5)) : require(id);
}

load('lib/@TOOL@/main.cjs');
