/** A real, tiny web application to be deployed by tests and by the demo. */
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';

/**
 * Reads PORT from the environment, VERSION and HEALTH from its own folder at the start. Answers
 * VERSION on `/` and the status in HEALTH on `/health`; ends at SIGTERM.
 */
const SERVER = `const { createServer } = require('node:http');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const read = (name) => readFileSync(join(__dirname, name), 'utf8').trim();
const version = read('VERSION');
const health = Number(read('HEALTH'));

const server = createServer((request, response) => {
  if (request.url === '/health') {
    response.statusCode = health;
    response.end(health === 200 ? 'ok\\n' : 'not ready: the database does not answer\\n');
    return;
  }
  response.end(version + '\\n');
});

server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log('version ' + version + ' listens on port ' + process.env.PORT);
});

process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
`;

/**
 * The files of one version of the app, started by `PORT=n node server.js`. `health` is the status
 * that it answers on /health, 200 by default.
 */
export function appFiles(
  version: string,
  options: { health?: number } = {},
): Record<string, string> {
  return {
    'server.js': SERVER,
    'package.json': '{ "private": true, "type": "commonjs" }\n',
    VERSION: `${version}\n`,
    HEALTH: `${options.health ?? 200}\n`,
  };
}

/**
 * Ports that the system never assigns: a process that listens on port 0, or connects, while the
 * app does not run would take one of those. Every process begins elsewhere.
 */
const PORTS = { first: 10_000, count: 20_000 };
const PER_PROCESS = 20;
let used = 0;

/** A port of 127.0.0.1 that is free, and that no other test gets as long as this one runs. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + ((process.pid * PER_PROCESS + used) % PORTS.count);
    used += 1;
    if ((await isReserved(port)) && (await isFree(port))) return port;
  }
}

/**
 * Reserves a port through its UDP twin, which this process keeps: the app that gets the port is down
 * at times, and to another test the port would look free then.
 */
function isReserved(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').unref();
    socket.on('error', () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** What the app on a port answers on `/`; null when nothing listens. */
export function page(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString('utf8');
      });
      response.on('end', () => resolve(body.trim()));
    }).on('error', () => resolve(null));
  });
}

/** Kills what `start.type: process` runs for the instance `default` of an app. */
export function killApp(root: string, app: string): void {
  const folder = join(root, 'apps', app, 'instances', 'default', 'run');
  for (const file of ['pid.json', 'a/pid.json', 'b/pid.json']) {
    try {
      const { pid } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { pid: number };
      // 0: it is about to start, and -0 would be the group of the tests.
      if (pid > 0) process.kill(-pid, 'SIGKILL');
    } catch {
      // Nothing runs.
    }
  }
}
