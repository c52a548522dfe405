/** A real nats-server with a configuration and a folder of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { atExit } from './cleanup.ts';
import { temporaryFolder } from './temp.ts';
import { until } from './until.ts';

/** Whether the Debian package nats-server is installed. */
export function hasBroker(): boolean {
  try {
    execFileSync('nats-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Tests that need a broker; without nats-server they count as skipped. */
export function whenBroker<T extends { skip(...args: never[]): unknown }>(test: T): T | T['skip'] {
  if (hasBroker()) return test;
  process.stderr.write('skipped: nats-server is not installed\n');
  return test.skip;
}

export interface TestBroker {
  readonly url: string;
  /** Where its streams are. */
  readonly store: string;
  /** Starts it, or restarts it, with this configuration. */
  start(configuration: string): Promise<void>;
  /** Reads another configuration while it runs. */
  reload(configuration: string): void;
  /** Ends it at once. */
  kill(): Promise<void>;
  pid(): number;
  /** Everything that it said. */
  said(): string;
}

/** On a free port of this machine; it is killed when this process ends. */
export function testBroker(port: number): TestBroker {
  const folder = temporaryFolder('broker');
  const file = join(folder, 'nats.conf');
  let child: ChildProcess | undefined;
  let text = '';
  const kill = async () => {
    const ending = child;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = new Promise((resolve) => ending.once('close', resolve));
    ending.kill('SIGKILL');
    await ended;
  };
  atExit(() => child?.kill('SIGKILL'));
  return {
    url: `nats://127.0.0.1:${port}`,
    store: join(folder, 'store'),
    async start(configuration) {
      await kill();
      writeFileSync(file, configuration);
      child = spawn('nats-server', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
      child.stderr?.on('data', (piece: Buffer) => {
        text += piece.toString('utf8');
      });
      await until(
        () => answers(port),
        () => `nats-server does not answer: ${text.slice(-2_000)}`,
      );
    },
    reload(configuration) {
      writeFileSync(file, configuration);
      child?.kill('SIGHUP');
    },
    kill,
    pid: () => child?.pid ?? 0,
    said: () => text,
  };
}

/** It sends INFO on each connection. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('error', () => end(false));
    socket.on('data', () => end(true));
  });
}
