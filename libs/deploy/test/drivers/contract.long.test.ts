import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import { driverContract } from './contract.ts';
import { placeHere, supervisor } from './place.ts';

const test = suite('driver contract');

driverContract(test, 'process', () =>
  placeHere(
    () => 'start: { type: process, run: exec node server.js }',
    () => ({}),
  ),
);

/** A folder with a program of this name, which is the supervisor, first on PATH. */
function withSupervisor(name: string): { folder: string; env: Record<string, string> } {
  const folder = temporaryFolder('supervisor');
  writeFileSync(join(folder, name), supervisor(folder));
  chmodSync(join(folder, name), 0o755);
  return { folder, env: { PATH: `${folder}:${dirname(process.execPath)}:${process.env.PATH}` } };
}

const control = withSupervisor('control');
driverContract(test, 'command', async () => {
  const place = await placeHere(
    () => 'start: { type: command, run: control start }\nstop: control stop',
    () => control.env,
  );
  // A command reports nothing about the process it started.
  const alive = () => (existsSync(join(control.folder, 'pid')) ? 'running' : 'stopped');
  return { ...place, status: async () => alive() };
});

const docker = withSupervisor('docker');
driverContract(test, 'compose', () =>
  placeHere(
    () => 'start: { type: compose }',
    () => docker.env,
  ),
);

test.run();
