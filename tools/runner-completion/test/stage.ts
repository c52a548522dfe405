/** A root with apps, a command of others on PATH, and shells on a pseudo-terminal. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { deployed, writeState } from '@runner/testing/app-states';
import { cleanEnvironment } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

/** Milliseconds to wait for what should show. */
const PATIENCE = 120_000;

export interface Stage {
  readonly root: string;
  /** First on PATH behind the executables; holds `runner-foo`. */
  readonly bin: string;
}

/** Apps `shop`, with two instances and kept versions, and `blog`. */
export function newStage(): Stage {
  const root = temporaryFolder('completion');
  const changes = { subjects: ['add "previous": [\\] to it', ']'], authors: ['Ada'] };
  const previous = ['v2', 'feature/x', 'v$(touch pwned)', 'v1'].map((version) =>
    deployed(version, { changes }),
  );
  writeState(root, 'shop', { instances: { blue: { current: deployed('v3'), previous } } });
  writeState(root, 'blog');
  // No app has such a name; a shell could take it for more than a name.
  writeFileSync(join(root, 'state', '$(touch pwned).json'), '{}');
  for (const name of ['blue', 'green'])
    mkdirSync(join(root, 'apps/shop/instances', name), { recursive: true });
  const secrets = ['DATABASE_URL', 'API_KEY'].map((name) => ({ name, instance: '*' }));
  mkdirSync(join(root, 'secrets'));
  const started = [{ instance: 'blue', secrets }];
  writeFileSync(join(root, 'secrets/shop.json'), JSON.stringify({ app: 'shop', secrets, started }));
  mkdirSync(join(root, 'logs/deploys/shop'), { recursive: true });
  writeFileSync(join(root, 'logs/deploys/shop/a1b2c3d4.log'), '');
  mkdirSync(join(root, 'spool/notify/dead'), { recursive: true });
  for (const file of [
    'mib0k3v1c-9f2e.telegram.json',
    'telegram.json',
    'dead/mib0k3v1e-9f2e.discord.json',
  ])
    writeFileSync(join(root, 'spool/notify', file), '');
  const bin = temporaryFolder('bin');
  writeFileSync(join(bin, 'runner-foo'), '#!/bin/sh\n');
  chmodSync(join(bin, 'runner-foo'), 0o755);
  return { root, bin };
}

/** Whether a program is there; says why the rest of a test is left out when it is not. */
export function isInstalled(program: string): boolean {
  const there = spawnSync(program, ['--version']).error === undefined;
  if (!there)
    process.stdout.write(`(left out: ${program} is not installed; Debian package ${program})\n`);
  return there;
}

/** The environment of a shell that completes. */
export function shellEnvironment({ root, bin }: Stage): Record<string, string> {
  const env = cleanEnvironment({ root });
  const [first = '', ...rest] = (env.PATH ?? '').split(':');
  return { ...env, PATH: [first, bin, ...rest].join(':'), TERM: 'xterm' };
}

export interface Shell {
  /** Types keys and Enter; resolves the words with which `runner` was called then. */
  called(keys: string): Promise<string[]>;
  end(): void;
}

/**
 * Starts a shell whose `runner` is a function that prints its arguments as `=>[a][b]<=`, once it has
 * printed `ready`.
 */
export async function startShell(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Shell> {
  const terminal = spawn(program, [...args], {
    cols: 240,
    rows: 50,
    env,
    cwd: temporaryFolder('cwd'),
  });
  let text = '';
  let from = 0;
  let wake = () => {};
  terminal.onData((data) => {
    text += data;
    wake();
  });
  const wait = async (wanted: RegExp): Promise<RegExpExecArray> => {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const match = wanted.exec(text.slice(from));
      if (match) {
        from += match.index + match[0].length;
        return match;
      }
      if (Date.now() > end) {
        terminal.kill('SIGKILL');
        throw new Error(`${wanted} does not show in ${JSON.stringify(text.slice(from))}`);
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 200);
      });
    }
  };
  await wait(/ready/);
  return {
    async called(keys) {
      terminal.write(`${keys}\r`);
      const [, words = ''] = await wait(/=>(.*?)<=/s);
      return [...words.matchAll(/\[([^\]]*)\]/g)].map(([, word]) => word ?? '');
    },
    end: () => terminal.kill('SIGKILL'),
  };
}
