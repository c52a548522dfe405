/** What is looked at after a deploy, for the tables of matrix-*.test.ts. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { until } from '@runner/testing/until';
import { deployFile, impatient, makeWorld, type World } from './world.ts';

/** A world that announces what happens, before its first deploy or with v1 running. */
export interface Stage {
  readonly world: World;
  readonly chat: Discord;
  /** Number of events and messages that v1 made. */
  readonly before: number;
}

export const SITUATIONS = ['first', 'second'] as const;
export type Situation = (typeof SITUATIONS)[number];

/** `.deploy.yml` of every version here: its deploys are announced. */
export function announced(world: World, more = ''): string {
  return deployFile(world.port, `notify: {}\n${more}`);
}

/** The same, soon given up when it is not healthy. */
export function soonGivenUp(world: World): string {
  return impatient(world.port, 'notify: {}\n');
}

export async function makeStage(situation: Situation): Promise<Stage> {
  const world = await makeWorld();
  const chat = await startDiscord();
  const config = `code_host_git_url: ${world.git.url}\nnotify: { discord_webhook: "${chat.webhook}" }\n`;
  writeFileSync(join(world.root, 'config.yml'), config, { mode: 0o600 });
  if (situation === 'second') {
    await world.push('v1', { deploy: announced(world) });
    const done = await world.deploy();
    if (done.status !== 0) throw new Error(done.stderr);
  }
  return { world, chat, before: world.events().length };
}

/** Everything that a row of a table states. */
export interface Picture {
  /** What answers HTTP. */
  page: string | null;
  /** Version of the release that `current` points to. */
  current: string | null;
  /** Version of the instance by the state file. */
  state: string | null;
  deploying: unknown;
  failures: number;
  /** Kinds of the audit records since. */
  events: unknown[];
  /** Kinds of the messages since, as the chat got them. */
  messages: string[];
  /** Unfinished releases. */
  left: string[];
}

const TITLES: Readonly<Record<string, string>> = {
  'Deploy started': 'DeployStarted',
  'Deploy completed': 'DeploySuccess',
  'Deploy failed': 'DeployFailure',
  'Rolled back': 'RollbackSuccess',
  Rollback: 'RollbackSuccess',
};

/** Kinds of the messages; a long error goes on in a message of its own, which has no title. */
function kindsOf({ messages }: Discord): string[] {
  return messages.flatMap(({ content }) => {
    const title = Object.keys(TITLES).find((each) => content.includes(each));
    return title === undefined ? [] : [TITLES[title] as string];
  });
}

/** Looks; waits for as many messages as there are events, since a killed deploy leaves its notifier. */
export async function look({ world, chat, before }: Stage): Promise<Picture> {
  const events = world.kinds().slice(before);
  // If they do not come, the comparison with the table fails.
  await until(() => kindsOf(chat).length >= before + events.length, '').catch(() => {});
  const { deploying, failures, instances } = world.state() as {
    deploying: unknown;
    failures: { count: number } | null;
    instances: { default?: { current: { version: string } | null } };
  };
  return {
    page: await world.page(),
    current: activeVersion(world),
    state: instances.default?.current?.version ?? null,
    deploying,
    failures: failures?.count ?? 0,
    events,
    messages: kindsOf(chat).slice(before),
    left: unfinished(world),
  };
}

function activeVersion({ root }: World): string | null {
  try {
    const file = join(root, 'apps/shop/instances/default/current/VERSION');
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}

function unfinished({ root }: World): string[] {
  try {
    return readdirSync(join(root, 'apps/shop/releases')).filter((name) => name.startsWith('.'));
  } catch {
    return [];
  }
}

/** The picture when nothing but these events came of a deploy, and v1, if there is one, goes on. */
export function unharmed(
  situation: Situation,
  events: readonly string[],
  failures: number,
): Picture {
  const version = situation === 'first' ? null : 'v1';
  const told = events.filter((kind) => situation === 'second' || kind !== 'RollbackSuccess');
  return {
    page: version,
    current: version,
    state: version,
    deploying: null,
    failures,
    events: told,
    messages: told,
    left: [],
  };
}
