/** The file that is proposed, and what is said about it. */

import { fields } from '@runner/common/cli/output';
import type { HostSet } from '@runner/common/config/network';
import { deployFileText, type ProposedSetting } from '@runner/common/deploy-file/write';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import type { Proof } from '@runner/deploy/proof/prove';
import type { Proposal } from '../stacks/propose.ts';

/** Without traffic a bad release is left by an ordinary rollback. */
const WATCH: ProposedSetting = {
  path: ['watch'],
  value: '10m',
  reason: 'how long a release is judged once it is live',
};

const PORT = 'instances.default.env.PORT';
const keyOf = ({ path }: ProposedSetting) => path.join('.');

/** The settings after a proof: where the app answered counts for more than what was guessed. */
export function settledSettings(proposal: Proposal, proof: Proof): readonly ProposedSetting[] {
  if (proof.result !== 'proven') return proposal.settings;
  const { answer, network } = proof;
  const settings = network ? withNetwork(proposal, network) : proposal.settings;
  if (!answer) return settings;
  const { path, status, fixed } = answer;
  const reason = `answered ${status}`;
  if (fixed && 'socket' in fixed) {
    const socket = fixed.socket
      .slice(fixed.socket.indexOf('/releases/') + 10)
      .replace(/^[^/]+\//, '');
    const cmd = `curl -fsS --unix-socket ${socket} http://localhost${path}`;
    return settings
      .filter((each) => keyOf(each) !== PORT)
      .map((each) =>
        keyOf(each) === 'health.url' ? { path: ['health', 'cmd'], value: cmd, reason } : each,
      );
  }
  return settings.map((each) => {
    if (keyOf(each) === 'health.url')
      return { ...each, value: `http://127.0.0.1:\${PORT}${path}`, reason };
    if (keyOf(each) === PORT && fixed)
      return { ...each, value: String(fixed.port), reason: 'it listens there, whatever PORT is' };
    return each;
  });
}

/** The settings with the hosts of the build, and of its package managers: it may reach them tomorrow. */
function withNetwork({ settings }: Proposal, network: readonly string[]): ProposedSetting[] {
  const sets = setsOf(settings).filter((set) => !PARTIAL.includes(set));
  const value = [...new Set([...sets, ...network])];
  const reason = 'learned from a build: what it reached, and the servers of its package manager';
  return settings.flatMap((each) =>
    keyOf(each) === 'build' && value.length > 0
      ? [
          { ...each, path: ['build', 'run'] },
          { path: ['build', 'network'], value, reason },
        ]
      : [each],
  );
}

/** The same settings with another PORT. */
export function withPort(settings: readonly ProposedSetting[], port: number): ProposedSetting[] {
  return settings.map((each) => (keyOf(each) === PORT ? { ...each, value: String(port) } : each));
}

/** `Proven: …` or `Not proven: …`, one line. */
export function proofWords(
  proof: Proof,
  { output }: { readonly output: string | null | undefined },
): string {
  if (proof.result !== 'proven') return harmlessLine(`Not proven: ${proof.why}`);
  const { answer } = proof;
  if (!answer)
    return `Proven: it was built, and ${output === '.' ? 'its top' : output} has an index page`;
  return `Proven: it was built and started, and answered GET ${answer.path} with ${answer.status}`;
}

const SETS: readonly (readonly [RegExp, HostSet])[] = [
  [/\b(?:npm|pnpm|yarn|bun)\b/, 'npm'],
  [/\b(?:pip|poetry|uv|pipenv)\b/, 'pypi'],
  [/\bcargo\b/, 'cargo'],
  [/\bgo (?:build|install|mod)\b/, 'go'],
  [/\bcomposer\b/, 'composer'],
  [/\bbundle\b/, 'rubygems'],
];

/** What these sets mean lacks the hosts of the files. */
const PARTIAL: readonly HostSet[] = ['pypi', 'cargo'];

function setsOf(settings: readonly ProposedSetting[]): HostSet[] {
  const run = settings.filter(({ path: [section] }) => section === 'build');
  const commands = run.flatMap(({ value }) => value).join('\n');
  return SETS.filter(([words]) => words.test(commands)).map(([, set]) => set);
}

/** A line to try, not a setting: only a build shows which other hosts it needs. */
function networkHint(settings: readonly ProposedSetting[]): string[] {
  const sets = setsOf(settings);
  if (sets.length === 0 || settings.some((each) => keyOf(each) === 'build.network')) return [];
  // Bundler has its index, and GitHub the archives of composer, at a host that no file names.
  const isPartial = sets.some((set) => set !== 'npm' && set !== 'go');
  const list = isPartial ? 'learn' : `[${sets.join(', ')}]`;
  const more = isPartial
    ? ' lists the hosts it needs'
    : '; network: learn lists the hosts it needs';
  return [`Safer: build: { run: …, network: ${list} }${more}.`];
}

/** The text of the file. Throws `deploy_file_invalid`. */
export function fileText(
  settings: readonly ProposedSetting[],
  { stack, manager, notes }: Pick<Proposal, 'stack' | 'manager' | 'notes'>,
  proof: string,
): string {
  const with_ = manager ? ` with ${manager}` : '';
  const head = [
    `${stack}${with_}. ${proof}.`,
    ...notes.map((note) => `Note: ${note}.`),
    ...networkHint(settings),
  ];
  return deployFileText(withWatch(settings), head.map(harmlessLine));
}

function withWatch(settings: readonly ProposedSetting[]): readonly ProposedSetting[] {
  const isStarted = settings.some(({ path: [section] }) => section === 'health');
  return isStarted ? [...settings, WATCH] : settings;
}

/** A file to fill in, for a repository that is not understood. */
export function skeleton(missing: string): string {
  return deployFileText(
    [],
    [
      harmlessLine(`To be filled in and saved as .deploy.yml: ${missing}.`),
      'instances: { default: { env: { PORT: "3000" } } }',
      'build: [make]                                   # the commands that build it',
      'start: { type: process, run: ./server }         # what starts it in the foreground; it listens on PORT',
      'health: { url: "http://127.0.0.1:${PORT}/" }    # what answers with 200 to 299 once it is ready',
      'shared: [.env, uploads/]                        # what stays when the release changes',
    ],
  );
}

/** What was found, in a few lines. */
export function foundLines({ stack, manager, dir, settings, notes }: Proposal): string {
  const rows = withWatch(settings).map((each): [string, string] => [
    `${keyOf(each).replace('instances.default.env.', '')}:`,
    `${[each.value].flat().join(' && ')}${each.reason ? `  (${each.reason})` : ''}`,
  ]);
  const all: [string, string][] = [
    ['found:', `${stack}${manager ? ` with ${manager}` : ''}${dir ? ` in ${dir}` : ''}`],
    ...rows,
    ...notes.map((note): [string, string] => ['note:', note]),
  ];
  return harmless(fields(all.map(([label, value]) => [label, harmlessLine(value)] as const)));
}
