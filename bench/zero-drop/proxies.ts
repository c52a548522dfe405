/** The nginx, Caddy and HAProxy of Debian, installed or unpacked into a cache, in front of an app. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { accepts } from '@runner/deploy/instances/reach';
import { freePort } from '@runner/testing/app';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';

export type ProxyName = 'nginx' | 'caddy' | 'haproxy';

const PACKAGES: Readonly<Record<ProxyName, readonly string[]>> = {
  nginx: ['nginx'],
  caddy: ['caddy'],
  haproxy: ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
};

/** Where requests go: a socket by its path, or a port. */
export type Backend = { readonly socket: string } | { readonly port: number };

export interface RunningProxy {
  readonly port: number;
  readonly pid: number;
  /** Path of its configuration. */
  readonly config: string;
  /** Stops it and starts it again, as its unit does. */
  restart(): Promise<void>;
  close(): void;
}

const cache = () => join(homedir(), '.cache', 'runner-bench', 'proxies');

/** Path of a proxy: on PATH, else unpacked with `apt-get download` and `dpkg -x`; undefined if neither works. */
function programOf(name: ProxyName): string | undefined {
  const places = ['/usr/sbin', '/usr/bin'];
  const installed = places.map((place) => join(place, name)).find(existsSync);
  if (installed) return installed;
  const unpacked = () => places.map((place) => join(cache(), place, name)).find(existsSync);
  if (unpacked() === undefined) unpack(PACKAGES[name]);
  return unpacked();
}

function unpack(packages: readonly string[]): void {
  const folder = join(cache(), 'debs');
  mkdirSync(folder, { recursive: true });
  spawnSync('apt-get', ['download', ...packages], { cwd: folder, stdio: 'ignore' });
  for (const file of readdirSync(folder))
    if (file.endsWith('.deb')) spawnSync('dpkg', ['-x', join(folder, file), cache()]);
}

function nginxConfig(port: number, backend: Backend, folder: string): string {
  const to = 'socket' in backend ? `unix:${backend.socket}:` : `127.0.0.1:${backend.port}`;
  return `daemon off; worker_processes 2; pid ${folder}/pid; error_log ${folder}/error.log;
user root;
events { worker_connections 1024; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder}/${each};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://${to};
      proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $http_connection;
      proxy_buffering off;
    }
  }
}
`;
}

function configOf(name: ProxyName, port: number, backend: Backend, folder: string): string {
  if (name === 'nginx') return nginxConfig(port, backend, folder);
  const socket = 'socket' in backend ? backend.socket : undefined;
  const tcp = 'port' in backend ? `127.0.0.1:${backend.port}` : '';
  if (name === 'caddy')
    return `{\n admin off\n auto_https off\n}\nhttp://:${port} {\n bind 127.0.0.1
 reverse_proxy ${socket ? `unix/${socket}` : tcp} {\n  transport http {\n   keepalive off\n  }\n }\n}\n`;
  return `defaults\n mode http\n timeout connect 5s\n timeout client 60s\n timeout server 60s
frontend f\n bind 127.0.0.1:${port}\n default_backend b
backend b\n option http-server-close\n server live ${socket ? `unix@${socket}` : tcp}\n`;
}

function argsOf(name: ProxyName, file: string, folder: string): string[] {
  if (name === 'nginx') return ['-p', folder, '-c', file, '-e', join(folder, 'error.log')];
  if (name === 'caddy') return ['run', '--adapter', 'caddyfile', '--config', file];
  return ['-f', file];
}

/** Starts a proxy; undefined, with a reason, if there is none. */
export async function startProxy(
  name: ProxyName,
  backend: Backend,
): Promise<RunningProxy | undefined> {
  const program = programOf(name);
  if (program === undefined) return undefined;
  const folder = temporaryFolder(name);
  const port = await freePort();
  const file = join(folder, 'config');
  writeFileSync(file, configOf(name, port, backend, folder));
  const env = {
    ...process.env,
    HOME: folder,
    LD_LIBRARY_PATH: join(cache(), 'usr/lib', libraryFolder()),
  };
  const begin = async (): Promise<ChildProcess> => {
    const started = spawn(program, argsOf(name, file, folder), { stdio: 'ignore', env });
    await until(() => accepts({ port }), `${name} did not start`);
    return started;
  };
  let child = await begin();
  return {
    port,
    pid: child.pid ?? 0,
    config: file,
    async restart() {
      const over = once(child, 'exit');
      child.kill('SIGTERM');
      await over;
      child = await begin();
    },
    close: () => void child.kill('SIGTERM'),
  };
}

function libraryFolder(): string {
  const { stdout } = spawnSync('dpkg-architecture', ['-qDEB_HOST_MULTIARCH'], { encoding: 'utf8' });
  return stdout?.trim() || (process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu');
}
