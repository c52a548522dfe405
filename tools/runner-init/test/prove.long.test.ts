import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { init, laidOut, scratches, server, written } from './root.ts';
import { FIXTURES, type FixtureFiles } from './vectors/repositories.ts';

/** Whether a program works with another HOME, as in a build: a toolchain of rustup does not. */
function works(program: string): boolean {
  const env = { PATH: process.env.PATH, HOME: '/dev/null' };
  return spawnSync(program, ['--version'], { env, stdio: 'ignore' }).status === 0;
}

async function proven(files: FixtureFiles): Promise<[boolean, string]> {
  const folder = laidOut(files);
  const { stdout, stderr } = await init(folder, ['--yes']);
  assert.equal(readdirSync(scratches), []);
  const isProven = /^# .*\. Proven: /m.test(written(folder));
  assert.is(/\bProven: /.test(stdout), isProven);
  return [isProven, stdout + stderr];
}

for (const { name, files } of FIXTURES.filter((each) => each.proven)) {
  test(`${name} is built, started and proven`, async () => {
    const [isProven, said] = await proven(files);
    assert.ok(isProven, said);
  });
}

const RUST = `use std::{env, io::{Read, Write}, net::TcpListener};
// .route("/health")
fn main() {
    let port = env::var("PORT").unwrap();
    for stream in TcpListener::bind(format!("127.0.0.1:{port}")).unwrap().incoming() {
        let mut stream = stream.unwrap();
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok");
    }
}
`;

if (works('cargo'))
  test('a program in Rust is compiled, started and proven', async () => {
    const [isProven, said] = await proven({
      'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/main.rs': RUST,
    });
    assert.ok(isProven, said);
  });

/** Repositories that look right and are not. */
const WRONG: Readonly<Record<string, FixtureFiles>> = {
  'a syntax error': { 'server.js': 'createServer( {\n' },
  'an app that answers 500': {
    'server.js':
      "require('http').createServer((_, res) => { res.statusCode = 500; res.end(); }).listen(process.env.PORT)\n",
  },
  'an app that answers 302': {
    'server.js':
      "require('http').createServer((_, res) => { res.writeHead(302, { location: '/login' }); res.end(); }).listen(process.env.PORT)\n",
  },
  'an app that goes into the background': {
    'server.js': server('/'),
    Procfile: 'web: node server.js &\n',
  },
  'an app that ends at once': { 'server.js': '// createServer(\nprocess.exit(0)\n' },
  'an app that accepts and says nothing': {
    'server.js': "require('net').createServer(() => {}).listen(process.env.PORT)\n",
  },
  'a site that builds nothing': {
    'package.json': {
      scripts: { build: 'true' },
      dependencies: {},
      devDependencies: { vite: '*' },
    },
    'vite.config.js': '',
    'node_modules/.keep': '',
  },
  'a build that removes the start script': {
    'package.json': { scripts: { build: 'rm server.js', start: 'node server.js' } },
    'server.js': server('/'),
  },
  'a missing package': {
    'package.json': { scripts: { start: 'node server.js' } },
    'server.js': "require('express-of-no-one'); // createServer(\n",
  },
};

for (const [what, files] of Object.entries(WRONG)) {
  test(`${what} is never called proven`, async () => {
    const [isProven, said] = await proven(files);
    assert.not.ok(isProven, said);
  });
}

test.run();
