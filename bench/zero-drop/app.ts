/** The app that is deployed under load: requests of 2 s, streams of 30 s, WebSockets; in two languages. */
import type { Files } from '@runner/testing/git-import';
import type { Manner } from '@runner/testing/traffic-app';

/** `rude`: Node without a SIGTERM handler; `polite`: with one. */
export type Kind = 'rude' | 'polite' | 'python';

const NODE = `const { createServer } = require('node:http');
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const [version, manner, kind] = ['VERSION', 'MANNER', 'KIND'].map((name) => readFileSync(name, 'utf8').trim());
if (manner === 'crashing') throw new Error('no database');
const server = createServer((request, response) => {
  if (manner === 'hanging') return;
  response.setHeader('version', version);
  if (request.url === '/health') response.statusCode = manner === 'unhealthy' ? 500 : 200;
  if (request.url === '/slow') return void setTimeout(() => response.end(version), 2000);
  if (request.url === '/stream') {
    let sent = 0;
    const timer = setInterval(() => {
      response.write('.');
      if (++sent < 60) return;
      clearInterval(timer);
      response.end('end');
    }, 500);
    return void response.on('close', () => clearInterval(timer));
  }
  request.resume();
  request.on('end', () => response.end(version));
});
server.on('upgrade', (request, socket) => {
  const key = request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  const accept = createHash('sha1').update(key).digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n');
  const frame = Buffer.concat([Buffer.from([0x81, version.length]), Buffer.from(version)]);
  const timer = setInterval(() => socket.write(frame), 500);
  socket.on('data', (bytes) => (bytes[0] & 15) === 8 && socket.end(Buffer.from([0x88, 0])));
  socket.on('error', () => {});
  socket.on('close', () => clearInterval(timer));
});
server.listen(manner === 'deaf' ? 0 : process.env.PORT);
if (kind === 'polite') process.on('SIGTERM', () => server.close(() => process.exit()));
`;

const PYTHON = `import base64, hashlib, os, select, socketserver, time
from http.server import BaseHTTPRequestHandler
version, manner = (open(name).read().strip() for name in ('VERSION', 'MANNER'))
if manner == 'crashing':
    raise SystemExit('no database')
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *args): pass
    def do_GET(self):
        if manner == 'hanging': time.sleep(60)
        if self.headers.get('Upgrade'): return self.websocket()
        if self.path == '/slow': time.sleep(2)
        bad = self.path == '/health' and manner == 'unhealthy'
        self.send_response(500 if bad else 200)
        self.send_header('version', version)
        self.send_header('Content-Length', str(len(version)))
        self.end_headers()
        self.wfile.write(version.encode())
    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.do_GET()
    def websocket(self):
        key = self.headers['Sec-WebSocket-Key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
        self.send_response(101)
        self.send_header('Upgrade', 'websocket')
        self.send_header('Connection', 'Upgrade')
        self.send_header('Sec-WebSocket-Accept', base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.close_connection = True
        while not select.select([self.connection], [], [], 0.5)[0]:
            self.wfile.write(bytes([0x81, len(version)]) + version.encode())
        self.wfile.write(bytes([0x88, 0]))
class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 512
Server(os.environ['PORT'] + ('.deaf' if manner == 'deaf' else ''), Handler).serve_forever()
`;

/** The files of one version. */
export function filesOf(kind: Kind, version: string, manner: Manner): Files {
  return {
    VERSION: `${version}\n`,
    MANNER: `${manner}\n`,
    KIND: `${kind}\n`,
    ...(kind === 'python' ? { 'server.py': PYTHON } : { 'server.js': NODE }),
  };
}

/** A `.deploy.yml` for it; a version that will never be healthy is soon given up. */
export function fileOf(kind: Kind, manner: Manner, traffic: string): string {
  const run = kind === 'python' ? 'exec /usr/bin/python3 server.py' : 'exec node server.js';
  const url = traffic.includes('socket') ? 'http://unix/health' : 'http://127.0.0.1:${PORT}/health';
  const within = manner === 'good' ? '20s' : '600ms';
  return `start: { type: process, run: ${run}, stop_timeout: 2s }
health: { url: "${url}", interval: 50ms, timeout: 300ms, within: ${within} }
${traffic}`;
}
