/**
 * Decides in which file each chunk of a tool goes. A chunk is { text, inputs, imports, exports,
 * entry }, `entry` the source of a module that is imported lazily, or of the tool itself.
 */

/** Characters of code that are cheaper to read with the entry than from a file of their own. */
const SMALL = 6_000;

const isLazy = ({ kind }) => kind === 'dynamic-import';

/** All of these together: the entry is read at every start, for help as well. Of a quick command none. */
const ROOM = 12_000;

/** Built-in modules that Node has loaded before any program begins. */
const LOADED = new Set(['node:fs', 'node:path']);

/** Whether a module that is slow to load comes with a chunk. */
function isSlow({ imports }) {
  return imports.some(({ path, external }) => external && !LOADED.has(path));
}

/** Whether a chunk costs less in the entry: little code, and nothing slow. */
function isSmall(chunk) {
  return chunk.text.length < SMALL && !isSlow(chunk);
}

/** Everything that is loaded together with a chunk: itself and what it imports statically. */
function loadedWith(chunks, first) {
  const loaded = new Set();
  const visit = (path) => {
    if (loaded.has(path) || !chunks.has(path)) return;
    loaded.add(path);
    for (const imported of chunks.get(path).imports) {
      if (!isLazy(imported)) visit(imported.path);
    }
  };
  visit(first);
  return loaded;
}

/** The lazy entries that can still be reached from the tool's own entry when `without` cannot. */
function reachable(chunks, entry, without) {
  const reached = new Set();
  const visit = (root) => {
    if (reached.has(root) || root === without) return;
    reached.add(root);
    for (const path of loadedWith(chunks, root)) {
      for (const imported of chunks.get(path).imports) {
        if (isLazy(imported) && chunks.has(imported.path)) visit(imported.path);
      }
    }
  };
  visit(entry);
  return reached;
}

/**
 * A file that is opened costs about as much as 20 KB of code: chunks that are never loaded apart
 * share one. Gives chunk -> the chunk whose file it joins, for the following:
 * - what the tool's entry imports joins the entry;
 * - what several lazy entries import joins the one that is always loaded before the others, or the
 *   entry when it is small: to read it costs less than to open it;
 * - of a quick command, whose entry holds only what each start needs, it shares one file;
 * - a lazy entry without code of its own joins the chunk that holds its module, or the other way
 *   round, since the file has to export what the entry exports.
 */
function joins(chunks, entry, isQuick) {
  const joined = new Map();
  const start = loadedWith(chunks, entry);
  for (const path of start) if (path !== entry) joined.set(path, entry);

  const rest = [...chunks.keys()].filter((path) => !start.has(path));
  const lazyEntries = rest.filter((path) => chunks.get(path).entry !== undefined);
  const shared = rest.filter((path) => chunks.get(path).entry === undefined);
  const closures = new Map(lazyEntries.map((root) => [root, loadedWith(chunks, root)]));
  const reachedWithout = new Map(lazyEntries.map((root) => [root, reachable(chunks, entry, root)]));
  let room = isQuick ? 0 : ROOM;
  for (const path of shared) {
    const users = lazyEntries.filter((root) => closures.get(root).has(path));
    const first = users.find((root) =>
      users.every((other) => other === root || !reachedWithout.get(root).has(other)),
    );
    const facade = users.find((root) => {
      const { inputs, entry: source } = chunks.get(root);
      return inputs.length === 0 && chunks.get(path).inputs.includes(source);
    });
    // It must not bring another file along.
    const alone = [...loadedWith(chunks, path)].every((part) => part === path || start.has(part));
    const size = chunks.get(path).text.length;
    const small = alone && size <= room && isSmall(chunks.get(path)) ? entry : undefined;
    const file = first ?? facade ?? small;
    if (file === entry) room -= size;
    if (file !== undefined) joined.set(path, file);
  }
  if (isQuick) {
    const [lead, ...others] = shared.filter(
      (path) => !joined.has(path) && !isSlow(chunks.get(path)),
    );
    for (const path of others) joined.set(path, lead);
  }
  return joined;
}

/**
 * Names for lazy entries: the stem of the module, with as many of its folders in front as tell it
 * from another; `shared-N` for what several of them import.
 */
function fileNames(chunks, paths) {
  const names = new Map();
  const entries = paths.filter((path) => chunks.get(path).entry !== undefined);
  const stems = entries.map((path) =>
    chunks
      .get(path)
      .entry.replace(/\.[cm]?[jt]s$/, '')
      .split('/'),
  );
  for (const [index, path] of entries.entries()) {
    const stem = stems[index];
    const nameOf = (other, words) => other.slice(-words).join('-');
    let words = 1;
    while (stems.filter((other) => nameOf(other, words) === nameOf(stem, words)).length > 1) {
      words += 1;
    }
    names.set(path, nameOf(stem, words));
  }
  // The order of their sources, not of esbuild's hashes: a name stays when a line changes.
  const inputs = (path) => chunks.get(path).inputs.join();
  const shared = paths.filter((path) => chunks.get(path).entry === undefined);
  shared.sort((a, b) => (inputs(a) < inputs(b) ? -1 : 1));
  const taken = new Set(names.values());
  let number = 0;
  for (const path of shared) {
    do number += 1;
    while (taken.has(`shared-${number}`));
    names.set(path, `shared-${number}`);
  }
  return names;
}

/**
 * The names under which a file exports what other files import from its parts: part -> name ->
 * exported name. The leading part's names stay; another part's give way when they are taken.
 */
function exportedNames(chunks, file, needed) {
  const parts = file.parts.filter((path) => path === file.lead || needed.has(path));
  const taken = new Set();
  const free = (name) => {
    let candidate = name;
    for (let number = 2; taken.has(candidate); number += 1) candidate = `${name}_${number}`;
    taken.add(candidate);
    return candidate;
  };
  return new Map(
    parts.map((path) => [
      path,
      new Map([...chunks.get(path).exports].sort().map((name) => [name, free(name)])),
    ]),
  );
}

/**
 * The files of a program, all in `folder`: path relative to dist -> { lead, parts, exports }. `home`
 * maps each chunk to its file. A module that is loaded at start and imported lazily as well has a
 * `door`, a file that hands on what main.cjs holds: { door: chunk }. `lazyFile` maps the chunks that
 * are imported lazily to the file to require.
 */
export function planFiles({ folder, isQuick }, chunks, entry) {
  const joined = joins(chunks, entry, isQuick);
  const leads = [...chunks.keys()].filter((path) => !joined.has(path) && path !== entry).sort();
  const imports = [...chunks.values()].flatMap((chunk) => chunk.imports);
  const lazily = new Set(imports.filter(isLazy).map(({ path }) => path));
  const doors = [...lazily].filter((path) => joined.get(path) === entry).sort();
  const names = fileNames(chunks, [...leads, ...doors]);
  const fileName = (path) => `${folder}/${names.get(path)}.cjs`;

  const home = new Map([[entry, `${folder}/main.cjs`]]);
  for (const path of leads) home.set(path, fileName(path));
  for (const [path, lead] of joined) home.set(path, home.get(lead));

  const files = new Map();
  for (const lead of [entry, ...leads]) {
    const inputs = (path) => chunks.get(path).inputs.join();
    const others = [...joined.keys()].filter((path) => joined.get(path) === lead);
    others.sort((a, b) => (inputs(a) < inputs(b) ? -1 : 1));
    files.set(home.get(lead), { lead, parts: [lead, ...others] });
  }
  const needed = new Set(doors);
  for (const [path, chunk] of chunks) {
    for (const imported of chunk.imports) {
      if (!isLazy(imported) && home.get(imported.path) !== home.get(path))
        needed.add(imported.path);
    }
  }
  for (const file of files.values()) file.exports = exportedNames(chunks, file, needed);

  const lazyFile = new Map(leads.map((path) => [path, home.get(path)]));
  for (const path of doors) {
    files.set(fileName(path), { door: path });
    lazyFile.set(path, fileName(path));
  }
  return { chunks, entry, home, files, lazyFile };
}
