/** The builds of docs/examples.md build and deploy an app, where their tools are installed. */
import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { textOf } from './pages.ts';
import { makeWorld } from './world.ts';

/** The first file below a heading of the page. */
function example(heading: string): string {
  const [, below = ''] = textOf('docs/examples.md').split(`\n## ${heading}\n`);
  const [, file] = /```yaml\n([\s\S]*?)```/.exec(below) ?? [];
  if (file === undefined) throw new Error(`docs/examples.md has no file for ${heading}`);
  return file;
}

/** A supervisor is on the server, not here: the app is run as a process instead. */
function withProcess(deployFile: string, run: string): string {
  return deployFile
    .replace(/^start: .*$/m, `start: { type: process, run: ${run} }`)
    .replace(/PORT: "80[08]0"/, 'PORT: "3000"')
    .replace(/^shared: .*$/m, 'shared: [uploads/]');
}

const SERVER = `require('node:http')
  .createServer((request, response) => response.end('it runs\\n'))
  .listen(Number(process.env.PORT), '127.0.0.1');
`;
const LOCK = '{"name":"app","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{}}';
const PYTHON = `import http.server, os
http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), http.server.SimpleHTTPRequestHandler).serve_forever()
`;
const GO = `package main
import ("net/http"; "os")
func main() { http.ListenAndServe("127.0.0.1:" + os.Getenv("PORT"), nil) }
`;

interface Sample {
  readonly heading: string;
  /** Why it cannot be built here, when this program fails. */
  readonly needs: readonly string[];
  readonly run: string;
  readonly files: Readonly<Record<string, string>>;
  /** Paths below `current` that the deploy has made. */
  readonly made: readonly string[];
}

const SAMPLES: readonly Sample[] = [
  {
    heading: 'Static site',
    needs: ['true'],
    run: '',
    files: { 'build.sh': 'mkdir public && echo hello > public/index.html\n' },
    made: ['public/index.html'],
  },
  {
    heading: 'Node',
    needs: ['npm', '--version'],
    run: 'exec node dist/server.js',
    files: {
      'package.json':
        '{"name":"app","version":"1.0.0","scripts":{"build":"mkdir dist && cp server.js dist/"}}',
      'package-lock.json': LOCK,
      'server.js': SERVER,
    },
    made: ['dist/server.js', 'uploads'],
  },
  {
    heading: 'Python',
    needs: ['python3', '-c', 'import venv, ensurepip'],
    run: 'exec .venv/bin/python app.py',
    files: {
      'requirements.txt': '',
      'manage.py': 'open("migrated", "w")\n',
      'app.py': PYTHON,
      health: 'ok',
    },
    made: ['.venv/bin/python', 'migrated'],
  },
  {
    heading: 'Go',
    needs: ['go', 'version'],
    run: 'exec bin/app',
    files: { 'go.mod': 'module example.org/app\n', 'main.go': GO },
    made: ['bin/app'],
  },
  {
    heading: 'Trying things out',
    needs: ['true'],
    run: 'exec node server.js',
    files: { 'server.js': SERVER },
    made: ['server.js'],
  },
];

for (const { heading, needs, run, files, made } of SAMPLES) {
  const [program = '', ...args] = needs;
  const define = spawnSync(program, args).status === 0 ? test : test.skip;

  define(`the example '${heading}' is deployed`, async () => {
    const world = await makeWorld('empty');
    try {
      const deployFile = run === '' ? example(heading) : withProcess(example(heading), run);
      const all = { ...files, '.deploy.yml': deployFile };
      const writing = Object.entries(all).map(
        ([name, text]) => `cat > ${name} <<'END_OF_FILE'\n${text}END_OF_FILE`,
      );
      const { status, stdout, stderr } = await world.type(`
mkdir app && cd app && git init --quiet --initial-branch=main
${writing.map((each) => each.replace(/([^\n])END_OF_FILE$/, '$1\nEND_OF_FILE')).join('\n')}
git add . && git commit --quiet -m 'The app' && git push --quiet https://github.com/you/hello.git main
runner add --repo you/hello --branch main --token-file ~/token
runner deploy hello --no-notify
cd /opt/runner/apps/hello/instances/default/current
ls -d ${made.join(' ')}
`);
      assert.is(status, 0, stdout + stderr);
      assert.match(stdout, /Deployed hello [0-9a-f]{12} in/);
    } finally {
      await world.close();
    }
  });
}

test.run();
