import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { everywhere, VERSION } from './stage.ts';

const HELP = `Deploy apps from git on your own servers

Usage: runner <COMMAND> [ARGS]...

Commands:
  init          Write a .deploy.yml for a repository, and prove it
  add           Register an app to deploy from git
  setup         Make what an app needs of the server: user, unit, access lists, site with TLS
  import        Make a .deploy.yml from a file of another tool
  edit          Change an app's token, branch or repository
  remove        Remove an app and stop it
  list          Show the registered apps and what is running
  status        Show one app in detail, or check all of them
  top           Watch apps, deploys and jobs live
  dashboard     Show apps and deploys on a page that cannot write
  deploy        Deploy an app from git
  fetch         Look for new commits, and deploy them
  changes       List the commits the next deploy would ship
  diff          Compare two versions of an app
  verify        Show whether what runs is what was deployed, and who signed it
  watch         Follow the watch of a release
  bell          Let a push on the code host start a deploy immediately
  preview       Deploy pull requests beside their app, and remove them
  waker         Wake sleeping apps at their first request
  rollback      Roll back to the previous version
  contract      Remove from the database what only older versions needed
  cancel        Cancel a running deploy
  start         Start an app
  stop          Stop an app
  restart       Restart an app
  hold-traffic  Let the requests of an app wait, or answer them with a page
  logs          Show what an app prints
  exec          Run a command in the active release of an app
  jobs          Run the jobs of apps at their times, and show how they went
  plan          Show what a command would do, for approval
  approve       Approve a plan
  apply         Do what an approved plan says
  grant         Say what agents may do
  mcp           Let an agent look at apps and propose plans, over MCP on stdio
  pause         Pause the automatic deploys of an app
  resume        Resume the automatic deploys of an app
  env           Manage the secrets of an app
  tokens        Show which apps share which code-host token
  notify        Announce deploys in chats, by e-mail and webhook
  history       List the deploys, one per line
  stats         Count deploys, failures, and how long they took
  report        Write an HTML report of the deploys
  audit         Write and read the audit log of deploy events
  debug         Show why a deploy failed
  why           Explain why an app is not well: cause, change, what runs, what to type
  doctor        Check this installation, and show how to fix it
  backup        Write an encrypted backup of everything that is not in git
  restore       Restore a backup into an empty root
  prune         Show disk usage, and remove what is no longer needed
  fleet         Deploy on several servers through a NATS broker
  agent         Carry out signed orders on this server
  completion    Print the completion for bash, zsh or fish

Options:
  -h, --help     Print help; 'runner help <COMMAND>' prints that of a command
      --list     Print the name of every command, one a line
      --version  Print the version

Exit status, when it is not the command's:
  0    Done
  2    Wrong usage
  126  The command cannot be run, or not as root
  127  No such command
`;

const done = (stdout: string) => ({ status: 0, signal: null, stdout, stderr: '' });
const wrong = (stderr: string) => ({ status: 2, signal: null, stdout: '', stderr });

everywhere('without arguments it prints every command once on stderr, by headings', (stage) => {
  const { status, stdout, stderr } = stage.run([]);
  assert.equal([status, stdout], [2, '']);
  assert.match(
    stderr,
    /^Deploys apps from git .*\n\nStart:\n {2}init {10}Write .*\n {2}add {11}Register .*\n {2}setup {9}Make .*\n {2}import {8}Make .*\n {2}deploy /,
  );
  assert.match(stderr, /\n\nWhen something fails:\n {2}why .*\n {2}debug .*\n {2}doctor .*\n\n/);
  assert.match(
    stderr,
    /\nA first app: runner add OWNER\/NAME \(--public: no token\), then runner deploy NAME --check\n/,
  );
  assert.not.match(stderr, /\nMore:\n/);
  const rows = (text: string) => text.split('\n').filter((line) => /^ {2}[a-z]/.test(line));
  const commands = HELP.slice(0, HELP.indexOf('Options:'));
  assert.equal(rows(stderr).sort(), rows(commands).sort());
});

everywhere('help, -h and --help print the commands on stdout', (stage) => {
  stage.command(stage.own, 'tokens');
  for (const args of [['help'], ['-h'], ['--help'], ['help', 'help'], ['help', '--help']]) {
    assert.equal(stage.run(args), done(HELP), args.join(' '));
  }
});

everywhere('help lists foreign commands apart', (stage) => {
  stage.command(stage.own, 'tokens');
  for (const name of ['tokens', 'zeta', 'host', 'app-2']) stage.command(stage.outside, name);
  const others = '\nOther commands on PATH:\n  app-2\n  host\n  zeta\n';
  assert.equal(stage.run(['help']), done(HELP + others));
});

everywhere('help about a command asks that command', (stage) => {
  stage.command(stage.own, 'tokens');
  stage.command(stage.outside, 'foreign');
  assert.equal(stage.run(['help', 'tokens']), done('tokens of own[--help]'));
  assert.equal(stage.run(['help', 'tokens', 'list', '']), done('tokens of own[list][][--help]'));
  assert.equal(stage.run(['help', 'foreign']), done('foreign of outside[--help]'));
  assert.equal(stage.run(['help', 'tokns']), {
    status: 127,
    signal: null,
    stdout: '',
    stderr: "runner: unknown command 'tokns'; did you mean 'tokens'?\n",
  });
});

everywhere('a command asked for its own help gets the question', (stage) => {
  stage.command(stage.own, 'tokens');
  assert.equal(stage.run(['tokens', '--help']), done('tokens of own[--help]'));
  assert.equal(stage.run(['tokens', 'help']), done('tokens of own[help]'));
});

everywhere('--list prints every command once, sorted, one a line', (stage) => {
  for (const name of ['tokens', 'add', 'b-1', 'b1', 'b']) stage.command(stage.own, name);
  for (const name of ['tokens', 'zeta', 'aa']) stage.command(stage.outside, name);
  assert.equal(stage.run(['--list']), done('aa\nadd\nb\nb-1\nb1\ntokens\nzeta\n'));
});

everywhere('--list leaves out what could not be run', (stage) => {
  const rest = [
    '',
    '-x',
    'Upper',
    'under_score',
    'dot.js',
    'new\nline',
    'esc\u001b[1m',
    'help',
    'é',
  ];
  for (const name of rest) stage.command(stage.outside, name);
  stage.file(join(stage.outside, 'runner-data'), '', 0o644);
  stage.folder('outside/runner-folder');
  symlinkSync('nowhere', join(stage.outside, 'runner-broken'));
  assert.equal(stage.run(['--list']), done(''));
  symlinkSync('/bin/sh', join(stage.outside, 'runner-link'));
  assert.equal(stage.run(['--list']), done('link\n'));
});

everywhere('--version prints the version', (stage) => {
  assert.equal(stage.run(['--version']), done(`runner ${VERSION}\n`));
});

everywhere('an unknown option is wrong usage', (stage) => {
  stage.command(stage.own, 'tokens');
  for (const option of ['--foo', '-x', '-', '--', '--root', '--list=1']) {
    assert.equal(stage.run([option]), wrong(`error: unexpected argument '${option}' found\n`));
  }
  for (const option of ['--list', '--help', '-h', '--version']) {
    assert.equal(stage.run([option, 'x']), wrong("error: unexpected argument 'x' found\n"));
  }
  assert.equal(stage.run(['help', '--foo']), wrong("error: unexpected argument '--foo' found\n"));
  assert.equal(stage.run(['--\u001b[1m\n']), wrong("error: unexpected argument '--?[1m?' found\n"));
});

everywhere('help that cannot be written is not a success', (stage) => {
  stage.command(stage.own, 'tokens');
  for (const args of ['help', '--list', '--version']) {
    const script = `'${stage.own}/runner' ${args} > /dev/full`;
    assert.is.not(stage.run(['-c', script], { program: '/bin/sh' }).status, 0, args);
  }
});

everywhere('output that cannot be written is reported in one sentence', (stage) => {
  stage.command(stage.own, 'x');
  const script = `exec "$@" >/dev/full`;
  for (const option of ['--list', '--help', '--version', 'help']) {
    const words = ['-c', script, 'sh', stage.sh, `${stage.own}/runner`, option];
    assert.equal(stage.run(words, { program: '/bin/sh' }), {
      status: 1,
      signal: null,
      stdout: '',
      stderr: 'runner: cannot write to standard output (output_failed)\n',
    });
  }
});

test.run();
