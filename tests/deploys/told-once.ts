/** The timer over many minutes, while an app goes down, cannot be checked, is blocked and its token ends. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { startDiscord } from '@runner/testing/discord';
import { preloading, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { deployFile, makeWorld, TOKEN } from './world.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

/** A preload that sets the clock of a program forward by CLOCK_OFFSET milliseconds. */
export function clockHook(): string {
  const file = join(temporaryFolder('clock'), 'clock.cjs');
  writeFileSync(
    file,
    `const offset = Number(process.env.CLOCK_OFFSET ?? 0);
const Real = Date;
globalThis.Date = class extends Real {
  constructor(...args) { if (args.length > 0) super(...args); else super(Real.now() + offset); }
  static now() { return Real.now() + offset; }
};\n`,
  );
  return file;
}

/** What came of it. */
export interface Told {
  /** Titles of the messages, in their order. */
  readonly titles: string[];
  /** Kinds of the records, without those of the first deploy. */
  readonly kinds: unknown[];
  /** Lines that `fetch --deploy --quiet` printed, in their order. */
  readonly lines: string[];
  /** The record of the failed build. */
  readonly failure: Record<string, unknown> | undefined;
  readonly verified: number | null;
}

/** The titles of the messages while a cause lasts `minutes`, with a fetch in each, and when it is over. */
export async function tellOneCause(minutes: number): Promise<string[]> {
  const [world, chat] = [await makeWorld(), await startDiscord()];
  const { root } = world;
  const hook = clockHook();
  const fetchAt = (minute: number) =>
    run('runner-fetch', ['--deploy', '--quiet'], {
      root,
      env: { ...preloading(hook), CLOCK_OFFSET: String(minute * MINUTE) },
    });
  const config = `code_host_git_url: ${world.git.url}\nnotify: { discord_webhook: "${chat.webhook}" }\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  await world.push('v1', { deploy: 'notify: {}\n' });
  await run('runner-deploy', ['shop', '--no-notify'], { root });
  await run('runner-edit', ['shop', '--branch', 'nope'], { root });
  for (let minute = 1; minute <= minutes; minute += 1) await fetchAt(minute);
  await run('runner-edit', ['shop', '--branch', 'main'], { root });
  await fetchAt(minutes + 1);
  await fetchAt(minutes + 2);
  const titles = chat.messages.map(({ content }) => content.replace(/:.*$/s, ''));
  await Promise.all([world.close(), chat.close()]);
  return titles;
}

/** Plays eight situations, each for an eighth of these minutes, with a fetch in each minute. */
export async function tellOnce(minutes: number): Promise<Told> {
  const [world, chat] = [await makeWorld(), await startDiscord()];
  const { root } = world;
  const clock = clockHook();
  let offset = 0;
  const ours = (tool: string, args: string[], stdin?: string) => {
    const env = { ...preloading(clock), CLOCK_OFFSET: String(offset) };
    return run(tool, args, { root, env, ...(stdin !== undefined && { stdin }) });
  };
  const lines: string[] = [];
  const pass = async () => {
    for (let minute = 0; minute < minutes / 8; minute += 1) {
      offset += MINUTE;
      const { stdout } = await ours('runner-fetch', ['--deploy', '--quiet']);
      lines.push(...stdout.split('\n').filter(Boolean));
    }
  };
  const config = `code_host_git_url: ${world.git.url}\nmax_deploy_retries: 1\nnotify: { discord_webhook: "${chat.webhook}" }\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  const file = deployFile(world.port, 'notify: { channel: discord }\n');
  await world.push('v1', { deploy: file });
  await ours('runner-deploy', ['shop', '--no-notify']);
  const before = world.events().length;
  await pass();
  killApp(root, 'shop');
  await until(async () => (await world.page()) === null, 'it still answers');
  await pass();
  await ours('runner-rollback', ['shop', '--to', 'v1']);
  await pass();
  await ours('runner-edit', ['shop', '--branch', 'nope']);
  await pass();
  await ours('runner-edit', ['shop', '--branch', 'main']);
  await pass();
  const path = join(root, 'state/shop.json');
  const state = JSON.parse(readFileSync(path, 'utf8'));
  const ends = Date.now() + offset + 14 * DAY + (minutes / 16) * MINUTE;
  state.state.repohost_token_ends = new Date(ends).toISOString();
  writeFileSync(path, JSON.stringify(state));
  await pass();
  await ours('runner-edit', ['shop', '--token', '-'], TOKEN);
  await pass();
  await world.push('v2', { deploy: `${file}build: exit 1\n` });
  await pass();
  const verified = await ours('runner-audit', ['verify']);
  const events = world.events().slice(before);
  const titles = chat.messages.map(({ content }) =>
    content.replace(/^\S+ /, '').replace(/:.*$/s, ''),
  );
  await Promise.all([world.close(), chat.close()]);
  return {
    titles,
    kinds: events.map(({ event_type }) => event_type),
    lines,
    failure: events.findLast(({ event_type }) => event_type === 'DeployFailure'),
    verified: verified.status,
  };
}
