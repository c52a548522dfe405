/** An app that listens on PORT, a path or a port, and misbehaves when asked to. */
import { appFiles } from './app.ts';
import type { Files } from './git-import.ts';

/**
 * How a version behaves: `deaf` never listens on PORT, `hanging` never answers, `crashing` ends at once,
 * `fading` 2.5 s after its start.
 */
export type Manner = 'good' | 'unhealthy' | 'deaf' | 'hanging' | 'crashing' | 'fading';

const SERVER = `const { createServer } = require('node:http');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const read = (name) => readFileSync(join(__dirname, name), 'utf8').trim();
const version = read('VERSION');
const manner = read('MANNER');
if (manner === 'crashing') throw new Error('no database');
if (manner === 'fading') setTimeout(() => { console.error('FATAL: out of memory for carts'); process.exit(1); }, 2500);
const server = createServer((request, response) => {
  if (manner === 'hanging') return;
  response.setHeader('version', version);
  if (request.url === '/health') {
    response.statusCode = manner === 'unhealthy' ? 500 : 200;
    return response.end();
  }
  if (request.url === '/slow') return void setTimeout(() => response.end(version), 1500);
  if (request.url === '/stream') {
    response.write(version);
    return void setInterval(() => response.write('.'), 100);
  }
  request.resume();
  request.on('end', () => response.end(version + '\\n'));
});
const port = process.env.PORT;
if (manner === 'deaf') server.listen(0, '127.0.0.1');
else if (port.startsWith('/')) server.listen(port);
else server.listen(Number(port), '127.0.0.1');
`;

export function trafficFiles(version: string, manner: Manner = 'good'): Files {
  return { ...appFiles(version), 'server.js': SERVER, MANNER: `${manner}\n` };
}

/** A `.deploy.yml` with `traffic`. */
export function trafficFile(more = 'traffic: { type: socket, drain: 2s }\n'): string {
  const url = more.includes('socket') ? 'http://unix/health' : 'http://127.0.0.1:${PORT}/health';
  return `start: { type: process, run: exec node server.js, stop_timeout: 2s }
health: { url: "${url}", interval: 50ms, timeout: 300ms, within: ${WITHIN} }
${more}`;
}

/** Long for a loaded machine; unhealthy versions are given up sooner. */
const WITHIN = '20s';

/** The same for a version that is not going to be healthy. */
export function impatientFile(more?: string): string {
  return trafficFile(more).replace(WITHIN, '600ms');
}
