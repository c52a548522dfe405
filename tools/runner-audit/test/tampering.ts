/** Random changes of a chained log, each of which `verify` has to find. */
import { rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { pathsOf } from '@runner/common/foundation/paths';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { type LogVerdict, verdict } from '../src/verify/verdict.ts';
import { chainedLog, filesOf, type LogFile, rootWithFiles } from './chain-log.ts';

type Random = (below: number) => number;
type Tamper = (files: LogFile[], random: Random) => readonly LogFile[];

/** Changes the text of one file, which has lines. */
const inFile =
  (change: (lines: string[], random: Random) => string[]): Tamper =>
  (files, random) => {
    const at = random(files.length);
    return files.map((file, index) => {
      if (index !== at) return file;
      const lines = change(file.text.trimEnd().split('\n'), random);
      return { ...file, text: lines.length === 0 ? '' : `${lines.join('\n')}\n` };
    });
  };

/** One byte of the text, which may be a newline, becomes another one. */
const flip: Tamper = (files, random) => {
  const at = random(files.length);
  return files.map((file, index) => {
    if (index !== at) return file;
    const position = random(file.text.length - 1);
    const byte = String.fromCharCode((file.text.charCodeAt(position) ^ (1 << random(7))) & 0xff);
    return { ...file, text: file.text.slice(0, position) + byte + file.text.slice(position + 1) };
  });
};

const swapLines = inFile((lines, random) => {
  const [one, two] = [random(lines.length), random(lines.length)];
  return lines.map((each, at) => lines[at === one ? two : at === two ? one : at] ?? each);
});

const insert = (made: (lines: string[], at: number, random: Random) => string) =>
  inFile((lines, random) => {
    const at = random(lines.length - 1) + 1;
    return [...lines.slice(0, at), made(lines, at, random), ...lines.slice(at)];
  });

const TAMPERS: Readonly<Record<string, Tamper>> = {
  'a line removed': inFile((lines, random) => lines.toSpliced(random(lines.length), 1)),
  'lines removed': inFile((lines, random) => lines.toSpliced(random(lines.length), 1 + random(9))),
  'a byte changed': flip,
  'a field changed': inFile((lines, random) => {
    const at = random(lines.length);
    return lines.with(
      at,
      (lines[at] as string).replace('"shop"', '"blog"').replace('{"ti', '{"tj'),
    );
  }),
  'lines swapped': swapLines,
  'a copy inserted': insert((lines, _, random) => lines[random(lines.length)] as string),
  'a forged record inserted': insert((lines, at) =>
    (lines[at] as string).replace('"version":"v', '"version":"w'),
  ),
  'an unchained record inserted': insert((lines, at) =>
    (lines[at] as string).replace(/,"seq".*/, '}'),
  ),
  'a line of text inserted': insert(() => 'not a record'),
  'an empty line inserted': insert(() => ''),
  'a file cut': (files, random) => {
    const at = random(files.length);
    return files.map((file, index) =>
      index === at ? { ...file, text: file.text.slice(0, random(file.text.length)) } : file,
    );
  },
  'a rotated file removed': (files, random) => files.toSpliced(1 + random(files.length - 2), 1),
  'two files renamed': (files, random) => {
    const one = random(files.length - 1);
    const [a, b] = [files[one] as LogFile, files[one + 1] as LogFile];
    return files.with(one, { ...a, text: b.text }).with(one + 1, { ...b, text: a.text });
  },
  'the head removed': (files, random) => files.slice(1 + random(files.length - 1)),
  'the tail removed': (files, random) => files.slice(0, -1 - random(files.length - 1)),
};

/** Every line with its file, in the order of the log. */
const placesOf = (files: readonly LogFile[]) =>
  files.flatMap(({ suffix, text }) =>
    text
      .replace(/\n$/, '')
      .split('\n')
      .flatMap((line, index) =>
        text === '' ? [] : [{ at: `deploy-events.jsonl${suffix}:${index + 1}`, line }],
      ),
  );

/** What `verify` says about a root. */
type Verify = (root: string, anchor: string) => Promise<Pick<LogVerdict, 'ok' | 'problems'>>;

/** By the executable. */
export const verifyRun: Verify = async (root, anchor) => {
  const { stdout } = await run('runner-audit', ['verify', '--json', '--anchor', anchor], { root });
  return JSON.parse(stdout);
};

/** By its code, without a start of Node for each. */
export const verifyLoaded: Verify = (root, anchor) => {
  const [seq, hash = ''] = anchor.split(':');
  return verdict({ paths: pathsOf(root), note: assert.unreachable }, { seq: Number(seq), hash });
};

/** Tampers `times` times with a log of `records` records; throws unless each change is found and named. */
export async function tamper(records: number, times: number, verify: Verify): Promise<void> {
  const below: Random = (limit) => Math.floor(Math.random() * limit);
  const root = await chainedLog(records);
  const whole = filesOf(root);
  const anchor = (await run('runner-audit', ['anchor'], { root })).stdout.trim();
  assert.equal((await verify(root, anchor)).problems, []);
  const headAnchor = await oldAnchor(whole);
  const packed = new Map(whole.map(({ text }) => [text, gzipSync(Buffer.from(text, 'latin1'))]));
  const before = placesOf(whole);
  const kinds = Object.entries(TAMPERS);
  for (let time = 0; time < times; time += 1) {
    const [name, change] = kinds[time % kinds.length] as [string, Tamper];
    const changed = change([...whole], below);
    const after = placesOf(changed);
    const differs = after.findIndex(({ line }, at) => line !== before[at]?.line);
    // It has put an equal line in the place of another one.
    if (differs === -1 && after.length === before.length) continue;
    // Without its first lines it is a log that was rotated: that is `the head removed`.
    if (differs === 0 && /^(?:a line|lines) removed$/.test(name)) continue;
    // A removed head begins a log that may have been rotated: the anchor is one of the removed.
    const isHead = name === 'the head removed';
    const tampered = rootWithFiles(changed, packed);
    const { ok, problems } = await verify(tampered, isHead ? headAnchor : anchor);
    const [first] = problems;
    assert.ok(!ok && first, `${name}: not found`);
    const { file, line, message } = first;
    const at = differs === -1 ? after.length : differs;
    const expected = [after[at]?.at, after[at - 1]?.at, ...(isHead ? [after.at(-1)?.at] : [])];
    assert.ok(
      expected.includes(`${file}:${line}`),
      `${name}: expected ${expected}, found ${file}:${line}: ${message}`,
    );
    rmSync(tampered, { recursive: true });
  }
}

/** The last record of the oldest file. */
async function oldAnchor([oldest]: readonly LogFile[]): Promise<string> {
  const live = { text: oldest?.text ?? '', suffix: '' };
  const { stdout } = await run('runner-audit', ['anchor'], { root: rootWithFiles([live]) });
  return stdout.trim();
}
