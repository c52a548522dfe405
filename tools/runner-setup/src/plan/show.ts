/** A plan and its outcome, for people and for `--json`. */
import { difference } from '@runner/common/files/difference';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { word } from '@runner/common/text/shell';
import type { MadeThing } from '@runner/deploy/instances/setup-record';
import type { ThingReport, UndoneThing } from '../steps/apply.ts';
import { contentsAt, wantedOf } from '../steps/files.ts';
import { kindOf } from '../steps/kinds.ts';
import type { Machine } from '../steps/machine.ts';
import { type FileThing, thingOf } from '../steps/thing.ts';

/** A step as `--json` prints it. */
export interface SetupStep {
  /** What it does. */
  step: string;
  kind: string;
  state: ThingReport['state'];
  /** Of a file. */
  path?: string;
  text?: string;
  /** What it changes in a file that is there. */
  diff?: string;
  /** What a person would type. */
  commands?: string[];
  /** Why it failed, or is kept. */
  why?: string;
}

/** What `runner setup` prints. */
export interface SetupResult {
  app: string;
  result: 'made' | 'nothing_to_do' | 'printed' | 'undone';
  steps: SetupStep[];
  /** Sentences. */
  notes: string[];
}

export function stepOf(machine: Machine, { thing, state }: ThingReport): SetupStep {
  const { what, commands } = kindOf(thing.kind);
  const step = { step: what(thing), kind: thing.kind, state };
  if (thing.kind !== 'file') {
    const typed = commands(machine, thing).map((each) => each.map(word).join(' '));
    return { ...step, commands: typed };
  }
  const shown = { ...step, path: thing.path, text: wantedOf(thing) };
  const diff = state === 'there' ? '' : diffOf(machine, thing);
  return diff === '' ? shown : { ...shown, diff };
}

/** What a file would lose and gain; empty if it does not exist. */
export function diffOf({ env }: Machine, thing: FileThing): string {
  const now = contentsAt(thing.path);
  if (now === undefined) return '';
  return difference(env, [`${thing.path} (now)`, `${thing.path} (setup)`], now, wantedOf(thing));
}

export const undoWords = (entry: MadeThing) => `undo: ${kindOf(entry.kind).what(thingOf(entry))}`;

export function undoneStep({ entry, state, why }: UndoneThing): SetupStep {
  return { step: undoWords(entry), kind: entry.kind, state, ...(why !== undefined && { why }) };
}

/** The steps that remain, with the whole of each file or its difference. */
export function planText(steps: readonly SetupStep[]): string {
  const blocks = steps.map(({ step, text, diff, commands = [] }, index) => {
    const inside = diff ?? text?.replace(/^-> .*/, '') ?? commands.join('\n');
    const lines = inside.split('\n').filter((line, at, all) => line !== '' || at < all.length - 1);
    const shown = lines.map((line) => (line === '' ? '\n' : `     ${harmless(line)}\n`)).join('');
    return `${String(index + 1).padStart(2)}. ${harmlessLine(step)}\n${shown}`;
  });
  return blocks.join('');
}

const WORDS = {
  there: 'there',
  wanted: 'wanted',
  made: 'ok',
  kept: 'kept',
  failed: 'failed',
  removed: 'ok',
};

/** What came of a step, as soon as it has ended. */
export function stepLine({ step, state, why }: SetupStep): string {
  const reason = why === undefined ? '' : `: ${harmlessLine(why)}`;
  return `${WORDS[state].padEnd(6)} ${harmlessLine(step)}${reason}\n`;
}

/** The answer without the steps, which were shown while they were done. */
export function answerText({ app, result, steps, notes }: SetupResult): string {
  const told = notes.map((note) => `note: ${harmlessLine(note)}\n`).join('');
  if (result === 'printed') return `${planText(steps)}${told}`;
  const ends = {
    made: `Set up ${app}\n`,
    undone: `Undid the setup of ${app}\n`,
    nothing_to_do: 'nothing to do: everything is in place\n',
  };
  return `${told}${ends[result]}`;
}
