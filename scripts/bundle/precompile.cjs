'use strict';
/*
 * `node lib/precompile.cjs`: keeps the code that V8 makes of the executables beside them, in
 * cache/<tool>-<build>-<V8>-<architecture>/, so that they start without compiling. The code is what
 * usual commands run: they are run once, in a root of their own and against a server on loopback.
 * Nothing is lost without it but time; the next build or another V8 does not read it.
 */
const { spawn } = require('node:child_process');
const { existsSync, mkdirSync, mkdtempSync, readdirSync } = require('node:fs');
const { readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { basename, dirname, join } = require('node:path');

const dist = dirname(__dirname);
const machine = `${process.versions.v8}-${process.arch}`;

/** In a folder that holds all: a run that was killed left less. */
const DONE = 'done';

/** The build that an executable names, and the folder that it reads from on this machine. */
function placeOf(tool) {
  const build = /-([0-9a-f]{12})-/.exec(readFileSync(join(dist, 'bin', tool), 'utf8'))?.[1];
  return { build, folder: join(dist, 'cache', `${tool}-${build}-${machine}`) };
}

/** In a process of its own: runs an executable, then keeps the code of all that it loaded. */
function record(tool, args) {
  const vm = require('node:vm');
  // Code that is kept under other flags than those of a start would not be taken.
  require('node:v8').setFlagsFromString = () => {};
  const scripts = [];
  const { folder } = placeOf(tool);
  vm.Script = class extends vm.Script {
    constructor(source, options) {
      super(source, options);
      scripts.push([options.filename, this]);
    }
  };
  process.on('exit', () => {
    mkdirSync(folder, { recursive: true });
    for (const [path, script] of scripts) {
      const file = path.slice(dist.length + 1).replaceAll('/', '+');
      const fresh = join(folder, `.${file}-${process.pid}`);
      writeFileSync(fresh, script.createCachedData());
      renameSync(fresh, join(folder, file));
    }
  });
  const program = join(dist, 'bin', tool);
  process.argv = [process.execPath, program, ...args];
  require(program);
}

const event = (type, more) =>
  JSON.stringify({ event_type: type, project: 'app', version: 'v1', ...more });
const failure = event('DeployFailure', {
  error: 'build: `make` ended with status 2\nerror: no such file',
});

/** Tool, arguments, standard input: the usual way through each. */
const usual = [
  ['runner-add', ['--repo', 'a/app', '--branch', 'main', '--token', '-'], 'token-0123456789'],
  ['runner-add', ['--repo', 'a/other', '--branch', 'main', '--token-from', 'app']],
  ['runner-list', ['--json']],
  ['runner-tokens', ['test', 'app']],
  ['runner-tokens', ['list']],
  ['runner-audit', ['emit'], `${event('DeployStarted')}\n${failure}\n`],
  ['runner-audit', ['emit', 'DeploySuccess', '--project', 'other', '--version', 'v1']],
  ['runner-audit', ['tail', '-n', '1']],
  ['runner-debug', ['last-error', 'app', '--json']],
  ['runner-debug', ['last-error', 'app']],
  ['runner-debug', ['extract'], 'make: *** [all] Error 2\n'],
  ['runner-notify', ['send', '--channel', 'telegram'], `${failure}\n`],
  ['runner-notify', ['flush']],
  ['runner-notify', ['status', '--offline']],
  ['runner-deploy', ['app']],
  ['runner-deploy', ['app', '--no-notify', '--json']],
  ['runner-fetch', ['app', '--deploy']],
  ['runner-rollback', ['app']],
  ['runner-list', []],
  ['runner-status', ['app']],
];

/** Runs one command to its end; what it says and how it ends does not matter here. */
function run(tool, args, input, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [__filename, '--record', tool, ...args], {
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: 20_000,
    });
    child.on('error', reject);
    child.on('close', resolve);
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

async function precompile() {
  const tools = readdirSync(join(dist, 'bin')).filter((name) => name.startsWith('runner-'));
  const builds = new Map(tools.map((tool) => [tool, placeOf(tool)]));
  const missing = tools.filter((tool) => !existsSync(join(builds.get(tool).folder, DONE)));
  if (missing.length > 0) await recordAll(missing);
  for (const name of existsSync(join(dist, 'cache')) ? readdirSync(join(dist, 'cache')) : []) {
    const current = [...builds].some(([tool, { build }]) => name.startsWith(`${tool}-${build}-`));
    if (!current) rmSync(join(dist, 'cache', name), { recursive: true, force: true });
  }
}

async function recordAll(tools) {
  const root = mkdtempSync(join(tmpdir(), 'runner-precompile-'));
  const { listen } = require('./precompile-server.cjs');
  const server = await listen(join(root, 'host'));
  const address = `http://127.0.0.1:${server.address().port}`;
  const env = {
    PATH: process.env.PATH,
    HOME: root,
    RUNNER_ROOT: root,
    RUNNER_CODE_HOST_API_URL: address,
    RUNNER_CODE_HOST_GIT_URL: address,
  };
  const notify = `notify:\n  telegram_bot_token: "1:a"\n  telegram_chat_id: "-1"\n  telegram_api_url: ${address}\n`;
  writeFileSync(join(root, 'config.yml'), notify, { mode: 0o600 });
  try {
    // What is already kept is run as it is: later commands need what earlier ones leave.
    for (const [tool, args, input] of usual) await run(tool, args, input, env);
    for (const tool of tools) {
      // Not --help: the launcher prints that from a text.
      await run(tool, ['-h'], '', env);
      writeFileSync(join(placeOf(tool).folder, DONE), '');
    }
  } finally {
    server.close();
    rmSync(root, { recursive: true, force: true });
  }
}

if (process.argv[2] === '--record') {
  record(process.argv[3], process.argv.slice(4));
} else {
  precompile().catch((error) => {
    process.stderr.write(`${basename(__filename)}: ${error.message}\n`);
    process.exitCode = 1;
  });
}
