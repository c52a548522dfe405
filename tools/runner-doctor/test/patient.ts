/** Roots to be examined, and what the doctor says about them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunOptions, run, shell } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';

export const TOKEN = 'plain-token-0123456789';

export interface Finding {
  readonly check: string;
  readonly level: string;
  readonly message: string;
  readonly fix: string | null;
  readonly mend: string | null;
}

/** A root on which `runner add` registered acme/shop with a token; the name is that of the app. */
export async function registered(): Promise<string> {
  const root = join(temporaryFolder('doctor'), 'root');
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  const { status, stderr } = await run('runner-add', args, { root, stdin: TOKEN });
  assert.is(status, 0, stderr);
  return root;
}

export interface Told {
  readonly status: number | null;
  readonly findings: readonly Finding[];
  /** Those that are not ok, as `level check: message`. */
  readonly troubles: readonly string[];
}

/** Examines a root; the status has to go with what is found. */
export async function examined(
  root: string,
  options: RunOptions = {},
  args = ['--offline'],
): Promise<Told> {
  const { status, stdout, stderr } = await run('runner-doctor', [...args, '--json'], {
    root,
    ...options,
  });
  assert.is(stderr, '');
  const answer = JSON.parse(stdout);
  const findings = answer.findings as readonly Finding[];
  const problems = findings.filter(({ level }) => level === 'problem').length;
  const warnings = findings.filter(({ level }) => level === 'warning').length;
  assert.equal(
    [answer.problems, answer.warnings, answer.healthy],
    [problems, warnings, problems === 0],
  );
  assert.is(status, problems > 0 ? 1 : 0);
  for (const { level, message, fix, mend } of findings) {
    assert.is(mend, fix, message);
    assert.is(fix === null, level === 'ok', message);
    assert.not.match(message, /\.$|\n/, message);
  }
  const bad = findings.filter(({ level }) => level !== 'ok');
  return {
    status,
    findings,
    troubles: bad.map(({ level, check, message }) => `${level} ${check}: ${message}`),
  };
}

/** Examines a root that has exactly this trouble, runs the fix, and examines it again. */
export async function fixed(
  root: string,
  trouble: string,
  options: RunOptions = {},
): Promise<void> {
  const before = await examined(root, options);
  assert.equal(before.troubles, [trouble]);
  const fix = before.findings.find(({ level }) => level !== 'ok')?.fix ?? '';
  const done = await shell(fix, { root, ...options });
  assert.is(done.status, 0, `${fix}: ${done.stderr}`);
  assert.equal((await examined(root, options)).troubles, [], fix);
}

/** A folder with these programs, shell scripts; to stand first on PATH. */
export function programs(scripts: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('programs');
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}

/** Writes a file below a root, its folders included, closed to others. */
export function put(root: string, path: string, text: string, mode = 0o600): string {
  const file = join(root, path);
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode });
  return file;
}
