/** The answers of `verify` for people. */
import { signerWords } from '@runner/common/apps/signed';
import { type Style, table } from '@runner/common/cli/output';
import type { Io } from '@runner/common/foundation/io';
import { harmlessLine } from '@runner/common/text/harmless';
import { counted } from '@runner/common/text/words';
import type { Verification } from '@runner/deploy/changes/verify';
import type { VerifiedInstance } from '@runner/deploy/statement/compare';
import type { Difference } from '@runner/deploy/statement/tree';
import type { VerifiedStatement } from './elsewhere.ts';

/** What runs of an app. */
export interface VerifiedApp {
  readonly app: string;
  readonly instances: readonly VerifiedInstance[];
  /** How many differences there are in all. */
  readonly differing: number;
}

/** What `verify` answers. */
export type VerifyAnswer =
  | Verification
  | VerifiedApp
  | VerifiedStatement
  | { readonly public_key: string }
  | { readonly statement: string };

/** Differences that are listed of each instance. */
const LISTED = 20;

/** The answer as text. */
export function textOf(answer: VerifyAnswer, style: Style, io: Pick<Io, 'stdout'>): string {
  if ('public_key' in answer) return answer.public_key;
  if ('statement' in answer) return answer.statement;
  if ('commits' in answer) return commitsText(answer, style, io);
  if ('file' in answer)
    return `${releaseText(answer, style)}${end(answer, answer.file, answer.compared ? AS_DEPLOYED : SIGNATURE_ONLY, style)}`;
  const each = ({ instance, notes, ...rest }: VerifiedInstance) =>
    `${style.bold(harmlessLine(instance))}: ${releaseText(rest, style)}` +
    notes.map((note) => `  note: ${harmlessLine(note)}\n`).join('');
  const isProven = answer.instances.every(({ proven }) => proven);
  const good = isProven ? AS_DEPLOYED : 'no difference was found, but this is not proven';
  return answer.instances.map(each).join('') + end(answer, answer.app, good, style);
}

const AS_DEPLOYED = 'as it was deployed';
const SIGNATURE_ONLY = 'the signature is good; no release was compared: add --tree DIR';

function end(
  { differing }: Pick<VerifiedApp, 'differing'>,
  name: string,
  good: string,
  style: Style,
): string {
  const how =
    differing === 0
      ? (good === AS_DEPLOYED ? style.green : style.yellow)(good)
      : style.red(counted(differing, 'difference'));
  return `${style.bold(harmlessLine(name))}: ${how}\n`;
}

type Shown = Pick<VerifiedStatement, 'version' | 'commit' | 'differences'> & {
  readonly [K in 'signed_by' | 'built_at' | 'tree']?: VerifiedStatement[K] | null;
} & { readonly app?: string | undefined; readonly release?: string } & {
  readonly network?: VerifiedInstance['network'];
};

function releaseText(
  { app, signed_by: signer, differences, ...rest }: Shown,
  style: Style,
): string {
  const { version = '?', commit = '', built_at: built, release, tree, network } = rest;
  const hosts = network?.map(({ host, port }) => (port === 443 ? host : `${host}:${port}`));
  const parts = [
    [app, version].filter(Boolean).join(' '),
    `commit ${commit.slice(0, 12)}`,
    ...(signer ? [`signed by ${signerWords(signer)}`] : []),
    ...(built ? [`built ${built.slice(0, 19)}Z`] : []),
    ...(hosts ? [`reached ${hosts.join(' ') || 'no host'}`] : []),
    ...(release ? [`release ${release}`] : []),
    ...(tree ? [`tree ${tree.slice(0, 16)}`] : []),
  ];
  const shown = differences.slice(0, LISTED).map((each) => `  ${style.red(wordsOf(each))}\n`);
  const more = differences.length - shown.length;
  if (more > 0) shown.push(`  and ${more} more: runner verify --json lists all\n`);
  return `${harmlessLine(parts.join(', '))}\n${shown.join('')}`;
}

function wordsOf({ what, path, change }: Difference): string {
  return harmlessLine(`${what.replace('_', ' ')}: ${path} ${CHANGES[change]}`);
}

const CHANGES: Readonly<Record<Difference['change'], string>> = {
  changed: 'has changed',
  added: 'was added',
  removed: 'is gone',
  mode: 'has other permissions',
  kind: 'is of another kind',
  unsigned: "has no good signature of the server's key",
  disagrees: 'does not agree with the state or the audit log',
};

const HEADING = ['COMMIT', 'DATE (UTC)', 'SIGNED BY', 'SUBJECT'];

function commitsText(
  { app, commits, refused }: Verification,
  style: Style,
  io: Pick<Io, 'stdout'>,
): string {
  const rows = commits.map(({ commit, date, subject, signed_by: signer, refused: why }) => [
    commit.slice(0, 12),
    date.slice(0, 10),
    signer ? signerWords(signer) : `refused: it ${why}`,
    subject,
  ]);
  const all = counted(commits.length, 'commit');
  const how = refused === 0 ? style.green('none is refused') : style.red(`${refused} refused`);
  const name = style.bold(harmlessLine(app));
  return `${table(HEADING, rows, style, io)}${name}: ${all}, ${how}\n`;
}
