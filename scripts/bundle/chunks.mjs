import { posix } from 'node:path';

/** The chunks that the entry imports statically, itself included: all are loaded at every start. */
function startChunks(chunks, entry) {
  const start = new Set();
  const visit = (path) => {
    if (start.has(path)) return;
    start.add(path);
    for (const imported of chunks.get(path).imports) {
      if (imported.kind !== 'dynamic-import' && chunks.has(imported.path)) visit(imported.path);
    }
  };
  visit(entry);
  return start;
}

/**
 * Names for the files of lazy chunks: the stem of the module that is imported lazily, with as many
 * of its folders in front as tell it from another; `shared-N` for what several of them import.
 */
function lazyNames(chunks, lazy) {
  const names = new Map();
  const taken = new Set();
  const entries = lazy.filter((path) => chunks.get(path).entry !== undefined);
  const stems = entries.map((path) => chunks.get(path).entry.replace(/\.[cm]?[jt]s$/, '').split('/'));
  entries.forEach((path, index) => {
    for (let words = 1; ; words += 1) {
      const name = stems[index].slice(-words).join('-');
      const same = stems.filter((stem) => stem.slice(-words).join('-') === name);
      if (same.length > 1 && words < stems[index].length) continue;
      names.set(path, name);
      taken.add(name);
      return;
    }
  });
  // The order of their sources, not of esbuild's hashes: a name stays when a line changes.
  const shared = lazy
    .filter((path) => chunks.get(path).entry === undefined)
    .sort((a, b) => (chunks.get(a).inputs.join() < chunks.get(b).inputs.join() ? -1 : 1));
  let number = 0;
  for (const path of shared) {
    do number += 1;
    while (taken.has(`shared-${number}`));
    names.set(path, `shared-${number}`);
  }
  return names;
}

/**
 * What other files need of the start chunks: start chunk -> name -> the name under which the
 * executable exports it, which differs when two start chunks export the same name.
 */
function importedFromStart(chunks, start, alsoLazy) {
  const wanted = new Set(alsoLazy);
  for (const [path, chunk] of chunks) {
    if (start.has(path)) continue;
    for (const imported of chunk.imports) {
      if (start.has(imported.path) && imported.kind !== 'dynamic-import') wanted.add(imported.path);
    }
  }
  const taken = new Set();
  const handedAs = (name) => {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
    taken.add(free);
    return free;
  };
  const inputs = (path) => chunks.get(path).inputs.join();
  return new Map(
    [...wanted]
      .sort((a, b) => (inputs(a) < inputs(b) ? -1 : 1))
      .map((path) => {
        const names = [...chunks.get(path).exports].sort();
        return [path, new Map(names.map((name) => [name, handedAs(name)]))];
      }),
  );
}

/** Start chunks that some module imports lazily all the same. */
function startChunksImportedLazily(chunks, start) {
  const lazily = new Set();
  for (const chunk of chunks.values()) {
    for (const imported of chunk.imports) {
      if (imported.kind === 'dynamic-import' && start.has(imported.path)) lazily.add(imported.path);
    }
  }
  return [...lazily].sort();
}

/**
 * Decides which file each chunk of a tool goes to. `place` maps chunk -> file relative to dist;
 * the start chunks share one file, the executable. `door` maps a start chunk that is also imported
 * lazily to a small file that hands on what the executable holds. `lazyInterface` maps a start
 * chunk to the names that other files need of it.
 */
export function nameChunks(tool, chunks) {
  const entry = [...chunks.keys()].find((path) => posix.basename(path) === 'main.js');
  const start = startChunks(chunks, entry);
  const alsoLazy = startChunksImportedLazily(chunks, start);
  const lazy = [...chunks.keys()].filter((path) => !start.has(path)).sort();
  const place = new Map([...start].map((path) => [path, `bin/${tool}`]));
  const door = new Map();
  for (const [path, name] of lazyNames(chunks, [...lazy, ...alsoLazy])) {
    (start.has(path) ? door : place).set(path, `lib/${tool}/${name}.cjs`);
  }
  const lazyInterface = importedFromStart(chunks, start, alsoLazy);
  return { entry, chunks, start, place, door, lazyInterface };
}
