/**
 * What a list of hosts costs a build: downloads, with the whole network and through the guard, in alternating
 * runs, both in the sandbox. `--project DIR`: also `npm ci` of a project with a package-lock.json and an empty
 * cache, with the list [npm].
 */
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HostRule, hostRule } from '@runner/common/config/network';
import { pathsOf } from '@runner/common/foundation/paths';
import { HostGuard } from '@runner/deploy/guard/guard';
import { NetworkNotes } from '@runner/deploy/guard/notes';
import { rulesOf } from '@runner/deploy/guard/sets';
import { ask } from '@runner/deploy/instances/drivers/ask';
import { runChild, succeeded } from '@runner/deploy/run/child';
import { stepEnvironment } from '@runner/deploy/run/environment';
import { openSandbox } from '@runner/deploy/sandbox/sandbox';
import { quantile } from './harness/measure.ts';
import { optionGiven, printSetting, roundsWanted } from './harness/setting.ts';

const FILES = 400;
const SIZE = 200_000;
/** 16 at a time, as package managers do. */
const FETCH = `node -e '
const next = async () => { while (left-- > 0) await (await fetch(process.argv[1])).arrayBuffer(); };
let left = ${FILES}; Promise.all(Array.from({ length: 16 }, next)).catch((e) => { console.error(e); process.exit(1); });
'`;
const NPM = 'rm -rf node_modules "$HOME"/.npm/* && npm ci --no-audit --no-fund --ignore-scripts';
/** Of the median of the ratios of two runs that follow one another, for a build. */
const BUDGET = 1.05;
/** The same for nothing but downloads from loopback: every byte is copied once more. */
const COPY_BUDGET = 1.4;

async function main(): Promise<void> {
  const rounds = roundsWanted(10);
  printSetting('The network of a build', rounds);
  const root = mkdtempSync(join(tmpdir(), 'runner-bench-'));
  const paths = pathsOf(root);
  const app = paths.app('a');
  const folders = { release: app.release('r'), shared: app.instance('i').shared };
  for (const each of [...Object.values(folders), app.home]) mkdirSync(each, { recursive: true });
  const sandbox = openSandbox({
    paths,
    env: { ...process.env, RUNNER_SANDBOX: 'required' },
    app: 'a',
  });
  const env = { ...stepEnvironment(process.env), HOME: app.home };
  const log = openSync(join(root, 'log'), 'w');
  const notes = new NetworkNotes();
  const timed = async (script: string, rules: readonly HostRule[] | undefined) => {
    const network = rules ? new HostGuard({ rules, learns: false, notes }) : true;
    const begun = performance.now();
    const exit = await runChild({
      ...{ file: '/bin/sh', args: ['-c', script], cwd: folders.release, env, output: log },
      confinement: sandbox.confine('build', { ...folders, network }),
      ...{ timeout: 600_000, signal: new AbortController().signal, leavesApp: false },
    });
    if (!succeeded(exit)) throw new Error(readFileSync(join(root, 'log'), 'utf8').slice(-2_000));
    return performance.now() - begun;
  };
  const row = async (name: string, script: string, rules: readonly HostRule[], budget = BUDGET) => {
    const ratios: number[] = [];
    await timed(script, undefined);
    for (let round = 0; round < rounds; round += 1) {
      // The order changes, since a machine gets slower and faster.
      const isFirst = round % 2 === 0;
      const one = await timed(script, isFirst ? rules : undefined);
      const other = await timed(script, isFirst ? undefined : rules);
      ratios.push(isFirst ? one / other : other / one);
    }
    const median = quantile(ratios, 0.5);
    const verdict = median <= budget ? 'ok' : 'OVER';
    const [quick, slow] = [0.25, 0.75].map((part) => quantile(ratios, part).toFixed(2));
    process.stdout.write(
      `| ${name} | ${median.toFixed(3)} | ${quick} to ${slow} | ${budget} ${verdict} |\n`,
    );
    if (median > budget) process.exitCode = 1;
  };
  const server = createServer((_, answer) => answer.end(Buffer.alloc(SIZE, 1)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  process.stdout.write(
    '\n| with a list, as a ratio to without | median | quartiles | budget |\n|---|---|---|---|\n',
  );
  try {
    const local = [hostRule(`localhost:${port} private`)];
    await row(
      `${FILES} files of ${SIZE / 1000} kB, from this machine`,
      `${FETCH} http://localhost:${port}/`,
      local,
      COPY_BUDGET,
    );
    const project = optionGiven('project');
    if (project !== undefined) {
      for (const name of ['package.json', 'package-lock.json'])
        copyFileSync(join(project, name), join(folders.release, name));
      const confinement = sandbox.confine('build', { ...folders, network: false });
      const asked = (command: string) =>
        ask('/bin/sh', ['-c', command], { env, cwd: folders.release, confinement }).stdout;
      const rules = rulesOf(['npm'], { folders: [folders.release, app.home], ask: asked });
      await row('npm ci with an empty cache', NPM, rules);
      for (const { host, connections, up, down } of notes.hosts)
        process.stdout.write(
          `(${host}: ${connections} connections, ${up} bytes up, ${down} down)\n`,
        );
    }
  } finally {
    server.close();
    closeSync(log);
    sandbox.close((path) => rmSync(path, { recursive: true, force: true }));
    rmSync(root, { recursive: true, force: true });
  }
}

void main();
