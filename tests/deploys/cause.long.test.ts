/** The lines that say why, in the event and in the message: of the whole output, without known noise. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, TOKEN, type World } from './world.ts';

/** Enough of it that a message has to choose. */
const NOISE = `for n in $(seq 1 40); do echo "ERROR: deprecated call of legacyTotal in chunk $n, 0x$n"; done`;

const deployFile = (more = '') => `build: { run: ["sh build.sh"]${more} }\nstart: { type: none }\n`;

const baselineOf = (world: World) => {
  const path = join(world.root, 'apps/shop/baseline.json');
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
};

async function preview(world: World): Promise<string> {
  const failure = world.events().findLast((event) => event.event_type === 'DeployFailure');
  const { stdout, stderr, status } = await run(
    'runner-notify',
    ['preview', '--channel', 'discord', '--json'],
    { root: world.root, stdin: `${JSON.stringify(failure)}\n` },
  );
  assert.equal([status, stderr], [0, '']);
  return stdout;
}

test('noise that the last good build printed too is not reported as the cause', async () => {
  const world = await makeWorld();
  try {
    const push = (version: string, script: string) =>
      world.push(version, { deploy: deployFile(), files: { 'build.sh': script } });
    await push('v1', `${NOISE}\necho token ${TOKEN}\n`);
    assert.is((await world.deploy()).status, 0);
    const kept = baselineOf(world);
    assert.ok(kept?.includes('"build: sh build.sh"'));
    assert.not.match(kept ?? '', /deprecated|legacyTotal|ghp_/);
    await push('v2', `${NOISE}\necho "ERROR: price list has no currency"\n${NOISE}\nexit 3\n`);
    const { status, stdout, stderr } = await world.deploy(['--json']);
    assert.is(status, 1);
    const outcome = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    assert.match(outcome.cause, /^ERROR: price list has no currency/);
    assert.not.match(outcome.cause, /deprecated/);
    assert.match(stderr, /Why:\n {2}ERROR: price list has no currency\n/);
    const event = world.events().at(-1);
    assert.is(event?.cause, outcome.cause);
    assert.match(String(event?.error), /^build: `sh build\.sh` ended with status 3\n.*deprecated/);
    assert.is(baselineOf(world), kept, 'a failure changes nothing');
    const said = JSON.parse((await preview(world)).trim().split('\n')[0] ?? '');
    const text = JSON.stringify(said);
    assert.match(text, /price list has no currency/);
    assert.not.match(text, /deprecated/);
  } finally {
    await world.close();
  }
});

test('a record that another program wrote is shown without the known noise as well', async () => {
  const world = await makeWorld();
  try {
    await world.launch('v1', { deploy: deployFile(), files: { 'build.sh': NOISE } });
    const noise = Array.from({ length: 40 }, (_, n) =>
      n === 20
        ? 'ERROR: price list has no currency'
        : `ERROR: deprecated call of legacyTotal in chunk ${n}, 0x${n}`,
    ).join('\n');
    const record = {
      event: 'DeployFailure',
      app: 'shop',
      version: 'v2',
      deploy_id: 'a1b2c3d4',
      error: noise,
    };
    const { stdout } = await run('runner-notify', ['preview', '--channel', 'discord', '--json'], {
      root: world.root,
      stdin: `${JSON.stringify(record)}\n`,
    });
    const [first = ''] = stdout.split('\n');
    assert.match(first, /price list has no currency/);
    assert.not.match(first, /deprecated/);
  } finally {
    await world.close();
  }
});

test('the cause is found in the middle of an output that the record cannot hold', async () => {
  const world = await makeWorld();
  try {
    const fill = 'seq 1 60000 | sed "s/^/bundled asset /"';
    await world.push('v1', {
      deploy: deployFile(),
      files: {
        'build.sh': `${fill}\necho "src/cart.c:9:5: error: 'total' undeclared"\n${fill}\nexit 2\n`,
      },
    });
    assert.is((await world.deploy()).status, 1);
    const event = world.events().at(-1);
    assert.is(event?.cause, "src/cart.c:9:5: error: 'total' undeclared");
    assert.not.match(String(event?.error), /undeclared/);
    assert.match(await preview(world), /'total' undeclared/);
    assert.is(baselineOf(world), null, 'no deploy was good');
  } finally {
    await world.close();
  }
});

test('an app that listens elsewhere, or answers nothing, is not explained by its greeting', async () => {
  const world = await makeWorld();
  try {
    const push = (version: string, listen: string) =>
      world.push(version, {
        deploy: `instances: { default: { env: { PORT: "${world.port}" } } }
start: { type: process, run: exec node mute.mjs }
health: { url: "http://127.0.0.1:\${PORT}/", within: 2s }
`,
        files: {
          'mute.mjs': `import { createServer } from 'node:http';
createServer(() => {}).listen(${listen}, '127.0.0.1', () => console.log('up and running'));
`,
        },
      });
    await push('v1', '0');
    assert.is((await world.deploy()).status, 1);
    assert.match(
      String(world.events().at(-1)?.cause),
      new RegExp(`^health: .+; the app listens on \\d+, not on ${world.port}\nup and running$`),
    );
    await push('v2', 'process.env.PORT');
    assert.is((await world.deploy()).status, 1);
    assert.match(
      String(world.events().at(-1)?.cause),
      /^health: \S+ did not answer within [\d.]+ s, not healthy within 2 s\nup and running$/,
    );
  } finally {
    await world.close();
  }
});

test('what an unhealthy app printed is the cause, if its answer only says that something is wrong', async () => {
  const world = await makeWorld();
  try {
    await world.push('v1', {
      deploy: `instances: { default: { env: { PORT: "${world.port}" } } }
start: { type: process, run: exec node sick.mjs }
health: { url: "http://127.0.0.1:\${PORT}/", within: 2s }
`,
      files: {
        'sick.mjs': `import { createServer } from 'node:http';
createServer((_, response) => {
  console.error('Error: relation "orders" does not exist');
  response.writeHead(500).end('Internal Server Error');
}).listen(process.env.PORT, '127.0.0.1', () => console.log('listening'));
`,
      },
    });
    assert.is((await world.deploy()).status, 1);
    const failure = world.events().at(-1);
    assert.match(String(failure?.error), /\nbody: Internal Server Error$/);
    assert.match(String(failure?.cause), /^Error: relation "orders" does not exist/m);
    assert.match(readFileSync(String(failure?.log), 'utf8'), /relation "orders" does not exist/);
  } finally {
    await world.close();
  }
});

test('an unhealthy app is explained by where it listens, or redirects to; it has all of `within`', async () => {
  const world = await makeWorld();
  const { port } = world;
  try {
    const errorOf = async (version: string, script: string, health = 'within: 1s') => {
      await world.push(version, {
        deploy: `instances: { default: { env: { PORT: "${port}" } } }
start: { type: process, run: exec node app.cjs }
health: { url: "http://127.0.0.1:\${PORT}/", ${health} }
`,
        files: { 'app.cjs': script },
      });
      const { status } = await world.deploy();
      return [status, String(world.events().at(-1)?.error)];
    };
    const serve = (answer: string, host: string) =>
      `require('node:http').createServer((_, response) => ${answer}).listen(${port}, '${host}')`;
    const unhealthy = (words: string, ending: string) => [
      1,
      `health: http://127.0.0.1:${port}/ ${words}, not healthy within 1 s${ending}`,
    ];
    const refused = 'cannot be reached (ECONNREFUSED)';
    assert.equal(
      await errorOf('v1', serve('response.end()', '::1')),
      unhealthy(refused, `; the app listens on [::1]:${port}`),
    );
    const none = 'the app listens on no port: if it only needs longer, raise health.within';
    assert.equal(
      await errorOf('v2', 'setInterval(() => {}, 1000)'),
      unhealthy(refused, `; ${none}`),
    );
    const away = "response.writeHead(302, { location: 'https://shop.example.org/login' }).end()";
    assert.equal(
      await errorOf('v3', serve(away, '127.0.0.1')),
      unhealthy('answered 302 instead of 200-299 (to https://shop.example.org/login)', ''),
    );
    const strange = 'response.writeHead(400).end()';
    assert.equal(
      await errorOf('v4', serve(strange, '127.0.0.1')),
      unhealthy(
        `answered 400 instead of 200-299 (does the app accept the host 127.0.0.1:${port}?)`,
        '',
      ),
    );
    const late = `setTimeout(() => ${serve('response.end()', '127.0.0.1')}, 2000)`;
    const [status, error] = await errorOf('v5', late, 'interval: 4s, within: 4s');
    assert.is(status, 0, error as string);
  } finally {
    await run('runner-remove', ['shop', '--yes'], { root: world.root });
    await world.close();
  }
});

test('a secret in the address of a health check is in no cause', async () => {
  const world = await makeWorld();
  try {
    await world.push('v1', {
      deploy: `instances: { default: { env: { PORT: "${world.port}" } } }
start: { type: process, run: exec node mute.mjs }
health: { url: "http://127.0.0.1:\${PORT}/?key=${TOKEN}", within: 1s }
`,
      files: {
        'mute.mjs': `import { createServer } from 'node:http';
createServer(() => {}).listen(process.env.PORT, () => console.log('up and running'));
`,
      },
    });
    const { stdout } = await world.deploy(['--json']);
    assert.match(stdout, /"cause":"health: /);
    assert.not.match(stdout + JSON.stringify(world.events()), new RegExp(TOKEN));
  } finally {
    await world.close();
  }
});

test('an app that ends without a complaint is explained by its end', async () => {
  const world = await makeWorld();
  try {
    await world.push('v1', {
      deploy: 'start: { type: process, run: echo nothing to do }\n',
    });
    assert.is((await world.deploy()).status, 1);
    assert.is(
      world.events().at(-1)?.cause,
      'start: `echo nothing to do` ended with status 0\nnothing to do',
    );
  } finally {
    await world.close();
  }
});

test('a step that dies in silence has an error in words', async () => {
  const world = await makeWorld();
  try {
    const causeAfter = async (version: string, script: string, build = '') => {
      await world.push(version, {
        deploy: deployFile(build),
        files: { 'build.sh': script },
      });
      assert.is((await world.deploy()).status, 1);
      return String(world.events().at(-1)?.cause);
    };
    assert.is(
      await causeAfter('v1', 'exit 7\n'),
      'step build (sh build.sh) ended with exit status 7',
    );
    assert.is(
      await causeAfter('v2', 'echo packing\nkill -KILL $$\n'),
      'step build (sh build.sh) was killed by SIGKILL, perhaps for lack of memory\npacking',
    );
    assert.is(
      await causeAfter('v3', 'echo waiting\nsleep 30\n', ', timeout: 3s'),
      'step build (sh build.sh) ran into its time limit and was stopped\nwaiting',
    );
  } finally {
    await world.close();
  }
});

test('output without a final newline is its own line in the kept log', async () => {
  const world = await makeWorld();
  try {
    await world.push('v1', {
      deploy: 'build: { run: ["printf halfway", "sh build.sh"] }\nstart: { type: none }\n',
      files: {
        'build.sh': 'echo begun\nprintf "src/x.ts(3,5): error TS2322: no number"\nexit 3\n',
      },
    });
    const { status, stderr } = await world.deploy();
    assert.is(status, 1);
    assert.match(stderr, /\n {2}src\/x\.ts\(3,5\): error TS2322: no number\n/);
    const log = await run('runner-debug', ['log', 'shop'], { root: world.root });
    assert.is(
      log.stdout,
      '  $ printf halfway\n  halfway\n  $ sh build.sh\n  begun\n' +
        '> src/x.ts(3,5): error TS2322: no number\n' +
        '  build: `sh build.sh` ended with status 3\n',
    );
  } finally {
    await world.close();
  }
});

test('an endless line is cut on the terminal and whole in the named log', async () => {
  const world = await makeWorld();
  try {
    const script =
      'head -c 3000000 /dev/zero | tr "\\0" x\necho\necho "error: bad price"\nexit 1\n';
    await world.push('v1', { deploy: deployFile(), files: { 'build.sh': script } });
    const { status, stderr } = await world.deploy();
    assert.is(status, 1);
    assert.ok(stderr.length < 4_000, String(stderr.length));
    assert.match(
      stderr,
      / {2}… whole lines in (\S+) \(runner debug log shop\)\n {2}x{399}…\n {2}error: bad price\n/,
    );
    assert.match(stderr, /Why:\n {2}error: bad price\n/);
    const path = / whole lines in (\S+) /.exec(stderr)?.[1] ?? '';
    assert.ok(readFileSync(path, 'utf8').includes('x'.repeat(3_000_000)));
  } finally {
    await world.close();
  }
});

test('a damaged or unwritable baseline does not delay a deploy', async () => {
  const world = await makeWorld();
  try {
    const { writeFileSync, mkdirSync, rmSync } = await import('node:fs');
    const path = join(world.root, 'apps/shop/baseline.json');
    mkdirSync(join(world.root, 'apps/shop'), { recursive: true });
    writeFileSync(path, '{"version":1,"steps":{"build: sh build.sh":[7,null');
    await world.push('v1', {
      deploy: deployFile(),
      files: { 'build.sh': 'echo boom: bad key\nexit 1\n' },
    });
    assert.is((await world.deploy()).status, 1);
    assert.match(String(world.events().at(-1)?.cause), /^boom: bad key/);
    rmSync(path);
    mkdirSync(path);
    await world.push('v2', { deploy: deployFile(), files: { 'build.sh': 'echo fine\n' } });
    const { status, stderr } = await world.deploy();
    assert.is(status, 0);
    assert.match(
      stderr,
      /the output of this deploy could not be kept for comparison: cannot write /,
    );
  } finally {
    await world.close();
  }
});

test.run();
