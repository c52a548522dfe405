/** Everything outside the runner, on loopback: git host, code host, both chats, a root. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, killApp, page } from '@runner/testing/app';
import { configFor, type Hosts, startHosts } from '@runner/testing/hosts';

export const TOKEN = 'ghp_demo0demo0demo0demo0demo0demo0demo0';
export const REPO = 'acme/shop';
export const TRAFFIC_REPO = 'acme/cart';
const BOT_TOKEN = '123456789:AAdemo_demo_demo_demo_demo_demo_demo';

/** The server of the demo, with all that it talks to. */
export interface Stage extends Omit<Hosts, 'close'> {
  readonly root: string;
  readonly port: number;
  /** What a visitor of the app sees; null when nobody answers. */
  page(): Promise<string | null>;
  close(keep: boolean): Promise<void>;
}

/** Makes a root in the folder for temporary files, and starts the hosts. */
export async function setStage(): Promise<Stage> {
  const root = mkdtempSync(join(tmpdir(), 'runner-demo-'));
  const hosts = await startHosts(TOKEN, BOT_TOKEN);
  for (const repo of [REPO, TRAFFIC_REPO]) await hosts.git.createRepo(repo);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'config.yml'), configFor(hosts, BOT_TOKEN), { mode: 0o600 });
  const port = await freePort();
  return {
    root,
    port,
    ...hosts,
    page: () => page(port),
    async close(keep) {
      for (const app of ['shop', 'cart']) killApp(root, app);
      await hosts.close();
      if (!keep) rmSync(root, { recursive: true, force: true });
    },
  };
}
