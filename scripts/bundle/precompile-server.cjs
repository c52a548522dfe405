'use strict';
/* What precompile.cjs lets the commands talk to: on loopback, one server that answers as a code host, as
   a chat and, where git is installed, as a git host with one repository, `a/app`. */
const { execFileSync, spawn } = require('node:child_process');
const { mkdirSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { join } = require('node:path');

const DEPLOY_FILE = 'build: "true"\nhealth: { cmd: "true" }\nnotify: {}\n';

/** Makes the repository with one commit below `folder`. */
function makeRepository(folder) {
  const work = join(folder, 'work');
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], {
      cwd: work,
      env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: 'ignore',
    });
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, '.deploy.yml'), DEPLOY_FILE);
  git('init', '-q', '-b', 'main', '.');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  git('clone', '-q', '--bare', '.', join(folder, 'a', 'app.git'));
}

/** Hands a request to `git http-backend`, a CGI program, and passes its answer on. */
function askGit(folder, request, response) {
  const [path, query = ''] = request.url.split('?');
  const { headers, method } = request;
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: method,
      PATH_INFO: path,
      QUERY_STRING: query,
      CONTENT_TYPE: headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
      GIT_PROTOCOL: headers['git-protocol'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const parts = [];
  child.on('error', () => response.destroy());
  child.stdin.on('error', () => {});
  request.pipe(child.stdin);
  child.stdout.on('data', (part) => parts.push(part));
  child.stdout.on('end', () => {
    const answer = Buffer.concat(parts);
    const end = answer.indexOf('\r\n\r\n');
    for (const line of answer.toString('latin1', 0, Math.max(end, 0)).split('\r\n')) {
      const [name, value] = line.split(': ');
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else if (value !== undefined) response.setHeader(name, value);
    }
    response.end(answer.subarray(end + 4));
  });
}

/** Listens on loopback; `folder` holds the repository. Resolves the node:http server. */
exports.listen = (folder) => {
  try {
    makeRepository(folder);
  } catch {
    // Without git the commands that need it are kept as far as they come.
  }
  const server = createServer((request, response) => {
    if (request.url.startsWith('/a/app')) {
      askGit(folder, request, response);
      return;
    }
    request.resume().on('end', () => {
      const bot = request.url.startsWith('/bot');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(bot ? { ok: true, result: { message_id: 1 } } : { login: 'a' }));
    });
  });
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
};
