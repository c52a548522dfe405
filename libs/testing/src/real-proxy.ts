/** The proxies that people use, on loopback: nginx, Caddy and HAProxy, where they are installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from './app.ts';
import { temporaryFolder } from './temp.ts';
import { until } from './until.ts';

export const REAL_PROXIES = ['nginx', 'caddy', 'haproxy'] as const;
export type RealProxyName = (typeof REAL_PROXIES)[number];

/** Where a proxy is, and what it writes. */
interface ProxyPlace {
  readonly port: number;
  readonly folder: string;
  /** Of nginx and Caddy, with the time of each answer. */
  readonly log: string;
  /** Of HAProxy. */
  readonly admin: string;
}

export interface RealProxy extends ProxyPlace {
  readonly pid: number;
  /** Path of its configuration. */
  readonly config: string;
  /** Stops it and starts it again, as its unit does. */
  restart(): Promise<void>;
  close(): void;
}

/** Where requests go: a socket by its path, or a port. */
export type Backend = { readonly socket: string } | { readonly port: number };

/** The whole configuration around the part that is the site's. */
const CONFIGS: Readonly<Record<RealProxyName, (site: string, place: ProxyPlace) => string>> = {
  nginx(site, { port, folder, log }) {
    const [outside = '', inside = ''] = site.split('# In server:');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    return `daemon off; user root; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
log_format timed '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time';
access_log ${log} timed;
${temporary.map((each) => `${each}_temp_path ${folder}/${each};`).join('\n')}
${outside}
server { listen 127.0.0.1:${port};
${inside} } }
`;
  },
  caddy: (site, { port, log }) =>
    `{\n admin off\n auto_https off\n}\nhttp://:${port} {\n bind 127.0.0.1\n log {\n  output file ${log}\n  format json\n }\n${site}\n}\n`,
  haproxy: (site, { port, admin }) =>
    `global\n stats socket ${admin} mode 600 level admin
defaults\n mode http\n timeout connect 5s\n timeout client 60s\n timeout server 60s
frontend f\n bind 127.0.0.1:${port}\n default_backend shop\n${site}`,
};

const ARGS: Readonly<Record<RealProxyName, (file: string, folder: string) => string[]>> = {
  nginx: (file, folder) => ['-p', folder, '-c', file, '-e', `${folder}/error.log`],
  caddy: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  haproxy: (file) => ['-f', file],
};

/** The sites that send everything to one backend. */
export const PLAIN_SITES: Readonly<Record<RealProxyName, (backend: Backend) => string>> = {
  nginx: (backend) => `# In server:
location / {
  proxy_pass http://${'socket' in backend ? `unix:${backend.socket}:` : addressOf(backend)};
  proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $http_connection;
  proxy_buffering off;
}
`,
  caddy: (backend) =>
    `reverse_proxy ${'socket' in backend ? `unix/${backend.socket}` : addressOf(backend)} {\n transport http {\n  keepalive off\n }\n}\n`,
  haproxy: (backend) =>
    `backend shop\n option http-server-close\n retries 0\n server live ${'socket' in backend ? `unix@${backend.socket}` : addressOf(backend)}\n`,
};

const addressOf = ({ port }: { readonly port: number }) => `127.0.0.1:${port}`;

/** Its program; undefined where it is not installed. */
export function programOf(name: RealProxyName): string | undefined {
  return ['/usr/sbin', '/usr/bin'].map((dir) => join(dir, name)).find(existsSync);
}

/** Where a proxy is going to be: a configuration may need it. */
export async function placeFor(name: RealProxyName): Promise<ProxyPlace> {
  const folder = temporaryFolder(name);
  const log = join(folder, 'access.log');
  return { folder, log, port: await freePort(), admin: join(folder, 'admin') };
}

/** Starts a proxy with a part of a configuration, such as `runner watch --proxy` prints. */
export function startRealProxy(
  name: RealProxyName,
  site: string,
  place: ProxyPlace,
): Promise<RealProxy> {
  return startConfigured(name, CONFIGS[name](site, place), place);
}

/** Starts a proxy with a whole configuration, which listens on the port of the place. */
export async function startConfigured(
  name: RealProxyName,
  configuration: string,
  place: ProxyPlace,
): Promise<RealProxy> {
  const { folder, port } = place;
  const config = join(folder, 'config');
  writeFileSync(config, configuration);
  const env = { ...process.env, HOME: folder };
  const begin = async () => {
    const args = ARGS[name](config, folder);
    const started = spawn(programOf(name) as string, args, { stdio: 'ignore', env });
    await until(() => accepts(port), `${name} did not start`);
    return started;
  };
  let proxy = await begin();
  return {
    ...place,
    pid: proxy.pid as number,
    config,
    async restart() {
      const over = once(proxy, 'exit');
      proxy.kill('SIGTERM');
      await over;
      proxy = await begin();
    },
    close: () => void proxy.kill('SIGTERM'),
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on('connect', () => end(true));
    socket.on('error', () => end(false));
  });
}
