/** Completion in the real shells, typed on a pseudo-terminal. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isInstalled, newStage, type Shell, shellEnvironment, startShell } from './stage.ts';

const TAB = '\t';
/** Bound in each shell to: insert everything that is offered. */
const ALL = '\x18a';
const share = join(distFolder(), 'share');
const stage = newStage();
const env = shellEnvironment(stage);

const SHOW = `runner() { printf '=>'; printf '[%s]' "$@"; printf '<=\\n'; }
runner-tokens() { runner "$@"; }
PS1='> '
`;

/** Starts bash with these lines; what it reads at the start is nothing else. */
function bash(setup: string): Promise<Shell> {
  const file = join(temporaryFolder('bash'), 'rc');
  const bind = String.raw`bind '"\C-xa": insert-completions'
bind 'set enable-bracketed-paste off'
bind 'set completion-ignore-case off'
`;
  writeFileSync(file, `${setup}\n${SHOW}${bind}echo ready\n`);
  return startShell('bash', ['--rcfile', file, '-i'], { ...env, XDG_DATA_DIRS: share });
}

function zsh(setup: string): Promise<Shell> {
  const folder = temporaryFolder('zsh');
  const bind = `zle -C all complete-word _generic
bindkey '^Xa' all
zstyle ':completion:all::::' completer _all_matches _complete
zstyle ':completion:all:*' insert yes
unset zle_bracketed_paste
zstyle ':completion:*' menu no
`;
  writeFileSync(join(folder, '.zshrc'), `${setup}\n${bind}${SHOW}echo ready\n`);
  return startShell('zsh', ['-d', '-i'], { ...env, ZDOTDIR: folder });
}

/** What is typed and completed in the shells, and the words that `runner` is called with then. */
const TYPED: readonly (readonly [keys: string, wanted: readonly string[]])[] = [
  [`runner rollb${TAB}`, ['rollback']],
  [`runner tok${TAB}rek${TAB}--dry${TAB}`, ['tokens', 'rekey', '--dry-run']],
  [`runner status sh${TAB}--js${TAB}`, ['status', 'shop', '--json']],
  [`runner rollback shop --to fe${TAB}`, ['rollback', 'shop', '--to', 'feature/x']],
  [`runner rollback shop --to=fe${TAB}`, ['rollback', 'shop', '--to=feature/x']],
  [`runner rollback shop --instance gr${TAB}`, ['rollback', 'shop', '--instance', 'green']],
  [`runner list -o y${TAB}`, ['list', '-o', 'yaml']],
  [`runner list --output=y${TAB}`, ['list', '--output=yaml']],
  [`runner fo${TAB}be${TAB}`, ['foo', 'beta']],
  [`runner-tokens te${TAB}bl${TAB}`, ['test', 'blog']],
];

async function typed(shell: Shell): Promise<void> {
  for (const [keys, wanted] of TYPED) assert.equal(await shell.called(keys), wanted, keys);
}

/** Everything that is offered is inserted: the shell shows all, and takes nothing for more than a word. */
async function everything(shell: Shell): Promise<void> {
  const apps = await shell.called(`runner status ${ALL}`);
  assert.equal(apps.slice(1).sort(), ['blog', 'shop']);
  const versions = await shell.called(`runner rollback shop --to ${ALL}`);
  assert.equal(versions.slice(3).sort(), ['feature/x', 'v1', 'v2']);
}

test('bash completes with the script evaluated, without bash-completion', async () => {
  if (!isInstalled('bash')) return;
  const foreign = '_foo() { COMPREPLY=(beta); }; complete -F _foo runner-foo';
  const shell = await bash(`eval "$(runner completion bash)"\n${foreign}`);
  try {
    await typed(shell);
    await everything(shell);
    writeFileSync(join(stage.root, 'a token'), '');
    const file = `${stage.root.replace(/[^\w/.-]/g, '\\$&')}/a\\ tok`;
    assert.equal(await shell.called(`runner add --token-file ${file}${TAB}`), [
      'add',
      '--token-file',
      `${stage.root}/a token`,
    ]);
  } finally {
    shell.end();
  }
});

test('bash-completion finds the file of each executable in the folder of vendors', async () => {
  if (!isInstalled('bash')) return;
  const library = '/usr/share/bash-completion/bash_completion';
  if (!existsSync(library)) {
    process.stdout.write('(left out: bash-completion is not installed)\n');
    return;
  }
  const foreign = '_foo() { COMPREPLY=(beta); }; complete -F _foo runner-foo';
  const shell = await bash(`. ${library}\n${foreign}`);
  try {
    await typed(shell);
  } finally {
    shell.end();
  }
});

for (const [way, load] of [
  [
    'found in fpath',
    `fpath=('${share}/zsh/vendor-completions' $fpath); autoload -Uz compinit; compinit -u`,
  ],
  ['sourced', 'autoload -Uz compinit; compinit -u; source <(runner completion zsh)'],
] as const) {
  test(`zsh completes with the script ${way}`, async () => {
    if (!isInstalled('zsh')) return;
    const shell = await zsh(`${load}\n_foo() { compadd beta }; compdef _foo runner-foo`);
    try {
      await typed(shell);
      await everything(shell);
    } finally {
      shell.end();
    }
  });
}

/** What fish itself says it would offer. */
async function fishOffers(shell: Shell, line: string): Promise<string[]> {
  return shell.called(`offer '${line}'`);
}

for (const [way, load] of [
  [
    'found in the folder of vendors',
    `set -g fish_complete_path '${share}/fish/vendor_completions.d'`,
  ],
  ['sourced', 'runner-completion fish | source'],
] as const) {
  test(`fish completes with the script ${way}`, async () => {
    if (!isInstalled('fish')) return;
    const init = [
      'set -g fish_greeting',
      'function fish_prompt; echo "> "; end',
      load,
      'complete -c runner-foo -f -a beta',
      'function runner; printf "=>"; printf "[%s]" $argv; printf "<=\\n"; end',
      'function runner-tokens; runner $argv; end',
      'function offer; runner (complete -C $argv[1] | string replace -r "\\t.*" ""); end',
      'echo ready',
    ].join('\n');
    const shell = await startShell('fish', ['--no-config', '-i', '-C', init], env);
    try {
      for (const [keys, wanted] of TYPED) {
        // What an operator types before TAB, as fish is asked for it.
        const line = keys.split(TAB)[0] ?? '';
        const offers = await fishOffers(shell, line);
        const word = wanted[line.split(' ').length - 2] ?? '';
        assert.ok(offers.includes(word), `${line}: ${offers}`);
      }
      assert.equal((await fishOffers(shell, 'runner foo ')).sort(), ['beta']);
      assert.equal((await fishOffers(shell, 'runner status ')).sort(), ['blog', 'shop']);
      assert.equal((await fishOffers(shell, 'runner rollback shop --to ')).sort(), [
        'feature/x',
        'v1',
        'v2',
      ]);
      assert.equal(await shell.called(`runner rollback shop --to fe${TAB}`), [
        'rollback',
        'shop',
        '--to',
        'feature/x',
      ]);
    } finally {
      shell.end();
    }
  });
}

test('nothing that was offered has been run', () => {
  assert.equal(
    readdirSync(stage.root).filter((name) => name.includes('pwned')),
    [],
  );
});

test.run();
