/** What a proxy needs so that a release gets a share of its requests: printed, never written anywhere. */
import { join } from 'node:path';
import { readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import type { Paths } from '@runner/common/foundation/paths';
import { SHARES } from '@runner/deploy/instances/shares';

export const PROXIES = ['nginx', 'caddy', 'haproxy'] as const;
export type SharingProxy = (typeof PROXIES)[number];

/** Where the links of an instance are, how its variables are called, and what leads to the new release. */
interface LinkPlace {
  readonly dir: string;
  readonly name: string;
  readonly token: string;
}

/** Bytes of the file. */
const TOKEN_MAX = 256;

/** The word that leads a visitor to the release that is tried; made once for each app. */
function tokenOf(paths: Paths, app: string): string {
  const file = join(paths.app(app).dir, 'canary.token');
  const known = readTextIfThere(file, TOKEN_MAX)?.trim();
  if (known) return known;
  const { randomBytes } = process.getBuiltinModule('node:crypto');
  const token = randomBytes(16).toString('hex');
  writeWhole(file, `${token}\n`, 0o600);
  return token;
}

/** The configuration of a proxy for the instances of an app. */
export function snippetFor(
  paths: Paths,
  app: string,
  instances: readonly string[],
  proxy: SharingProxy,
): string {
  const token = tokenOf(paths, app);
  const texts = instances.map((instance) => {
    const { dir } = paths.app(app).instance(instance);
    const own = instance === 'default' ? app : `${app}_${instance}`;
    // To nginx `$3` is a capture, also in `$3d_hash`.
    const name = own.replaceAll(/[^A-Za-z0-9_]|^(?=[0-9])/g, '_');
    return TEXTS[proxy]({ dir, name, token });
  });
  return texts.join('\n');
}

const TEXTS: Readonly<Record<SharingProxy, (place: LinkPlace) => string>> = {
  nginx: ({ dir, name, token }) => `# In http, outside of server:
split_clients "$remote_addr$http_user_agent" $${name}_hash {
${SHARES.map((share) => (share === '19' ? '  * 19;' : `  5% ${share};`)).join('\n')}
}
map $cookie_runner_b $${name}_bucket {
  default $${name}_hash;
  "~^[01][0-9]$" $cookie_runner_b;
}
map $cookie_runner_b $${name}_cookie {
  default "runner_b=$${name}_hash; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax";
  "~^[01][0-9]$" "";
}
map $cookie_runner_next $${name}_own {
  default share/$${name}_bucket;
  "${token}" next;
}
map $http_x_runner_version $${name}_to {
  default $${name}_own;
  "next ${token}" next;
}
map $http_upgrade $${name}_connection {
  default upgrade;
  "" close;
}

# In server:
location / {
  proxy_pass http://unix:${dir}/$${name}_to/app.sock:;
  proxy_http_version 1.1;
  proxy_set_header Host $host;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header Upgrade $http_upgrade;
  proxy_set_header Connection $${name}_connection;
  add_header Set-Cookie $${name}_cookie;
}
`,
  caddy: ({ dir, token }) => `# In the site:
@next header X-Runner-Version "next ${token}"
@own header_regexp Cookie (^|;\\s*)runner_next=${token}(;|$)
handle @next {
  reverse_proxy unix/${dir}/next/app.sock {
    transport http {
      keepalive off
    }
  }
}
handle @own {
  reverse_proxy unix/${dir}/next/app.sock {
    transport http {
      keepalive off
    }
  }
}
handle {
  reverse_proxy ${SHARES.map((share) => `unix/${dir}/share/${share}/app.sock`).join(' ')} {
    lb_policy cookie runner_b ${token}
    transport http {
      keepalive off
    }
  }
}
`,
  haproxy: ({ dir, name, token }) => `backend ${name}
  option http-server-close
  balance random
  cookie runner_b insert indirect nocache httponly
  use-server next if { req.hdr(X-Runner-Version) "next ${token}" }
  use-server next if { req.cook(runner_next) ${token} }
  server next unix@${dir}/next/app.sock weight 0
${SHARES.map((share) => `  server s${share} unix@${dir}/share/${share}/app.sock cookie ${share}\n`).join('')}`,
};
