/** The server of the story: the container, what it reaches on loopback, and its terminal. */
import { page } from '@runner/testing/app';
import { bootContainer, type Container } from '@runner/testing/container';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { type GitServer, startGitServer } from '@runner/testing/git-server';

export const TOKEN = 'ghp_system0system0system0system0system0';
export const REPO = 'acme/shop';
/** The app's; two more follow it. Another run at the same time, on the same loopback, has others. */
export const PORT = 10_000 + 3 * (process.pid % 7_000);
/** How long anything that a timer does may take, in milliseconds. */
const PATIENCE = 300_000;

/** The server, as the chapters of the story use it. */
export interface Server {
  readonly container: Container;
  readonly git: GitServer;
  readonly discord: Discord;
  /** Prints what comes next; the step counts as passed when the next one begins. */
  step(text: string): void;
  steps(): number;
  /** Runs a command of root as if typed, shows it and what it prints; throws unless it succeeds. */
  type(command: string, options?: { stdin?: string; status?: number }): Promise<string>;
  /** Runs a command until `wanted` is in its output, then shows it. */
  until(command: string, wanted: RegExp): Promise<string>;
  /** Waits until the app shows this version. */
  shows(version: string): Promise<void>;
  close(): Promise<void>;
}

const print = (text: string) => void process.stdout.write(text);

/** The code host and the chat. */
type World = Pick<Server, 'git' | 'discord'>;

async function startWorld(): Promise<World> {
  const git = await startGitServer({ token: TOKEN });
  await git.createRepo(REPO);
  return { git, discord: await startDiscord() };
}

/**
 * Boots the server; `bind` are folders that it sees, read only; `world` is that of another one. `base`
 * has the files of its system.
 */
export async function startServer(
  bind: Record<string, string>,
  world?: World,
  base?: string,
): Promise<Server> {
  const { git, discord } = world ?? (await startWorld());
  const container = await bootContainer(bind, base);
  let steps = 0;
  const show = (command: string, output: string) => print(`\n# ${command}\n${output}`);
  const patiently = async <T>(look: () => Promise<T>, good: (seen: T) => boolean, what: string) => {
    const end = performance.now() + PATIENCE;
    let seen = await look();
    while (!good(seen)) {
      if (performance.now() > end) throw new Error(`${what} did not come; last: ${seen}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
      seen = await look();
    }
    return seen;
  };
  return {
    container,
    git,
    discord,
    steps: () => steps,
    step(text) {
      steps += 1;
      print(`\n== ${steps}. ${text}\n`);
    },
    async type(command, { stdin, status = 0 } = {}) {
      const done = await container.sh(command, {
        ...(stdin !== undefined && { stdin }),
        timeout: 600_000,
      });
      show(command, done.stdout + done.stderr);
      if (done.status === status) return done.stdout + done.stderr;
      throw new Error(`\`${command}\` ended with status ${done.status} instead of ${status}`);
    },
    async until(command, wanted) {
      const look = async () => {
        const { stdout, stderr } = await container.sh(command);
        return stdout + stderr;
      };
      const seen = await patiently(
        look,
        (text) => wanted.test(text),
        `${wanted} from \`${command}\``,
      );
      show(command, seen);
      return seen;
    },
    async shows(version) {
      await patiently(
        () => page(PORT),
        (seen) => seen === version,
        `${version} of the app`,
      );
      print(`\n(the app shows ${version})\n`);
    },
    async close() {
      await container.close();
      await Promise.all([git.close(), discord.close()]);
    },
  };
}
