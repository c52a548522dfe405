/** `npm run demo` leaves nothing behind, also when it is interrupted. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const demo = ['scripts/bundle/run.mjs', 'scripts/demo/main.ts'];

/** Command lines and folders of the processes that stand in a folder. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      return environment.includes(folder) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : [];
    } catch {
      return []; // No process, or it has ended.
    }
  });
}

/** Plays the demo, and sends it a signal when it has printed `mark`. */
function interruptedAt(
  mark: string,
  signal: NodeJS.Signals,
): Promise<{ status: number | null; folder: string }> {
  const folder = temporaryFolder('demo');
  const child = spawn(process.execPath, demo, {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  let sent = false;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
    if (sent || !output.includes(mark)) return;
    sent = true;
    child.kill(signal);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, folder }));
  });
}

test('a demo that is interrupted between two deploys or in one ends its app and takes its root away', async () => {
  for (const [mark, signal, expected] of [
    ['GET http://', 'SIGINT', 130],
    ['failed build', 'SIGTERM', 143],
  ] as const) {
    const { status, folder } = await interruptedAt(mark, signal);
    assert.is(status, expected, mark);
    assert.equal(readdirSync(folder), [], mark);
    assert.equal(processesIn(folder), [], mark);
  }
});

test('an argument that the demo does not know is refused', async () => {
  const child = spawn(process.execPath, [...demo, '--kep'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(
    [status, said],
    [2, "demo: unexpected argument '--kep'; it knows --keep and --history\n"],
  );
});

test.run();
