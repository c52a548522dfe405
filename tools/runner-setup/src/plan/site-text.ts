/** The configuration of each proxy for the sites of an app. */

/** Where a site sends its requests. */
export type SiteTarget =
  | { readonly socket: string }
  | { readonly port: number }
  | { readonly root: string }
  | { readonly ports: readonly [number, number]; readonly live: string };

/** A domain of an app. */
export interface Site {
  readonly app: string;
  readonly instance: string;
  readonly domain: string;
  readonly target: SiteTarget;
  /** Paths; undefined: without TLS, or as Caddy does it. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
}

const made = (app: string) => `# Made by \`runner setup ${app}\`.\n`;

/** Where HAProxy sends challenges of Let's Encrypt: certbot listens there. */
export const ACME_PORT = 8402;

/** `acme` is the folder with the challenges of Let's Encrypt. */
export function nginxText(
  app: string,
  sites: readonly Site[],
  ipv6: boolean,
  acme: string,
): string {
  const upgrade = `$runner_${app.replace(/\W/g, '_')}`;
  const listen = (port: string) =>
    [`listen ${port};`, ...(ipv6 ? [`listen [::]:${port};`] : [])]
      .map((each) => `  ${each}\n`)
      .join('');
  const servers = sites.map(({ domain, target, tls }) => {
    const challenge = `  location /.well-known/acme-challenge/ { root ${acme}; }\n`;
    const content = 'root' in target ? nginxFiles(target.root) : nginxProxied(target, upgrade);
    const server = (port: string, ...parts: string[]) =>
      `server {\n${listen(port)}  server_name ${domain};\n${parts.join('')}}\n`;
    if (!tls) return server('80', challenge, content);
    const files = `  ssl_certificate ${tls.cert};\n  ssl_certificate_key ${tls.key};\n`;
    const moved = '  location / { return 301 https://$host$request_uri; }\n';
    return `${server('80', challenge, moved)}\n${server('443 ssl', files, content)}`;
  });
  const map = `map $http_upgrade ${upgrade} {\n  default upgrade;\n  '' close;\n}\n`;
  return `${made(app)}${map}\n${servers.join('\n')}`;
}

type Upstream = Exclude<SiteTarget, { readonly root: string }>;

const nginxProxied = (
  target: Upstream,
  upgrade: string,
) => `  location / {\n${nginxTarget(target)}    proxy_http_version 1.1;
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection ${upgrade};
  }\n`;

/** No hidden files, no sources of PHP, and no links of a commit to the files of others. */
const nginxFiles = (root: string) => `  root ${root};
  disable_symlinks if_not_owner from=$document_root;
  error_page 404 /404.html;
  location / { try_files $uri $uri/index.html $uri.html =404; }
  location ~ (?:/\\.(?!well-known/)|\\.php$) { return 404; }\n`;

function nginxTarget(target: Upstream): string {
  if ('socket' in target) return `    proxy_pass http://unix:${target.socket}:;\n`;
  if ('port' in target) return `    proxy_pass http://127.0.0.1:${target.port};\n`;
  const flags = target.ports.map(
    (port) => `    if (-e ${target.live}/${port}) { set $p ${port}; }\n`,
  );
  return `    set $p 0;\n${flags.join('')}    proxy_pass http://127.0.0.1:$p;\n`;
}

export function caddyText(app: string, sites: readonly Site[]): string {
  const all = sites.map(({ domain, target, tls }) => {
    const own = tls ? `  tls ${tls.cert} ${tls.key}\n` : '';
    return `${domain} {\n${own}${'root' in target ? caddyFiles(target.root) : caddyProxied(target)}}\n`;
  });
  return `${made(app)}${all.join('\n')}`;
}

function caddyProxied(target: Upstream): string {
  const to =
    'socket' in target
      ? `unix/${target.socket}`
      : `127.0.0.1:${'port' in target ? target.port : 0}`;
  return `  reverse_proxy ${to} {\n    transport http {\n      keepalive off\n    }\n  }\n`;
}

const caddyFiles = (root: string) => `  root * ${root}
  @hidden {
    path */.* *.php
    not path /.well-known/*
  }
  respond @hidden 404
  try_files {path} {path}/index.html {path}.html
  file_server
  handle_errors {
    rewrite * /404.html
    file_server
  }\n`;

const backendOf = ({ app, instance }: Site) => `runner_${app}_${instance}`;

export function haproxyText(app: string, sites: readonly Site[]): string {
  const all = sites.map((site) => {
    const { target, tls } = site;
    const to =
      'socket' in target
        ? `unix@${target.socket}`
        : `127.0.0.1:${'port' in target ? target.port : 0}`;
    const moved = tls ? '  http-request redirect scheme https code 301 unless { ssl_fc }\n' : '';
    return `backend ${backendOf(site)}
  mode http
  timeout connect 5s
  timeout server 60s
  timeout tunnel 1h
${moved}  option forwardfor
  http-request set-header X-Forwarded-Proto https if { ssl_fc }
  option http-server-close
  server live ${to}\n`;
  });
  return `${made(app)}${all.join('\n')}`;
}

/** A line of the map from domains to backends. */
export const haproxyMapLine = (site: Site) => `${site.domain.toLowerCase()} ${backendOf(site)}`;

/** The entrance of all apps; `folder` has the map and the certificates. */
export function haproxyEntrance(folder: string, isTls: boolean, ipv6: boolean): string {
  const name = isTls ? 'runner_https' : 'runner_http';
  const port = (number: number) => (ipv6 ? `:::${number} v4v6` : `:${number}`);
  const bind = isTls ? `${port(443)} ssl crt ${folder}/certs/ alpn h2,http/1.1` : port(80);
  const acme = `  use_backend runner_acme if { path_beg /.well-known/acme-challenge/ }\n`;
  const challenges = `\nbackend runner_acme
  mode http
  timeout connect 5s
  timeout server 60s
  server certbot 127.0.0.1:${ACME_PORT}\n`;
  return `# Made by \`runner setup\`, for all apps.
frontend ${name}
  bind ${bind}
  mode http
  timeout client 60s
${isTls ? '' : acme}  use_backend %[req.hdr(host),field(1,:),lower,map(${folder}/domains.map)]
${isTls ? '' : challenges}`;
}
