/** Every command where nothing can be written: what it says, and that nothing is lost. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, shell, shellWord } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CONTRACT } from './contract.ts';
import type { Entry } from './entry.ts';
import { emptied, type HardPlace, smallDisk } from './hard-places.ts';
import { sharedStage as stage } from './stage.ts';
import { argsOf, wordsOf } from './walk.ts';

const disk = smallDisk();
test.after(async () => (await stage()).close());

/** Runs the first call of a command on the disk's root. */
async function ran(entry: Entry, root: string, uid: number | undefined): Promise<Ended> {
  const set = await stage();
  const [call] = entry.calls;
  const [tool, ...words] = wordsOf(entry);
  const as =
    uid === undefined
      ? ''
      : `setpriv --reuid=${uid} --regid=${uid} --clear-groups env HOME=/ TMPDIR=/tmp `;
  const line = [tool, ...words, ...argsOf(call, set)].map(shellWord).join(' ');
  const ended = await shell(`exec ${as}${line}`, {
    root,
    stdin: call.stdin?.(set) ?? '',
    env: set.env,
  });
  set.heal();
  return ended;
}

/** The files below a root without its locks, whose content only names the last holder. */
function contentOf(root: string): Record<string, string> {
  const files = tree(root);
  return Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith('locks/')));
}

/** Paths whose content differs. */
function differences(before: Record<string, string>, after: Record<string, string>): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]);
}

/** All files are still there and whole, and no temporary file is left. */
function nothingLost(
  root: string,
  before: Record<string, string>,
  delivered: readonly string[],
  what: string,
): void {
  const after = contentOf(root);
  for (const [path, text] of Object.entries(after)) {
    assert.not.match(path, /\.tmp$|\/\.tmp-|\.raw$/, what);
    if (path.endsWith('.json')) JSON.parse(text);
    if (path.endsWith('.jsonl')) {
      assert.ok(text.startsWith(before[path] ?? ''), `${what}: ${path}`);
      for (const line of text.split('\n').filter(Boolean)) JSON.parse(line);
    }
  }
  const lost = Object.keys(before).filter((path) => !(path in after));
  assert.equal(
    lost.filter((path) => !delivered.some((id) => path.includes(id))),
    [],
    what,
  );
  for (const path of ['mkey', 'config.yml'])
    assert.is(after[path], before[path], `${what}: ${path}`);
}

async function keeps(entry: Entry, place: HardPlace): Promise<void> {
  const what = `runner ${entry.command}, ${place.name}`;
  const set = await stage();
  const root = set.copy(emptied(disk as string));
  const before = contentOf(root);
  place.begin(disk as string);
  let ended: Ended;
  try {
    ended = await ran(entry, root, place.uid);
  } finally {
    place.end(disk as string);
  }
  assert.not.match(ended.stderr, /this is a bug|\n {4}at /, what);
  // Another user's word does not count, and only root changes grants: nothing is written before that.
  if (/\(approval_refused\)|only root may/.test(ended.stderr)) return;
  const usual = entry.calls[0].status ?? 0;
  // The last page of the log may have room for a record yet.
  // git gets the token in a file without a name, for which there may be room.
  const either = ['doctor', 'audit emit', 'tokens test'].includes(entry.command);
  const hindered = either
    ? ended.status !== usual
    : (entry.writes && !place.works.includes(entry.command)) ||
      (place.hinders ?? []).includes(entry.command);
  if (!either) assert.is(ended.status, hindered ? 1 : usual, `${what}: ${ended.stderr}`);
  if (!hindered || entry.command === 'doctor') return;
  assert.match(ended.stderr + ended.stdout, place.words, what);
  if (!entry.writes) return;
  assert.not.match(ended.stderr, /\.tmp\b|\.raw\b/, what);
  nothingLost(root, before, [set.waiting], what);
  if (entry.changesInSpite !== true) assert.equal(differences(before, contentOf(root)), [], what);
  // Nothing has to be repaired by hand.
  const again = await ran(entry, root, place.uid);
  assert.is(again.status, usual, `${what}, again: ${again.stderr}`);
  assert.ok(existsSync(join(root, 'mkey')) && readFileSync(join(root, 'mkey')).length > 0);
}

/** Tests every command in these places. */
export function testPlaces(places: readonly HardPlace[]): void {
  for (const place of places) {
    test(`on ${place.name} every command that writes says so and loses nothing, every other works`, async () => {
      if (disk === undefined) {
        process.stdout.write('(left out: mounting needs root)\n');
        return;
      }
      for (const entry of CONTRACT) await keeps(entry, place);
    });
  }
}
