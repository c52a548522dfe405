/** A booted server with apps of every driver, as the table of pairs uses it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import type { AppSummary } from '@runner/common/apps/summary';
import { bootContainer, type Container } from '@runner/testing/container';
import type { ContainerResult } from '@runner/testing/container-inside';
import { type Process, processesLike } from '@runner/testing/processes';
import { distFolder } from '@runner/testing/run';
import { answerOf } from './server.ts';
import type { LogLine } from './subject.ts';

export const DRIVERS = ['process', 'systemd', 'compose'] as const;
export type PairDriver = (typeof DRIVERS)[number];

/** An app of the guest, in the root of its kind. */
export interface GuestApp {
  readonly name: string;
  readonly root: string;
  readonly driver: PairDriver;
  readonly hasTraffic: boolean;
  /** Its own, and with `traffic.ports` those of both slots. */
  readonly ports: readonly [number, number, number];
}

/** A docker that runs `server.js` for each project, with the PORT that compose would publish. */
const DOCKER = `#!/bin/sh
case $1 in compose) ;; *) exit 0 ;; esac
mkdir -p /run/projects
pid="/run/projects/$3.pid"
end() {
  old=$(cat "$pid" 2>/dev/null) || return
  kill "$old" 2>/dev/null
  while kill -0 "$old" 2>/dev/null; do sleep 0.02; done
  rm -f "$pid"
}
case " $* " in
  *' up '*) end; setsid node server.js >"$pid.log" 2>&1 </dev/null & echo $! >"$pid" ;;
  *' down '*) end ;;
  *' ps '*) kill -0 "$(cat "$pid" 2>/dev/null)" 2>/dev/null && echo c0ffee ;;
  *' logs '*) cat "$pid.log" ;;
esac
exit 0
`;

/** The unit of an app; with traffic its instances are `default-a` and `default-b`. */
export function unitOf({ name, root, ports: [port] }: GuestApp): string {
  const folder = `${root}/apps/${name}/instances/%I`;
  return `[Service]
UMask=0007
WorkingDirectory=${folder}/current
Environment=PORT=${port}
EnvironmentFile=-${folder}/env
ExecStartPre=sh -c 'case $$PORT in /*) rm -f $$PORT ;; esac'
ExecStart=/usr/bin/env node server.js
[Install]
WantedBy=multi-user.target
`;
}

const BOOT = (root: string) => `[Service]
Type=oneshot
RemainAfterExit=yes
KillMode=process
Environment=RUNNER_ROOT=${root} RUNNER_SANDBOX=off PATH=/srv/bin:/srv/dist/bin:/usr/bin:/bin HOME=/root
ExecStart=/srv/dist/bin/runner-start --boot
[Install]
WantedBy=multi-user.target
`;

export interface Guest {
  readonly container: Container;
  /** Runs a script with the root's runner first on PATH. */
  sh(root: string, script: string, stdin?: string): Promise<ContainerResult>;
  /** A path inside, as this machine sees it. */
  outside(path: string): string;
  exists(path: string): boolean;
  state(app: GuestApp): AppState;
  listed(root: string): Promise<AppSummary[]>;
  log(root: string): LogLine[];
  served(app: GuestApp): Promise<string | null>;
  processes(app: GuestApp): Process[];
}

/** Boots it, with a root for each driver, with and without traffic. */
export async function bootGuest(codeHost: string, roots: readonly string[]): Promise<Guest> {
  const container = await bootContainer({ '/srv/dist': distFolder() });
  await container.ok('mkdir -p /srv/bin; cat >/srv/bin/docker; chmod +x /srv/bin/docker', {
    stdin: DOCKER,
  });
  for (const root of roots) {
    const boot = `boot-${root.split('/').at(-1)}.service`;
    await container.ok(
      `install -d -m 0711 ${root}
printf 'code_host_git_url: %s\\nretry_after: [0s]\\nproxy_user: root\\n' ${codeHost} > ${root}/config.yml
chmod 600 ${root}/config.yml
cat > /etc/systemd/system/${boot}; systemctl daemon-reload; systemctl enable ${boot}`,
      { stdin: BOOT(root) },
    );
  }
  const outside = (path: string) => `/proc/${container.init()}/root${path}`;
  const sh = (root: string, script: string, stdin = '') => {
    const PATH = '/srv/bin:/srv/dist/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    const env = { RUNNER_ROOT: root, RUNNER_SANDBOX: 'off', PATH };
    return container.sh(script, { env, stdin, timeout: 600_000 });
  };
  return {
    container,
    sh,
    outside,
    exists: existsSync,
    state: ({ root, name }) =>
      JSON.parse(readFileSync(outside(`${root}/state/${name}.json`), 'utf8')),
    async listed(root) {
      const { stdout, stderr } = await sh(root, 'runner list --json');
      if (!stdout.startsWith('{')) throw new Error(stderr);
      return (JSON.parse(stdout) as { apps: AppSummary[] }).apps;
    },
    log(root) {
      const text = readFileSync(outside(`${root}/logs/deploy-events.jsonl`), 'utf8');
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as LogLine);
    },
    async served({ root, name, driver, hasTraffic, ports }) {
      const at = outside(`${root}/apps/${name}/instances/default/live`);
      const [port, ...slots] = ports;
      if (hasTraffic && driver !== 'compose' && existsSync(at))
        return answerOf({ socketPath: join(at, 'app.sock') });
      const live = slots.find((each) => existsSync(join(at, String(each))));
      return answerOf({ host: '127.0.0.1', port: live ?? port });
    },
    processes: ({ root, name }) =>
      processesLike(/^(?:\S*\/)?node server\.js$/, join(root, 'apps', name)),
  };
}
